package leveret

import (
	"slices"

	"github.com/leveretmq/leveret/internal/schedule"
)

// Acknowledgement timeouts. In RabbitMQ 4.3 a quorum queue takes back what a consumer does not
// settle in time and cancels the consumer; a client that cannot be told so, and one that used
// basic.get, loses its channel. In 3.10 the channel watches, for queues of every type.

// defaultAckTimeout is how long a delivery may stay unacknowledged, in ms, unless WithConsumerTimeout says it: half an hour.
// Rules: D-35, D-36.
const defaultAckTimeout = 1_800_000

// ackTimeoutLocked is the time in ms that a consumer has, -1 for no limit. own is what the consumer asked for.
// Rules: D-35, D-36, P-19.
func (q *Queue) ackTimeoutLocked(own int64) int64 {
	switch {
	case !q.traits.ownAckTimeout:
	case own >= 0:
		return own
	case q.set.consumerTimeout >= 0:
		return q.set.consumerTimeout
	}
	if q.traits.ackTimeout == defaultAckTimeout {
		return q.v.b.ackTimeout
	}
	return q.traits.ackTimeout
}

// nextWake is when the oldest delivery of c times out.
func (c *Consumer) nextWake() (at int64, ok bool) {
	if c.q.deleted && !c.ch.v.rules.channelAckTimeout {
		return 0, false // in 4.3 the queue watches the timeout, and the queue is gone
	}
	for _, u := range c.ch.tags.All() {
		if u.c == c && c.ch.watchesLocked(u) {
			return c.ch.v.shownLocked(deadlineAfter(u.at, c.timeout)), true // deliveries are in the order of their time
		}
	}
	return 0, false
}

// watchesLocked reports whether u may time out. A channel that watches does not know what its transaction settles any more; the queue
// knows until the commit.
// Rules: D-35, D-36.
func (ch *Channel) watchesLocked(u *unacked) bool {
	return !u.void && !(u.inTx && ch.v.rules.channelAckTimeout)
}

// rolledBackLocked watches u again, which a transaction does not settle after all.
// Rules: D-36.
func (ch *Channel) rolledBackLocked(u *unacked) {
	switch {
	case !ch.v.rules.channelAckTimeout || ch.super:
	case u.c == nil:
		ch.v.wakeAtLocked(&ch.getters.timer, ch.v.shownLocked(deadlineAfter(u.at, u.q.ackTimeoutLocked(-1))))
	case u.c.timeout >= 0:
		ch.v.wakeAtLocked(&u.c.timer, ch.v.shownLocked(deadlineAfter(u.at, u.c.timeout)))
	}
}

// wake is called when the oldest delivery of c may have timed out.
// Rules: D-35, D-36.
func (c *Consumer) wake(now int64) {
	at, ok := c.nextWake()
	switch {
	case !ok:
	case at > now:
		c.ch.v.timing.heap.Set(&c.timer, at)
	case c.ch.v.rules.channelAckTimeout:
		c.ch.timedOutLocked(c.timeout)
	case c.ch.conn.cfg.CancelNotify && (!c.ended || c.late):
		c.timedOutLocked(now)
	default: // the client cannot be told, or has cancelled c itself
		c.timedOutLocked(now)
		c.ch.timedOutLocked(-1)
	}
}

func (c *Consumer) actsWhenStale() bool { return false }

// timedOutLocked takes back what c has held for too long and cancels it. Its tags stay valid for a
// later settlement, which then does nothing.
// Rules: D-35.
func (c *Consumer) timedOutLocked(now int64) {
	ch, q := c.ch, c.q
	switch {
	case !c.ended:
		c.late = true
		q.impl.countGhosts(1)
		ch.late = append(ch.late, c)
		c.endedByServerLocked()
	case c.late: // again, of younger deliveries
		c.tellCancelledLocked()
	}
	ch.takeBackLocked(q, func(u *unacked) bool {
		return u.c == c && ch.v.shownLocked(deadlineAfter(u.at, c.timeout)) <= now
	})
	if at, ok := c.nextWake(); ok {
		ch.v.wakeAtLocked(&c.timer, at) // it holds younger ones
	}
	if q.args.singleActive && c.late && c.unacked == 0 && !c.waiting {
		c.waitAgainLocked()
	}
	q.leftLocked()
}

// waitAgainLocked has c, which was late and holds nothing, wait behind the single active consumer, though c never gets a
// message again. declare-ok does not count c from now on, and c does not keep the queue from expiring.
// Rules.
func (c *Consumer) waitAgainLocked() {
	c.waiting = true
	c.q.consumers.waiting++
	c.q.impl.countGhosts(-1)
}

// uncountLateLocked has the queue of c forget c, which was late: its client has cancelled c, or its channel has ended.
// Rules: Q-41.
func (c *Consumer) uncountLateLocked() {
	if c.waiting {
		c.q.consumers.waiting--
	} else {
		c.q.impl.countGhosts(-1)
	}
}

// lateConsumersLocked returns the consumers that were too slow and that their clients have not cancelled, by queue.
// Rules: D-35a.
func (v *vhost) lateConsumersLocked() map[*Queue][]*Consumer {
	var late map[*Queue][]*Consumer
	for _, conn := range v.conns {
		for _, ch := range conn.channels {
			for _, c := range ch.late {
				if c.q.deleted {
					continue
				}
				if late == nil {
					late = map[*Queue][]*Consumer{}
				}
				late[c.q] = append(late[c.q], c)
			}
		}
	}
	return late
}

// takeBackLocked returns to q what ch has held of it for too long.
// Rules: D-5, D-7, D-35.
func (ch *Channel) takeBackLocked(q *Queue, late func(*unacked) bool) {
	var byConsumer, byGet []uint64
	for tag, u := range ch.tags.All() {
		switch {
		case u.q != q || u.void || !late(u):
		case u.c != nil:
			byConsumer = append(byConsumer, tag)
		default:
			byGet = append(byGet, tag)
		}
	}
	sortGets(byGet)
	var back []entry
	for _, tag := range append(byConsumer, byGet...) {
		if u := ch.tags.Get(tag); ch.releaseLocked(u) {
			ch.requeuedEventLocked(u, tag)
			back = append(back, u.e)
			u.void, u.e = true, entry{}
		}
	}
	if len(back) > 0 {
		q.impl.tookBack(inParts(q.impl.takeBack(back, nackRequeue, nil)), nackRequeue, nil)
	}
}

// lateConsumerLocked returns the consumer with a tag that its queue cancelled because it was too slow, nil if there is
// none. Its tag stays taken until the client cancels it, too.
// Rules: D-35.
func (ch *Channel) lateConsumerLocked(tag string) *Consumer {
	for _, c := range ch.late {
		if c.tag == tag && !c.q.deleted {
			return c
		}
	}
	return nil
}

// cancelLateLocked is a client's basic.cancel of a consumer that its queue has cancelled before.
// Rules: D-35.
func (c *Consumer) cancelLateLocked() {
	c.late = false
	c.ch.late = without(c.ch.late, c)
	if c.unacked == 0 {
		c.uncountLateLocked()
	}
}

// timedOutLocked closes the channel because of a delivery that was not settled in time.
// Rules: D-35, D-36.
func (ch *Channel) timedOutLocked(ms int64) {
	if ch.super || ch.err != nil {
		return
	}
	err := PreconditionFailed.errorf("", "delivery acknowledgement on channel %d timed out. Timeout value used: %d ms. "+
		"This timeout value can be configured, see consumers doc guide to learn more", ch.number, ms)
	ch.refusedLocked(err)
	if in := ch.conn.cfg.Inbox; in != nil {
		in.putLocked(Notification{Kind: ChannelClosed, Channel: ch, Err: err})
	}
}

// A getTimer watches what a channel has taken by basic.get.
type getTimer struct {
	ch    *Channel
	timer schedule.Timer[wakeable]
}

// watchGetLocked has the channel closed if u is not settled in time.
// Rules: D-35, D-36.
func (ch *Channel) watchGetLocked(q *Queue, u *unacked) {
	if ch.super {
		return
	}
	if ch.getters == nil {
		ch.getters = &getTimer{ch: ch}
		ch.getters.timer.Value = ch.getters
	}
	u.at = q.v.elapsedLocked()
	q.v.wakeAtLocked(&ch.getters.timer, q.v.shownLocked(deadlineAfter(u.at, q.ackTimeoutLocked(-1))))
}

func (g *getTimer) nextWake() (at int64, ok bool) {
	for _, u := range g.ch.tags.All() {
		if u.c != nil || !g.ch.watchesLocked(u) || !u.q.traits.watchesGets || u.q.deleted {
			continue
		}
		if d := g.ch.v.shownLocked(deadlineAfter(u.at, u.q.ackTimeoutLocked(-1))); !ok || d < at {
			at, ok = d, true
		}
	}
	return at, ok
}

func (g *getTimer) actsWhenStale() bool { return false }

func (g *getTimer) wake(now int64) {
	at, ok := g.nextWake()
	switch {
	case !ok:
	case at > now:
		g.ch.v.timing.heap.Set(&g.timer, at)
	case g.ch.v.rules.channelAckTimeout:
		g.ch.timedOutLocked(g.ch.v.b.ackTimeout)
	default:
		g.takeBackLocked(now)
		g.ch.timedOutLocked(-1)
	}
}

// takeBackLocked returns to their queues what was taken by basic.get and held for too long.
// Rules: D-7, D-35.
func (g *getTimer) takeBackLocked(now int64) {
	late := func(u *unacked) bool {
		return u.c == nil && u.q.traits.watchesGets && g.ch.v.shownLocked(deadlineAfter(u.at, u.q.ackTimeoutLocked(-1))) <= now
	}
	var queues []*Queue
	for _, u := range g.ch.tags.All() {
		if !u.void && !u.q.deleted && late(u) && !slices.Contains(queues, u.q) {
			queues = append(queues, u.q)
		}
	}
	for _, q := range queues {
		g.ch.takeBackLocked(q, late)
	}
}
