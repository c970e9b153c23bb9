package leveret

import "time"

// A Message is what a publisher hands over. The broker takes over Properties, everything
// they refer to, and Body: do not change them after publishing.
type Message struct {
	Properties *Properties // nil: a message without properties
	Body       []byte

	Mandatory bool // return the message if no queue receives it (Outcome.Return)
	Immediate bool // refused as RabbitMQ refuses it: 540
}

// Properties are the AMQP 0-9-1 properties of a message. A zero field is an absent property
// unless its bit is set in Present.
type Properties struct {
	Headers         Table // nil: absent; empty: present without entries
	ContentType     string
	ContentEncoding string
	CorrelationID   string
	ReplyTo         string
	Expiration      string // milliseconds as a decimal number, 0 to 315360000000 (ten years)
	MessageID       string
	Timestamp       time.Time // whole seconds
	Type            string
	UserID          string // must be the connection's user
	AppID           string
	ClusterID       string
	DeliveryMode    uint8 // 2: persistent
	Priority        uint8

	// Present has the bits of properties that are present though their field is zero.
	Present Property

	// HeaderFields are the headers in the order and with the duplicates that a client sent.
	// When it is not nil, a publish takes the headers from it and ignores Headers.
	HeaderFields Fields
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

// An Outcome says what became of a published message.
type Outcome struct {
	Queues   int     // how many queues the message was routed to
	Rejected bool    // one of them refused it (reject-publish): a confirming client gets a nack
	Return   *Return // the message came back: Mandatory was set and no queue was reached
	Sequence uint64  // its number on a confirming channel, from 1; 0 elsewhere
}

// A Return is a message that nobody could be given (basic.return with code 312, NO_ROUTE).
type Return struct {
	Exchange   string
	RoutingKey string
	Message
}
