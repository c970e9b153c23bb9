package amqpd

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/wire"
)

// decodeFields decodes the fields of a table, without its length in front.
// Rules: E-11.
func decodeFields(b []byte) (leveret.Fields, bool) {
	d := fieldDecoder{b: b}
	f := d.fields(0)
	return f, !d.bad
}

// tableOf makes a Table of fields. Of two fields with the same name the first counts.
// Rules: E-11.
func tableOf(fields leveret.Fields) leveret.Table {
	t := make(leveret.Table, len(fields))
	for _, f := range fields {
		if _, seen := t[f.Name]; !seen {
			t[f.Name] = f.Value
		}
	}
	return t
}

type fieldDecoder struct {
	b   []byte
	bad bool
}

func (d *fieldDecoder) take(n int) []byte {
	if d.bad || n > len(d.b) {
		d.bad = true
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

// sized returns the octets behind a four-octet length.
func (d *fieldDecoder) sized() []byte {
	n := d.uint(4)
	if n > uint64(len(d.b)) {
		d.bad = true
		return nil
	}
	return d.take(int(n))
}

// uint reads an unsigned number of n octets.
func (d *fieldDecoder) uint(n int) uint64 {
	b := d.take(n)
	if b == nil {
		return 0
	}
	var v uint64
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return v
}

// fields reads to the end of the input.
func (d *fieldDecoder) fields(depth int) leveret.Fields {
	fields := leveret.Fields{}
	if depth >= wire.MaxNesting {
		d.bad = true
	}
	for len(d.b) > 0 && !d.bad {
		name := string(d.take(int(d.uint(1))))
		fields = append(fields, leveret.Field{Name: name, Value: d.value(depth)})
	}
	return fields
}

// array reads to the end of the input.
func (d *fieldDecoder) array(depth int) []any {
	values := []any{}
	if depth >= wire.MaxNesting {
		d.bad = true
	}
	for len(d.b) > 0 && !d.bad {
		values = append(values, d.value(depth))
	}
	return values
}

// Rules: E-9.
func (d *fieldDecoder) value(depth int) any {
	switch tag := d.uint(1); tag {
	case 'S':
		return string(d.sized())
	case 'x':
		return slices.Clone(d.sized())
	case 't':
		return d.uint(1) != 0
	case 'F', 'A':
		inner := fieldDecoder{b: d.sized(), bad: d.bad}
		defer func() { d.bad = d.bad || inner.bad }()
		if tag == 'A' {
			return inner.array(depth + 1)
		}
		return inner.fields(depth + 1)
	case 'T':
		return time.Unix(int64(d.uint(8)), 0).UTC()
	case 'D':
		return leveret.Decimal{Scale: uint8(d.uint(1)), Value: int32(d.uint(4))}
	case 'V':
		return nil
	default:
		return d.number(byte(tag))
	}
}

// Rules: E-9, E-10.
func (d *fieldDecoder) number(tag byte) any {
	switch tag {
	case 'b':
		return int8(d.uint(1))
	case 'B':
		return uint8(d.uint(1))
	case 's':
		return int16(d.uint(2))
	case 'u':
		return uint16(d.uint(2))
	case 'I':
		return int32(d.uint(4))
	case 'i':
		return uint32(d.uint(4))
	case 'l', 'L':
		return int64(d.uint(8))
	case 'f':
		f := math.Float32frombits(uint32(d.uint(4)))
		d.finite(float64(f))
		return f
	case 'd':
		f := math.Float64frombits(d.uint(8))
		d.finite(f)
		return f
	}
	d.bad = true
	return nil
}

// finite refuses infinities and NaN, which RabbitMQ cannot represent.
func (d *fieldDecoder) finite(f float64) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		d.bad = true
	}
}

// appendFields appends a table with its length.
func appendFields(b []byte, fields leveret.Fields) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	for i := range fields {
		b = appendShort(b, fields[i].Name)
		b = appendValue(b, fields[i].Value)
	}
	return patchLength(b, at)
}

// fieldsOf returns the fields of a table in the order of their names.
func fieldsOf(t map[string]any) leveret.Fields {
	fields := make(leveret.Fields, 0, len(t))
	for _, k := range slices.Sorted(maps.Keys(t)) {
		fields = append(fields, leveret.Field{Name: k, Value: t[k]})
	}
	return fields
}

func appendArray[T any](b []byte, values []T) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	for _, v := range values {
		b = appendValue(b, v)
	}
	return patchLength(b, at)
}

// patchLength writes the number of octets that follow the four at position at into these.
func patchLength(b []byte, at int) []byte {
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// appendValue appends a field value with its type in front.
// Rules: E-9, E-10.
func appendValue(b []byte, v any) []byte {
	be := binary.BigEndian
	switch v := v.(type) {
	case string:
		return appendLong(append(b, 'S'), v)
	case []byte:
		return appendLong(append(b, 'x'), v)
	case int64:
		return be.AppendUint64(append(b, 'l'), uint64(v))
	case int:
		return be.AppendUint64(append(b, 'l'), uint64(v))
	case time.Duration:
		return be.AppendUint64(append(b, 'l'), uint64(v.Milliseconds()))
	case bool:
		if v {
			return append(b, 't', 1)
		}
		return append(b, 't', 0)
	case time.Time:
		return be.AppendUint64(append(b, 'T'), uint64(v.Unix()))
	case leveret.Decimal:
		return be.AppendUint32(append(b, 'D', v.Scale), uint32(v.Value))
	case nil:
		return append(b, 'V')
	default:
		if c, ok := appendNested(b, v); ok {
			return c
		}
		return appendNumber(b, v)
	}
}

func appendNested(b []byte, v any) ([]byte, bool) {
	switch v := v.(type) {
	case leveret.Fields:
		return appendFields(append(b, 'F'), v), true
	case leveret.Table:
		return appendFields(append(b, 'F'), fieldsOf(v)), true
	case map[string]any:
		return appendFields(append(b, 'F'), fieldsOf(v)), true
	case []any:
		return appendArray(append(b, 'A'), v), true
	case []string:
		return appendArray(append(b, 'A'), v), true
	}
	return b, false
}

// lowest64 are the bits of a long that AMQP has room for.
var lowest64 = new(big.Int).SetUint64(math.MaxUint64)

// Rules: E-9.
func appendNumber(b []byte, v any) []byte {
	be := binary.BigEndian
	switch v := v.(type) {
	case int8:
		return append(b, 'b', byte(v))
	case uint8:
		return append(b, 'B', v)
	case int16:
		return be.AppendUint16(append(b, 's'), uint16(v))
	case uint16:
		return be.AppendUint16(append(b, 'u'), v)
	case int32:
		return be.AppendUint32(append(b, 'I'), uint32(v))
	case uint32:
		return be.AppendUint32(append(b, 'i'), v)
	case *big.Int:
		return be.AppendUint64(append(b, 'l'), new(big.Int).And(v, lowest64).Uint64())
	case float32:
		return be.AppendUint32(append(b, 'f'), math.Float32bits(v))
	case float64:
		return be.AppendUint64(append(b, 'd'), math.Float64bits(v))
	}
	panic(fmt.Sprintf("amqpd: the broker delivered a header of type %T, which is no field type", v))
}

// appendShort appends a short string. What does not fit into its one-octet length is cut off: only Go programs can give
// the broker such names.
// Rules: E-11.
func appendShort(b []byte, s string) []byte {
	if len(s) > wire.MaxShort {
		s = s[:wire.MaxShort]
	}
	return append(append(b, byte(len(s))), s...)
}

// appendLong appends a long string.
func appendLong[T string | []byte](b []byte, s T) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}
