package leveret

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/leveretmq/leveret/internal/wire"
)

// A Table holds named values: the arguments of a declaration or binding, the headers of a
// message, the definition of a policy. Values have these Go types, one for each AMQP field type:
//
//	string            longstr        bool      bool
//	int8, uint8       byte, unsignedbyte       float32   float
//	int16, uint16     short, unsignedshort     float64   double
//	int32, uint32     signedint, unsignedint   Decimal   decimal
//	int64, int        long                     time.Time timestamp (whole seconds)
//	[]byte            binary                   nil       void
//	[]any, []string   array                    Table, map[string]any, Fields   table
//
// A time.Duration is accepted too and means a long of whole milliseconds. So is a *big.Int: definitions files may have
// a long that needs more than 64 bits, of which AMQP clients get the lowest. A Table does not keep an order; on
// delivery it reads in the order of its keys, as RabbitMQ 4.3 delivers headers.
type Table map[string]any

// Fields is a table as AMQP carries it: an ordered list in which a name may occur twice.
// Wherever a value may be a Table it may be Fields.
// Rules: E-11.
type Fields []Field

// A Field is one named value of Fields.
type Field struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// A Decimal is the AMQP decimal: Value divided by ten to the power of Scale.
type Decimal struct {
	Scale uint8
	Value int32
}

// maxFieldName is the longest name of a field, in bytes: the protocol carries it as a short string.
// Rules: E-11.
const maxFieldName = maxShort

// maxNesting is how many tables and arrays may be one within the other: what refers to itself has no end.
const maxNesting = wire.MaxNesting

// Fields returns the table as AMQP carries it, in ascending byte order of its names. Values
// have one Go type for each field type: whole numbers of a type that Table does not name are
// int64, a time.Duration is int64 milliseconds, a time.Time is cut to seconds, an array is
// []any, a table is Fields, and a named string type is string. Nothing that t refers to is
// shared but the bytes of []byte values. A nil Table gives nil.
//
// A value of another Go type, a Go integer that does not fit into 64 bits with sign, and a name of
// more than 255 bytes are errors that say where in the table they are. So is a table that contains itself, or more
// than 100 tables and arrays one within the other.
func (t Table) Fields() (Fields, error) {
	if t == nil {
		return nil, nil
	}
	f, err := t.fields(nil)
	if err != nil {
		return nil, fmt.Errorf("leveret: table: %w", err)
	}
	return f, nil
}

func (t Table) fields(at *fieldPath) (Fields, error) {
	f := make(Fields, 0, len(t))
	for _, name := range slices.Sorted(maps.Keys(t)) {
		field, err := canonicalField(at, name, t[name])
		if err != nil {
			return nil, err
		}
		f = append(f, field)
	}
	return f, nil
}

// ordered is Fields for a table of canonical values.
func (t Table) ordered() Fields {
	f := make(Fields, 0, len(t))
	for _, name := range slices.Sorted(maps.Keys(t)) {
		f = append(f, Field{name, orderedValue(t[name])})
	}
	return f
}

// orderedValue returns v with the Tables in it turned to Fields.
func orderedValue(v any) any {
	switch v := v.(type) {
	case Table:
		return v.ordered()
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = orderedValue(v[i])
		}
		return list
	}
	return v
}

// Get returns the value of the first field of that name, and whether there is one.
// Rules: E-11.
func (f Fields) Get(name string) (any, bool) {
	for i := range f {
		if f[i].Name == name {
			return f[i].Value, true
		}
	}
	return nil, false
}

// Table returns the fields as a Table, and the tables within them as Tables too. Of fields
// that share a name, the first one counts. Nil Fields give a nil Table.
func (f Fields) Table() Table {
	if f == nil {
		return nil
	}
	t := make(Table, len(f))
	for _, field := range f {
		if _, ok := t[field.Name]; !ok {
			t[field.Name] = tableValue(field.Value)
		}
	}
	return t
}

// tableValue returns v with the Fields in it turned to Tables.
func tableValue(v any) any {
	switch v := v.(type) {
	case Fields:
		if v == nil {
			return Table{}
		}
		return v.Table()
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = tableValue(v[i])
		}
		return list
	}
	return v
}

func compareNames(a, b Field) int { return cmp.Compare(a.Name, b.Name) }

// byName returns a copy in byte order of the names. Fields that share a name keep their order.
func (f Fields) byName() Fields {
	f = slices.Clone(f)
	slices.SortStableFunc(f, compareNames)
	return f
}

// sorted returns the fields in byte order of their names, the first of each name only. Tables
// within them keep their order. It returns f itself if that is how it is.
func (f Fields) sorted() Fields {
	if ascending(f) {
		return f
	}
	return slices.CompactFunc(f.byName(), func(a, b Field) bool { return a.Name == b.Name })
}

// text, number, time and array return a field's value; the zero value if it is missing or of another type.

func (f Fields) text(name string) string {
	v, _ := f.Get(name)
	s, _ := v.(string)
	return s
}

func (f Fields) number(name string) int64 {
	v, _ := f.Get(name)
	n, _ := asInteger(v)
	return n
}

func (f Fields) time(name string) time.Time {
	v, _ := f.Get(name)
	t, _ := v.(time.Time)
	return t
}

func (f Fields) array(name string) []any {
	v, _ := f.Get(name)
	a, _ := v.([]any)
	return a
}

// with returns a copy of f with the fields of g put in; those of the same name in f go.
func (f Fields) with(g Fields) Fields {
	out := make(Fields, 0, len(f)+len(g))
	for _, x := range f {
		if _, replaced := g.Get(x.Name); !replaced {
			out = append(out, x)
		}
	}
	return append(out, g...)
}

// put returns a copy of f with the fields of g put in, each in the place of the first one of its name. It is in the order of the names, as
// RabbitMQ sorts a table that it puts a value into. For arguments the order decides which of several unsupported ones is reported.
func (f Fields) put(g ...Field) Fields {
	out := append(make(Fields, 0, len(f)+len(g)), f...)
	for _, x := range g {
		if i := out.index(x.Name); i >= 0 {
			out[i] = x
		} else {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, compareNames)
	return out
}

// index returns the place of the first field of that name, -1 if there is none.
func (f Fields) index(name string) int {
	return slices.IndexFunc(f, func(x Field) bool { return x.Name == name })
}

// withoutFirst returns a copy of f without the first field of that name; never nil.
func (f Fields) withoutFirst(name string) Fields {
	i := f.index(name)
	if i < 0 {
		return append(Fields{}, f...)
	}
	return append(append(make(Fields, 0, len(f)), f[:i]...), f[i+1:]...)
}

func ascending(f Fields) bool {
	for i := 1; i < len(f); i++ {
		if f[i-1].Name >= f[i].Name {
			return false
		}
	}
	return true
}
