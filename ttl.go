package leveret

import (
	"math"
	"time"

	"github.com/leveretmq/leveret/internal/schedule"
)

// Expiry. A message's deadline is fixed when it enters a queue: the smaller of the queue's TTL
// and its own, from then. It expires only at the head of the queue, so a queue needs one timer
// for its head (a quorum queue looks at the head of each priority), never one a message. The
// timer is set for the earliest head there has been; woken, the queue looks again.

// lowerTTL is the time to live of a message that arrives, in ms: the lower of the queue's and its own; negative for
// none.
// Rules: T-1.
func lowerTTL(queue, own int64) int64 {
	if own >= 0 && (queue < 0 || own < queue) {
		return own
	}
	return queue
}

// deadlineAfter is now, in ns since 1970, plus a number of ms; the largest number if that is beyond it.
func deadlineAfter(now, ms int64) int64 {
	const nanoseconds = int64(time.Millisecond)
	if ms > (math.MaxInt64-now)/nanoseconds {
		return math.MaxInt64
	}
	return now + ms*nanoseconds
}

// expiryBatch is how many messages expire between two looks at the dead letters.
const expiryBatch = 64

// An idleTimer deletes a queue that was not used for as long as x-expires says. A queue with
// consumers is in use.
// Rules: Q-34.
type idleTimer struct {
	q     *Queue
	used  int64 // when it was last used, as elapsed time
	timer schedule.Timer[wakeable]
}

// setIdleTimerLocked follows a change of the expiry time.
// Rules: Q-35, P-19.
func (q *Queue) setIdleTimerLocked() {
	switch t := q.idle; {
	case q.set.expires < 0:
		if t != nil {
			q.v.timing.heap.Remove(&t.timer)
			q.idle = nil
		}
	case t == nil:
		q.idle = &idleTimer{q: q, used: q.v.elapsedLocked()}
		q.idle.timer.Value = q.idle
		q.v.timing.heap.Set(&q.idle.timer, q.idle.due())
		q.usedLocked()
	default:
		if q.traits.usedByPolicy {
			t.used = q.v.elapsedLocked()
			q.usedLocked()
		}
		q.v.timing.heap.Set(&t.timer, t.due())
	}
}

// touchLocked restarts the idle time.
// Rules: Q-35.
func (q *Queue) touchLocked() {
	if q.idle != nil {
		q.idle.used = q.v.elapsedLocked()
		q.v.wakeAtLocked(&q.idle.timer, q.idle.due())
		q.usedLocked()
	}
}

// usedLocked has the log know when the queue was used.
func (q *Queue) usedLocked() {
	if q.v.log != nil {
		q.v.log.used(q)
	}
}

// due is when the queue expires if nobody uses it.
// Rules: Q-36.
func (t *idleTimer) due() int64 {
	return t.q.v.shownLocked(deadlineAfter(deadlineAfter(t.used, t.q.set.expires), t.q.traits.idleBeyond))
}

func (t *idleTimer) actsWhenStale() bool { return false }

// Rules: Q-34.
func (t *idleTimer) wake(now int64) {
	switch at, ok := t.nextWake(); {
	case !ok:
	case at > now:
		t.q.v.timing.heap.Set(&t.timer, at)
	default:
		t.q.v.removeQueueLocked(t.q, CauseQueueExpired)
	}
}

// Rules: Q-34.
func (t *idleTimer) nextWake() (int64, bool) {
	if t.q.deleted || t.q.consumerCountLocked() > 0 {
		return 0, false
	}
	return t.due(), true
}
