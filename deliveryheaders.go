package leveret

// The headers of a delivery: what was published, the history of a dead letter, and the counts of a quorum queue.

// countHeaders says which headers of counts a delivery has.
type countHeaders uint8

const (
	noCounts    countHeaders = iota
	counts                   // a quorum queue of 4.3
	oldCounts                // a quorum queue of 3.10: x-delivery-count if it is not zero
	oldCountGet              // the same for basic.get: x-delivery-count always
)

// render puts all headers into a map of the delivery's own. It is called when a program receives d, without any lock.
func (d *Delivery) render() *Delivery {
	if m := d.m; m.deaths() == nil && m.headers() == nil && d.counted == noCounts {
		return d
	}
	if x := d.m.extra; x != nil && x.common != nil && d.m.props == nil && d.counted == noCounts {
		d.Properties = x.common.properties()
		return d
	}
	h := d.WireHeaders()
	if h == nil {
		return d
	}
	own := *d.Properties
	own.Headers, own.HeaderFields = h.Table(), nil
	d.Properties = &own
	return d
}

// WireHeaders is for listeners; programs read Headers. It returns all headers, those that the broker added included, in the order in
// which RabbitMQ sends them; nil if the message has no headers property. They are shared with other deliveries: read only.
// Rules: M-14, M-15, M-16.
func (d *Delivery) WireHeaders() Fields {
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

// Deaths returns the message's dead-letter history, most recent first; nil if it never died.
func (d *Delivery) Deaths() []Death { return d.m.history() }
