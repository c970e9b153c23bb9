package leveret

import (
	"time"

	"github.com/leveretmq/leveret/internal/fifo"
	"github.com/leveretmq/leveret/internal/record"
	"github.com/leveretmq/leveret/internal/schedule"
)

// The at-least-once strategy: a dead letter stays in the quorum queue in which it died until every target has it. What
// cannot be sent now is tried again later. Only so many are on their way at a time, and the others wait for their turn.
// Rules: DL-31.
const (
	pendingRetry    = 180_000 // ms after which a dead letter is tried again
	maxPendingTries = 32      // how many are on their way at a time
)

// pendingLetters are the dead letters of a quorum queue that are not with all their targets.
type pendingLetters struct {
	c       *quorum
	waiting fifo.Queue[pendingLetter] // for their first try
	tried   []*pendingLetter          // oldest first
	purged  int                       // how many of tried are
	timer   schedule.Timer[wakeable]
}

// A pendingLetter is a dead letter with what is left to do for it.
type pendingLetter struct {
	e           entry
	reason      Reason
	died        int64           // when it was first tried, in seconds since 1970: what its history says
	tried       bool            // once at least
	hadTarget   bool            // some try had a target
	beforeStop  bool            // it died before its queue told itself to stop, so the queue takes it even when stopped
	purged      bool            // the queue does not count it any more, but goes on sending it // DL-29
	at          int64           // when it is tried again, in ns since 1970
	confirmedBy map[*Queue]bool // targets that have it
	refusedBy   map[*Queue]bool // targets that refused it: it is pending until each has it, even if deleted meanwhile
}

// keepPending keeps a dead letter and has it sent after what has died before.
// Rules: DL-29.
func (c *quorum) keepPending(e entry, reason Reason) {
	stopped, known := c.isStopped(c)
	c.note(e, record.Turn{Now: record.Dying, Reason: string(reason)})
	c.setPending(pendingLetter{e: e, reason: reason, beforeStop: known && !stopped})
	c.sendPendingNext()
}

// setPending puts a dead letter behind those that wait.
func (c *quorum) setPending(d pendingLetter) {
	if c.pending == nil {
		c.pending = &pendingLetters{c: c}
		c.pending.timer.Value = c.pending
	}
	c.countAside(d.e.m, 1)
	c.pending.waiting.PushBack(d)
}

// end takes out all dead letters, the oldest first, as ones that nobody has yet. Those that were purged are lost.
// Rules: R-11.
func (p *pendingLetters) end() (all []pendingLetter) {
	c := p.c
	c.pending = nil
	c.q.v.timing.heap.Remove(&p.timer)
	for _, d := range p.tried {
		if d.purged {
			c.countDeparting(d.e.m, -1)
			c.q.lostAtEndLocked([]entry{d.e})
		} else {
			all = append(all, pendingLetter{e: d.e, reason: d.reason})
		}
	}
	for d := range p.waiting.All() {
		all = append(all, pendingLetter{e: d.e, reason: d.reason})
	}
	for _, d := range all {
		c.countAside(d.e.m, -1)
	}
	*p = pendingLetters{c: c} // an operation that waits for its next turn finds nothing more
	return all
}

// sendPendingNext puts the sending of pending dead letters on the worklist. If there are too many deaths for that, the
// next one's turn sends this one too.
func (c *quorum) sendPendingNext() { c.q.v.dieLocked(deadLetter{q: c.q, task: c.pending}) }

// proceed tries the pending dead letters that are due, and those that wait as long as few enough are on their way.
// Rules: DL-31.
func (p *pendingLetters) proceed() {
	c := p.c
	if c.q.deleted {
		return
	}
	now := c.q.v.nowLocked()
	sendAll(c, func() {
		p.retryDue(now)
		p.tryWaiting(now)
	})
	for _, d := range p.tried {
		c.q.v.wakeAtLocked(&p.timer, d.at)
	}
	c.removed()
}

// tryWaiting tries those that wait as long as few enough are on their way.
func (p *pendingLetters) tryWaiting(now int64) {
	for len(p.tried)-p.purged < maxPendingTries && p.waiting.Len() > 0 {
		d := p.waiting.PopFront()
		d.died = now / int64(time.Second)
		if !p.c.try(&d) {
			p.tried = append(p.tried, &d)
		}
	}
}

// each yields all of them, oldest first.
func (p *pendingLetters) each(yield func(waitingMessage) bool) {
	for _, d := range p.tried {
		if !yield(waitingMessage{d.e, d.at, d.reason}) {
			return
		}
	}
	for d := range p.waiting.All() {
		if !yield(waitingMessage{d.e, 0, d.reason}) {
			return
		}
	}
}

// retryDue tries again what is due, oldest first.
func (p *pendingLetters) retryDue(now int64) {
	left := p.tried[:0]
	for _, d := range p.tried {
		if d.at > now || !p.c.try(d) {
			left = append(left, d)
		}
	}
	clear(p.tried[len(left):])
	p.tried = left
}

// try sends a dead letter to every target that does not have it yet. It reports whether all have it and the queue is
// done with it.
// Rules: DL-30, DL-32.
func (c *quorum) try(d *pendingLetter) bool {
	v := c.q.v
	letter := &deadLetter{q: c.q, m: d.e.m, copy: d.e.seq, retry: d.tried, reason: d.reason}
	d.tried = true
	d.at = deadlineAfter(v.nowLocked(), pendingRetry)
	m, targets, _ := v.deadTargetsLocked(letter, d.died)
	if len(targets) == 0 {
		return false // a missing exchange, no route or only circles: it is kept // DL-30
	}
	done := true
	for _, t := range targets {
		if !d.confirmedBy[t] && !c.offer(d, m, t) {
			done = false
		}
		if t == c.q && v.rules.selfDeadLettersUnconfirmed {
			done = false
		}
	}
	d.hadTarget = true
	if !done || len(d.refusedBy) > 0 {
		return false
	}
	v.deadLetteredEventLocked(letter, m, targets)
	c.confirmed(d)
	return true
}

// offer hands a dead letter to one target and keeps whether the target took it.
func (c *quorum) offer(d *pendingLetter, m *message, t *Queue) (taken bool) {
	if !c.q.handOnLocked(t, arrival{m, c.q.v.carried(d.e.deliveries), c.sender(d, t), d.e.seq}) {
		mark(&d.refusedBy, t)
		return false
	}
	mark(&d.confirmedBy, t)
	delete(d.refusedBy, t)
	return true
}

// sender is the publisher that t charges d to. A dead letter that the queue had sent to itself before it told itself to
// stop is charged to nobody.
func (c *quorum) sender(d *pendingLetter, t *Queue) publisher {
	if t == c.q && d.beforeStop && !d.hadTarget {
		return nil
	}
	return c
}

func mark(set *map[*Queue]bool, q *Queue) {
	if *set == nil {
		*set = map[*Queue]bool{}
	}
	(*set)[q] = true
}

// confirmed stops counting a dead letter that all targets have.
func (c *quorum) confirmed(d *pendingLetter) {
	if log := c.q.v.log; log != nil {
		log.leaves(d.e.seq)
	}
	if d.purged {
		c.pending.purged--
		c.countDeparting(d.e.m, -1)
		return
	}
	c.q.v.counters.DeadLettersConfirmed++
	c.countAside(d.e.m, -1)
}

// wake tries again what is due.
func (p *pendingLetters) wake(int64) { p.proceed() }

func (p *pendingLetters) nextWake() (at int64, ok bool) {
	for _, d := range p.tried {
		if !ok || d.at < at {
			at, ok = d.at, true
		}
	}
	return at, ok
}

func (p *pendingLetters) actsWhenStale() bool { return false }

// dropPending drops all pending dead letters.
// Rules: DL-34.
func (c *quorum) dropPending(cause Cause) {
	p := c.pending
	if p == nil {
		return
	}
	for _, d := range p.tried {
		c.q.dropLocked(d.e, d.reason, cause)
	}
	c.purgePending(cause)
	for _, d := range p.tried {
		c.countDeparting(d.e.m, -1)
	}
	p.tried, p.purged = nil, 0
	c.q.v.timing.heap.Remove(&p.timer)
}

// purgePending drops the pending dead letters that were not tried yet. It returns how many the queue counted and, like
// RabbitMQ, counts none of those that were tried any more, which are still sent: only the memory alarm knows of them.
// Rules: Q-40.
func (c *quorum) purgePending(cause Cause) int {
	p := c.pending
	if p == nil {
		return 0
	}
	n := p.waiting.Len() + len(p.tried) - p.purged
	waiting := p.waiting
	p.waiting = fifo.Queue[pendingLetter]{}
	for d := range waiting.All() {
		c.countAside(d.e.m, -1)
	}
	lost := func(yield func(entry) bool) {
		for d := range waiting.All() {
			if !yield(d.e) {
				return
			}
		}
	}
	c.q.dropAllLocked(waiting.Len(), cause, lost, func() (entry, Reason) {
		d := waiting.PopFront()
		return d.e, d.reason
	})
	for _, d := range p.tried {
		if !d.purged {
			d.purged = true
			if log := c.q.v.log; log != nil {
				log.leaves(d.e.seq) // nobody tries again after a restart // R-11
			}
			p.purged++
			c.countAside(d.e.m, -1)
			c.countDeparting(d.e.m, 1)
		}
	}
	return n
}

// hurryPending tries at once what had no target so far, as a change of the queue's policy does.
// Rules: DL-31.
func (c *quorum) hurryPending() {
	if c.pending == nil || len(c.pending.tried) == 0 {
		return
	}
	for _, d := range c.pending.tried {
		if !d.hadTarget {
			d.at = 0
		}
	}
	c.q.v.laterLocked(c.q, c.pending)
}
