package leveret

import "github.com/leveretmq/leveret/internal/ring"

// Bindings end with the exchange that they lead from, and with the exchange or the queue that they lead to: all in one
// step, so that nobody sees a binding that leads nowhere, and a new queue of the same name has no old bindings. Of each
// binding this step only takes the count, some 10 ns: BenchmarkBystander/bindings/queue has 200,000. To take a binding
// out of the tables of its other side takes a hundred times as long, so that is done in turns, before the operation
// returns. Until then the tables of a source may have bindings that lead nowhere: they are not counted, found, listed
// or routed by.
//
// What has gone keeps its own tables as they were at that moment. Nobody else changes them any more, so they can be gone
// through while others get in.

// incoming are the bindings that lead to an exchange or a queue, the oldest first.
type incoming = ring.List[*binding]

// leadsNowhere reports whether the destination of b has gone.
func (b *binding) leadsNowhere() bool {
	if b.queue != nil {
		return b.queue.deleted
	}
	return b.exchange.deleted
}

// unusedLocked reports whether x, which has just lost a binding, goes with it.
// Rules: X-12.
func (x *Exchange) unusedLocked() bool {
	stays := x.v.rules.unusedExchangesStay && x.v.node.down || x.v.node.replays
	return x.cfg.AutoDelete && x.outgoing.live == 0 && !stays
}

// endOutgoingLocked ends the bindings of an exchange that goes.
// Rules: X-11.
func (v *vhost) endOutgoingLocked(o *outgoing) {
	if o.live == 0 {
		return
	}
	if v.watchesUnbound() {
		lost := o.living()
		v.afterLocked(func() { sortByAge(lost) }) // without the lock: to sort many takes long
		v.unboundEventsLocked(lost)
	}
	v.laterLocked(nil, clearingDestinations{v, o.all})
}

// endIncomingLocked ends the bindings to an exchange or a queue that has gone, and calls unused for each auto-delete
// exchange that loses its last binding.
// Rules.
func (v *vhost) endIncomingLocked(in *incoming, unused func(*Exchange)) {
	if in == nil || in.Len() == 0 {
		return
	}
	watched := v.watchesUnbound()
	var lost []*binding // and not told yet
	for b := range in.All() {
		if b.source.deleted { // and this binding ended with it
			continue
		}
		b.source.outgoing.lose()
		if watched {
			lost = append(lost, b)
		}
		if b.source.unusedLocked() {
			v.unboundEventsLocked(lost)
			lost = nil
			unused(b.source)
		}
	}
	v.unboundEventsLocked(lost)
	v.tookLocked(in.Len() / looksPerStep)
	v.laterLocked(nil, clearingSources{v, in})
}

// clearingDestinations takes the bindings of an exchange that has gone out of the lists of their destinations.
type clearingDestinations struct {
	v   *vhost
	all map[bindingName]*binding
}

func (c clearingDestinations) proceed() {
	for _, b := range c.all {
		if !b.leadsNowhere() {
			b.in.Leave()
		}
		c.v.tookLocked(1)
		c.v.restLocked()
	}
}

// clearingSources takes the bindings to what has gone out of the tables of their sources.
type clearingSources struct {
	v   *vhost
	all *incoming
}

func (c clearingSources) proceed() {
	for b := range c.all.All() {
		o := &b.source.outgoing
		if replaced := o.all[b.id] != b; !b.source.deleted && !replaced {
			o.remove(b)
		}
		c.v.tookLocked(1)
		c.v.restLocked()
	}
}
