package leveret

// A delivery is counted once for each queue, each channel and each type of queue, by the way in which it is made.

// DeliveryCounters count deliveries and what was done with them. Direct replies are not counted.
type DeliveryCounters struct {
	Delivered      uint64 `json:"delivered"`        // in all ways
	DeliveredNoAck uint64 `json:"delivered_no_ack"` // of them those to consumers that need no acknowledgement
	Got            uint64 `json:"got"`              // of them those by basic.get that need an acknowledgement
	GotNoAck       uint64 `json:"got_no_ack"`       // of them those by basic.get that need none
	GetEmpty       uint64 `json:"get_empty"`        // basic.get of a queue without a ready message
	Redelivered    uint64 `json:"redelivered"`
	Acknowledged   uint64 `json:"acknowledged"` // deliveries that need no acknowledgement included
	Requeued       uint64 `json:"requeued"`
	Rejected       uint64 `json:"rejected"` // without requeue
}

func (c *DeliveryCounters) add(o DeliveryCounters) {
	c.Delivered += o.Delivered
	c.DeliveredNoAck += o.DeliveredNoAck
	c.Got += o.Got
	c.GotNoAck += o.GotNoAck
	c.GetEmpty += o.GetEmpty
	c.Redelivered += o.Redelivered
	c.Acknowledged += o.Acknowledged
	c.Requeued += o.Requeued
	c.Rejected += o.Rejected
}

// A handover is a way in which a message is delivered.
type handover uint8

const (
	consumed handover = iota // to a consumer
	consumedNoAck
	got // by basic.get
	gotNoAck
	numHandovers
)

// settles reports whether such a delivery needs no acknowledgement.
func (h handover) settles() bool { return h == consumedNoAck || h == gotNoAck }

// handover returns how the consumer gets messages.
func (cfg *ConsumeConfig) handover() handover {
	if cfg.NoAck {
		return consumedNoAck
	}
	return consumed
}

// handover returns how basic.get gets a message.
func (cfg GetConfig) handover() handover {
	if cfg.NoAck {
		return gotNoAck
	}
	return got
}

// traffic is what is counted of deliveries: each is counted once.
type traffic struct {
	acked       uint64
	rejected    uint64
	delivered   [numHandovers]uint64
	redelivered uint64
	requeued    uint64
	getEmpty    uint64
}

func (t *traffic) countDelivery(redelivered bool, how handover) {
	t.delivered[how]++
	if redelivered {
		t.redelivered++
	}
}

func (t *traffic) add(o *traffic) {
	t.acked += o.acked
	for how, n := range o.delivered {
		t.delivered[how] += n
	}
	t.redelivered += o.redelivered
	t.requeued += o.requeued
	t.rejected += o.rejected
	t.getEmpty += o.getEmpty
}

// counters returns the figures as they are shown.
func (t *traffic) counters() DeliveryCounters {
	noAck := t.delivered[consumedNoAck] + t.delivered[gotNoAck]
	return DeliveryCounters{
		Delivered:      t.delivered[consumed] + t.delivered[got] + noAck,
		DeliveredNoAck: t.delivered[consumedNoAck], Got: t.delivered[got], GotNoAck: t.delivered[gotNoAck],
		GetEmpty: t.getEmpty, Redelivered: t.redelivered, Acknowledged: t.acked + noAck,
		Requeued: t.requeued, Rejected: t.rejected,
	}
}
