package leveret

import (
	"slices"
	"time"

	"github.com/leveretmq/leveret/internal/fifo"
	"github.com/leveretmq/leveret/internal/record"
	"github.com/leveretmq/leveret/internal/schedule"
)

// The at-least-once strategy: a dead letter stays in the quorum queue in which it died until every target has it. What
// cannot be sent now is tried again later. Only so many are on their way at a time, and the others wait for their turn.
// Rules: DL-31.
const (
	pendingRetry    = 180_000 // ms between two looks at the dead letters that were tried, and after which one is sent again
	maxPendingTries = 32      // how many are on their way at a time
)

// pendingLetters are the dead letters of a quorum queue that are not with all their targets.
type pendingLetters struct {
	c       *quorum
	waiting fifo.Queue[pendingLetter] // for their first try
	tried   []*pendingLetter          // oldest first
	purged  int                       // how many of tried are
	lookAt  int64                     // when tried is looked at, in ns since 1970; 0: it is empty
	hurried bool                      // a policy has changed: tried is looked at now, too
	timer   schedule.Timer[wakeable]
}

// A pendingLetter is a dead letter with what is left to do for it.
type pendingLetter struct {
	e          entry
	reason     Reason
	died       int64               // when it was first tried, in seconds since 1970: what its history says
	tried      bool                // once at least
	beforeStop bool                // it died before its queue told itself to stop, so the queue takes it even when stopped
	purged     bool                // the queue does not count it any more, but goes on sending it // DL-29
	sent       int64               // when it was last sent to some target, in ns since 1970; 0: never
	targets    map[string]standing // by name: those that it was sent to last, and all that have it
}

// A standing is what a queue knows of one target of a dead letter. It knows the target by its name.
// Rules: DL-30.
type standing uint8

const (
	awaited standing = iota // nothing was heard, and nothing will be
	refused                 // the target gets it at the next try
	taken                   // the target has it
)

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
	p.lookLater(now)
	c.removed()
}

// lookLater has the queue look at what is left of tried in its time.
func (p *pendingLetters) lookLater(now int64) {
	if len(p.tried) == 0 {
		p.lookAt = 0
		return
	}
	if p.lookAt == 0 {
		p.lookAt = deadlineAfter(now, pendingRetry)
	}
	p.c.q.v.wakeAtLocked(&p.timer, p.lookAt)
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
		if !yield(waitingMessage{d.e, p.nextTry(d), d.reason}) {
			return
		}
	}
	for d := range p.waiting.All() {
		if !yield(waitingMessage{d.e, 0, d.reason}) {
			return
		}
	}
}

// nextTry is when a dead letter that was tried is tried again, if no policy changes: at the next look if it is due by then.
func (p *pendingLetters) nextTry(d *pendingLetter) int64 {
	if d.isDue(p.lookAt) {
		return p.lookAt
	}
	return deadlineAfter(p.lookAt, pendingRetry)
}

// isDue reports whether a dead letter that was tried is sent at the next look: it was never sent, or long ago.
func (d *pendingLetter) isDue(now int64) bool {
	return d.sent == 0 || deadlineAfter(d.sent, pendingRetry) <= now
}

// retryDue tries again what is due, oldest first, if it is time to look.
// Rules: DL-31.
func (p *pendingLetters) retryDue(now int64) {
	isTime := p.lookAt != 0 && p.lookAt <= now
	if isTime {
		p.lookAt = 0
	} else if !p.hurried {
		return
	}
	p.hurried = false
	left := p.tried[:0]
	for _, d := range p.tried {
		if !d.isDue(now) || !p.c.try(d) {
			left = append(left, d)
		}
	}
	clear(p.tried[len(left):])
	p.tried = left
}

// try sends a dead letter to every target that does not have it yet. It reports whether all have it and the queue is
// done with it. A further try awaits the answer of targets that the cycle rule keeps from the dead letter, too, which will not
// come.
// Rules: DL-30, DL-32.
func (c *quorum) try(d *pendingLetter) bool {
	v := c.q.v
	letter := &deadLetter{q: c.q, m: d.e.m, copy: d.e.seq, retry: d.tried, reason: d.reason}
	d.tried = true
	m, targets, circles := v.deadTargetsLocked(letter, d.died)
	if m == nil {
		return false // the exchange is missing: it is kept
	}
	awaits := targets
	if letter.retry {
		awaits = append(slices.Clip(targets), circles...)
	}
	replies, replied := c.reply(d, letter, m)
	switch {
	case len(targets)+len(circles)+replies == 0 && d.isTakenBySome():
		// Nobody is to get it any more, and somebody has it.
	case replied && len(awaits) == 0:
		// Replies are not confirmed.
	case !c.send(d, m, targets, awaits):
		return false
	}
	v.deadLetteredEventLocked(letter, m, targets)
	c.confirmed(d)
	return true
}

// reply hands a dead letter to consumers of direct replies and returns how many names of such consumers are among the targets, and whether
// any of them gets the dead letter now. To 3.10 they are no targets, so they get the dead letter at each try.
// Rules: DL-30, M-19c.
func (c *quorum) reply(d *pendingLetter, l *deadLetter, m *message) (targets int, now bool) {
	v := c.q.v
	if m.exchange.name != "" {
		return 0, false
	}
	if v.rules.repliesBypassQueues {
		v.deadRepliesLocked(l, m)
		return 0, false
	}
	names := slices.DeleteFunc(m.replyNames(), func(name string) bool { return !v.isVolatile(name) })
	if slices.ContainsFunc(names, func(name string) bool { return d.targets[name] != taken }) {
		v.deadRepliesLocked(l, m)
		d.replied(names)
		now = true
	}
	return len(names), now
}

// replied notes that consumers of direct replies have a dead letter.
func (d *pendingLetter) replied(names []string) {
	if d.targets == nil {
		d.targets = map[string]standing{}
	}
	for _, name := range names {
		d.targets[name] = taken
	}
}

// send hands a dead letter to those targets that do not have it, and reports whether all that it awaits have it then. Without
// such a target nothing changes: it is kept, whatever became of those that refused it.
// Rules: DL-30.
func (c *quorum) send(d *pendingLetter, m *message, targets, awaits []*Queue) bool {
	var open []*Queue
	for _, t := range targets {
		if s, known := d.targets[t.name]; !known || s == refused {
			open = append(open, t)
		}
	}
	if len(open) == 0 {
		return false
	}
	was := d.targets
	d.targets = map[string]standing{}
	for name, s := range was {
		if s == taken {
			d.targets[name] = taken
		}
	}
	for _, t := range awaits {
		if d.targets[t.name] != taken {
			d.targets[t.name] = awaited
		}
	}
	for _, t := range open {
		c.offer(d, m, t)
	}
	d.sent = c.q.v.nowLocked()
	return d.isTakenByAll()
}

func (d *pendingLetter) isTakenBySome() bool {
	for _, s := range d.targets {
		if s == taken {
			return true
		}
	}
	return false
}

func (d *pendingLetter) isTakenByAll() bool {
	for _, s := range d.targets {
		if s != taken {
			return false
		}
	}
	return true
}

// offer hands a dead letter to one target and keeps what the target answers.
func (c *quorum) offer(d *pendingLetter, m *message, t *Queue) {
	switch accepted := c.q.handOnLocked(t, arrival{m, c.q.v.carried(d.e.deliveries), c.sender(d, t), d.e.seq}); {
	case !accepted:
		d.targets[t.name] = refused
	case t != c.q || !c.q.v.rules.selfDeadLettersUnconfirmed:
		d.targets[t.name] = taken
	}
}

// sender is the publisher that t charges d to. A dead letter that the queue had sent to itself before it told itself to
// stop is charged to nobody.
func (c *quorum) sender(d *pendingLetter, t *Queue) publisher {
	if t == c.q && d.beforeStop && d.sent == 0 {
		return nil
	}
	return c
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

func (p *pendingLetters) nextWake() (at int64, ok bool) { return p.lookAt, p.lookAt != 0 }

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
	p.tried, p.purged, p.lookAt = nil, 0, 0
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

// hurryPending looks at once at what was tried, as a change of the queue's policy does.
// Rules: DL-31.
func (c *quorum) hurryPending() {
	if c.pending == nil || len(c.pending.tried) == 0 {
		return
	}
	c.pending.hurried = true
	c.q.v.laterLocked(c.q, c.pending)
}
