package amqpd

import (
	"encoding/binary"
	"time"

	"github.com/leveretmq/leveret"
)

// allProperties are the flags that have a meaning. RabbitMQ ignores the other two: to it bit 0, which says that flags go on in a
// second word, does not say so.
const allProperties = 0xfffc

// DecodeProperties decodes the property flags and values of a content header frame: what is behind class, weight and body
// size. It is for programs that read what goes over a connection. It returns nil for a message without properties, and
// false for what RabbitMQ cannot read.
func DecodeProperties(b []byte) (*leveret.Properties, bool) { return decodeProperties(b, new(names)) }

// decodeProperties decodes the flags and values of a content header. It returns nil for a
// message without properties.
// Rules: M-8, M-13.
func decodeProperties(b []byte, n *names) (*leveret.Properties, bool) {
	d := propertyDecoder{fieldDecoder: fieldDecoder{b: b}, names: n}
	flags := leveret.Property(d.uint(2))
	flags &= allProperties
	if flags == 0 {
		return nil, !d.bad && len(d.b) == 0
	}
	p := &leveret.Properties{Present: flags}
	d.decode(p, flags)
	return p, !d.bad && len(d.b) == 0
}

type propertyDecoder struct {
	fieldDecoder
	names *names
}

// common reads a short string that many messages share.
func (d *propertyDecoder) common() string {
	b := d.take(int(d.uint(1)))
	if s, ok := d.names.get(b); ok {
		return s
	}
	return string(b) // properties need not be UTF-8
}

// unique reads a short string that is likely to differ from message to message.
func (d *propertyDecoder) unique() string { return string(d.take(int(d.uint(1)))) }

func (d *propertyDecoder) decode(p *leveret.Properties, flags leveret.Property) {
	if flags&leveret.PropContentType != 0 {
		p.ContentType = d.common()
	}
	if flags&leveret.PropContentEncoding != 0 {
		p.ContentEncoding = d.common()
	}
	if flags&leveret.PropHeaders != 0 {
		p.HeaderFields = d.headers()
	}
	if flags&leveret.PropDeliveryMode != 0 {
		p.DeliveryMode = uint8(d.uint(1))
	}
	if flags&leveret.PropPriority != 0 {
		p.Priority = uint8(d.uint(1))
	}
	if flags&leveret.PropCorrelationID != 0 {
		p.CorrelationID = d.unique()
	}
	if flags&leveret.PropReplyTo != 0 {
		p.ReplyTo = d.common()
	}
	if flags&leveret.PropExpiration != 0 {
		p.Expiration = d.common()
	}
	if flags&leveret.PropMessageID != 0 {
		p.MessageID = d.unique()
	}
	if flags&leveret.PropTimestamp != 0 {
		p.Timestamp = time.Unix(int64(d.uint(8)), 0)
	}
	if flags&leveret.PropType != 0 {
		p.Type = d.common()
	}
	if flags&leveret.PropUserID != 0 {
		p.UserID = d.common()
	}
	if flags&leveret.PropAppID != 0 {
		p.AppID = d.common()
	}
	if flags&leveret.PropClusterID != 0 {
		p.ClusterID = d.common()
	}
}

func (d *propertyDecoder) headers() leveret.Fields {
	inner := fieldDecoder{b: d.sized(), bad: d.bad}
	f := inner.fields(0)
	d.bad = d.bad || inner.bad
	return f
}

// appendProperties appends the flags and values of a content header. The headers are those
// given, not the ones of p; nil headers are absent.
// Rules: M-8, M-13.
func appendProperties(b []byte, p *leveret.Properties, headers leveret.Fields) []byte {
	at := len(b)
	b = append(b, 0, 0)
	if p == nil {
		return b
	}
	flags := p.Has() &^ leveret.PropHeaders
	if headers != nil {
		flags |= leveret.PropHeaders
	}
	binary.BigEndian.PutUint16(b[at:], uint16(flags))
	if flags&^leveret.PropDeliveryMode == 0 { // by far the most frequent case
		if flags != 0 {
			b = append(b, p.DeliveryMode)
		}
		return b
	}
	return appendPropertyValues(b, p, headers, flags)
}

func appendPropertyValues(b []byte, p *leveret.Properties, headers leveret.Fields, flags leveret.Property) []byte {
	short := func(bit leveret.Property, s string) {
		if flags&bit != 0 {
			b = appendShort(b, s)
		}
	}
	octet := func(bit leveret.Property, v uint8) {
		if flags&bit != 0 {
			b = append(b, v)
		}
	}
	short(leveret.PropContentType, p.ContentType)
	short(leveret.PropContentEncoding, p.ContentEncoding)
	if flags&leveret.PropHeaders != 0 {
		b = appendFields(b, headers)
	}
	octet(leveret.PropDeliveryMode, p.DeliveryMode)
	octet(leveret.PropPriority, p.Priority)
	short(leveret.PropCorrelationID, p.CorrelationID)
	short(leveret.PropReplyTo, p.ReplyTo)
	short(leveret.PropExpiration, p.Expiration)
	short(leveret.PropMessageID, p.MessageID)
	if flags&leveret.PropTimestamp != 0 {
		b = binary.BigEndian.AppendUint64(b, uint64(p.Timestamp.Unix()))
	}
	short(leveret.PropType, p.Type)
	short(leveret.PropUserID, p.UserID)
	short(leveret.PropAppID, p.AppID)
	short(leveret.PropClusterID, p.ClusterID)
	return b
}
