package leveret

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/leveretmq/leveret/internal/fifo"
	"github.com/leveretmq/leveret/internal/record"
	"github.com/leveretmq/leveret/internal/schedule"
)

// A quorum is a quorum queue: what it does with messages, each act told in the order in which RabbitMQ's quorum queue
// takes its steps.
//
// A quorum queue counts how often a message came back and ends its time when that was too often, can hold it back for a
// while (retry.go), keeps dead letters until their targets have them (atleastonce.go), and tells its publishers to stop
// instead of looking at each message (softlimit.go). What 3.10 did otherwise are small steps of their own, named by its rule.
type quorum struct {
	q *Queue
	store
	headTimer schedule.Timer[wakeable]
	soft      softLimit
	clients   map[*Channel]struct{} // that have got or consumed messages, see attach
	lingering int                   // what RabbitMQ still counts as consumers, see countGhosts
	retries   *delayedRetries       // nil: there never was one
	pending   *pendingLetters       // nil: there never was one
	over      []entry               // that die when the node comes up: they have been delivered too often
}

var _ queueType = (*quorum)(nil)

// The priorities of a quorum queue.
// Rules: D-39.
const (
	quorumLevels      = 32 // how many there are, from 0
	quorumAbsentLevel = 4  // that of a message that has none
)

func (c *quorum) init(q *Queue) *store {
	c.q, c.headTimer.Value = q, c
	c.countsProperties = !q.v.rules.bodyBytesOnly // L-3
	if !q.v.rules.quorumFIFO {
		c.levels, c.absent = quorumLevels, quorumAbsentLevel
	}
	return &c.store
}

// accept takes a message that was routed to the queue from a publisher. At-most-once dead letters have none: they are
// taken however full the queue is.
// Rules: L-15.
func (c *quorum) accept(a arrival) bool {
	q := c.q
	// A publisher that was told to stop is refused, whatever room there is. // L-11
	if a.by != nil && c.rejects(a.by) {
		q.refusedEventLocked(a.m, c.nextSequence(), a.parent)
		return false
	}
	e := entry{m: a.m, seq: c.nextSequence(), deliveries: a.deliveries}
	ttl := lowerTTL(q.set.ttl, a.m.expiration())
	if ttl >= 0 {
		e.deadline = deadlineAfter(q.v.nowLocked(), ttl) // T-2
	}
	q.enqueuedEventLocked(a.m, e.seq, a.parent)
	if q.v.log != nil {
		q.v.log.put(q, e)
	}
	// An empty queue delivers the message to a consumer without enqueueing it. // D-24
	if c.ready.n == 0 && q.consumers != nil && q.deliverNextLocked(&e) {
		return true
	}
	var aged fifo.Queue[entry]
	if c.deadlines > 0 && q.v.rules.newestTrimmedFirst {
		// What a trim has uncovered expires with the next arrival, and dies after what is trimmed for that. // L-9
		c.expire(turn(), &aged)
	}
	c.putTail(e)
	if q.consumers != nil {
		c.deliverReady()
	}
	// What is still ready counts for the limits. // L-4, L-5
	c.trim()
	for aged.Len() > 0 {
		c.deadLetter(aged.PopFront(), Expired)
	}
	if stop := c.updateRejecting(); stop && a.by != nil {
		a.by.publisherState().told = true
	}
	// A TTL of 0 is over at once if the message is a head. // T-9
	if ttl == 0 {
		c.expire(turn(), nil)
	}
	return true
}

// get hands the head to basic.get; nil if there is no ready message.
// Rules: D-34.
func (c *quorum) get(ch *Channel, cfg GetConfig) *Delivery {
	c.attach(ch)
	c.seen()
	c.q.touchLocked()
	c.expireNext()
	if hasEnded := ch.err != nil; hasEnded || c.ready.n == 0 || ch.knowsNextGetLocked(c.q) { // others got in meanwhile
		return nil
	}
	e := c.take()
	d := c.q.deliverGetLocked(ch, e, cfg)
	c.q.deliveredEventLocked(d, e.seq, cfg.handover())
	if cfg.NoAck {
		// The settlement that comes with the get expires uncovered heads before the remaining messages are counted.
		c.expireDue()
	} else {
		c.countGhosts(1)
	}
	d.MessageCount = c.ready.n
	c.removed()
	return d
}

// takeBack takes messages back that were settled with requeue or whose holder, from, is gone. Each joins the returned list,
// waits for its retry, or is over the delivery limit.
// Rules: D-3, D-41.
func (c *quorum) takeBack(back []entry, how settling, from *Consumer) (over []entry) {
	for _, e := range back {
		if e, ok := c.returned(e, how); !ok {
			over = append(over, e)
			from.creditDeathLocked()
		}
	}
	return over
}

// tookBack follows the return of messages.
// Rules: L-8, L-9, L-13.
func (c *quorum) tookBack(over [][]entry, how settling, from *Consumer) {
	c.requeuing(how)
	// Those over the delivery limit die first. In 3.10 they die after those that are trimmed, and what expires dies last. // L-9
	var aged *fifo.Queue[entry]
	if c.q.v.rules.newestTrimmedFirst {
		aged = new(fifo.Queue[entry])
	} else {
		c.dieAll(over, DeliveryLimit)
	}
	// What expired in its holder's hands expires now. // T-8
	c.expire(turn(), aged)
	from.rejoinLocked()
	// Consumers get their messages before the limit is enforced. // L-8
	for c.deliverSome(aged) {
		c.q.v.restLocked()
	}
	c.trim()
	if aged != nil {
		c.dieAll(over, DeliveryLimit)
		for aged.Len() > 0 {
			c.die(aged.PopFront(), Expired)
		}
	}
	c.updateRejecting()
	c.removed()
}

// dropOver drops what was to die when the node comes up.
func (c *quorum) dropOver(cause Cause) {
	for _, e := range c.over {
		c.q.dropLocked(e, DeliveryLimit, cause)
	}
	c.over = nil
}

// dieAll dead-letters messages that have left the queue, one by one.
func (c *quorum) dieAll(dead [][]entry, reason Reason) {
	for _, part := range dead {
		for _, e := range part {
			c.die(e, reason)
		}
	}
}

// die dead-letters one of many messages that have left the queue.
func (c *quorum) die(e entry, reason Reason) {
	if c.q.deleted { // while others got in
		c.q.dropLocked(e, reason, CauseQueueDeleted)
	} else {
		c.deadLetter(e, reason)
	}
	c.q.v.tookLocked(1)
	c.q.v.restLocked()
}

// returned takes one message back. One that has come back once too often it returns, to die.
// Rules: D-7, D-12, D-12a, D-12b, D-12c, D-12d, DL-1.
func (c *quorum) returned(e entry, how settling) (counted entry, ok bool) {
	r, s := c.q.v.rules, c.q.set
	e.returns = saturatingInc(e.returns)
	if how.failed() || r.countEveryReturn { // D-7, D-12
		e.deliveries = saturatingInc(e.deliveries)
	}
	if s.deliveryLimit >= 0 && int64(e.deliveries) > s.deliveryLimit {
		c.note(e, record.Turn{Now: record.Over})
		return e, false
	}
	if s.delays(how) {
		c.delay(e)
		return e, true
	}
	if c.requeuesAnew(how) {
		if log := c.q.v.log; log != nil {
			log.behind(e)
		}
		c.putTail(e)
	} else {
		c.note(e, record.Turn{Now: record.Returned})
		c.putReturned(e)
	}
	return e, true
}

// requeuesAnew reports whether a message that comes back is requeued as one that is new to the queue, each on its own.
// Rules: D-4, D-20, L-9.
func (c *quorum) requeuesAnew(how settling) bool {
	return c.q.v.rules.requeueToTail && c.q.set.deliveryLimit < 0 && how.requeue() && how != ended
}

// putTail makes e the last message of its priority.
func (c *quorum) putTail(e entry) {
	c.pushBack(e)
	c.countReady(e, 1)
	if e.deadline != 0 {
		c.watchHead()
	}
}

// putReturned puts e behind the messages that came back before.
// Rules: D-3.
func (c *quorum) putReturned(e entry) {
	c.pushReturned(e)
	c.countReady(e, 1)
	if e.deadline != 0 {
		c.watchHead()
	}
}

// settled is called when messages were acknowledged or rejected for good.
func (c *quorum) settled() { c.removed() }

func (c *quorum) left() { c.freed() }

// freed delivers what is ready: a consumer has room, or consumers have left.
func (c *quorum) freed() {
	c.deliverReady()
	c.removed()
}

// reconfigured follows a change of the settings, which were was.
// Rules: L-9, DL-34.
func (c *quorum) reconfigured(was *settings) {
	s := c.q.set
	// Publishers go on when the limits are gone.
	if was.limited() && !s.limited() && !c.q.v.rules.stopsForGood {
		c.tellPublishers(false)
	}
	if was.atLeastOnce && !s.atLeastOnce {
		c.dropPending(CauseStrategyChanged) // DL-34
		forgetPublisher(c)
	} else {
		c.hurryPending()
	}
	c.trim()
	c.updateRejecting()
	c.removed()
}

// purge removes the messages that nobody holds and returns how many.
// Rules: Q-40, DL-29.
func (c *quorum) purge() int {
	n := c.q.dropReadyLocked(CausePurged) + c.dropRetries(CausePurged)
	if !c.q.v.rules.purgeSkipsPending { // DL-35
		n += c.purgePending(CausePurged)
	}
	c.removed()
	return n
}

// deleted drops everything: the queue is gone.
func (c *quorum) deleted(cause Cause) {
	c.q.dropReadyLocked(cause)
	c.dropRetries(cause)
	c.dropPending(cause)
	c.dropOver(cause)
	c.q.v.timing.heap.Remove(&c.headTimer)
	c.endUnnoticed()
	c.soft.end(c)
}

// keeps reports whether a restart keeps a message: every one.
// Rules: R-5.
func (c *quorum) keeps(*message) bool { return true }

func (c *quorum) deliversFirst() bool  { return false }
func (c *quorum) takesBackFirst() bool { return false }

func (c *quorum) headTime(*entry) time.Time { return time.Time{} }

// inform counts as persistent what a restart keeps: every message.
func (c *quorum) inform(i *QueueInfo) {
	i.Persistent, i.BytesPersistent = i.Messages, i.Bytes
	i.Publishers = len(c.soft.publishers)
	if c.retries != nil {
		i.BytesReady += c.retries.held.bytes
	}
	if back := c.store.returned; back != nil {
		i.Returned = back.Len()
	}
}

// note has the log know that a message has turned to another state.
func (c *quorum) note(e entry, t record.Turn) {
	if log := c.q.v.log; log != nil {
		log.turn(e, t)
	}
}

// noteHeld has the log know who gets a message, with a delivery tag: after a kill it counts as delivered, and what one holder has comes
// back together.
// Rules: D-5, R-7.
func (c *quorum) noteHeld(by *unacked, tag uint64, ch *Channel) {
	t := record.Turn{Now: record.Held, Behind: ch.place()}
	if by.c == nil {
		t.Reason = nameOfGet(tag) // the consumers of 4.3 have none, so they come first
	} else {
		t.Until = int64(by.c.number)
		if c.q.v.rules.holdersByTag {
			t.Reason = by.c.tag
		}
	}
	c.note(by.e, t)
}

// place is a number that orders the channels of a virtual host as the end of the node does. The broker's own is the last.
func (ch *Channel) place() uint64 {
	if ch.super {
		return math.MaxUint64
	}
	return ch.conn.id<<16 | uint64(ch.number)
}

func (c *quorum) outlived(e entry) entry { return e }

// A quorum queue keeps all that it has back, and trims to its limits when the node is up again.
func (c *quorum) stopping() {}

// A quorum queue knows nothing beside its messages that a restart keeps.
func (c *quorum) describe(func(record.Item)) {}

// content empties the queue and returns all its messages. What it knew of channels and of other queues is gone.
// Rules.
func (c *quorum) content(NodeEnd) (kept content) {
	if c.backlog.returned != nil {
		for e := range c.backlog.returned.All() {
			kept.returned = append(kept.returned, *e)
		}
		c.backlog.returned = nil
	}
	for e := range c.all() {
		kept.ready = append(kept.ready, *e)
	}
	c.clear()
	kept.over, c.over = c.over, nil
	if c.retries != nil {
		kept.retries = c.retries.end()
	}
	if c.pending != nil {
		kept.pending = c.pending.end()
	}
	c.q.v.timing.heap.Remove(&c.headTimer)
	c.soft, c.clients, c.lingering = softLimit{}, nil, 0
	return kept
}

// fill puts messages into the queue, each kind in its order.
func (c *quorum) fill(kept content) {
	for _, e := range kept.returned {
		c.pushReturned(e)
		c.countReady(e, 1)
	}
	for _, e := range kept.ready {
		c.pushBack(e)
		c.countReady(e, 1)
	}
	c.over = kept.over
	for _, d := range kept.retries {
		c.delayUntil(d.at, d.e)
	}
	for _, d := range kept.pending {
		c.setPending(d)
	}
	c.watchHead()
}

// booted follows the end of those who held messages, and sends the dead letters that are pending.
// Rules.
func (c *quorum) booted() {
	over := c.over
	c.over = nil
	c.tookBack(inParts(over), ended, nil)
	if c.pending != nil && !c.q.deleted {
		c.sendPendingNext()
	}
}

// deadLetter sends a message that has left the queue to the dead-letter exchange: at once, or with the at-least-once
// strategy as a pending dead letter.
// Rules: DL-28, DL-33.
func (c *quorum) deadLetter(e entry, reason Reason) {
	if !c.q.set.atLeastOnce {
		c.q.deadLetterOnceLocked(e, reason)
		return
	}
	c.q.diedLocked(reason, 1, &c.q.v.counters.DeadLetteredAtLeastOnce)
	c.keepPending(e, reason)
}

// countGhosts counts what RabbitMQ goes on counting as consumers of a quorum queue: each message that basic.get holds,
// each cancelled consumer that holds messages, and until its channel ends each that did not settle in time.
// Rules: Q-41.
func (c *quorum) countGhosts(n int) {
	c.lingering += n
	// The end of the last one is the last use of the queue. // Q-35
	if c.lingering == 0 && !c.q.deleted && c.q.consumers.len() == 0 {
		c.q.touchLocked()
	}
}
func (c *quorum) ghosts() int { return c.lingering }

// deliverReady assigns ready messages to consumers that can take them, one by one, and then sends them consumer by consumer.
// Rules: D-20.
func (c *quorum) deliverReady() {
	if c.deliverSome(nil) {
		c.q.v.laterLocked(c.q, deliveringQuorum{c})
	}
}

// deliveringQuorum is the rest of deliveries that are many.
type deliveringQuorum struct{ c *quorum }

func (d deliveringQuorum) proceed() { d.c.freed() }

// deliverSome is a step of deliverReady. It reports whether there may be more to deliver. What has expired goes to late as
// in expire.
func (c *quorum) deliverSome(late *fifo.Queue[entry]) (more bool) {
	if c.q.consumers != nil {
		c.q.consumers.steps++
	}
	var few [4]assignment
	batch := few[:0]
	for n := 0; c.ready.n > 0; n++ {
		if more = n == turn(); more {
			break
		}
		to := c.q.nextConsumerLocked()
		if to == nil {
			break
		}
		if c.deadlines > 0 && c.headExpired(c.q.v.nowLocked()) {
			c.age(c.take(), late)
			continue
		}
		e := c.take()
		c.q.assignLocked(to, e.m)
		batch = append(batch, assignment{to, e})
	}
	if r := c.q.v.rules; len(batch) > 1 {
		slices.SortStableFunc(batch, func(a, b assignment) int { return r.compareHolders(a.to, b.to) })
	}
	for _, a := range batch {
		c.q.sendLocked(a.to, &a.e)
	}
	if more {
		c.q.v.tookLocked(turn())
	}
	return more
}

// An assignment is a message with the consumer that gets it.
type assignment struct {
	to *Consumer
	e  entry
}

// compareHolders is the order in which a quorum queue sends to several consumers in one step: that of their subscription, in 3.10 of
// their tags.
// Rules: D-20.
func (r *rules) compareHolders(a, b *Consumer) int {
	if r.holdersByTag && a.tag != b.tag {
		return cmp.Compare(a.tag, b.tag)
	}
	return cmp.Compare(a.number, b.number)
}

// take removes the head.
func (c *quorum) take() entry {
	e := c.pop()
	c.countReady(e, -1)
	if e.deadline != 0 {
		c.watchHead()
	}
	return e
}

// countUnsettledLocked counts what a no-ack consumer of a quorum queue gets: RabbitMQ's channel settles it, as a client would,
// and until then it counts for the consumer's window.
// Rules: D-28.
func (c *Consumer) countUnsettledLocked() {
	c.unacked++
	if c.settling++; c.settling == 1 {
		c.q.v.laterLocked(c.q, autoSettlement{c})
	}
}

// An autoSettlement settles what a no-ack consumer got, when the step in which it got it is over.
type autoSettlement struct{ c *Consumer }

func (s autoSettlement) proceed() {
	c, q := s.c, s.c.q
	c.unacked, c.settling = c.unacked-c.settling, 0
	switch {
	case q.deleted:
	case c.ended:
		c.releasedLocked()
	default:
		c.resumeLocked()
	}
}

// removed is the last step of every act that takes messages out: new heads may be due, and publishers may go on.
func (c *quorum) removed() {
	c.checkHeads()
	c.updateRejecting()
}

// trim drops heads while the queue exceeds its limits, if overflow says so.
// Rules: L-4, L-7.
func (c *quorum) trim() {
	s := c.q.set
	if s.overflow != dropHead || !s.over(c.length()) {
		return
	}
	if c.q.v.rules.newestTrimmedFirst {
		c.trimNewestFirst()
		c.watchHead() // what is uncovered expires with the next act, or by the timer: see accept
	} else {
		c.trimOldestFirst()
		c.checkHeads()
	}
}

// trimOldestFirst drops heads until the queue keeps its limits.
func (c *quorum) trimOldestFirst() {
	n := 0
	for c.exceeds() {
		if n == turn() {
			c.q.v.laterLocked(c.q, trimmingQuorum{c})
			break
		}
		c.deadLetter(c.take(), MaxLength)
		n++
	}
	c.q.v.tookLocked(n)
}

// exceeds reports whether the queue has messages to drop for its limits.
func (c *quorum) exceeds() bool { return c.q.set.over(c.length()) && c.ready.n > 0 }

// trimmingQuorum is the rest of a trim that takes long.
type trimmingQuorum struct{ c *quorum }

func (t trimmingQuorum) proceed() {
	if c := t.c; !c.q.deleted {
		c.trim()
		c.removed()
	}
}

// trimNewestFirst is trim in 3.10: of the messages that one act trims, the newest is dead-lettered first.
// Rules: L-9.
func (c *quorum) trimNewestFirst() {
	var trimmed []entry
	for c.exceeds() {
		trimmed = append(trimmed, c.take())
	}
	for _, e := range slices.Backward(trimmed) {
		c.deadLetter(e, MaxLength)
	}
}
