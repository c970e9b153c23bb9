package record

import (
	"math/big"
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
// Another one is a mistake of the program, and panics.

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
	panic("record: a value of a type that no header has")
}

// as codes a value of one type with the function for it.
func as[E any](c *coder, v *any, code func(*coder, *E)) {
	var e E
	if !c.reading {
		e = (*v).(E)
	}
	code(c, &e)
	if c.reading {
		*v = e
	}
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
	var kind uint8
	if !c.reading {
		kind = typeOf(*v)
	}
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

func (c *coder) decimal(d *Decimal) {
	c.octet(&d.Scale)
	signed(c, &d.Value)
}

// time is a time in whole seconds. No time at all is the zero time.
func (c *coder) time(t *time.Time) {
	some := !t.IsZero()
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
	list(c, f, func(c *coder, e *Field) {
		c.text(&e.Name)
		c.value(&e.Value, depth)
	})
}

func (c *coder) table(t *Table) { c.tableAt(t, 0) }

func (c *coder) tableAt(t *Table, depth int) {
	var f Fields
	if !c.reading && *t != nil {
		f = make(Fields, 0, len(*t))
		for name, v := range *t {
			f = append(f, Field{name, v})
		}
		slices.SortFunc(f, byName)
	}
	c.fieldsAt(&f, depth)
	if !c.reading || f == nil {
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
