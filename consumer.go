package leveret

import (
	"cmp"
	"slices"

	"github.com/leveretmq/leveret/internal/ring"
	"github.com/leveretmq/leveret/internal/schedule"
)

// A Consumer is a subscription to a queue. Its deliveries go to its Handler, or wait until the program receives them; the library
// starts no goroutine for it.
type Consumer struct {
	ch       *Channel
	q        *Queue // nil for direct reply-to
	tag      string
	number   uint64 // of its virtual host's subscriptions
	cfg      ConsumeConfig
	args     Fields
	priority int64
	prefetch int                   // as asked for, or set by basic.qos
	window   int                   // deliveries that it may hold; 0: no limit
	unacked  int                   // deliveries that it holds
	settling int                   // of them, those that its channel settles for it: see countUnsettledLocked
	place    ring.Place[*Consumer] // among its queue's consumers
	standing ring.Place[*Consumer] // in line, if it can take a message
	exit     uint64                // the number of its last exit from a line, among those of its queue
	stalled  bool                  // its inbox remembers that it waits for room
	passed   bool                  // its channel remembers that it waits for room in the window
	ended    bool
	err      error     // why it has ended, nil before
	sent     bool      // a message was delivered to it
	late     bool      // did not settle in time: its queue counts it until its client cancels it, or its channel ends
	waiting  bool      // late, and behind the single active consumer: see waitAgainLocked
	inbox    *Inbox    // of its connection; nil: see own
	own      *ownInbox // nil for a consumer with a handler, and with an inbox
	spares   *spares   // nil for a consumer whose deliveries are not used again
	ackTimeout
}

// An ackTimeout is how long a consumer's deliveries may stay unacknowledged.
type ackTimeout struct {
	timeout     int64 // ms; -1: no limit
	timer       schedule.Timer[wakeable]
	watchedFrom uint64 // no delivery with a lower tag may be late: see watchedLocked
}

// ableLocked reports whether the consumer can take a message now.
// Rules: D-27, D-28.
func (c *Consumer) ableLocked() bool {
	if c.inbox != nil && c.inbox.fullLocked() {
		return false
	}
	if c.ch.windowFullLocked() && c.q.traits.channelWindow {
		return false // D-27
	}
	return !c.windowFullLocked()
}

// windowFullLocked reports whether c may hold no more than it does. A consumer without acknowledgements holds only what
// it has inherited.
// Rules: D-26, D-29.
func (c *Consumer) windowFullLocked() bool {
	return c.window > 0 && c.unacked >= c.window
}

// creditDeathLocked makes room for one delivery more when a message has exceeded the delivery limit, as 3.10 does for a
// consumer with a prefetch. c is nil for basic.get.
// Rules: D-12a, D-26.
func (c *Consumer) creditDeathLocked() {
	if c != nil && c.q.v.rules.deathAddsCredit && c.prefetch > 0 {
		c.window++
	}
}

// handLocked gives the client a delivery.
func (c *Consumer) handLocked(d *Delivery) {
	switch {
	case c.ch.err != nil && c.ch.detachedLocked(): // the message comes back at once
	case c.own != nil:
		c.own.putLocked(d)
	case c.inbox != nil:
		echo := c.q == nil || c.ch.v.deaths.echo || c.ch.committed
		c.inbox.putLocked(Notification{Kind: Delivered, Echo: echo, Channel: c.ch, Delivery: d, ConsumerTag: c.tag})
	default:
		c.ch.v.handleAfterLocked(c, d)
	}
}

// consumeLocked makes a consumer and gives it what there is.
// Rules: D-16, D-17, D-26, D-29.
func (ch *Channel) consumeLocked(name string, cfg ConsumeConfig) (*Consumer, *Error) {
	if ch.consumers[cfg.Tag] == nil {
		if err := ch.admitConsumerLocked(); err != nil {
			return nil, err
		}
	}
	name, err := ch.queueNameLocked(name)
	switch {
	case err != nil:
		return nil, err
	case name == replyQueue:
		return ch.consumeRepliesLocked(cfg)
	}
	if err := checkShort("a consumer tag", cfg.Tag); err != nil {
		return nil, err
	}
	if err := checkPrefetch(cfg.Prefetch); err != nil {
		return nil, err
	}
	if ch.consumers[cfg.Tag] != nil || ch.lateConsumerLocked(cfg.Tag) != nil {
		return nil, NotAllowed.errorf(name, "attempt to reuse consumer tag '%s'", cfg.Tag)
	}
	q, err := ch.openQueueLocked(name, read)
	if err != nil {
		return nil, ch.v.orVolatile(err, PreconditionFailed, "only creator channel may consume from %s") // M-19b
	}
	fields, err := canonicalArguments(cfg.Arguments, cfg.ArgumentFields)
	if err != nil {
		return nil, err
	}
	args, err := parseConsumerArgs(fields, q.args.kind, ch.v.rules, q.v.queueSubject(q.name))
	if err != nil {
		return nil, err
	}
	if err := ch.checkConsumeLocked(q, cfg); err != nil {
		return nil, err
	}
	if err := checkCredit(fields, ch.v.rules); err != nil {
		return nil, err
	}
	c := &Consumer{ch: ch, q: q, tag: cfg.Tag, cfg: cfg, args: fields, priority: args.priority}
	c.prefetch = cmp.Or(cfg.Prefetch, ch.prefetch)
	c.window = cmp.Or(c.prefetch, q.traits.window) // D-26, D-29
	c.timeout = q.ackTimeoutLocked(args.timeout)
	c.timer.Value, c.place.Value, c.standing.Value = c, c, c
	ch.subscribeLocked(c)
	if q.consumers == nil {
		q.consumers = &consumers{q: q}
	}
	inherits := q.traits.heirs && q.impl.ghosts() > 0
	if inherits {
		c.inheritLocked()
	}
	if inherits || q.traits.placeStays {
		c.takePlaceLocked() // with another priority for one message more: see served
	}
	q.consumers.add(c)
	q.impl.attach(ch)
	ch.v.consumerEventLocked(c)
	q.impl.freed()
	return c, nil
}

// checkConsumeLocked refuses a consumer that the queue cannot have beside the others.
// Rules: D-19, D-27.
func (ch *Channel) checkConsumeLocked(q *Queue, cfg ConsumeConfig) *Error {
	if ch.window > 0 && !q.traits.channelWindow {
		return NotImplemented.errorf(q.name, "%s does not support global qos", q.text())
	}
	if !q.traits.exclusiveConsumers {
		return nil
	}
	cs := q.consumers
	taken := cs.len() > 0 && (cs.exclusive != nil || cfg.Exclusive)
	contradictory := cfg.Exclusive && q.args.singleActive
	if taken || contradictory {
		return AccessRefused.errorf(q.name, "%s in exclusive use", q.text())
	}
	return nil
}

// subscribeLocked enters c in its channel, with a tag and an inbox. The tag of a consumer of direct replies is not in
// use.
// Rules: D-16.
func (ch *Channel) subscribeLocked(c *Consumer) {
	if c.tag == "" {
		c.tag = ch.v.b.random.name("amq.ctag-")
	}
	if c.q != nil {
		ch.consumers[c.tag] = c
		ch.hasNumbers = ch.hasNumbers || numberOf(c.tag) > 0
		if ch.window > 0 {
			ch.perQueue[c.q]++
		}
	}
	ch.v.subscribed++
	c.number = ch.v.subscribed
	if c.cfg.Reuse {
		c.spares = new(spares)
	}
	if c.cfg.Handler != nil {
		return
	}
	if c.inbox = ch.conn.cfg.Inbox; c.inbox == nil {
		c.own = newOwnInbox(ch.v, c.spares)
	}
}

// leaveLocked ends c because of why, without telling its client.
// Rules: D-14.
func (c *Consumer) leaveLocked(why error) {
	if c.ended {
		return
	}
	c.ended, c.err = true, why
	if c.own != nil {
		c.own.endLocked()
	}
	q := c.q
	if q == nil {
		c.ch.endRepliesLocked()
		return
	}
	delete(c.ch.consumers, c.tag)
	c.ch.leaveWindowLocked(c)
	if c.unacked == 0 {
		c.ch.v.timing.heap.Remove(&c.timer)
	}
	c.ch.v.consumerEventLocked(c)
	if q.deleted {
		return
	}
	q.consumers.remove(c)
	if c.unacked > 0 && !c.late {
		q.impl.countGhosts(1)
	}
	if q.consumers.len() == 0 {
		q.touchLocked()
	}
	if c.sent {
		c.ch.noteLeftLocked(q)
	}
}

// cancelledLocked follows the end of a consumer that its client has cancelled.
// Rules: Q-32, D-21.
func (q *Queue) cancelledLocked() {
	if q.traits.idleCancel {
		q.removeUnusedLocked()
		return
	}
	q.leftLocked()
}

// leftLocked is what a queue does when consumers have left it: it goes, or delivers to those that remain.
// Rules: Q-32.
func (q *Queue) leftLocked() {
	if !q.removeUnusedLocked() {
		q.impl.left()
	}
}

// removeUnusedLocked deletes an auto-delete queue that its last consumer has left, and reports whether the queue is
// gone.
// Rules: Q-32.
func (q *Queue) removeUnusedLocked() bool {
	if !q.deleted && q.lifetime.autoDelete && q.consumers.len() == 0 {
		q.v.removeQueueLocked(q, CauseQueueUnused)
	}
	return q.deleted
}

// endConsumersLocked ends the consumers of a queue that has gone. Many are ended when the queue is not routed to any
// more, so that others get in between.
// Rules: D-13.
func (q *Queue) endConsumersLocked() {
	if q.consumers.len() > turn() {
		q.v.laterLocked(q, endingConsumers{q})
		return
	}
	all := q.consumers.list()
	slices.SortFunc(all, compareTags)
	for _, c := range all {
		c.endedByServerLocked()
	}
}

// endingConsumers is the end of many consumers of a queue that has gone.
type endingConsumers struct{ q *Queue }

func (e endingConsumers) proceed() {
	v, all := e.q.v, e.q.consumers.list()
	v.sortByTagLocked(all)
	for _, c := range all {
		c.endedByServerLocked()
		v.tookLocked(1)
		v.restLocked()
	}
}

func compareTags(a, b *Consumer) int { return cmp.Compare(a.tag, b.tag) }

// sortByTagLocked sorts consumers by their tags. To sort 100,000 takes long.
func (v *vhost) sortByTagLocked(cs []*Consumer) {
	compared := 0
	slices.SortFunc(cs, func(a, b *Consumer) int {
		compared++
		v.lookedLocked(compared)
		return compareTags(a, b)
	})
}

// endedByServerLocked ends c because its queue is gone or its time is up, and tells the client if it wants to know.
// Rules: D-13.
func (c *Consumer) endedByServerLocked() {
	if c.ended { // its client cancelled it and knows
		return
	}
	why := ErrQueueDeleted
	if c.late {
		why = ErrAckTimeout
	}
	c.leaveLocked(&closedError{why})
	c.tellCancelledLocked()
}

// tellCancelledLocked tells the client, if it wants to know, that the server has cancelled c.
func (c *Consumer) tellCancelledLocked() {
	if c.inbox != nil && c.ch.conn.cfg.CancelNotify {
		c.inbox.putLocked(Notification{Kind: ConsumerCancelled, Channel: c.ch, ConsumerTag: c.tag})
	}
}
