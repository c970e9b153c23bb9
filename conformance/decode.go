package conformance

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/leveretmq/leveret"
)

// A decoder reads AMQP's encodings from one frame. A frame that ends too early reads as zeros.
type decoder struct{ b []byte }

func (d *decoder) take(n int) []byte {
	if n > len(d.b) {
		d.b = nil
		return make([]byte, n)
	}
	p := d.b[:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) u8() byte      { return d.take(1)[0] }
func (d *decoder) u16() uint16   { return binary.BigEndian.Uint16(d.take(2)) }
func (d *decoder) u32() uint32   { return binary.BigEndian.Uint32(d.take(4)) }
func (d *decoder) u64() uint64   { return binary.BigEndian.Uint64(d.take(8)) }
func (d *decoder) short() string { return string(d.take(int(d.u8()))) }
func (d *decoder) long() []byte  { return d.take(min(int(d.u32()), len(d.b))) }

// header reads the properties that the client does not pass on: which are present, the headers and the cluster id.
func (d *decoder) header() header {
	h := header{present: leveret.Property(d.u16())}
	for bit := leveret.PropContentType; bit >= leveret.PropClusterID; bit >>= 1 {
		if h.present&bit == 0 {
			continue
		}
		switch bit {
		case leveret.PropHeaders:
			h.fields = d.table()
		case leveret.PropDeliveryMode, leveret.PropPriority:
			d.u8()
		case leveret.PropTimestamp:
			d.u64()
		case leveret.PropClusterID:
			h.clusterID = d.short()
		default:
			d.short()
		}
	}
	return h
}

func (d *decoder) table() leveret.Fields {
	in := &decoder{b: d.long()}
	out := leveret.Fields{}
	for len(in.b) > 0 {
		name := in.short()
		out = append(out, leveret.Field{Name: name, Value: in.value()})
	}
	return out
}

func (d *decoder) array() []any {
	in := &decoder{b: d.long()}
	out := []any{}
	for len(in.b) > 0 {
		out = append(out, in.value())
	}
	return out
}

func (d *decoder) value() any {
	switch tag := d.u8(); tag {
	case 't':
		return d.u8() != 0
	case 'b':
		return int8(d.u8())
	case 'B':
		return d.u8()
	case 's':
		return int16(d.u16())
	case 'u':
		return d.u16()
	case 'I':
		return int32(d.u32())
	case 'i':
		return d.u32()
	case 'l', 'L':
		return int64(d.u64())
	case 'f':
		return math.Float32frombits(d.u32())
	case 'd':
		return math.Float64frombits(d.u64())
	case 'D':
		return leveret.Decimal{Scale: d.u8(), Value: int32(d.u32())}
	case 'S':
		return string(d.long())
	case 'A':
		return d.array()
	case 'T':
		return time.Unix(int64(d.u64()), 0).UTC()
	case 'F':
		return d.table()
	case 'x':
		return append([]byte{}, d.long()...)
	case 'V':
		return nil
	default:
		return "unknown field type " + string(rune(tag))
	}
}
