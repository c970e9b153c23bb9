package leveret

// Each virtual host keeps counters under its lock. Those of the broker are added up when they are asked for.

// Counters count what has happened since the broker was made. All only grow.
// Rules: O-2, O-3.
type Counters struct {
	Published, Routed                     uint64 // messages that passed all checks, and those of them that reached a queue
	UnroutableDropped, UnroutableReturned uint64
	Confirmed                             uint64 // acks on confirming channels
	Refused                               uint64 // by a queue's reject-publish
	Delivered, Redelivered                uint64
	Acknowledged                          uint64
	Requeued                              uint64
	PendingConfirmed                      uint64        // at-least-once dead letters that all targets took
	NoDeadLetterExchange                  DeathCounters // messages that died where no dead-letter exchange is set, or it does not exist
	DeadLetteredOnce                      DeathCounters // published to the dead-letter exchange, at most once
	DeadLetteredKept                      DeathCounters // kept until all targets confirmed them, at least once
}

// DeathCounters count deaths by reason.
type DeathCounters struct{ Rejected, Expired, MaxLength, DeliveryLimit uint64 }

func (d *DeathCounters) died(r Reason) {
	switch r {
	case Rejected:
		d.Rejected++
	case Expired:
		d.Expired++
	case MaxLength:
		d.MaxLength++
	case DeliveryLimit:
		d.DeliveryLimit++
	}
}

func (c *Counters) add(o *Counters) {
	c.Published += o.Published
	c.Routed += o.Routed
	c.UnroutableDropped += o.UnroutableDropped
	c.UnroutableReturned += o.UnroutableReturned
	c.Confirmed += o.Confirmed
	c.Refused += o.Refused
	c.Delivered += o.Delivered
	c.Redelivered += o.Redelivered
	c.Acknowledged += o.Acknowledged
	c.Requeued += o.Requeued
	c.PendingConfirmed += o.PendingConfirmed
	c.NoDeadLetterExchange.add(o.NoDeadLetterExchange)
	c.DeadLetteredOnce.add(o.DeadLetteredOnce)
	c.DeadLetteredKept.add(o.DeadLetteredKept)
}

func (d *DeathCounters) add(o DeathCounters) {
	d.Rejected += o.Rejected
	d.Expired += o.Expired
	d.MaxLength += o.MaxLength
	d.DeliveryLimit += o.DeliveryLimit
}

// Counters returns the counters of all virtual hosts together.
func (b *Broker) Counters() Counters {
	var sum Counters
	b.eachVHost(func(v *vhost) {
		c := v.Counters()
		sum.add(&c)
	})
	return sum
}

// Counters returns the virtual host's counters.
func (v *vhost) Counters() Counters {
	v.lock()
	defer v.unlock()
	return v.counters
}
