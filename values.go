package leveret

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/leveretmq/leveret/internal/erl"
)

// This file says when two values of tables are the same. There are three notions of it:
// a repeated declaration asks for equivalence, two bindings are one if their arguments are
// identical, and a headers exchange compares what is left of a value without its type.
//
// All values here are canonical.

// fieldType returns the name of a value's AMQP field type as error texts state it.
// Rules: E-9.
func fieldType(v any) string {
	switch v.(type) {
	case string:
		return "longstr"
	case int32:
		return "signedint"
	case uint32:
		return "unsignedint"
	case int64, *big.Int:
		return "long"
	case int16:
		return "short"
	case uint16:
		return "unsignedshort"
	case int8:
		return "byte"
	case uint8:
		return "unsignedbyte"
	case bool:
		return "bool"
	case float32:
		return "float"
	case float64:
		return "double"
	case Decimal:
		return "decimal"
	case time.Time:
		return "timestamp"
	case Fields:
		return "table"
	case []any:
		return "array"
	case []byte:
		return "binary"
	}
	return "void"
}

// fieldTerm is the term by which RabbitMQ prints a value in error texts: entries of tables and
// elements of arrays carry their types. RabbitMQ reads timestamps and decimals without a sign.
// Rules: E-6, X-26, Q-23.
func fieldTerm(v any) any {
	switch v := v.(type) {
	case nil:
		return erl.Atom("undefined")
	case string:
		return erl.Binary(v)
	case []byte:
		return erl.Binary(v)
	case time.Time:
		return uint64(v.Unix())
	case Decimal:
		return erl.Tuple{v.Scale, uint32(v.Value)}
	case Fields:
		list := make(erl.List, len(v))
		for i, f := range v {
			list[i] = erl.Tuple{erl.Binary(f.Name), erl.Atom(fieldType(f.Value)), fieldTerm(f.Value)}
		}
		return list
	case []any:
		list := make(erl.List, len(v))
		for i, e := range v {
			list[i] = erl.Tuple{erl.Atom(fieldType(e)), fieldTerm(e)}
		}
		return list
	}
	return v
}

// asInteger returns the number that a value of an integer type is, the largest or smallest int64 for one beyond. A
// timestamp is none.
// Rules: E-9.
func asInteger(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int32:
		return int64(v), true
	case uint32:
		return int64(v), true
	case int16:
		return int64(v), true
	case uint16:
		return int64(v), true
	case int8:
		return int64(v), true
	case uint8:
		return int64(v), true
	case *big.Int:
		return clampedInteger(v), true
	}
	return 0, false
}

func clampedInteger(v *big.Int) int64 {
	switch {
	case v.IsInt64():
		return v.Int64()
	case v.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// asFloat returns the number that a floating-point value is.
func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case float32:
		return float64(v), true
	}
	return 0, false
}

// asBytes returns the content of a longstr or binary.
func asBytes(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	}
	return "", false
}

// equivalentValues reports whether a repeated declaration may give b for the argument a. The
// width of a number and whether a text is binary do not matter.
// Rules: Q-25.
func equivalentValues(a, b any) bool { return looselyEqual.untyped(a, b) }

// A comparison says how far numbers may differ and still be equal.
// Rules: X-28.
type comparison uint8

const (
	strictlyEqual comparison = iota // a number equals itself; -0.0 is not 0.0
	looselyEqual                    // and -0.0 is 0.0
	equalNumbers                    // and integers equal floating-point numbers of the same value
)

// untyped reports whether the values are equal when their field types are set aside: numbers
// of any width, timestamps, which are numbers of seconds, and texts of either type. Within
// tables and arrays types count.
// Rules.
func (c comparison) untyped(a, b any) bool {
	if x, ok := asBytes(a); ok {
		y, ok := asBytes(b)
		return ok && x == y
	}
	a, b = timestampNumber(a), timestampNumber(b)
	if equal, large := c.equalLarge(a, b); large {
		return equal
	}
	if x, ok := asInteger(a); ok {
		y, ok := asInteger(b)
		return ok && x == y || c == equalNumbers && integerEqualsFloat(x, b)
	}
	if x, ok := asFloat(a); ok {
		if y, ok := asFloat(b); ok {
			return x == y && (c != strictlyEqual || math.Signbit(x) == math.Signbit(y))
		}
		y, ok := asInteger(b)
		return ok && c == equalNumbers && integerEqualsFloat(y, a)
	}
	return c.composite(a, b)
}

// timestampNumber returns the number of seconds that a timestamp is, which has 64 bits and no sign, and other values as they are.
func timestampNumber(v any) any {
	t, ok := v.(time.Time)
	switch {
	case !ok:
		return v
	case t.Unix() < 0:
		return new(big.Int).SetUint64(uint64(t.Unix()))
	}
	return t.Unix()
}

// equalLarge reports whether a or b is an integer of more than 63 bits, and if so whether they are equal.
func (c comparison) equalLarge(a, b any) (equal, large bool) {
	x, xLarge := a.(*big.Int)
	y, yLarge := b.(*big.Int)
	switch {
	case xLarge && yLarge:
		return x.Cmp(y) == 0, true
	case xLarge:
		return c == equalNumbers && largeEqualsFloat(x, b), true
	case yLarge:
		return c == equalNumbers && largeEqualsFloat(y, a), true
	}
	return false, false
}

func largeEqualsFloat(n *big.Int, v any) bool {
	f, ok := asFloat(v)
	return ok && f == f && new(big.Float).SetInt(n).Cmp(big.NewFloat(f)) == 0
}

// untypedKey returns a key of maps that values share if they are equal when their field types are set aside, and no other
// values.
func untypedKey(v any) any {
	if s, ok := asBytes(v); ok {
		return s
	}
	v = timestampNumber(v)
	if _, large := v.(*big.Int); !large {
		if n, ok := asInteger(v); ok {
			return n
		}
		if f, ok := asFloat(v); ok {
			return f
		}
	}
	switch v.(type) {
	case nil, bool, Decimal:
		return v
	}
	return [1]string{string(appendValueID(nil, v))} // no text is equal
}

// composite is untyped for the remaining types.
// Rules: X-27.
func (c comparison) composite(a, b any) bool {
	switch a := a.(type) {
	case []any:
		switch b := b.(type) {
		case []any:
			return slices.EqualFunc(a, b, c.typed)
		case Fields:
			return len(a) == 0 && len(b) == 0 // both are empty lists
		}
		return false
	case Fields:
		switch b := b.(type) {
		case []any:
			return len(a) == 0 && len(b) == 0
		case Fields:
			return slices.EqualFunc(a, b, func(x, y Field) bool {
				return x.Name == y.Name && c.typed(x.Value, y.Value)
			})
		}
		return false
	}
	switch b.(type) {
	case []any, Fields, []byte:
		return false // not comparable with ==
	}
	return a == b
}

// typed reports whether the values are equal and of the same type.
func (c comparison) typed(a, b any) bool { return fieldType(a) == fieldType(b) && c.untyped(a, b) }

func integerEqualsFloat(i int64, v any) bool {
	f, ok := asFloat(v)
	const limit = 1 << 63
	return ok && f == math.Trunc(f) && f >= -limit && f < limit && int64(f) == i
}

// bindingID returns a string that two lists of binding arguments share if and only if they
// have the same names with the same types and values, in whatever order the names come.
// Rules: X-14.
func bindingID(args Fields) string {
	if len(args) == 0 {
		return ""
	}
	if !slices.IsSortedFunc(args, compareNames) {
		args = args.byName()
	}
	return string(appendFieldsID(nil, args))
}

func appendFieldsID(id []byte, f Fields) []byte {
	id = binary.AppendUvarint(id, uint64(len(f)))
	for i := range f {
		id = appendValueID(appendTextID(id, f[i].Name), f[i].Value)
	}
	return id
}

func appendTextID(id []byte, s string) []byte {
	return append(binary.AppendUvarint(id, uint64(len(s))), s...)
}

// appendValueID appends the type and the value. Every part is of a fixed length or says its length.
func appendValueID(id []byte, v any) []byte {
	id = appendTextID(id, fieldType(v))
	if n, ok := v.(*big.Int); ok {
		return appendTextID(id, n.String())
	}
	if i, ok := asInteger(v); ok {
		return binary.AppendVarint(id, i)
	}
	if f, ok := asFloat(v); ok {
		return binary.BigEndian.AppendUint64(id, math.Float64bits(f))
	}
	if s, ok := asBytes(v); ok {
		return appendTextID(id, s)
	}
	switch v := v.(type) {
	case bool:
		if v {
			return append(id, 1)
		}
		return append(id, 0)
	case Decimal:
		return binary.AppendVarint(append(id, v.Scale), int64(v.Value))
	case time.Time:
		return binary.AppendVarint(id, v.Unix())
	case Fields:
		return appendFieldsID(id, v)
	case []any:
		id = binary.AppendUvarint(id, uint64(len(v)))
		for i := range v {
			id = appendValueID(id, v[i])
		}
	}
	return id
}
