package leveret

import (
	"time"

	"github.com/leveretmq/leveret/internal/record"
	"github.com/leveretmq/leveret/internal/schedule"
)

// A classic is a classic queue: what it does with messages, each act told in the order in which RabbitMQ's classic queue
// takes its steps. The order is the rule: it decides which message expires, which one is trimmed and which consumer gets the next.
//
// A classic queue has one head. It looks whether the head has expired only at the steps named here.
type classic struct {
	q *Queue
	store
	headTimer schedule.Timer[wakeable]
	gaps      *gaps // nil: none
	lazy      bool  // its ready messages are on the disk
}

// gaps are, by priority, the numbers of messages that a stop has lost before anybody had them: what came behind one of them does
// not count as redelivered when it comes back. 0: there is none.
// Rules: R-15.
type gaps []uint64

var _ queueType = (*classic)(nil)

func (c *classic) init(q *Queue) *store {
	c.q, c.headTimer.Value = q, c
	n, plainZero := q.args.maxPriority, q.v.rules.plainPriorityZero
	if n > 0 || n == 0 && !plainZero {
		c.levels = int16(max(n, 1) + 1) // Q-21, D-38
	}
	c.chooseMode()
	return &c.store
}

// chooseMode follows the argument x-queue-mode or else the policy. A policy that does not say it any more changes nothing.
// Rules: Q-18a.
func (c *classic) chooseMode() {
	if !c.q.v.rules.diskHidesExpiration {
		return // 4.3 has no modes
	}
	value, _ := c.q.args.declared.Get(argMode)
	mode, given := asBytes(value)
	if !given {
		mode, given = c.q.policy.text("queue-mode")
	}
	if given {
		c.lazy = mode == queueModeLazy
	}
}

// onDisk is a ready message as the queue reads it from where it keeps it.
// Rules: Q-18a.
func (c *classic) onDisk(e entry) entry {
	if c.lazy {
		e.m = e.m.withHiddenExpiration()
	}
	return e
}

// accept takes a message that was routed to the queue.
func (c *classic) accept(a arrival) bool {
	q, s := c.q, c.q.set
	// reject-publish decides first, before any consumer is considered. // L-10
	if s.overflow != dropHead && c.refuses(a) {
		return false
	}
	e := entry{m: a.m, seq: c.nextSequence(), deliveries: a.deliveries}
	ttl := lowerTTL(s.ttl, a.m.expiration())
	if ttl >= 0 {
		e.deadline = deadlineAfter(q.v.nowLocked(), ttl) // T-2
	}
	q.enqueuedEventLocked(a.m, e.seq, a.parent)
	if q.v.log != nil {
		q.v.log.put(q, e)
	}
	// An empty queue delivers the message to a consumer without enqueueing it. // D-24
	if q.consumers != nil && (c.ready.n == 0 || c.overtakes()) && q.deliverNextLocked(&e) {
		return true
	}
	// With a TTL of 0 and no dead-letter exchange the message is discarded without a look at the queue. // T-9
	if s.ttl == 0 && !s.hasDLX {
		c.deadLetter(e, Expired)
		return true
	}
	// The redelivered flag is all that the queue remembers of deliveries elsewhere. // D-8
	if a.deliveries > 0 {
		e.returns = 1
	}
	// The message goes behind those of its priority. A queue that takes a message while others wait does not look at its
	// head, even if the message's priority has made it the head.
	others := c.ready.n > 0
	e = c.onDisk(e)
	c.pushBack(e)
	c.countReady(e, 1)
	if others {
		c.headUnchecked = c.headUnchecked || c.levels > 1 && c.head().seq == e.seq
	} else if ttl >= 0 {
		c.watchHead()
	}
	if q.consumers != nil {
		c.deliverReady()
	}
	// What is still ready counts for the limits. // L-4, L-5
	c.trim(ttl < 0)
	// A TTL of 0 is over at once if the message is the head. // T-9
	if ttl == 0 && !c.headUnchecked {
		c.expire(turn())
	}
	return true
}

// overtakes reports whether a message that arrives goes to the single active consumer ahead of those that are ready: the queue has not
// delivered since the one before was cancelled. RabbitMQ's queue crashes if the consumer acknowledges.
// Rules: D-21.
func (c *classic) overtakes() bool {
	if !c.q.traits.idleCancel || !c.q.args.singleActive {
		return false
	}
	to := c.q.consumers.active()
	return to != nil && to.cfg.NoAck && to.ableLocked()
}

// refuses applies reject-publish and reject-publish-dlx to a message that arrives.
// Rules: L-10, L-16, L-19.
func (c *classic) refuses(a arrival) bool {
	s := c.q.set
	if !s.over(holdings{c.ready.n + 1, c.ready.bytes + c.size(a.m)}) {
		return false
	}
	e := entry{m: a.m, seq: c.nextSequence(), deliveries: a.deliveries}
	c.q.refusedEventLocked(e.m, e.seq, a.parent)
	if s.overflow == rejectPublishDLX {
		c.deadLetter(e, MaxLength)
	}
	return true
}

// get hands the head to basic.get; nil if there is no ready message.
// Rules: D-34.
func (c *classic) get(ch *Channel, cfg GetConfig) *Delivery {
	c.q.touchLocked()
	if c.deadlines > 0 && !c.headUnchecked {
		c.expireAll()
	}
	if c.ready.n == 0 || ch.err != nil { // it may have ended meanwhile
		return nil
	}
	e := c.take()
	d := c.q.deliverGetLocked(ch, e, cfg)
	c.q.deliveredEventLocked(d, e.seq, cfg.handover()) // before others get in
	// Heads that are uncovered expire before the remaining messages are counted.
	if c.deadlines > 0 {
		c.expireAll()
	}
	d.MessageCount = c.ready.n
	c.checkHead()
	return d
}

func (c *classic) requeuesAnew(settling) bool { return false }
func (c *classic) attach(*Channel)            {}

// takeBack takes messages back that were settled with requeue or whose holder is gone: each goes to its old position.
// Rules: D-2, D-40.
func (c *classic) takeBack(back []entry, how settling, _ *Consumer) (over []entry) {
	for _, e := range back {
		if how.failed() && !c.q.v.rules.countEveryReturn {
			e.deliveries = saturatingInc(e.deliveries) // D-7
		}
		if !c.behindGap(e) {
			e.returns = saturatingInc(e.returns)
		}
		e = c.onDisk(e)
		c.putBack(e)
		c.countReady(e, 1)
		if log := c.q.v.log; log != nil {
			log.turn(e, record.Turn{})
		}
		if e.deadline != 0 {
			c.watchHead()
		}
	}
	return nil
}

// tookBack follows the return of messages.
// Rules: D-6, L-8, L-13.
func (c *classic) tookBack(_ [][]entry, _ settling, from *Consumer) {
	// The limit is enforced before messages expire and before consumers get any. // L-8
	for c.trims() && c.trimSome(false) {
		c.q.v.restLocked()
	}
	// What expired in its holder's hands expires now. // T-8
	if c.deadlines > 0 {
		c.expire(turn())
	}
	from.heirLocked().resumeLocked()
	c.freed()
}

// settled is called when messages were acknowledged or rejected for good: nothing in the queue changes.
func (c *classic) settled() {}

// left looks at the head when consumers have left, and delivers to those that remain.
// Rules: D-21, T-5.
func (c *classic) left() {
	if c.deadlines > 0 {
		c.expire(turn())
	}
	c.freed()
}

// freed delivers what is ready: a consumer has room. The queue does not look at the head for that.
// Rules: T-5.
func (c *classic) freed() {
	c.deliverReady()
	if !c.headUnchecked {
		c.checkHead()
	}
}

// reconfigured follows a change of the settings, which were was.
// Rules: L-9, L-18.
func (c *classic) reconfigured(was *settings) {
	c.chooseMode()
	// The queue forgets for which heads it has set its timer. It looks at the head in the end.
	c.q.v.timing.heap.Remove(&c.headTimer)
	// RabbitMQ sets the limits and trims to them before it sets what overflow does.
	if was.overflow == dropHead {
		c.trimToLimits(false)
	}
	c.trim(false)
	c.checkHead()
}

// purge removes the ready messages and returns how many.
// Rules: Q-40.
func (c *classic) purge() int { return c.dropReady(CausePurged) }

// deleted drops everything: the queue is gone.
func (c *classic) deleted(cause Cause) {
	c.dropReady(cause)
	c.q.v.timing.heap.Remove(&c.headTimer)
}

func (c *classic) dropReady(cause Cause) int {
	c.headUnchecked = false
	return c.q.dropReadyLocked(cause)
}

// keeps reports whether a restart keeps a message: one that is persistent.
// Rules: R-4.
func (c *classic) keeps(m *message) bool { return m.isPersistent() }

func (c *classic) deliversFirst() bool  { return true }
func (c *classic) takesBackFirst() bool { return true }

func (c *classic) headTime(held *entry) time.Time { return c.oldest(c.head(), held) }

// inform counts as persistent what a restart keeps: messages that were published as persistent, if the queue is durable.
func (c *classic) inform(i *QueueInfo) {
	i.Lazy = c.lazy
	if c.q.lifetime.durable {
		i.Persistent = c.ready.persistent.n + c.unacked.persistent.n
		i.BytesPersistent = c.ready.persistent.bytes + c.unacked.persistent.bytes
	}
}

// stopping trims the queue while it still has what the stop loses.
// Rules: R-13, L-8.
func (c *classic) stopping() {
	for c.trims() && c.trimSome(false) {
		continue // nobody gets in between
	}
}

// content empties the queue and returns its persistent messages.
// Rules.
func (c *classic) content(as NodeEnd) (kept content) {
	var lost []entry
	for e := range c.all() {
		if c.keeps(e.m) {
			kept.ready = append(kept.ready, c.written(*e, as))
		} else {
			lost = append(lost, *e)
		}
	}
	switch {
	case as == KilledNode:
		c.gaps = nil
	case c.q.v.rules.gapsEndFlags:
		c.noteGaps(lost)
	}
	kept.gaps = c.gaps
	c.clear()
	c.headUnchecked = false
	c.q.v.timing.heap.Remove(&c.headTimer)
	c.q.lostAtEndLocked(lost)
	return kept
}

// noteGaps notes the first gap of each priority.
// Rules: R-15.
func (c *classic) noteGaps(lost []entry) {
	noted := false
	for _, e := range lost {
		if e.returns > 0 {
			continue // somebody had it
		}
		if c.gaps == nil {
			none := make(gaps, max(c.levels, 1))
			c.gaps = &none
		}
		if gap := &(*c.gaps)[c.gapOf(e)]; *gap == 0 || e.seq < *gap {
			*gap, noted = e.seq, true
		}
	}
	if log := c.q.v.log; noted && log != nil {
		log.note(c.gapsRecord())
	}
}

func (c *classic) gapOf(e entry) int { return max(c.level(e.m), 0) }

// behindGap reports whether a message came behind a gap of its priority.
// Rules: R-15.
func (c *classic) behindGap(e entry) bool {
	if c.gaps == nil {
		return false
	}
	gap := (*c.gaps)[c.gapOf(e)]
	return gap != 0 && gap < e.seq
}

func (c *classic) gapsRecord() *record.Gaps { return &record.Gaps{Queue: c.q.args.id, Copies: *c.gaps} }

// describe adds the gaps to a snapshot.
func (c *classic) describe(add func(record.Item)) {
	if c.gaps != nil {
		add(c.gapsRecord())
	}
}

// written is what a classic queue reads from disk of a message that it had. If the node was killed it takes every message for
// delivered. After a stop 4.3 knows of failed deliveries only, 3.10 of each return.
// Rules.
func (c *classic) written(e entry, as NodeEnd) entry {
	r := c.q.v.rules
	switch {
	case as == KilledNode:
		e = r.delivered(e)
	case !r.flagOutlivesStop:
		e.returns = min(e.deliveries, 1)
	}
	if r.diskHidesExpiration {
		e.m = e.m.withHiddenExpiration()
	}
	return e
}

// A classic queue takes everything for delivered after a kill, so nobody has to know who had it.
func (c *classic) noteHeld(*unacked, uint64, *Channel) {}

func (c *classic) outlived(e entry) entry { return c.q.v.rules.delivered(e) }

// delivered is a message that a classic queue takes for delivered after a kill.
// Rules: R-6.
func (r *rules) delivered(e entry) entry {
	e.returns = 1
	if !r.countEveryReturn {
		e.deliveries = 1
	}
	return e
}

// fill puts messages into the queue in the order in which they shall leave.
func (c *classic) fill(kept content) {
	c.gaps = kept.gaps
	for _, e := range kept.ready {
		c.pushBack(e)
		c.countReady(e, 1)
	}
	c.watchHead()
}

// booted begins the idle time anew, and trims to the limits, whatever overflow is: RabbitMQ sets the limits before.
// Rules.
func (c *classic) booted() {
	c.lazy = false // whatever it has been
	c.chooseMode()
	c.q.touchLocked()
	c.trimToLimits(false)
	c.tookBack(nil, ended, nil)
}

// deadLetter sends a message that has left the queue to the dead-letter exchange, or drops it if there is none.
func (c *classic) deadLetter(e entry, reason Reason) { c.q.deadLetterOnceLocked(e, reason) }

// seen is nothing to a classic queue: it refuses at once.
func (c *classic) seen() {}

// A classic queue counts the consumers that it has: it has no ghosts.
// Rules: Q-41.
func (c *classic) countGhosts(int) {}
func (c *classic) ghosts() int     { return 0 }

// deliverReady hands ready messages to consumers that can take them.
func (c *classic) deliverReady() {
	for n := 0; c.ready.n > 0; n++ {
		if n == turn() {
			c.q.v.tookLocked(n)
			c.q.v.laterLocked(c.q, delivering{c})
			return
		}
		to := c.q.nextConsumerLocked()
		if to == nil {
			return
		}
		if c.deadlines > 0 && !c.headUnchecked && c.headExpired(c.q.v.nowLocked()) {
			c.deadLetter(c.take(), Expired)
			continue
		}
		e := c.take()
		c.q.deliverLocked(to, &e)
		c.expireUncovered() // before it looks for the next consumer
	}
}

// delivering is the rest of deliveries that are many.
type delivering struct{ c *classic }

func (d delivering) proceed() { d.c.freed() }

// expireUncovered expires the heads that a delivery has uncovered.
func (c *classic) expireUncovered() {
	for c.deadlines > 0 && c.headExpired(c.q.v.nowLocked()) {
		c.deadLetter(c.take(), Expired)
	}
}

// expireAll expires all heads that are due.
func (c *classic) expireAll() {
	for c.deadlines > 0 && c.headExpired(c.q.v.nowLocked()) {
		c.expire(turn())
		c.watchHead()
		c.q.v.restLocked()
	}
	c.headUnchecked = false
}

// take removes the head. The queue looks at the next head from now on.
func (c *classic) take() entry {
	e := c.takeUnwatched()
	if e.deadline != 0 {
		c.watchHead()
	}
	return e
}

// takeUnwatched is take without the timer for the next head.
func (c *classic) takeUnwatched() entry {
	c.headUnchecked = false
	e := c.top().pop() // nothing is in the returned list
	c.countReady(e, -1)
	return e
}

// trim drops heads while the queue exceeds its limits, if overflow says so. lasting: for a message that has arrived and does not
// expire.
// Rules: L-4.
func (c *classic) trim(lasting bool) {
	if c.trims() && c.exceeds() {
		c.trimToLimits(lasting)
	}
}

// Rules: L-4.
func (c *classic) trims() bool { return c.q.set.overflow == dropHead && c.q.set.limited() }

// trimToLimits drops heads until the queue keeps its limits. With priorities the head has the highest.
// Rules: L-4, L-6, L-7.
func (c *classic) trimToLimits(lasting bool) {
	if c.trimSome(lasting) {
		c.q.v.laterLocked(c.q, trimming{c, lasting})
	}
}

// trimSome is a step of trimToLimits. It reports whether there is more to drop.
func (c *classic) trimSome(lasting bool) (more bool) {
	dropped := 0
	for c.exceeds() {
		if more = dropped == turn(); more {
			break
		}
		c.deadLetter(c.takeUnwatched(), MaxLength)
		dropped++
	}
	if dropped == 0 {
		return more
	}
	c.q.v.tookLocked(dropped)
	// A queue that is left with one message after the arrival of one that does not expire takes the two for the same. // T-5
	if lasting && c.ready.n == 1 && c.deadlines > 0 {
		c.headUnchecked = true
	} else {
		c.checkHead()
	}
	return more
}

// exceeds reports whether the queue has messages to drop for its limits.
func (c *classic) exceeds() bool { return c.q.set.over(c.ready.holdings) && c.ready.n > 0 }

// trimming is the rest of a trim that takes long.
type trimming struct {
	c       *classic
	lasting bool
}

func (t trimming) proceed() {
	if !t.c.q.deleted {
		t.c.trimToLimits(t.lasting)
	}
}

// checkHead expires heads that are due and sets the timer for the next one: messages have left the front.
func (c *classic) checkHead() {
	if c.deadlines > 0 {
		c.expire(expiryBatch)
		c.watchHead()
	}
}

// expire expires heads that are due, at most limit of them; the timer brings the queue back for the rest. Only the
// head is looked at: what expired behind a living message stays.
// Rules: T-4, T-5, T-15, T-17.
func (c *classic) expire(limit int) {
	c.headUnchecked = false
	now := c.q.v.nowLocked()
	// The figures change once. With a change for each message BenchmarkExpiry/impl=leveret/queues=1/dead-letter=false takes 26 %
	// longer to fire.
	unseen := c.q.losesUnseenLocked()
	var gone kept
	for gone.n < limit && gone.n < c.deadlines {
		first := c.top()
		if d := first.head().deadline; d == 0 || d > now { // T-3
			break
		}
		e := first.pop()
		gone.count(e.m, 1, c.size(e.m))
		if !unseen {
			c.deadLetter(e, Expired)
		}
	}
	c.removedExpired(gone)
	c.q.v.tookLocked(gone.n)
	if unseen {
		c.q.lostUnseenLocked(Expired, gone.n)
	}
}

// headDeadline is when the head expires, 0 for never or if the queue does not look at the head.
func (c *classic) headDeadline() int64 {
	if c.deadlines == 0 || c.headUnchecked {
		return 0
	}
	return c.top().head().deadline
}

// watchHead sets the timer for the head's deadline.
// Rules: T-7.
func (c *classic) watchHead() {
	if at := c.headDeadline(); at != 0 {
		c.q.v.wakeAtLocked(&c.headTimer, at)
	}
}

func (c *classic) timer() *schedule.Timer[wakeable] { return &c.headTimer }

// waiting yields nothing: a classic queue sets no message aside.
func (c *classic) waiting(func(waitingMessage) bool) {}

// wake expires the head at its deadline.
func (c *classic) wake(int64) {
	c.expire(expiryBatch)
	c.checkHead()
}

// nextWake is the head's deadline. While the head is unchecked the timer stays as it is: the timer was set for an earlier
// head, and the queue looks at the new one then.
func (c *classic) nextWake() (int64, bool) {
	if c.headUnchecked {
		return c.headTimer.At()
	}
	at := c.headDeadline()
	return at, at != 0
}

// actsWhenStale reports that a timer whose message has gone is not put off: with priorities the queue may find, at that
// time, a head that it has not looked at.
func (c *classic) actsWhenStale() bool { return c.levels > 1 }
