package leveret

import (
	"slices"

	"github.com/leveretmq/leveret/internal/fifo"
	"github.com/leveretmq/leveret/internal/schedule"
)

// What only quorum queues do: they count how often a message came back and end its time when
// that was too often, hold it back for a while (delayed retry), take it from consumers that
// do not settle it, and can keep dead letters until their targets have confirmed them.

// retryType says which returns delay a message.
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

// returned takes back a message that was settled with requeue, or whose holder is gone, and reports whether that
// was once too often.
func (q *Queue) returned(e entry, how settling) (died bool) {
	r, s := q.v.rules, q.set
	e.returns = saturatingInc(e.returns)
	if how.failed() || r.countEveryReturn {
		e.deliveries = saturatingInc(e.deliveries)
	}
	if s.deliveryLimit >= 0 && int64(e.deliveries) > s.deliveryLimit {
		q.kill(e, DeliveryLimit)
		return true
	}
	if s.delays(how) {
		q.delay(e)
		return false
	}
	q.backlog.giveBack(e, r.requeueToTail && s.deliveryLimit < 0 && how != ended)
	q.counted(&e, 1)
	return false
}

// delayed are messages that wait for their next delivery. They do not expire meanwhile.
type delayed struct {
	waiting []delayedEntry // by due time
	bytes   int64
	timer   schedule.Timer[wakeable]
}

type delayedEntry struct {
	at int64
	e  entry
}

func (d *delayed) len() int { return len(d.waiting) }

// delay holds e back: the longer, the more deliveries of it have failed.
func (q *Queue) delay(e entry) {
	s, d := q.set, &q.quorum.retries
	limit := s.retryMax
	if limit < 0 {
		limit = s.retryMin
	}
	wait := s.retryMin
	if n := int64(max(1, e.deliveries)); wait > 0 && n > limit/wait {
		wait = limit
	} else {
		wait = min(wait*n, limit)
	}
	at := deadlineAfter(q.v.now(), wait)
	i, _ := slices.BinarySearchFunc(d.waiting, at, func(w delayedEntry, at int64) int {
		if w.at <= at {
			return -1
		}
		return 1
	})
	d.waiting = slices.Insert(d.waiting, i, delayedEntry{at, e})
	size := q.size(e.m)
	d.bytes += size
	q.v.account(size)
	q.v.wakeAt(&d.timer, at)
}

// retryTimer is the queue as what its delayed messages wake.
type retryTimer Queue

func (t *retryTimer) wake(now int64) {
	q := (*Queue)(t)
	d := &q.quorum.retries
	n := 0
	for n < len(d.waiting) && d.waiting[n].at <= now {
		e := d.waiting[n].e
		size := q.size(e.m)
		d.bytes -= size
		q.v.account(-size)
		q.backlog.giveBack(e, false)
		q.counted(&e, 1)
		n++
	}
	d.waiting = slices.Delete(d.waiting, 0, n)
	if len(d.waiting) > 0 {
		q.v.wakeAt(&d.timer, d.waiting[0].at)
	}
	if q.deadlines > 0 {
		q.expireDue(q.ready)
	}
	q.pump()
	q.enforce()
	q.eased()
}

func (t *retryTimer) nextWake() (int64, bool) {
	w := t.quorum.retries.waiting
	if len(w) == 0 {
		return 0, false
	}
	return w[0].at, true
}

func (q *Queue) dropRetries(cause Cause) int {
	d := &q.quorum.retries
	n := len(d.waiting)
	for _, w := range d.waiting {
		q.dropped(w.e, "", cause)
	}
	q.v.account(-d.bytes)
	d.waiting, d.bytes = nil, 0
	return n
}

// Dead letters of the at-least-once strategy stay in the queue until every target has taken
// them. What cannot be delivered now is tried again after retryPending; at most
// maxPendingTries are on their way at a time, the others wait their turn.
const (
	retryPending    = 180_000 // ms
	maxPendingTries = 32
)

type pending struct {
	waiting fifo.Queue[pendingDeath]
	tried   []*pendingDeath // oldest first
	purged  holdings        // of tried
	sending int             // 1 while one that is in neither is on its way: it still counts
	bytes   int64
	timer   schedule.Timer[wakeable]
}

// A pendingDeath is a dead letter with what is left to do for it.
type pendingDeath struct {
	e      entry
	reason Reason
	died   int64           // when it was first tried, in seconds: what its history says
	sent   bool            // it has had a target
	early  bool            // it died before its queue told itself to stop, and is on its way when the queue does
	purged bool            // the queue does not count it any more, but goes on sending it
	at     int64           // when it is tried again
	took   map[*Queue]bool // targets that have it
	refuse map[*Queue]bool // targets that refused it: they are waited for, whatever becomes of them
}

func (p *pending) len() int { return p.waiting.Len() + len(p.tried) - p.purged.n + p.sending }

func (q *Queue) keepPending(e entry, reason Reason) {
	p := &q.quorum.pending
	size := q.size(e.m)
	p.bytes += size
	q.v.account(size)
	stopped, known := q.quorum.publishers[q]
	p.waiting.PushBack(pendingDeath{e: e, reason: reason, early: known && !stopped})
	q.v.die(deadLetter{q: q}) // if not now, it is sent after the next
}

// tryPending sends the pending dead letters that are due and those for which there is room now.
func (q *Queue) tryPending() {
	if q.deleted {
		return
	}
	p := &q.quorum.pending
	now := q.v.now()
	left := p.tried[:0]
	for _, d := range p.tried {
		if d.at > now || !q.try(d) {
			left = append(left, d)
		}
	}
	clear(p.tried[len(left):])
	p.tried = left
	for len(p.tried)-p.purged.n < maxPendingTries && p.waiting.Len() > 0 {
		d := p.waiting.PopFront()
		d.died = now / 1e9
		p.sending = 1
		sent := q.try(&d)
		p.sending = 0
		if !sent {
			p.tried = append(p.tried, &d)
		}
	}
	for _, d := range p.tried {
		q.v.wakeAt(&p.timer, d.at)
	}
	q.eased()
}

// try sends a dead letter to every target that does not have it yet and reports whether it is done
// with.
func (q *Queue) try(d *pendingDeath) bool {
	v := q.v
	d.at = deadlineAfter(v.now(), retryPending)
	x := v.exchanges[q.set.dlx]
	if x == nil {
		return false
	}
	m := v.dead(deadLetter{q: q, m: d.e.m, reason: d.reason}, x, d.died)
	var targets []*Queue
	for _, t := range v.route(x, m) {
		if !v.cyclic(m, d.reason, t) {
			targets = append(targets, t)
		}
	}
	if len(targets) == 0 {
		return false
	}
	done := !v.rules.deafToItself || !slices.Contains(targets, q)
	for _, t := range targets {
		switch {
		case d.took[t]:
		case t.accept(m, v.carried(d.e.deliveries), d.sender(q, t)):
			d.mark(&d.took, t)
			delete(d.refuse, t)
		default:
			d.mark(&d.refuse, t)
			done = false
		}
	}
	d.sent = true
	if !done || len(d.refuse) > 0 {
		return false
	}
	v.deadLetteredEvent(q, m, d.reason, targets)
	p, size := &q.quorum.pending, q.size(d.e.m)
	v.account(-size)
	if d.purged {
		p.purged.n--
		p.purged.bytes -= size
	} else {
		v.counters.PendingConfirmed++
		p.bytes -= size
	}
	return true
}

// sender is who the target t takes d for: what was on its way before q told itself to stop is nobody's.
func (d *pendingDeath) sender(q, t *Queue) publisher {
	if t == q && d.early && !d.sent {
		return nil
	}
	return q
}

func (d *pendingDeath) mark(set *map[*Queue]bool, q *Queue) {
	if *set == nil {
		*set = map[*Queue]bool{}
	}
	(*set)[q] = true
}

// pendingTimer is the queue as what its pending dead letters wake.
type pendingTimer Queue

func (t *pendingTimer) wake(int64) { (*Queue)(t).tryPending() }

func (t *pendingTimer) nextWake() (at int64, ok bool) {
	for _, d := range t.quorum.pending.tried {
		if !ok || d.at < at {
			at, ok = d.at, true
		}
	}
	return at, ok
}

// dropPending discards pending dead letters.
func (q *Queue) dropPending(cause Cause) {
	p := &q.quorum.pending
	for _, d := range p.tried {
		q.dropped(d.e, d.reason, cause)
	}
	q.purgePending(cause)
	q.v.account(-p.purged.bytes)
	p.tried, p.purged = nil, holdings{}
}

// purgePending discards the pending dead letters that were not tried yet. It returns how many the queue counted and,
// like RabbitMQ, counts none of those that were tried: they are still sent. To the memory alarm they count.
func (q *Queue) purgePending(cause Cause) int {
	p := &q.quorum.pending
	n := p.len()
	for d := range p.waiting.All() {
		q.dropped(d.e, d.reason, cause)
		q.v.account(-q.size(d.e.m))
	}
	p.waiting.Clear()
	for _, d := range p.tried {
		if !d.purged {
			d.purged = true
			p.purged.n++
			p.purged.bytes += q.size(d.e.m)
		}
	}
	p.bytes = 0
	return n
}

// hurryPending tries at once what led nowhere so far, as a change of the queue's policy does.
func (q *Queue) hurryPending() {
	for _, d := range q.quorum.pending.tried {
		if !d.sent {
			d.at = 0
		}
	}
	q.v.deaths.push(deadLetter{q: q})
}
