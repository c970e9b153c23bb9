package leveret

import (
	"iter"
	"time"

	"github.com/leveretmq/leveret/internal/fifo"
)

// Losses. Every message that leaves the broker without being acknowledged is dropped here, with its cause: counted by
// its queue and its virtual host, and reported to the watchers.

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
	if v.log != nil && l.copy != 0 {
		v.log.leaves(l.copy)
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
	lost := q.store.backlog
	n := q.store.clear()
	q.dropAllLocked(n, cause, entries(lost.all()), func() (entry, Reason) { return lost.pop(), "" })
	return n
}

// dropAllLocked drops n messages of one cause that have left the queue. lost yields them now; next returns them later, one after the
// other, with how they died.
func (q *Queue) dropAllLocked(n int, cause Cause, lost iter.Seq[entry], next func() (entry, Reason)) {
	if log := q.v.log; log != nil && n > 0 {
		copies := func() uint64 { e, _ := next(); return e.seq }
		if q.v.watchesDrops() { // next is for those who watch
			var all fifo.Queue[uint64]
			for e := range lost {
				all.PushBack(e.seq)
			}
			copies = all.PopFront
		}
		log.leave(n, copies)
	}
	q.lostAllLocked(n, cause, next)
}

// lostAllLocked counts n messages that are lost and tells of them.
func (q *Queue) lostAllLocked(n int, cause Cause, next func() (entry, Reason)) {
	if n == 0 {
		return
	}
	q.countDroppedLocked(cause, n)
	if !q.v.watchesDrops() {
		return
	}
	at := q.v.timeLocked()
	tellEach(q.v, q.v.events.Dropped, n, func() DroppedEvent {
		e, reason := next()
		return q.v.droppedEvent(q, loss{m: e.m, copy: e.seq, reason: reason, cause: cause}, at)
	})
}

func entries(all iter.Seq[*entry]) iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for e := range all {
			if !yield(*e) {
				return
			}
		}
	}
}

// dropHeldLocked drops the messages of a deleted queue that consumers and basic.get hold: settling them has no effect.
// Rules: D-33.
func (q *Queue) dropHeldLocked(cause Cause) {
	held := q.store.unacked
	if held.n == 0 {
		return
	}
	if q.v.log == nil && !q.v.watchesDrops() {
		q.countDroppedLocked(cause, held.n) // to look for them takes long
	} else {
		var lost fifo.Queue[entry]
		for u := range q.v.heldLocked() {
			if u.q == q {
				lost.PushBack(u.e)
			}
		}
		q.dropAllLocked(lost.Len(), cause, entries(lost.All()), func() (entry, Reason) { return lost.PopFront(), "" })
	}
	q.v.orphanLocked(held.holdings)
}

const (
	maxOrphans     = 1 << 20 // bytes of messages of deleted queues that may stay with their holders
	orphanOverhead = 256     // bytes that a message takes besides what its queue counts, roughly
)

// orphanLocked notes that channels hold messages of a deleted queue. To look for them takes as long as there are
// unacknowledged messages, so the channels let go of them together, when they have become many.
func (v *vhost) orphanLocked(h holdings) {
	v.stored.orphans += h.bytes + orphanOverhead*int64(h.n)
	if v.stored.orphans < maxOrphans {
		return
	}
	v.stored.orphans = 0
	for u := range v.heldLocked() {
		if u.q.deleted {
			u.e = entry{}
		}
	}
}

// heldLocked yields the deliveries that channels hold and the broker has not taken back.
func (v *vhost) heldLocked() iter.Seq[*unacked] {
	return func(yield func(*unacked) bool) {
		for _, ch := range v.holdersLocked() {
			for _, u := range ch.tags.All() {
				if !u.void && !yield(u) {
					return
				}
			}
		}
	}
}

// dropAllLocked drops everything in the virtual host, and its queues with it. No channel may be open.
func (v *vhost) dropAllLocked(cause Cause) {
	v.dropDeathsLocked(cause)
	for _, q := range v.sortedQueuesLocked() {
		q.impl.deleted(cause)
		v.queueEventLocked(q.name, cause)
	}
}

// dropDeathsLocked drops the dead letters that are on their way. cause is empty if nobody is to be told. What else there is to
// do is done if the node will come up again.
func (v *vhost) dropDeathsLocked(cause Cause) {
	for v.deaths.len() > 0 {
		switch d := v.deaths.pop(); {
		case d.task != nil && v.node.down:
			d.task.proceed()
		case d.task == nil && cause != "":
			v.dropLocked(d.q, loss{m: d.m, copy: d.copy, reason: d.reason, cause: cause})
		}
	}
}

// holdersLocked returns the channels that may hold messages: those that are open, and those that end in this operation.
func (v *vhost) holdersLocked() []*Channel { return append(v.allChannelsLocked(), v.ending...) }

func (q *Queue) countDroppedLocked(cause Cause, n int) {
	*q.counters.lost().dropped.of(cause) += uint64(n)
	*q.v.counters.Dropped.of(cause) += uint64(n)
}

func (v *vhost) watchesDrops() bool { return v.events != nil && v.events.Dropped != nil }

func (v *vhost) droppedEventLocked(q *Queue, l loss) {
	tell(v, v.events.Dropped, v.droppedEvent(q, l, v.timeLocked()))
}

func (v *vhost) droppedEvent(q *Queue, l loss, at time.Time) DroppedEvent {
	e := DroppedEvent{EventMessage: v.eventMessage(l.m, at), Copy: l.copy, Parent: l.parent,
		Reason: l.reason, Cause: l.cause}
	if q != nil {
		e.Queue = q.name
	}
	if l.target != nil {
		e.Target = l.target.name
	}
	return e
}
