package record

import (
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/leveretmq/leveret/internal/wire"
)

// A value is that of a header, of an argument, or in the definition of a policy. It has one of these Go types:
//
//	nil, bool, string, []byte, int8, uint8, int16, uint16, int32, uint32, int64, *big.Int, float32, float64,
//	Decimal, time.Time (whole seconds, UTC), []any, Fields, Table
//
// Another one is a mistake of the program, and panics. A value that is written may also be of a type of another package that is
// named Decimal, Fields or Table and made of the same: so a program need not copy its tables to have them written.

// Fields is a table with an order, in which a name may occur twice.
type Fields []Field

// A Field is one named value.
type Field struct {
	Name  string
	Value any
}

func byName(a, b Field) int { return strings.Compare(a.Name, b.Name) }

// A Table is a table without an order. It is written in the order of its names, so that equal tables are written alike.
type Table map[string]any

// A Decimal is Value divided by ten to the power of Scale.
type Decimal struct {
	Scale uint8
	Value int32
}

// The types of values. They stand in logs: a number is never used again.
const (
	void uint8 = iota
	no
	yes
	text
	binaryText
	int8Value
	uint8Value
	int16Value
	uint16Value
	int32Value
	uint32Value
	int64Value
	bigValue
	float32Value
	float64Value
	decimal
	timestamp
	array
	fields
	table
)

// maxDepth is how deep values may stand in each other. A broker allows wire.MaxNesting, and wraps what it got in tables of
// its own. It is a bound for the reader's stack.
const maxDepth = 4 * wire.MaxNesting

// typeOf says as what a value is written.
func typeOf(v any) uint8 {
	switch v := v.(type) {
	case nil:
		return void
	case bool:
		if v {
			return yes
		}
		return no
	case string:
		return text
	case []byte:
		return binaryText
	case int8:
		return int8Value
	case uint8:
		return uint8Value
	case int16:
		return int16Value
	case uint16:
		return uint16Value
	case int32:
		return int32Value
	case uint32:
		return uint32Value
	case int64:
		return int64Value
	case *big.Int:
		return bigValue
	case float32:
		return float32Value
	case float64:
		return float64Value
	case Decimal:
		return decimal
	case time.Time:
		return timestamp
	case []any:
		return array
	case Fields:
		return fields
	case Table:
		return table
	}
	return foreignType(reflect.TypeOf(v))
}

var (
	decimalType = reflect.TypeFor[Decimal]()
	tableType   = reflect.TypeFor[Table]()
	textType    = reflect.TypeFor[string]()
	anyType     = reflect.TypeFor[any]()
)

// foreignType is typeOf for a type of another package.
func foreignType(t reflect.Type) uint8 {
	switch name := t.Name(); {
	case name == "Decimal" && t.ConvertibleTo(decimalType):
		return decimal
	case name == "Table" && t.ConvertibleTo(tableType):
		return table
	case name == "Fields" && t.Kind() == reflect.Slice && isField(t.Elem()):
		return fields
	}
	panic("record: a value of a type that no header has")
}

func isField(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 2 && t.Field(0).Type == textType && t.Field(1).Type == anyType
}

// as reads a value of one type with the function for it.
func as[E any](c *coder, v *any, code func(*coder, *E)) {
	var e E
	code(c, &e)
	*v = e
}

// value is a value with its type, which stands in so many others.
func (c *coder) value(v *any, depth int) {
	if depth > maxDepth {
		if !c.reading {
			panic("record: a value that is nested too deep")
		}
		c.fail()
		return
	}
	if c.reading {
		c.readValue(v, depth)
	} else {
		c.writeValue(*v, depth)
	}
}

func (c *coder) readValue(v *any, depth int) {
	var kind uint8
	c.octet(&kind)
	switch kind {
	case void:
	case no, yes:
		*v = kind == yes
	case text:
		as(c, v, (*coder).text)
	case binaryText:
		as(c, v, (*coder).octets)
	case int8Value:
		as(c, v, signed[int8])
	case uint8Value:
		as(c, v, (*coder).octet)
	case int16Value:
		as(c, v, signed[int16])
	case uint16Value:
		as(c, v, unsigned[uint16])
	case int32Value:
		as(c, v, signed[int32])
	case uint32Value:
		as(c, v, unsigned[uint32])
	case int64Value:
		as(c, v, (*coder).int64)
	case bigValue:
		as(c, v, (*coder).bigInt)
	case float32Value:
		as(c, v, (*coder).float32)
	case float64Value:
		as(c, v, (*coder).float)
	case decimal:
		as(c, v, (*coder).decimal)
	case timestamp:
		as(c, v, (*coder).time)
	case array:
		as(c, v, func(c *coder, a *[]any) {
			list(c, a, func(c *coder, e *any) { c.value(e, depth+1) })
		})
	case fields:
		as(c, v, func(c *coder, f *Fields) { c.fieldsAt(f, depth+1) })
	case table:
		as(c, v, func(c *coder, t *Table) { c.tableAt(t, depth+1) })
	default:
		c.fail()
	}
}

// writeValue writes what readValue reads. With the functions that read, each value is an allocation.
func (c *coder) writeValue(v any, depth int) {
	kind := typeOf(v)
	c.octet(&kind)
	switch v := v.(type) {
	case nil, bool:
	case string:
		c.text(&v)
	case []byte:
		c.octets(&v)
	case int8:
		signed(c, &v)
	case uint8:
		c.octet(&v)
	case int16:
		signed(c, &v)
	case uint16:
		unsigned(c, &v)
	case int32:
		signed(c, &v)
	case uint32:
		unsigned(c, &v)
	case int64:
		c.int64(&v)
	case *big.Int:
		c.bigInt(&v)
	case float32:
		c.float32(&v)
	case float64:
		c.float(&v)
	case Decimal:
		c.decimal(&v)
	case time.Time:
		c.time(&v)
	case []any:
		n, _ := c.length(len(v), v != nil)
		for i := range n {
			c.value(&v[i], depth+1)
		}
	case Fields:
		c.writeFields(v, depth+1)
	case Table:
		c.writeTable(v, depth+1)
	default:
		c.writeForeign(kind, reflect.ValueOf(v), depth+1)
	}
}

// writeForeign writes a value of a type of another package.
func (c *coder) writeForeign(kind uint8, v reflect.Value, depth int) {
	switch kind {
	case decimal:
		d := v.Convert(decimalType).Interface().(Decimal)
		c.decimal(&d)
	case table:
		c.writeTable(v.Convert(tableType).Interface().(Table), depth)
	case fields:
		n, _ := c.length(v.Len(), !v.IsNil())
		for i := range n {
			name, value := v.Index(i).Field(0).String(), v.Index(i).Field(1).Interface()
			c.text(&name)
			c.value(&value, depth)
		}
	}
}

func (c *coder) decimal(d *Decimal) {
	c.octet(&d.Scale)
	signed(c, &d.Value)
}

var noTime time.Time

// time is a time in whole seconds. No time at all is the zero time.
func (c *coder) time(t *time.Time) {
	some := t.Unix() != noTime.Unix()
	c.flag(&some)
	if !some {
		return
	}
	seconds := t.Unix()
	c.int64(&seconds)
	if c.reading {
		if *t = time.Unix(seconds, 0).UTC(); t.IsZero() { // that is written as none
			c.fail()
		}
	}
}

func (c *coder) bigInt(n **big.Int) {
	var negative bool
	var magnitude []byte
	if !c.reading {
		negative, magnitude = (*n).Sign() < 0, (*n).Bytes()
	}
	c.flag(&negative)
	c.octets(&magnitude)
	if c.reading {
		if magnitude == nil || negative && len(magnitude) == 0 || len(magnitude) > 0 && magnitude[0] == 0 {
			c.fail()
		}
		*n = new(big.Int).SetBytes(magnitude)
		if negative {
			(*n).Neg(*n)
		}
	}
}

func (c *coder) fields(f *Fields) { c.fieldsAt(f, 0) }

func (c *coder) fieldsAt(f *Fields, depth int) {
	if !c.reading {
		c.writeFields(*f, depth)
		return
	}
	list(c, f, func(c *coder, e *Field) {
		c.text(&e.Name)
		c.value(&e.Value, depth)
	})
}

func (c *coder) writeFields(f Fields, depth int) {
	n, _ := c.length(len(f), f != nil)
	for i := range n {
		c.text(&f[i].Name)
		c.value(&f[i].Value, depth)
	}
}

func (c *coder) table(t *Table) { c.tableAt(t, 0) }

func (c *coder) tableAt(t *Table, depth int) {
	if !c.reading {
		c.writeTable(*t, depth)
		return
	}
	var f Fields
	if c.fieldsAt(&f, depth); f == nil {
		return
	}
	*t = make(Table, len(f))
	for i, e := range f {
		if i > 0 && byName(f[i-1], e) >= 0 { // out of order, or twice
			c.fail()
			return
		}
		(*t)[e.Name] = e.Value
	}
}

// writeTable writes a table like fields. The names of tables within it come behind its own.
func (c *coder) writeTable(t Table, depth int) {
	from := len(c.names)
	for name := range t {
		c.names = append(c.names, name)
	}
	names := c.names[from:]
	slices.Sort(names)
	c.length(len(t), t != nil)
	for i := range names {
		value := t[names[i]]
		c.text(&names[i])
		c.value(&value, depth)
	}
	clear(names)
	c.names = c.names[:from]
}
