package leveret

import "maps"

// The headers of a delivery: what was published, the history of a dead letter, and the counts of a quorum queue.

// countHeaders says which headers of counts a delivery has.
type countHeaders uint8

const (
	noCounts    countHeaders = iota
	counts                   // a quorum queue of 4.3
	oldCounts                // a quorum queue of 3.10: x-delivery-count if it is not zero
	oldCountGet              // the same for basic.get: x-delivery-count always
)

// render gives the delivery the headers that a program reads. It is called when a program receives d, without any lock.
func (d *Delivery) render() *Delivery {
	m := d.m
	switch {
	case m.extra == nil && d.counted == noCounts && (m.props == nil || m.props.HeaderFields == nil): // most messages
	case m.props != nil && m.props.HeaderFields != nil: // a client sent them, or 3.10 has recorded a death in them
		own := *m.props
		own.Headers, own.HeaderFields = d.WireHeaders().Table(), nil
		d.Properties = &own
	case m.deaths() != nil && m.props == nil && m.extra.common != nil && d.counted == noCounts:
		d.Properties = m.extra.common.properties()
	default:
		d.addHeaders()
	}
	return d
}

// addHeaders adds what the broker adds to the headers of a program's message.
func (d *Delivery) addHeaders() {
	deaths, counts := d.m.deathTable(), d.countFields()
	if deaths == nil && counts == nil {
		return
	}
	own := *d.Properties
	own.Headers = make(Table, len(own.Headers)+len(deaths)+len(counts))
	maps.Copy(own.Headers, d.Properties.Headers)
	maps.Copy(own.Headers, deaths)
	for _, c := range counts {
		own.Headers[c.Name] = c.Value
	}
	d.Properties = &own
}

// deathTable are the headers that a dead letter gets, shared with others: read only. nil: the message never died.
func (m *message) deathTable() Table {
	switch {
	case m.deaths() == nil:
		return nil
	case m.extra.common != nil:
		return m.extra.common.properties().Headers
	}
	return m.extra.deathHeaders().Table()
}

// WireHeaders is for listeners; programs read Headers. It returns all headers, those that the broker added included, in
// the order in which RabbitMQ sends them; nil if the message has no headers property. They are shared with other
// deliveries: read only.
// Rules: M-14, M-15, M-16.
func (d *Delivery) WireHeaders() Fields {
	if d.m == nil {
		return nil
	}
	h := d.m.headers()
	if x := d.m.extra; x != nil && x.common != nil && len(h) == 0 && d.counted == noCounts {
		return x.common.fields()
	}
	var added Fields
	if d.m.deaths() != nil {
		added = d.m.extra.deathHeaders()
	}
	added = append(added, d.countFields()...)
	switch {
	case len(added) > 0:
		h = h.with(added).byName()
	case h == nil || d.ch.v.rules.keepHeaderOrder:
		return h
	}
	if d.ch.v.rules.keepHeaderOrder {
		return h
	}
	return h.sorted()
}

// WireProperties is for listeners. It returns Message.WireProperties of the publish for as long as nothing has changed
// the properties, and if the queue is a classic queue or the message has the property expiration. Empty means that the
// properties are to be encoded from Properties and WireHeaders.
// Rules: M-21.
func (d *Delivery) WireProperties() string {
	if d.m == nil {
		return ""
	}
	wire := d.m.wireProperties()
	switch {
	case wire == "", d.counted == noCounts:
		return wire
	case d.counted == oldCounts && d.delivered == 0 && d.m.hasExpiration():
		return wire // a quorum queue keeps the properties of such a message, to read the expiration there
	}
	return ""
}

// Rules: D-10, D-12.
func (d *Delivery) countFields() (f Fields) {
	switch {
	case d.counted == counts && d.acquired|d.delivered > 0:
		acquired := d.acquired
		if acquired == 0 {
			acquired = d.delivered
		}
		f = append(f, Field{headerAcquiredCount, int64(acquired)})
		if d.delivered > 0 {
			f = append(f, Field{headerDeliveryCount, int64(d.delivered)})
		}
	case d.counted == oldCountGet, d.counted == oldCounts && d.delivered > 0:
		f = append(f, Field{headerDeliveryCount, int64(d.delivered)})
	}
	return f
}

// Deaths returns the message's dead-letter history, most recent first; nil if it never died. It is shared with other deliveries:
// read only.
func (d *Delivery) Deaths() []Death {
	if d.m == nil {
		return nil
	}
	return d.m.history()
}
