package conformance

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

// The codec here and in decode.go is like amqpd's, on purpose: the listener's own codec would make its mistakes
// on both sides of the wire, where nothing shows them. What is written here is read by real brokers, too.

// encodeProperties writes property flags and properties as AMQP does; nil without properties.
func encodeProperties(p *leveret.Properties) []byte {
	has := p.Has()
	if has == 0 {
		return nil
	}
	b := binary.BigEndian.AppendUint16(nil, uint16(has))
	short := func(bit leveret.Property, s string) {
		if has&bit != 0 {
			b = append(append(b, byte(len(s))), s...)
		}
	}
	octet := func(bit leveret.Property, n byte) {
		if has&bit != 0 {
			b = append(b, n)
		}
	}
	short(leveret.PropContentType, p.ContentType)
	short(leveret.PropContentEncoding, p.ContentEncoding)
	if has&leveret.PropHeaders != 0 {
		b = appendFields(b, p.HeaderFields)
	}
	octet(leveret.PropDeliveryMode, p.DeliveryMode)
	octet(leveret.PropPriority, p.Priority)
	short(leveret.PropCorrelationID, p.CorrelationID)
	short(leveret.PropReplyTo, p.ReplyTo)
	short(leveret.PropExpiration, p.Expiration)
	short(leveret.PropMessageID, p.MessageID)
	if has&leveret.PropTimestamp != 0 {
		b = binary.BigEndian.AppendUint64(b, uint64(p.Timestamp.Unix()))
	}
	short(leveret.PropType, p.Type)
	short(leveret.PropUserID, p.UserID)
	short(leveret.PropAppID, p.AppID)
	short(leveret.PropClusterID, p.ClusterID)
	return b
}

func appendFields(b []byte, f leveret.Fields) []byte {
	var in []byte
	for _, e := range f {
		in = append(append(in, byte(len(e.Name))), e.Name...)
		in = appendValue(in, e.Value)
	}
	return append(binary.BigEndian.AppendUint32(b, uint32(len(in))), in...)
}

func appendValue(b []byte, v any) []byte {
	be := binary.BigEndian
	switch v := v.(type) {
	case nil:
		return append(b, 'V')
	case bool:
		if v {
			return append(b, 't', 1)
		}
		return append(b, 't', 0)
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
	case int64:
		return be.AppendUint64(append(b, 'l'), uint64(v))
	case float32:
		return be.AppendUint32(append(b, 'f'), math.Float32bits(v))
	case float64:
		return be.AppendUint64(append(b, 'd'), math.Float64bits(v))
	case leveret.Decimal:
		return be.AppendUint32(append(b, 'D', v.Scale), uint32(v.Value))
	case time.Time:
		return be.AppendUint64(append(b, 'T'), uint64(v.Unix()))
	case string:
		return append(be.AppendUint32(append(b, 'S'), uint32(len(v))), v...)
	case []byte:
		return append(be.AppendUint32(append(b, 'x'), uint32(len(v))), v...)
	case []any:
		var in []byte
		for _, e := range v {
			in = appendValue(in, e)
		}
		return append(be.AppendUint32(append(b, 'A'), uint32(len(in))), in...)
	}
	f, _ := scenario.FieldsOf(v)
	return appendFields(append(b, 'F'), f)
}
