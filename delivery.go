package leveret

import (
	"cmp"
	"slices"
)

// A Delivery is one message in somebody's hands. Unless it was delivered without need of an
// acknowledgement, it has to be settled: by Ack, Nack or Reject here, or by its tag on the channel.
type Delivery struct {
	Exchange     string // where it was published to; a dead-letter exchange for a dead letter
	RoutingKey   string
	ConsumerTag  string // empty for basic.get
	DeliveryTag  uint64 // its number on the channel, from 1
	Redelivered  bool
	counted      countHeaders // here it costs no room
	MessageCount int          // for basic.get: ready messages that remain in the queue
	*Properties               // never nil; shared with other deliveries: read only. Headers are those that the broker added, too
	Body         []byte

	ch        *Channel
	m         *message
	delivered uint32 // the message's delivery count
	acquired  uint32 // the queue's
}

var noProperties = &Properties{}

// newDelivery makes what a client sees of an entry of q.
func (ch *Channel) newDelivery(q *Queue, e *entry) *Delivery {
	m := e.m
	d := &Delivery{Exchange: m.exchange.name, RoutingKey: m.key, Properties: m.props, Body: m.body, ch: ch, m: m}
	if d.Properties == nil {
		d.Properties = noProperties
	}
	d.Redelivered = q != nil && q.redelivered(e)
	if q != nil && q.quorum != nil {
		d.delivered, d.acquired = e.deliveries, e.returns
		d.counted = counts
		if ch.v.rules.oldCountHeader {
			d.counted = oldCounts
		}
	}
	return d
}

// redelivered is the flag that e would be delivered with. A quorum queue of 4.3 also sets it for
// what was delivered without success elsewhere, before it died.
func (q *Queue) redelivered(e *entry) bool {
	return e.returns > 0 || q.quorum != nil && !q.v.rules.oldCountHeader && e.deliveries > 0
}

// Ack acknowledges the delivery.
func (d *Delivery) Ack() error { return d.ch.Ack(d.DeliveryTag, false) }

// Nack gives the delivery back: into the queue, or with requeue false to the queue's dead-letter
// exchange if it has one. Unlike Reject it does not count as a failed delivery of the message.
func (d *Delivery) Nack(requeue bool) error { return d.ch.Nack(d.DeliveryTag, false, requeue) }

// Reject is Nack that counts as a failed delivery.
func (d *Delivery) Reject(requeue bool) error { return d.ch.Reject(d.DeliveryTag, requeue) }

// An unacked is a message in somebody's hands, as its channel remembers it.
type unacked struct {
	q    *Queue
	c    *Consumer // nil: basic.get
	e    entry
	at   int64 // when it was delivered, where a timeout may need it
	inTx bool  // settled in a transaction that is not committed
	void bool  // taken back by the broker: settling it does nothing
}

// deliver gives e to c, who is able to take it.
func (q *Queue) deliver(c *Consumer, e entry) {
	ch := c.ch
	d := ch.newDelivery(q, &e)
	d.ConsumerTag = c.tag
	if c.cfg.NoAck {
		d.DeliveryTag = ch.tags.Skip()
	} else {
		tag, u := ch.tags.Add()
		u.q, u.c, u.e = q, c, e
		if c.timeout >= 0 {
			u.at = q.v.now()
			q.v.wakeAt(&c.timer, deadlineAfter(u.at, c.timeout))
		}
		d.DeliveryTag = tag
		c.unacked++
		ch.held++
		q.held(&e, 1)
	}
	q.consumers.served(c)
	c.hand(d)
	q.v.deliveredEvent(q, d, c.cfg.NoAck)
}

// get takes the head of a queue for basic.get.
func (ch *Channel) get(name string, cfg GetConfig) (*Delivery, *Error) {
	q, err := ch.openQueue(name, read)
	if err != nil {
		return nil, err
	}
	if q.quorum != nil && q.args.singleActive {
		kind := `<<"quorum">>`
		if ch.v.rules.plainQuorumName {
			kind = "quorum"
		}
		return nil, errorf(ResourceLocked, "", q.name, "cannot obtain access to locked %s. basic.get operations are not supported by %s queues with single active consumer", q.text(), kind)
	}
	return q.get(ch, cfg), nil
}

func (q *Queue) get(ch *Channel, cfg GetConfig) *Delivery {
	q.touch()
	for q.deadlines > 0 && !q.overtaken && q.expireNext() {
	}
	if q.ready == 0 {
		return nil
	}
	e := q.take()
	d := ch.newDelivery(q, &e)
	if d.counted == oldCounts {
		d.counted = oldCountGet
	}
	if cfg.NoAck {
		d.DeliveryTag = ch.tags.Skip()
	} else {
		tag, u := ch.tags.Add()
		u.q, u.e = q, e
		if q.quorum != nil || q.v.rules.channelAckTimeout {
			ch.watchGet(q, u)
		}
		if q.quorum != nil {
			q.quorum.lingering++
		}
		d.DeliveryTag = tag
		ch.held++
		q.held(&e, 1)
	}
	if (q.quorum == nil || cfg.NoAck) && q.deadlines > 0 { // only an unsettled get of a quorum queue counts before that
		q.expireDue(q.ready)
	}
	d.MessageCount = q.ready
	q.eased()
	q.v.deliveredEvent(q, d, cfg.NoAck)
	return d
}

// usable is the error of an operation on a handle whose queue is gone.
func (q *Queue) usable() error {
	switch {
	case q.v.closed:
		return ErrClosed
	case q.deleted:
		return q.v.noQueue(q.name)
	}
	return nil
}

// settling is how a delivery is settled.
type settling uint8

const (
	acked settling = iota
	nackRequeue
	rejectRequeue
	ended // its channel ended
	nackDiscard
	rejectDiscard
)

func (s settling) failed() bool  { return s == rejectRequeue || s == ended || s == rejectDiscard }
func (s settling) requeue() bool { return s == nackRequeue || s == rejectRequeue || s == ended }

// release takes u out of its holder's hands. It reports false if the message is not there any
// more.
func (ch *Channel) release(u *unacked) bool {
	if u.void {
		return false
	}
	ch.held--
	if c := u.c; c != nil {
		if c.unacked--; c.ended && c.unacked == 0 {
			ch.v.timing.heap.Remove(&c.timer)
			if !u.q.deleted && u.q.quorum != nil && !c.late {
				u.q.quorum.lingering--
			}
		}
	}
	if u.q.deleted {
		return false
	}
	if u.c == nil && u.q.quorum != nil {
		u.q.quorum.lingering--
	}
	u.q.held(&u.e, -1)
	return true
}

// apply settles deliveries that have left the channel's window, in the order given.
func (ch *Channel) apply(us []unacked, how settling) {
	for len(us) > 0 {
		n := 1
		for n < len(us) && us[n].q == us[0].q && us[n].c == us[0].c {
			n++
		}
		ch.applyGroup(us[:n], how)
		us = us[n:]
	}
	ch.unstall()
}

// unstall lets the consumers go on that wait for room in the channel's window.
func (ch *Channel) unstall() {
	if len(ch.stalled) > 0 && (ch.window == 0 || ch.held < ch.window) {
		waiting := ch.stalled
		ch.stalled = nil
		for _, c := range waiting {
			c.resume()
		}
	}
}

// applyGroup settles deliveries of one queue to one holder.
func (ch *Channel) applyGroup(us []unacked, how settling) {
	q, c := us[0].q, us[0].c
	if !how.requeue() && q.quorum == nil && q.backlog.levels > 1 { // each priority is a queue of its own: the highest dies first
		slices.SortStableFunc(us, func(a, b unacked) int { return cmp.Compare(q.backlog.level(b.e.m), q.backlog.level(a.e.m)) })
	}
	var back []entry
	for i := range us {
		u := &us[i]
		if !ch.release(u) {
			continue
		}
		switch {
		case how == acked:
			ch.v.ackedEvent(u)
		case how.requeue():
			back = append(back, u.e)
		default:
			if how.failed() {
				u.e.deliveries = saturatingInc(u.e.deliveries)
			}
			q.kill(u.e, Rejected)
		}
	}
	if back != nil {
		q.requeue(back, how, c)
		if c != nil {
			c.resume()
		}
		return
	}
	ch.settled(q, c)
}

// settled follows the settlement of deliveries from q to c that leave q for good.
func (ch *Channel) settled(q *Queue, c *Consumer) {
	if q.quorum != nil && !q.deleted {
		q.eased()
	}
	if c != nil {
		c.resume()
	}
}

func saturatingInc(n uint32) uint32 { return max(n, n+1) }

// requeue puts messages back, in the order in which they were settled. A classic queue then
// trims itself before it delivers, a quorum queue after.
func (q *Queue) requeue(back []entry, how settling, c *Consumer) {
	for _, e := range back {
		q.v.requeuedEvent(q, e.m)
		if q.quorum != nil {
			if died := q.returned(e, how); died && c != nil && c.limit > 0 && q.v.rules.deathAddsCredit {
				c.limit++
			}
			continue
		}
		if how.failed() && !q.v.rules.countEveryReturn {
			e.deliveries = saturatingInc(e.deliveries)
		}
		e.returns = saturatingInc(e.returns)
		q.backlog.giveBack(e, false)
		q.counted(&e, 1)
	}
	if q.quorum == nil {
		q.enforce() // before expiry: what is over the limit dies of that
	}
	if q.deadlines > 0 {
		q.expireDue(q.ready)
	}
	if c != nil {
		c.resume()
	}
	q.pump()
	if q.quorum != nil {
		q.enforce()
	}
	q.eased()
}
