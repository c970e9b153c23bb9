package leveret

import (
	"slices"
	"time"
)

// Dead letters are values on a worklist. The queue types do not publish: they append what died, and the operation that
// holds the lock works the list off before it ends. So a death in the middle of a death is just one more item, and the
// order is that of RabbitMQ's mailboxes. // DL-10

// A Reason says why a message died.
// Rules: DL-1.
type Reason string

// The reasons for dead-lettering.
const (
	Rejected      Reason = "rejected"       // rejected or nacked without requeue
	Expired       Reason = "expired"        // its time to live was over
	MaxLength     Reason = "maxlen"         // the queue was too long
	DeliveryLimit Reason = "delivery_limit" // it came back to a quorum queue too often
)

// A deadLetter is one item of the worklist: a message on its way from the queue in which it died or, if task is set,
// what the queue, or the virtual host, does next.
type deadLetter struct {
	q          *Queue
	m          *message
	copy       uint64 // the number of m in q
	deliveries uint32
	retry      bool // the at-least-once strategy has tried it before
	reason     Reason
	task       task
}

// A task is what an operation goes on with when those that died before have been sent.
type task interface{ proceed() }

// worklist is a FIFO that reuses its memory.
type worklist struct {
	items  []deadLetter
	done   int
	pushed int    // since it was last empty
	roots  int    // of them, deaths of messages that were there when the work began
	before uint64 // the last copy that was made before the work began; 0: it has not begun
	echo   bool   // a dead letter is arriving at its target: see Notification
}

// worklistSlack is how many places of items that are done are not worth moving the others for.
const worklistSlack = 32

func (w *worklist) len() int { return len(w.items) - w.done }

func (w *worklist) push(d deadLetter) {
	if w.done > worklistSlack && w.done >= len(w.items)/2 {
		n := copy(w.items, w.items[w.done:])
		clear(w.items[n:])
		w.items, w.done = w.items[:n], 0
	}
	w.items = append(w.items, d)
}

// working reports whether the list is being worked off.
func (w *worklist) working() bool { return w.before > 0 }

func (w *worklist) next() *deadLetter { return &w.items[w.done] }

func (w *worklist) pop() deadLetter {
	d := w.items[w.done]
	w.items[w.done] = deadLetter{}
	if w.done++; w.done == len(w.items) {
		w.items, w.done = emptied(w.items), 0
	}
	return d
}

// freeDeaths is how many deaths an operation may cause whatever there is in the virtual host.
const freeDeaths = 100_000

// laterLocked has a queue, or the virtual host if q is nil, go on with a task when those that died before have been sent.
func (v *vhost) laterLocked(q *Queue, t task) { v.deaths.push(deadLetter{q: q, task: t}) }

// dieLocked puts a dead letter on the worklist. It reports false if one operation has caused too many deaths: more than
// freeDeaths, and more than one in each queue for each message that was there when the work began. The cycle rule lets a message
// die once in each queue, so only two kinds of topology reach this number. In 3.10 a history that a client made up can hide a
// circle from the rule. In every release many queues that dead-letter to all others send a message along every path that there
// is. RabbitMQ goes on there until it is out of memory.
// Rules: DL-24.
func (v *vhost) dieLocked(d deadLetter) bool {
	w := &v.deaths
	if w.pushed++; d.task == nil && (w.before == 0 || d.copy <= w.before) {
		w.roots++
	} else if w.pushed > freeDeaths && w.pushed > freeDeaths+w.roots*(len(v.queues)+1) {
		return false
	}
	w.push(d)
	return true
}

// mayYieldLocked reports whether the operation lets others in when its turn is over: between a task and what died before it,
// so that the dead letters of a queue stay in order, or when it has taken too long for that.
func (v *vhost) mayYieldLocked() bool {
	return v.deaths.next().task != nil || v.timing.turn.steps >= longTurn()
}

// deadLetterAllLocked publishes every dead letter on the worklist, and those that are added meanwhile.
func (v *vhost) deadLetterAllLocked() {
	v.deaths.before = v.stored.lastCopy
	for v.deaths.len() > 0 {
		if v.timing.turn.steps >= turn() && v.mayYieldLocked() {
			v.yieldLocked()
			continue
		}
		v.tookLocked(1)
		if d := v.deaths.pop(); d.task != nil {
			d.task.proceed()
		} else {
			v.deadLetterLocked(&d)
		}
	}
	v.deaths.pushed, v.deaths.roots, v.deaths.before = 0, 0, 0
}

// deadLetterOnceLocked sends a message that has left q to its dead-letter exchange, or drops the message if none is
// set: the at-most-once strategy.
// Rules: T-13, DL-2.
func (q *Queue) deadLetterOnceLocked(e entry, reason Reason) {
	v := q.v
	if !q.set.hasDLX {
		if v.log != nil {
			v.log.leaves(e.seq)
		}
		q.lostUnseenLocked(reason, 1)
		if v.watchesDrops() {
			v.droppedEventLocked(q, loss{m: e.m, copy: e.seq, reason: reason, cause: CauseNoDeadLetterExchange})
		}
		return
	}
	if !v.dieLocked(deadLetter{q: q, m: e.m, copy: e.seq, deliveries: e.deliveries, reason: reason}) {
		q.dropLocked(e, reason, CauseCycle)
	}
}

// losesUnseenLocked reports whether messages that die in q only have to be counted.
func (q *Queue) losesUnseenLocked() bool {
	return !q.set.hasDLX && !q.v.watchesDrops() && q.v.log == nil
}

// lostUnseenLocked counts n messages that died in q, which has no dead-letter exchange.
// Rules: DL-2.
func (q *Queue) lostUnseenLocked(reason Reason, n int) {
	if n == 0 {
		return
	}
	q.diedLocked(reason, n, &q.v.counters.NoDeadLetterExchange)
	// These are the steps of countDroppedLocked. With it BenchmarkFull/dead-letter=false takes 10 % longer.
	q.v.counters.Dropped.NoDeadLetterExchange += uint64(n)
	q.counters.deaths.noExchange += uint64(n)
}

// deadLetterLocked publishes a dead letter, at most once: what cannot be delivered is lost.
// Rules: DL-5, DL-6, DL-8, DL-12.
func (v *vhost) deadLetterLocked(d *deadLetter) {
	if v.log != nil { // with what its targets get: one record has both
		v.log.leaves(d.copy)
	}
	m, targets, circles := v.deadTargetsLocked(d, v.nowLocked()/int64(time.Second))
	if m == nil {
		d.q.diedLocked(d.reason, 1, &v.counters.NoDeadLetterExchange)
		v.dropLocked(d.q, loss{m: d.m, copy: d.copy, reason: d.reason, cause: CauseExchangeMissing})
		return
	}
	v.tookLocked(len(targets) + len(circles))
	d.q.diedLocked(d.reason, 1, &v.counters.DeadLetteredAtMostOnce)
	v.deadLetteredEventLocked(d, m, targets)
	replied := v.deadRepliesLocked(d, m)
	if len(targets)+len(circles) == 0 && replied == (replies{}) {
		v.dropLocked(d.q, loss{m: m, parent: d.copy, reason: d.reason, cause: CauseDeadLetterUnroutable})
	}
	for _, t := range circles {
		v.dropLocked(d.q, loss{m: m, parent: d.copy, reason: d.reason, cause: CauseCycle, target: t})
	}
	for _, t := range targets {
		taken := d.q.handOnLocked(t, arrival{m, v.carried(d.deliveries), nil, d.copy})
		if died := t.set.overflow == rejectPublishDLX; !taken && !died { // L-16
			v.dropLocked(d.q, loss{m: m, parent: d.copy, reason: d.reason, cause: CauseRefused, target: t})
		}
	}
}

// handOnLocked hands a dead letter of q to one of its targets, t, which may deliver it at once.
// Rules: C-5a.
func (q *Queue) handOnLocked(t *Queue, a arrival) (taken bool) {
	w := &q.v.deaths
	w.echo = !q.outrunsConfirm(t, a.m)
	taken = t.impl.accept(a)
	w.echo = false
	return taken
}

// outrunsConfirm reports whether t delivers m, a dead letter of q, before q has confirmed what led to the death: a classic queue
// confirms a persistent message when the message is on the disk, and by then another classic queue has delivered.
// Rules: C-5a.
func (q *Queue) outrunsConfirm(t *Queue, m *message) bool {
	return q.confirmsStored(m) && t.impl.deliversFirst()
}

// deadTargetsLocked makes the message that a dead letter is published as and finds the queues that get it, for both
// strategies. circles are those that the cycle rule keeps it from. m is nil if the dead-letter exchange is missing. at
// is when the message died, in seconds since 1970.
// Rules: DL-2, DL-7, DL-24, DL-30.
func (v *vhost) deadTargetsLocked(l *deadLetter, at int64) (m *message, targets, circles []*Queue) {
	x := v.deathExchangeLocked(l.q.set)
	if x == nil {
		return nil, nil, nil
	}
	m = v.deadLocked(l, x, at)
	targets = v.routeDeadLocked(x, m)
	isCircle := func(t *Queue) bool { return v.cyclicLocked(m, l.reason, t) }
	if !slices.ContainsFunc(targets, isCircle) {
		return m, targets, nil
	}
	var kept []*Queue
	for _, t := range targets {
		if isCircle(t) {
			circles = append(circles, t)
		} else {
			kept = append(kept, t)
		}
	}
	return m, kept, circles
}

// deathExchangeLocked returns the dead-letter exchange that is set, nil if none is or it does not exist. Dead letters
// mostly take the way of the one before.
// Rules: DL-2, DL-3.
func (v *vhost) deathExchangeLocked(s *settings) *Exchange {
	if !s.hasDLX {
		return nil
	}
	if c := &v.lastDeath; c.topology == v.topology && c.exchange == s.dlx && c.x != nil {
		return c.x
	}
	return v.exchanges[s.dlx]
}

// routeDeadLocked is route for a dead letter.
func (v *vhost) routeDeadLocked(x *Exchange, m *message) []*Queue {
	c := &v.lastDeath
	plain := m.extra.published == nil
	if plain && c.x == x && c.topology == v.topology && c.key == m.key {
		return c.queues
	}
	targets := v.routeLocked(x, m)
	if plain && !v.router.varying {
		*c = routeCache{v.topology, x.name, m.key, x, append(c.queues[:0], targets...)}
	}
	return targets
}

// carried is the delivery count that a dead letter takes along.
// Rules: D-7, D-11, D-12.
func (v *vhost) carried(deliveries uint32) uint32 {
	if v.rules.countEveryReturn {
		return 0
	}
	return deliveries
}

// deadLocked makes the message that is published to x. The dead letter l died at a time in seconds since 1970.
// Rules: T-12, DL-7, DL-8.
func (v *vhost) deadLocked(l *deadLetter, x *Exchange, at int64) *message {
	if l.m.sharesHistory() && !v.rules.headerHistory {
		return v.deadAlikeLocked(l, x, at)
	}
	n := &struct { // one allocation: most of them live and go together
		message
		extra
		death
	}{message: *l.m}
	m := &n.message
	m.exchange, m.extra = x, &n.extra
	if l.m.extra != nil {
		n.extra = *l.m.extra
		n.extra.published = n.extra.published.died()
	}
	n.extra.lastExchange = l.m.exchange
	// The death is recorded with the old exchange and keys. // DL-7
	v.describeDeath(&n.death, l, at)
	m.dropExpiration() // T-12
	if l.q.set.hasDLRK {
		v.replaceKeys(m, l.q.set.dlrk)
	}
	if v.rules.headerHistory { // DL-20
		v.tookLocked(m.recordInHeaders(&n.death))
		if l.retry && !l.q.set.hasDLRK {
			m.takeKeysOfHistory() // DL-31
		}
	} else {
		d := &n.death
		if n.extra.index != nil { // the records of a long history are apart, or they would keep all dead messages in memory
			d = new(death)
			*d = n.death
		}
		_, looked := n.extra.record(d)
		v.tookLocked(looked / entriesOfHistory)
	}
	return m
}

// describeDeath fills in the death of l at a time in seconds since 1970.
// Rules: DL-13, DL-16.
func (v *vhost) describeDeath(d *death, l *deadLetter, at int64) {
	m := l.m
	*d = death{queue: l.q.name, reason: l.reason, count: 1, at: at, exchange: m.exchange, key: m.key,
		expiration: m.publishedExpiration()}
	d.keys = v.rules.recordedKeys(m)
}

// dropExpiration takes the expiration away, so that the dead letter does not expire again because of it.
// Rules: T-12.
func (m *message) dropExpiration() {
	if p := m.props; p != nil && p.Has()&PropExpiration != 0 {
		own := m.editProps()
		m.extra.removed += int32(1 + len(own.Expiration))
		own.Expiration, own.Present = "", own.Present&^PropExpiration
	}
}

// replaceKeys makes the dead-letter routing key the message's only key. BCC keys route no more, and 4.3 still leaves
// them out of the history.
// Rules: DL-9.
func (v *vhost) replaceKeys(m *message, key string) {
	bcc := m.bccKeys()
	m.key, m.extra.published = key, nil
	if len(bcc) > 0 && !v.rules.keysWithoutBCC {
		m.extra.published = &published{all: append([]string{key}, bcc...), routes: 1, bcc: uint32(len(bcc))}
	}
	if v.rules.dropCCWithKey {
		m.dropHeader(headerCC)
	}
}

// deadAlikeLocked is deadLocked for a message that shares its history in 4.3.
// Rules: DL-7, DL-8.
func (v *vhost) deadAlikeLocked(l *deadLetter, x *Exchange, at int64) *message {
	n := *l.m
	n.exchange, n.extra = x, v.commonLocked(l, at)
	if set := l.q.set; set.hasDLRK {
		n.key = set.dlrk
	}
	return &n
}

func (m *message) dropHeader(name string) {
	h := m.headers()
	if _, there := h.Get(name); there {
		m.setHeaders(h.withoutFirst(name))
	}
}

// publishedExpiration is the expiration as consumers see it, nil if the message has none.
// Rules: T-11, DL-16.
func (m *message) publishedExpiration() *string {
	if !m.hasExpiration() || m.extra != nil && m.extra.hidesExpiration {
		return nil
	}
	return &m.props.Expiration
}
