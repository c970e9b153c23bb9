package leveret

import "time"

// The properties of a message, as AMQP 0-9-1 has them.

// Properties are the AMQP 0-9-1 properties of a message. A zero field is an absent property
// unless its bit is set in Present.
type Properties struct {
	Headers         Table     `json:"headers,omitempty"` // nil: absent; empty: present without entries
	ContentType     string    `json:"content_type,omitempty"`
	ContentEncoding string    `json:"content_encoding,omitempty"`
	CorrelationID   string    `json:"correlation_id,omitempty"`
	ReplyTo         string    `json:"reply_to,omitempty"`
	Expiration      string    `json:"expiration,omitempty"` // ms as a decimal number, 0 to 315360000000 (ten years)
	MessageID       string    `json:"message_id,omitempty"`
	Timestamp       time.Time `json:"timestamp,omitzero"` // whole seconds
	Type            string    `json:"type,omitempty"`
	UserID          string    `json:"user_id,omitempty"` // must be the connection's user
	AppID           string    `json:"app_id,omitempty"`
	ClusterID       string    `json:"cluster_id,omitempty"`
	DeliveryMode    uint8     `json:"delivery_mode,omitempty"` // 2: persistent
	Priority        uint8     `json:"priority,omitempty"`

	// Present has the bits of properties that are present though their field is zero.
	Present Property `json:"present,omitempty"`

	// HeaderFields are the headers in the order and with the duplicates that a client sent.
	// When it is not nil, a publish takes the headers from it and ignores Headers.
	HeaderFields Fields `json:"header_fields,omitempty"`
}

// A Property is a set of message properties, by the bits of AMQP's property flags.
type Property uint16

// The bits of the property flags.
const (
	PropContentType     Property = 1 << 15
	PropContentEncoding Property = 1 << 14
	PropHeaders         Property = 1 << 13
	PropDeliveryMode    Property = 1 << 12
	PropPriority        Property = 1 << 11
	PropCorrelationID   Property = 1 << 10
	PropReplyTo         Property = 1 << 9
	PropExpiration      Property = 1 << 8
	PropMessageID       Property = 1 << 7
	PropTimestamp       Property = 1 << 6
	PropType            Property = 1 << 5
	PropUserID          Property = 1 << 4
	PropAppID           Property = 1 << 3
	PropClusterID       Property = 1 << 2
)

// Has returns the set of properties that are present: those with a value, and those that
// Present names.
func (p *Properties) Has() Property {
	if p == nil {
		return 0
	}
	has := p.Present
	for _, f := range [...]struct {
		present bool
		bit     Property
	}{
		{p.Headers != nil || p.HeaderFields != nil, PropHeaders},
		{p.ContentType != "", PropContentType}, {p.ContentEncoding != "", PropContentEncoding},
		{p.CorrelationID != "", PropCorrelationID}, {p.ReplyTo != "", PropReplyTo},
		{p.Expiration != "", PropExpiration}, {p.MessageID != "", PropMessageID},
		{!p.Timestamp.IsZero(), PropTimestamp}, {p.Type != "", PropType}, {p.UserID != "", PropUserID},
		{p.AppID != "", PropAppID}, {p.ClusterID != "", PropClusterID},
		{p.DeliveryMode != 0, PropDeliveryMode}, {p.Priority != 0, PropPriority},
	} {
		if f.present {
			has |= f.bit
		}
	}
	return has
}

// The delivery modes.
// Rules: M-7.
const (
	transient  = 1
	persistent = 2
)

// given reports whether one property is present, as Has does for all.
func (p *Properties) given(nonzero bool, bit Property) bool { return nonzero || p.Present&bit != 0 }

// unchecked reports whether p has none of the properties that a publish checks or takes something from, but for the
// expiration and the common delivery modes.
func (p *Properties) unchecked() bool {
	const checked = PropHeaders | PropReplyTo | PropUserID
	if p == nil {
		return true
	}
	return p.Present&checked == 0 && p.Headers == nil && p.HeaderFields == nil &&
		p.ReplyTo == "" && p.UserID == "" &&
		(p.DeliveryMode == transient || p.DeliveryMode == persistent || !p.given(p.DeliveryMode != 0, PropDeliveryMode))
}
