package leveret

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"time"
)

// Canonical values: each AMQP field type is one Go type. What a program gives may be of other types; the broker keeps
// canonical values only, and a listener gives no others.

// canonical returns a copy of the table with the values that a delivery has.
func (t Table) canonical() (Table, error) {
	out := make(Table, len(t))
	for name, v := range t {
		if n, ok := v.(int); ok { // what programs write most
			v = int64(n)
		}
		if _, ok := canonicalSize(v, 1); !ok || len(name) > maxFieldName {
			f, err := t.Fields()
			return f.Table(), err
		}
		out[name] = v
	}
	return out, nil
}

// canonicalTableSize is the size of an encoded table. ok says whether all values are what a delivery has, so that the table can be
// given to consumers as it is. One walk tells both: two of them take BenchmarkHeaders/values=canonical a fifth more instructions.
func canonicalTableSize(t Table, depth int) (size int, ok bool) {
	size = 4
	for name, v := range t {
		n, ok := canonicalSize(v, depth+1)
		if !ok || len(name) > maxFieldName {
			return 0, false
		}
		size += 1 + len(name) + n
	}
	return size, true
}

// canonicalSize is the size of an encoded value with its type. ok says whether the value is what a delivery has in a Table, in which
// tables are Tables, too.
func canonicalSize(v any, depth int) (size int, ok bool) {
	switch v := v.(type) {
	case string:
		return 5 + len(v), depth <= maxNesting
	case Table:
		if v == nil || depth > maxNesting {
			return 0, false
		}
		size, ok = canonicalTableSize(v, depth)
		return 1 + size, ok
	case Fields:
		return 0, false
	case []any:
		if v == nil || depth > maxNesting {
			return 0, false
		}
		size = 5
		for _, e := range v {
			n, ok := canonicalSize(e, depth+1)
			if !ok {
				return 0, false
			}
			size += n
		}
		return size, true
	}
	return valueSize(v), isCanonical(v, depth)
}

// canonical returns a copy of the fields with canonical values, in the order they have. Nil Fields give nil.
func (f Fields) canonical() (Fields, error) {
	if f == nil {
		return nil, nil
	}
	c, err := f.canonicalAt(nil)
	if err != nil {
		return nil, fmt.Errorf("leveret: table: %w", err)
	}
	return c, nil
}

func (f Fields) canonicalAt(at *fieldPath) (Fields, error) {
	c := make(Fields, 0, len(f))
	for i := range f {
		field, err := canonicalField(at, f[i].Name, f[i].Value)
		if err != nil {
			return nil, err
		}
		c = append(c, field)
	}
	return c, nil
}

// canonicalArguments returns arguments that are given as a table, or in a client's order as fields.
func canonicalArguments(t Table, f Fields) (c Fields, err *Error) {
	var why error
	switch {
	case f != nil:
		c, why = f.canonical()
	case len(t) > 0:
		c, why = t.Fields()
	}
	if why != nil {
		return nil, &Error{Code: SyntaxError, Reason: why.Error()}
	}
	return c, nil
}

// A fieldPath says where in nested tables and arrays a value is.
type fieldPath struct {
	parent *fieldPath
	name   string
	index  int // of an array, whose elements have no name
	depth  int
}

// within returns the path of a part of what is at p; nil is the whole.
func (p *fieldPath) within(name string, index int) (*fieldPath, error) {
	at := &fieldPath{p, name, index, 1}
	if p != nil {
		at.depth += p.depth
	}
	if at.depth > maxNesting {
		return nil, fmt.Errorf("nested deeper than %d tables and arrays", maxNesting)
	}
	return at, nil
}

func (p *fieldPath) String() string {
	if p.name == "" && p.parent != nil && p.index >= 0 {
		return fmt.Sprintf("%s[%d]", p.parent, p.index)
	}
	if p.parent == nil {
		return p.name
	}
	return p.parent.String() + "." + p.name
}

func canonicalField(parent *fieldPath, name string, v any) (Field, error) {
	at, err := parent.within(name, -1)
	if err != nil {
		return Field{}, err
	}
	if len(name) > maxFieldName {
		return Field{}, fmt.Errorf("the name of %q is longer than %d bytes", at.String(), maxFieldName)
	}
	v, err = canonicalValue(at, v)
	return Field{name, v}, err
}

// isCanonical reports whether canonicalValue returns v itself, which is nested so deep already.
func isCanonical(v any, depth int) bool {
	if depth > maxNesting {
		return false
	}
	switch v := v.(type) {
	case nil, bool, string, []byte, Decimal, float32, float64,
		int8, uint8, int16, uint16, int32, uint32, int64:
		return true
	case time.Time:
		return v.Nanosecond() == 0 && v.Location() == time.UTC
	case []any:
		return v != nil && !slices.ContainsFunc(v, func(e any) bool { return !isCanonical(e, depth+1) })
	case Fields:
		return v != nil && isCanonicalFields(v, depth)
	}
	return false
}

func isCanonicalFields(f Fields, depth int) bool {
	for i := range f {
		if len(f[i].Name) > maxFieldName || !isCanonical(f[i].Value, depth+1) {
			return false
		}
	}
	return true
}

// canonicalValue returns v as the one Go type that stands for its field type. Tables and
// arrays are copied.
func canonicalValue(at *fieldPath, v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, []byte, Decimal, float32, float64,
		int8, uint8, int16, uint16, int32, uint32, int64:
		return v, nil
	case int:
		return int64(v), nil
	case time.Duration:
		return v.Milliseconds(), nil
	case time.Time:
		return time.Unix(v.Unix(), 0).UTC(), nil
	case []string:
		list := make([]any, len(v))
		for i := range v {
			list[i] = v[i]
		}
		return list, nil
	case []any:
		return canonicalArray(at, v)
	case Table:
		return v.fields(at)
	case map[string]any:
		return Table(v).fields(at)
	case Fields:
		return v.canonicalAt(at)
	}
	return canonicalOther(at, v)
}

func canonicalArray(at *fieldPath, v []any) (any, error) {
	list := make([]any, len(v))
	for i := range v {
		inner, err := at.within("", i)
		if err != nil {
			return nil, err
		}
		e, err := canonicalValue(inner, v[i])
		if err != nil {
			return nil, err
		}
		list[i] = e
	}
	return list, nil
}

var anyMap = reflect.TypeFor[map[string]any]()

// canonicalOther is canonicalValue for named types and the integers that AMQP does not have.
func canonicalOther(at *fieldPath, v any) (any, error) {
	if n, ok := v.(*big.Int); ok {
		return canonicalInteger(n), nil
	}
	r := reflect.ValueOf(v)
	switch {
	case r.Kind() == reflect.String:
		return r.String(), nil
	case r.CanInt():
		return r.Int(), nil
	case r.CanUint():
		if r.Uint() > math.MaxInt64 {
			return nil, fmt.Errorf("%q: %d does not fit into 64 bits with sign", at.String(), v)
		}
		return int64(r.Uint()), nil
	case r.CanConvert(anyMap):
		return Table(r.Convert(anyMap).Interface().(map[string]any)).fields(at)
	}
	return nil, fmt.Errorf("%q: no AMQP field type for Go type %T", at.String(), v)
}

// canonicalInteger returns an int64 if n is one, else a copy of n.
// Rules: J-7.
func canonicalInteger(n *big.Int) any {
	if n.IsInt64() {
		return n.Int64()
	}
	return new(big.Int).Set(n)
}
