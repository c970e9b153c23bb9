package leveret

// Losses. Every message that leaves the broker without being acknowledged is dropped here, with its cause: counted by its queue and
// its virtual host, and told to those who watch.

// A loss is one message that is lost.
type loss struct {
	m            *message
	copy, parent uint64 // see DroppedEvent
	reason       Reason
	cause        Cause
	target       *Queue // nil: no one queue kept the message out
}

// dropLocked loses a message in q; q is nil for a publish that no queue received.
func (v *vhost) dropLocked(q *Queue, l loss) {
	if q == nil {
		*v.counters.Dropped.of(l.cause)++
	} else {
		q.countDroppedLocked(l.cause, 1)
	}
	if v.watchesDrops() {
		v.droppedEventLocked(q, l)
	}
}

// dropLocked loses a copy that has left the queue. reason is how it died, empty if it did not die.
func (q *Queue) dropLocked(e entry, reason Reason, cause Cause) {
	q.v.dropLocked(q, loss{m: e.m, copy: e.seq, reason: reason, cause: cause})
}

// dropReadyLocked drops the ready messages and returns how many. Nothing is dead-lettered.
// Rules: DL-4.
func (q *Queue) dropReadyLocked(cause Cause) int {
	if q.v.watchesDrops() {
		for e := range q.store.all() {
			q.v.droppedEventLocked(q, loss{m: e.m, copy: e.seq, cause: cause})
		}
	}
	n := q.store.clear()
	q.countDroppedLocked(cause, n)
	return n
}

// dropHeldLocked drops the messages of a deleted queue that consumers and basic.get hold: settling them has no effect.
// Rules: D-33.
func (q *Queue) dropHeldLocked(cause Cause) {
	n := q.store.unacked.n
	q.countDroppedLocked(cause, n)
	if n == 0 || !q.v.watchesDrops() {
		return
	}
	for _, ch := range q.v.holdersLocked() {
		for _, u := range ch.tags.All() {
			if u.q == q && !u.void {
				q.v.droppedEventLocked(q, loss{m: u.e.m, copy: u.e.seq, cause: cause})
			}
		}
	}
}

// dropAllLocked drops everything in the virtual host, and its queues with it. No channel may be open.
func (v *vhost) dropAllLocked(cause Cause) {
	for v.deaths.len() > 0 {
		if d := v.deaths.pop(); d.pending == nil {
			v.dropLocked(d.q, loss{m: d.m, copy: d.copy, reason: d.reason, cause: cause})
		}
	}
	for _, q := range v.sortedQueuesLocked() {
		q.impl.deleted(cause)
		v.queueEventLocked(q.name, cause)
	}
}

// holdersLocked returns the channels that may hold messages: those that are open, and those that end in this operation.
func (v *vhost) holdersLocked() []*Channel { return append(v.allChannelsLocked(), v.ending...) }

func (q *Queue) countDroppedLocked(cause Cause, n int) {
	if n == 0 {
		return
	}
	*q.counters.lost().dropped.of(cause) += uint64(n)
	*q.v.counters.Dropped.of(cause) += uint64(n)
}

func (v *vhost) watchesDrops() bool { return v.events != nil && v.events.Dropped != nil }

func (v *vhost) droppedEventLocked(q *Queue, l loss) {
	e := DroppedEvent{EventMessage: v.eventMessageLocked(l.m), Copy: l.copy, Parent: l.parent, Reason: l.reason, Cause: l.cause}
	if q != nil {
		e.Queue = q.name
	}
	if l.target != nil {
		e.Target = l.target.name
	}
	tell(v, v.events.Dropped, e)
}
