package leveret

import (
	"github.com/google/btree"
	"github.com/leveretmq/leveret/internal/record"
	"github.com/leveretmq/leveret/internal/schedule"
)

// Delayed retry: a quorum queue holds a returned message back for a while, the longer the more deliveries of the
// message have failed. The message is neither ready nor unacknowledged meanwhile and does not expire. // D-41, D-42

// delays reports whether a message that comes back in this way is delayed.
// Rules: D-41.
func (s *settings) delays(how settling) bool {
	switch s.retry {
	case retryAll:
		return true
	case retryFailed:
		return how.failed()
	case retryReturned:
		return !how.failed()
	}
	return false
}

// retryDelay is how many ms a message with so many failed deliveries waits: the minimum for each, at most the maximum.
func (s *settings) retryDelay(deliveries uint32) int64 {
	longest := s.retryMax
	if longest < 0 {
		longest = s.retryMin
	}
	n := int64(max(1, deliveries))
	if s.retryMin > 0 && n > longest/s.retryMin {
		return longest
	}
	return min(s.retryMin*n, longest)
}

// delayedRetries are the messages of a quorum queue that wait for their next delivery, by the time when they are ready
// again.
type delayedRetries struct {
	c     *quorum
	wait  *btree.BTreeG[delayedRetry]
	next  delayedRetry // the first to be ready: of several with one time that which came back first
	held  holdings     // what waits
	timer schedule.Timer[wakeable]
}

// A delayedRetry is ready again at a time in ns since 1970; those of one time in the order of their positions.
type delayedRetry struct {
	at int64
	e  entry
}

func (d delayedRetry) before(o delayedRetry) bool {
	return d.at < o.at || d.at == o.at && d.e.seq < o.e.seq
}

// add has d wait.
func (r *delayedRetries) add(d delayedRetry) {
	if r.wait.Len() == 0 || d.at < r.next.at {
		r.next = d
	}
	r.wait.ReplaceOrInsert(d)
}

// take takes out the first message.
// Rules: D-42.
func (r *delayedRetries) take() delayedRetry {
	d := r.next
	r.wait.Delete(d)
	r.next, _ = r.wait.Min()
	return d
}

// delay holds e back.
func (c *quorum) delay(e entry) {
	until := deadlineAfter(c.q.v.nowLocked(), c.q.set.retryDelay(e.deliveries))
	c.note(e, record.Turn{Now: record.Delayed, Until: until})
	c.delayUntil(until, e)
}

// delayUntil holds e back until a time in ns since 1970.
func (c *quorum) delayUntil(at int64, e entry) {
	if c.retries == nil {
		c.retries = &delayedRetries{c: c, wait: btree.NewG(treeDegree, delayedRetry.before)}
		c.retries.timer.Value = c.retries
	}
	r := c.retries
	r.add(delayedRetry{at, e})
	r.count(e.m, 1)
	c.q.v.wakeAtLocked(&r.timer, at)
}

// count adds a message to those that wait, with n = -1 it takes the message out.
func (r *delayedRetries) count(m *message, n int) {
	r.held.add(n, int64(n)*r.c.size(m))
	r.c.countAside(m, n)
}

// wake makes the messages that have waited long enough ready: they join the returned list.
// Rules: D-42.
func (r *delayedRetries) wake(now int64) {
	c, n := r.c, 0
	for r.wait.Len() > 0 && r.next.at <= now && n < turn() { // the timer comes back for the rest
		d := r.take()
		r.count(d.e.m, -1)
		c.note(d.e, record.Turn{Now: record.Returned})
		c.putReturned(d.e)
		n++
	}
	c.q.v.tookLocked(n)
	if at, ok := r.nextWake(); ok {
		c.q.v.wakeAtLocked(&r.timer, at)
	}
	c.expireDue()
	c.deliverReady()
	c.trim()
	c.updateRejecting()
	c.removed()
	if r.wait.Len() == 0 && c.retries == r { // the empty tree keeps its nodes
		c.q.v.timing.heap.Remove(&r.timer)
		c.retries = nil
	}
}

func (r *delayedRetries) nextWake() (int64, bool) {
	return r.next.at, r.wait.Len() > 0
}

func (r *delayedRetries) actsWhenStale() bool { return false }

// waiting yields delayed retries and pending dead letters.
func (c *quorum) waiting(yield func(waitingMessage) bool) {
	more := true
	if c.retries != nil {
		c.retries.wait.Ascend(func(d delayedRetry) bool {
			more = yield(waitingMessage{d.e, d.at, ""})
			return more
		})
	}
	if more && c.pending != nil {
		c.pending.each(yield)
	}
}

// end takes out all messages that wait, the first one first.
func (r *delayedRetries) end() (all []delayedRetry) {
	c := r.c
	c.retries = nil
	c.q.v.timing.heap.Remove(&r.timer)
	c.removedAside(r.held)
	for r.wait.Len() > 0 {
		all = append(all, r.take())
	}
	return all
}

// dropRetries drops all messages that wait and returns how many there were.
func (c *quorum) dropRetries(cause Cause) int {
	if c.retries == nil {
		return 0
	}
	r := c.retries
	c.retries = nil
	c.q.v.timing.heap.Remove(&r.timer)
	c.removedAside(r.held)
	waiting := func(yield func(entry) bool) { r.wait.Ascend(func(d delayedRetry) bool { return yield(d.e) }) }
	c.q.dropAllLocked(r.held.n, cause, waiting, func() (entry, Reason) {
		d, _ := r.wait.DeleteMin()
		return d.e, ""
	})
	return r.held.n
}
