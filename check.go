package leveret

import (
	"fmt"
	"maps"
)

// Check verifies the broker's invariants and returns an error that says which one is broken:
// every message is in exactly one place, and every figure is the sum of what it counts. It is
// for tests; it looks at everything.
func (b *Broker) Check() error {
	var first error
	b.eachVHost(func(v *vhost) {
		v.lock()
		defer v.unlock()
		if err := v.checkLocked(); err != nil && first == nil {
			first = fmt.Errorf("leveret: vhost %q: %w", v.name, err)
		}
	})
	return first
}

func (v *vhost) checkLocked() error {
	if v.deaths.len() > 0 {
		return fmt.Errorf("%d dead letters left on the worklist", v.deaths.len())
	}
	held := map[*Queue]kept{}
	for _, ch := range v.holdersLocked() {
		if err := ch.checkTagsLocked(held); err != nil {
			return err
		}
	}
	var bytes int64
	for _, q := range v.sortedQueuesLocked() {
		if err := q.checkLocked(held[q]); err != nil {
			return fmt.Errorf("queue %q: %w", q.name, err)
		}
		bytes += q.store.bytes()
	}
	for _, x := range v.sortedExchangesLocked() {
		if err := x.checkLocked(); err != nil {
			return fmt.Errorf("exchange %q: %w", x.name, err)
		}
	}
	if counted := v.stored.reported + v.stored.growth; counted != bytes {
		return fmt.Errorf("%d bytes accounted for, %d held", counted, bytes)
	}
	return nil
}

// checkTagsLocked adds up what the channel holds.
func (ch *Channel) checkTagsLocked(held map[*Queue]kept) error {
	n := 0
	byConsumer := map[*Consumer]int{}
	for _, u := range ch.tags.All() {
		if u.void {
			continue
		}
		n++
		if !u.q.deleted {
			h := held[u.q]
			h.count(u.e.m, 1, u.q.store.size(u.e.m))
			held[u.q] = h
		}
		if u.c != nil {
			byConsumer[u.c]++
		}
	}
	if n != ch.held {
		return fmt.Errorf("channel %d holds %d deliveries and counts %d", ch.number, n, ch.held)
	}
	perQueue := map[*Queue]int{}
	for tag, c := range ch.consumers {
		if c.unacked-c.settling != byConsumer[c] {
			return fmt.Errorf("consumer %q holds %d deliveries and counts %d", tag, byConsumer[c], c.unacked)
		}
		perQueue[c.q]++
	}
	if ch.window > 0 && !maps.Equal(perQueue, ch.perQueue) {
		return fmt.Errorf("channel %d miscounts its consumers of a queue", ch.number)
	}
	return nil
}

func (q *Queue) checkLocked(held kept) error {
	if err := q.store.verify(held); err != nil {
		return err
	}
	if q.v.turns.waiting > 0 || q.v.closed {
		return nil // the rest holds when an act of the queue has returned, and one may have let others in, or waits for the boot
	}
	waiting := q.store.ready
	if waiting.n > 0 && q.nextConsumerLocked() != nil {
		return fmt.Errorf("%d messages are ready and a consumer waits", waiting.n)
	}
	if c := q.consumers.forgotten(); c != nil {
		return fmt.Errorf("consumer %q has room and does not stand in line", c.tag)
	}
	if q.set.overflow == dropHead && q.set.over(q.store.length()) && waiting.n > 0 {
		return fmt.Errorf("%d messages of %d bytes exceed the limit", waiting.n, waiting.bytes)
	}
	if at := q.impl.headDeadline(); at != 0 {
		if set, ok := q.impl.timer().At(); ok && set <= at {
			return nil
		}
		return fmt.Errorf("the head expires at %d and nothing wakes the queue", at)
	}
	return nil
}

// forgotten returns a consumer that has room and that nothing brings back into its line. It returns nil if there is none.
func (cs *consumers) forgotten() *Consumer {
	if cs == nil || cs.q.args.singleActive {
		return nil
	}
	for c := range cs.all.All() {
		passed := c.passed && c.ch.stalled.of[cs.q] != nil
		if remembered := c.inLine() || c.stalled || passed; !remembered && !c.windowFullLocked() {
			return c
		}
	}
	return nil
}

func (x *Exchange) checkLocked() error {
	live := 0
	for id, b := range x.outgoing.all {
		if x.v.turns.waiting > 0 && b.leadsNowhere() {
			continue // an operation that has let others in is going to remove it
		}
		live++
		in := b.in.In()
		switch {
		case b.id != id || b.source != x:
			return fmt.Errorf("binding %+v is filed under %+v", b.id, id)
		case in == nil || in != *b.incoming():
			return fmt.Errorf("binding %+v is unknown to its destination", id)
		case b.queue != nil && (b.queue.deleted || x.v.queues[b.queue.name] != b.queue):
			return fmt.Errorf("binding %+v leads to a queue that is gone", id)
		case b.exchange != nil && (b.exchange.deleted || x.v.exchanges[b.exchange.name] != b.exchange):
			return fmt.Errorf("binding %+v leads to an exchange that is gone", id)
		}
	}
	if live != x.outgoing.live {
		return fmt.Errorf("%d bindings counted, %d there", x.outgoing.live, live)
	}
	if n := x.outgoing.arranged(); n != len(x.outgoing.all) {
		return fmt.Errorf("%d bindings arranged for routing, %d there", n, len(x.outgoing.all))
	}
	return nil
}

// arranged counts the bindings in the arrangement for routing.
func (o *outgoing) arranged() int {
	if o.words != nil {
		return o.words.Len()
	}
	n := len(o.list.b)
	for _, l := range o.direct {
		n += len(l.b)
	}
	return n
}
