package leveret

import (
	"math"

	"github.com/leveretmq/leveret/internal/schedule"
)

// Expiry. A message's deadline is fixed when it enters a queue: the smaller of the queue's TTL
// and its own, from then. It expires only at the head of the queue, so a queue needs one timer
// for its head (a quorum queue looks at the head of each priority), never one a message. The
// timer is set for the earliest head there has been; woken, the queue looks again.

// deadlineAfter is now plus ms, without running over.
func deadlineAfter(now, ms int64) int64 {
	if ms > (math.MaxInt64-now)/1e6 {
		return math.MaxInt64
	}
	return now + ms*1e6
}

// nextExpiry is the earliest deadline of a head, 0 for none.
func (q *Queue) nextExpiry() (at int64) {
	if q.deadlines == 0 || q.overtaken {
		return 0
	}
	if q.quorum == nil {
		return q.backlog.head().deadline
	}
	for h := range q.backlog.heads() {
		if d := h.entry.deadline; d != 0 && (at == 0 || d < at) {
			at = d
		}
	}
	return at
}

// watchHead makes sure that the queue is woken when its head expires.
func (q *Queue) watchHead() {
	if at := q.nextExpiry(); at != 0 {
		q.v.wakeAt(&q.expiry, at)
	}
}

// headChanged is called when messages have left the front: the next may be overdue already, or
// be the first that has a deadline.
func (q *Queue) headChanged() {
	if q.deadlines > 0 {
		q.expireDue(expiryBatch)
		q.watchHead()
	}
}

// headExpiry is the queue as what its head's timer wakes.
type headExpiry Queue

const expiryBatch = 64 // messages that expire between two looks at the dead letters

func (h *headExpiry) wake(int64) {
	q := (*Queue)(h)
	q.expireDue(expiryBatch)
	q.eased()
}

func (h *headExpiry) nextWake() (int64, bool) {
	if h.overtaken { // the timer is for a head that there was
		return h.expiry.At()
	}
	at := (*Queue)(h).nextExpiry()
	return at, at != 0
}

// expireDue lets due heads expire, at most limit of them; the timer brings it back for the rest.
func (q *Queue) expireDue(limit int) {
	now := q.v.now()
	q.overtaken = false
	if q.quorum == nil {
		q.expireHeads(now, limit)
		return
	}
	for n := 0; n < limit && q.deadlines > 0; {
		before := n
		for h := range q.backlog.heads() {
			if d := h.entry.deadline; d != 0 && d <= now {
				e := q.backlog.popHead(h)
				q.counted(&e, -1)
				q.kill(e, Expired)
				n++
				break
			}
		}
		if n == before {
			return
		}
	}
}

// expireHeads is expireDue for a classic queue, whose one head is looked at again and again:
// the figures are brought up to date once.
func (q *Queue) expireHeads(now int64, limit int) {
	var n int
	var bytes int64
	unseen := !q.set.hasDLX && !q.v.watchesDrops()
	for ; n < limit && n < q.deadlines; n++ {
		h := q.backlog.head()
		if h.deadline == 0 || h.deadline > now {
			break
		}
		bytes += int64(len(h.m.body))
		if e := q.backlog.pop(); !unseen {
			q.kill(e, Expired)
		}
	}
	if unseen {
		q.v.counters.NoDeadLetterExchange.Expired += uint64(n)
	}
	q.ready -= n
	q.deadlines -= n
	q.bytesReady -= bytes
	q.v.account(-bytes)
}

// expireNext lets the message that would leave next expire if it is due.
func (q *Queue) expireNext() bool {
	e := q.backlog.head()
	if e.deadline == 0 || e.deadline > q.v.now() {
		return false
	}
	q.kill(q.take(), Expired)
	return true
}

// An idleTimer deletes a queue that was not used for as long as x-expires says. A queue with
// consumers is in use.
type idleTimer struct {
	q     *Queue
	used  int64 // when it was last used
	timer schedule.Timer[wakeable]
}

// setIdleTimer follows a change of the expiry time.
func (q *Queue) setIdleTimer() {
	switch t := q.idle; {
	case q.set.expires < 0:
		if t != nil {
			q.v.timing.heap.Remove(&t.timer)
			q.idle = nil
		}
	case t == nil:
		q.idle = &idleTimer{q: q, used: q.v.now()}
		q.idle.timer.Value = q.idle
		q.v.timing.heap.Set(&q.idle.timer, q.idle.due())
	default:
		if q.quorum == nil || q.v.rules.policyChangeIsUse {
			t.used = q.v.now()
		}
		q.v.timing.heap.Set(&t.timer, t.due())
	}
}

// touch restarts the idle time.
func (q *Queue) touch() {
	if q.idle != nil {
		q.idle.used = q.v.now()
		q.v.wakeAt(&q.idle.timer, q.idle.due())
	}
}

// due is when the queue expires if nobody uses it. A quorum queue has to be idle for longer
// than the period, where a classic one goes with its last millisecond.
func (t *idleTimer) due() int64 {
	at := deadlineAfter(t.used, t.q.set.expires)
	if t.q.quorum != nil {
		at = deadlineAfter(at, 1)
	}
	return at
}

func (t *idleTimer) wake(now int64) {
	switch at, ok := t.nextWake(); {
	case !ok:
	case at > now:
		t.q.v.timing.heap.Set(&t.timer, at)
	default:
		t.q.v.removeQueue(t.q, CauseQueueExpired)
	}
}

func (t *idleTimer) nextWake() (int64, bool) {
	if t.q.deleted || t.q.consumers.len() > 0 {
		return 0, false
	}
	return t.due(), true
}
