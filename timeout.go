package leveret

import (
	"cmp"
	"iter"
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
	if u := c.oldestLocked(); u != nil {
		return u.dueLocked(c.ch.v), true
	}
	return 0, false
}

// oldestLocked is the delivery of c that times out first, nil if none does.
func (c *Consumer) oldestLocked() *unacked {
	for _, u := range c.watchedLocked() {
		return u
	}
	return nil
}

// watchedLocked yields the deliveries of c that may time out, with their tags, in the order in which they do. The loop may not change
// what the channel holds. It begins behind those that cannot be late any more: a client may hold a million that were.
func (c *Consumer) watchedLocked() iter.Seq2[uint64, *unacked] {
	return func(yield func(uint64, *unacked) bool) {
		if c.q.deleted && !c.ch.v.rules.channelAckTimeout {
			return // in 4.3 the queue watches the timeout, and the queue is gone
		}
		first := true
		for tag, u := range c.ch.tags.From(c.watchedFrom) {
			if u.c != c || !c.ch.watchesLocked(u) {
				continue
			}
			if first {
				first, c.watchedFrom = false, tag
			}
			if !yield(tag, u) {
				return
			}
		}
	}
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
		ch.v.wakeAtLocked(&ch.getters.timer, u.dueLocked(ch.v))
	case u.c.timeout >= 0:
		u.c.watchedFrom = 0
		ch.v.wakeAtLocked(&u.c.timer, u.dueLocked(ch.v))
	}
}

// dueLocked is when u times out, in ns since 1970.
func (u *unacked) dueLocked(v *vhost) int64 {
	if u.c == nil {
		return v.shownLocked(u.at)
	}
	return v.shownLocked(deadlineAfter(u.at, u.c.timeout))
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
	default:
		endUntold(c.q.endLateLocked(c.lateWithLocked(now)))
	}
}

func (c *Consumer) actsWhenStale() bool { return false }

// A lateHolder is a consumer, or a basic.get, with what it has held for too long.
type lateHolder struct {
	ch   *Channel
	c    *Consumer // nil: basic.get
	tags []uint64  // in the order of delivery, of basic.get one
}

// lateSteps tells who is late with what a queue has delivered in one step.
type lateSteps map[lateStep][]*Consumer

type lateStep struct {
	q    *Queue
	step uint32
}

// add notes with what c is late.
func (l lateSteps) add(c *Consumer, now int64) {
	for _, u := range c.watchedLocked() {
		if u.dueLocked(c.ch.v) > now {
			return
		}
		if s := (lateStep{c.q, u.step}); len(l[s]) == 0 || l[s][len(l[s])-1] != c {
			l[s] = append(l[s], c)
		}
	}
}

// lateWithLocked returns c, which is late, and the consumers that end together with c, in the order of their subscription. These are late with
// a message that the queue gave them in the step in which the queue gave c its oldest message. Every late consumer has a timer that is due. One
// walk over these timers serves all late consumers, as there may be many thousand: Curves/late-together.
// Rules: D-5, D-35.
func (c *Consumer) lateWithLocked(now int64) (late []*lateHolder) {
	v := c.q.v
	step := lateStep{c.q, c.oldestLocked().step}
	if v.timing.lateSteps[step] == nil {
		v.timing.lateSteps = lateSteps{}
		v.timing.lateSteps.add(c, now)
		for timer := range v.timing.heap.Until(now) {
			if other, is := timer.Value.(*Consumer); is {
				v.timing.lateSteps.add(other, now)
			}
		}
	}
	for _, c := range v.timing.lateSteps[step] {
		h, up := &lateHolder{ch: c.ch, c: c}, false
		for tag, u := range c.watchedLocked() {
			if u.dueLocked(v) > now {
				break
			}
			h.tags, up = append(h.tags, tag), up || u.step == step.step
		}
		if up {
			late = append(late, h)
		}
	}
	delete(v.timing.lateSteps, step)
	slices.SortFunc(late, func(a, b *lateHolder) int { return cmp.Compare(a.c.number, b.c.number) })
	return late
}

// lateGetsLocked returns what ch has taken from q by basic.get and held for too long, in the order in which q looks at it.
// Rules: D-5, D-35.
func (ch *Channel) lateGetsLocked(q *Queue, now int64) (late []*lateHolder) {
	for tag, u := range ch.tags.All() {
		if u.q == q && u.c == nil && !u.void && u.at != 0 && u.dueLocked(q.v) <= now {
			late = append(late, &lateHolder{ch: ch, tags: []uint64{tag}})
		}
	}
	slices.SortFunc(late, func(a, b *lateHolder) int { return cmp.Compare(nameOfGet(a.tags[0]), nameOfGet(b.tags[0])) })
	return late
}

// endLateLocked takes back what was held of q for too long and cancels the consumers that held it. All of late end together: none of
// them gets what another one has given back. The clients are told in the opposite order. The tags stay valid for a later settlement,
// which then does nothing. untold are the channels that cannot be told, have cancelled the consumer themselves or used basic.get.
// Rules: D-35.
func (q *Queue) endLateLocked(late []*lateHolder) (untold []*Channel) {
	var back []entry
	for _, h := range late {
		if !h.canBeToldLocked() {
			untold = append(untold, h.ch)
		}
		if c := h.c; c != nil && !c.ended {
			c.late = true
			q.impl.countGhosts(1)
			h.ch.late = append(h.ch.late, c)
			c.leaveLocked(&closedError{ErrAckTimeout})
		}
		back = append(back, h.ch.takeLateLocked(h.tags)...)
	}
	for _, h := range slices.Backward(late) {
		if h.c != nil && h.c.late { // perhaps again, of younger deliveries
			h.c.tellCancelledLocked()
		}
	}
	if len(back) > 0 {
		q.impl.tookBack(inParts(q.impl.takeBack(back, nackRequeue, nil)), nackRequeue, nil)
	}
	for _, h := range late {
		if h.c != nil {
			h.c.outlastLocked()
		}
	}
	q.leftLocked()
	return untold
}

// canBeToldLocked reports whether the client can be told that its consumer ends.
func (h *lateHolder) canBeToldLocked() bool {
	return h.c != nil && h.ch.conn.cfg.CancelNotify && (!h.c.ended || h.c.late)
}

// outlastLocked follows the end of c, which was late: c may hold what is younger.
// Rules: D-35.
func (c *Consumer) outlastLocked() {
	if at, ok := c.nextWake(); ok {
		c.q.v.wakeAtLocked(&c.timer, at)
	}
	if c.q.args.singleActive && c.late && c.unacked == 0 && !c.waiting {
		c.waitAgainLocked()
	}
}

// endUntold ends channels that were too slow and could not be told so in another way, the last one first.
func endUntold(all []*Channel) {
	for _, ch := range slices.Backward(all) {
		ch.timedOutLocked(-1)
	}
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

// takeLateLocked takes from ch what it has held for too long.
// Rules: D-7, D-35.
func (ch *Channel) takeLateLocked(tags []uint64) (back []entry) {
	for _, tag := range tags {
		if u := ch.tags.Get(tag); ch.releaseLocked(u) {
			ch.requeuedEventLocked(u, tag)
			back = append(back, u.e)
			u.void, u.e = true, entry{}
		}
	}
	return back
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
	u.at = deadlineAfter(q.v.elapsedLocked(), q.ackTimeoutLocked(-1))
	q.v.wakeAtLocked(&ch.getters.timer, u.dueLocked(q.v))
}

func (g *getTimer) nextWake() (at int64, ok bool) {
	for _, u := range g.ch.tags.All() {
		if u.c != nil || !g.ch.watchesLocked(u) || !u.q.traits.watchesGets || u.q.deleted {
			continue
		}
		if d := u.dueLocked(g.ch.v); !ok || d < at {
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
		g.lateLocked(now)
	}
}

// lateLocked has the queues take back what was taken from them by basic.get and held for too long.
// Rules: D-35.
func (g *getTimer) lateLocked(now int64) {
	var queues []*Queue
	for _, u := range g.ch.tags.All() {
		late := u.c == nil && u.at != 0 && !u.void && !u.q.deleted && u.dueLocked(g.ch.v) <= now
		if late && !slices.Contains(queues, u.q) {
			queues = append(queues, u.q)
		}
	}
	var untold []*Channel
	for _, q := range queues {
		untold = append(untold, q.endLateLocked(g.ch.lateGetsLocked(q, now))...)
	}
	endUntold(untold)
}
