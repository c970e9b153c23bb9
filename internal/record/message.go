package record

import "time"

// A Message is what all copies of a message have in common.
type Message struct {
	Exchange   string // where it was last published to
	Key        string
	Body       []byte
	Properties *Properties // nil: none
	Extra      *Extra      // nil: nothing of what few messages have
}

// Properties are those of AMQP 0-9-1. Of Headers and HeaderFields at most one is there.
type Properties struct {
	Present                                       uint16
	Headers                                       Table
	HeaderFields                                  Fields
	ContentType, ContentEncoding                  string
	CorrelationID, ReplyTo, Expiration, MessageID string
	Timestamp                                     time.Time // whole seconds
	Type, UserID, AppID, ClusterID                string
	DeliveryMode, Priority                        uint8
}

// Extra is what few messages have.
type Extra struct {
	Published      *Published
	Deaths         []Death // most recent first
	FirstDeath     uint32  // which of them
	LastExchange   *string // where it was published to before the last death
	Number         uint64  // in events
	Removed        int32   // octets of properties that are counted though they are gone
	HideExpiration bool    // from the history
}

// Published are several routing keys, or properties that are sent on as they came.
type Published struct {
	Keys        []string
	Routes, BCC uint32 // how many at the beginning route, and how many at the end came from BCC
	Wire        string
}

// A Death is an entry of the dead-letter history.
type Death struct {
	Queue, Reason string
	Count, At     int64 // At: seconds since 1970
	Exchange      string
	Key           string
	Keys          []string // nil: Key alone
	Expiration    *string  // nil: none
}

func (c *coder) message(m *Message) {
	c.name(&m.Exchange)
	c.name(&m.Key)
	c.octets(&m.Body)
	some := m.Properties != nil
	if c.flag(&some); some {
		if c.reading {
			m.Properties = c.noProperties()
		}
		c.properties(m.Properties)
	}
	optional(c, &m.Extra, (*coder).extra)
}

func (c *coder) properties(p *Properties) {
	unsigned(c, &p.Present)
	c.table(&p.Headers)
	c.fields(&p.HeaderFields)
	c.name(&p.ContentType)
	c.name(&p.ContentEncoding)
	c.text(&p.CorrelationID)
	c.name(&p.ReplyTo)
	c.name(&p.Expiration)
	c.text(&p.MessageID)
	c.name(&p.Type)
	c.name(&p.UserID)
	c.name(&p.AppID)
	c.name(&p.ClusterID)
	c.time(&p.Timestamp)
	c.octet(&p.DeliveryMode)
	c.octet(&p.Priority)
}

// extra has, if it has deaths, the first of them and the last exchange.
func (c *coder) extra(x *Extra) {
	optional(c, &x.Published, (*coder).published)
	list(c, &x.Deaths, (*coder).death)
	unsigned(c, &x.FirstDeath)
	c.optionalText(&x.LastExchange)
	c.uint64(&x.Number)
	signed(c, &x.Removed)
	c.flag(&x.HideExpiration)
	if n := uint32(len(x.Deaths)); c.reading && (x.FirstDeath >= max(n, 1) || n > 0 && x.LastExchange == nil) {
		c.fail()
	}
}

// published has at least as many keys as each of its parts.
func (c *coder) published(p *Published) {
	c.texts(&p.Keys)
	unsigned(c, &p.Routes)
	unsigned(c, &p.BCC)
	c.text(&p.Wire)
	if n := uint32(len(p.Keys)); c.reading && (p.Routes > n || p.BCC > n) {
		c.fail()
	}
}

func (c *coder) death(d *Death) {
	c.name(&d.Queue)
	c.name(&d.Reason)
	c.int64(&d.Count)
	c.int64(&d.At)
	c.name(&d.Exchange)
	c.name(&d.Key)
	c.texts(&d.Keys)
	c.optionalText(&d.Expiration)
}
