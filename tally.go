package leveret

// What a virtual host counts where a publish and a delivery pass.

// A tally is what a channel counts. The virtual host's counters are the sum of those of its channels, so that a publish
// and a delivery are counted once for both.
type tally struct {
	PublishCounters
	traffic [streamQueue]traffic // from queues of each type; streams are never made
}

func (t *tally) add(o *tally) {
	t.PublishCounters.add(o.PublishCounters)
	for kind := range t.traffic {
		t.traffic[kind].add(&o.traffic[kind])
	}
}

// counters returns the figures as they are shown.
func (t *tally) counters() ChannelCounters {
	c := ChannelCounters{PublishCounters: t.PublishCounters}
	for kind := range t.traffic {
		c.DeliveryCounters.add(t.traffic[kind].counters())
	}
	return c
}

// stopCountingLocked gives what the channel has counted to the virtual host. What an operation still does on the channel
// counts there, too.
func (ch *Channel) stopCountingLocked() {
	ch.v.ended.add(ch.tally)
	ch.tally = &ch.v.ended
}

// A spread tells how many copies published messages became. Most become one, and are not counted again.
type spread struct {
	unrouted uint64 // messages that reached no queue
	further  uint64 // copies of a message beyond its first
}

// copies returns the number of copies that so many published messages became.
func (s spread) copies(published uint64) uint64 { return published - s.unrouted + s.further }

// countFurtherLocked counts n copies beyond the first.
func (p *publication) countFurtherLocked(n int) {
	x := p.m.exchange
	x.v.spread.further += uint64(n)
	x.spread.further += uint64(n)
}

// countUnroutedLocked counts a message that reached no queue. RabbitMQ 3.10 counts what the default exchange routes to a
// name, whether or not a queue has it.
// Rules: O-4.
func (p *publication) countUnroutedLocked() {
	x := p.m.exchange
	x.v.spread.unrouted++
	x.spread.unrouted++
	if x == x.v.nameless && x.v.rules.routesToNames {
		x.spread.further += uint64(max(len(p.m.keys()), 1))
	}
}
