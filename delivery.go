package leveret

import "errors"

// A Delivery is one message that was delivered. Unless it was delivered without need of an
// acknowledgement, it has to be settled: by Ack, Nack or Reject here, or by its tag on the channel.
type Delivery struct {
	Exchange     string // where it was published to; a dead-letter exchange for a dead letter
	RoutingKey   string
	ConsumerTag  string // empty for basic.get
	DeliveryTag  uint64 // its number on the channel, from 1
	Redelivered  bool
	counted      countHeaders // stands here because the alignment leaves room for it
	MessageCount int          // for basic.get: ready messages that remain in the queue
	*Properties               // never nil; with the headers that the broker added; shared: read only
	Body         []byte

	ch        *Channel
	m         *message
	delivered uint32 // the message's delivery count
	acquired  uint32 // the queue's
}

var noProperties = &Properties{}

// fillDelivery makes d, which is zero, what a client sees of an entry of q; q is nil for a direct reply.
// Rules: M-12.
func (ch *Channel) fillDelivery(d *Delivery, q *Queue, e *entry) {
	m := e.m
	d.Exchange, d.RoutingKey, d.Body, d.ch, d.m = m.exchange.name, m.key, m.body, ch, m
	if d.Properties = m.props; d.Properties == nil {
		d.Properties = noProperties
	}
	if q != nil {
		d.Redelivered = q.redelivered(e)
		d.counted, d.delivered, d.acquired = q.traits.counts, e.deliveries, e.returns
	}
}

// redelivered is the flag that e would be delivered with.
// Rules: D-8, D-9.
func (q *Queue) redelivered(e *entry) bool {
	return e.returns > 0 || q.traits.keepsRedelivery && e.deliveries > 0
}

// errNotDelivered is the error of a Delivery that holds none: in a batch those behind the last that was delivered.
var errNotDelivered = errors.New("leveret: a Delivery without a message cannot be settled")

// Ack acknowledges the delivery.
func (d *Delivery) Ack() error {
	if d.ch == nil {
		return errNotDelivered
	}
	return d.ch.Ack(d.DeliveryTag, false)
}

// Nack gives the delivery back: into the queue, or with requeue false to the queue's dead-letter
// exchange if it has one. Unlike Reject it does not count as a failed delivery of the message.
func (d *Delivery) Nack(requeue bool) error {
	if d.ch == nil {
		return errNotDelivered
	}
	return d.ch.Nack(d.DeliveryTag, false, requeue)
}

// Reject is Nack that counts as a failed delivery.
func (d *Delivery) Reject(requeue bool) error {
	if d.ch == nil {
		return errNotDelivered
	}
	return d.ch.Reject(d.DeliveryTag, requeue)
}

// deliverLocked delivers e to c, which can take a message.
// Rules: D-6.
func (q *Queue) deliverLocked(c *Consumer, e *entry) {
	q.assignLocked(c, e.m)
	q.sendLocked(c, e)
}

// assignLocked decides that c gets m: the delivery counts for the windows, and the next consumer is at the head of the
// line.
func (q *Queue) assignLocked(c *Consumer, m *message) {
	if !c.cfg.NoAck {
		c.unacked++
		c.ch.held++
		if q.traits.channelWindow {
			c.ch.volume++
		}
		q.store.countUnacked(m, 1)
	} else if q.traits.noAckWindow {
		c.countUnsettledLocked()
	}
	c.inbox.expectLocked(m)
	q.consumers.served(c)
}

// sendLocked gives a message that was assigned to c its delivery tag and hands it to the client.
// Rules: D-30.
func (q *Queue) sendLocked(c *Consumer, e *entry) {
	ch := c.ch
	ch.usedLocked()
	c.sent = true
	d := c.spares.take()
	ch.fillDelivery(d, q, e)
	d.ConsumerTag = c.tag
	if c.cfg.NoAck {
		if log := q.v.log; log != nil {
			log.leaves(e.seq)
		}
		d.DeliveryTag = ch.tags.Skip()
	} else {
		u := ch.holdLocked(q, c, e, d)
		if u.step = q.consumers.steps; c.timeout >= 0 {
			u.at = q.v.elapsedLocked()
			q.v.wakeAtLocked(&c.timer, q.v.shownLocked(deadlineAfter(u.at, c.timeout)))
		}
	}
	c.handLocked(d)
	q.deliveredEventLocked(d, e.seq, c.cfg.handover())
}

// holdLocked enters e among the channel's deliveries to be settled and gives d its tag.
func (ch *Channel) holdLocked(q *Queue, c *Consumer, e *entry, d *Delivery) *unacked {
	tag, u := ch.tags.Add()
	u.q, u.c, u.e = q, c, *e
	if q.v.log != nil {
		q.impl.noteHeld(u, tag, ch)
	}
	d.DeliveryTag = tag
	return u
}

// deliverNextLocked gives a message that arrives to the next consumer. It reports false if none can take a message.
// Rules: D-24.
func (q *Queue) deliverNextLocked(e *entry) bool {
	c := q.nextConsumerLocked()
	if c == nil {
		return false
	}
	q.consumers.steps++
	q.deliverLocked(c, e)
	return true
}

// nextConsumerLocked returns the consumer that gets the next message, nil if none can take one.
func (q *Queue) nextConsumerLocked() *Consumer {
	if q.consumers == nil {
		return nil
	}
	return q.consumers.next()
}

// getLocked takes the head of a queue for basic.get.
// Rules: D-34.
func (ch *Channel) getLocked(name string, cfg GetConfig) (*Delivery, *Error) {
	q, err := ch.openQueueLocked(name, read)
	if err != nil {
		return nil, ch.v.orVolatile(err, NotImplemented, "basic.get not supported by volatile %s") // M-19b
	}
	if !q.traits.singleActiveGet && q.args.singleActive { // D-23
		kind := `<<"quorum">>`
		if ch.v.rules.plainQuorumName {
			kind = "quorum"
		}
		return nil, ResourceLocked.errorf(q.name,
			"cannot obtain access to locked %s. basic.get operations are not supported by %s queues with single active consumer",
			q.text(), kind)
	}
	d := q.impl.get(ch, cfg)
	if d == nil {
		q.counters.getEmpty++
		ch.tally.traffic[q.kind].getEmpty++
	}
	return d, nil
}

// deliverGetLocked gives e, the head, to basic.get.
func (q *Queue) deliverGetLocked(ch *Channel, e entry, cfg GetConfig) *Delivery {
	d := cfg.Into
	if d != nil {
		*d = Delivery{}
	} else {
		d = new(Delivery)
	}
	ch.fillDelivery(d, q, &e)
	if d.counted == oldCounts {
		d.counted = oldCountGet // D-12
	}
	if cfg.NoAck {
		if log := q.v.log; log != nil {
			log.leaves(e.seq)
		}
		d.DeliveryTag = ch.tags.Skip()
		return d
	}
	u := ch.holdLocked(q, nil, &e, d)
	ch.held++
	q.store.countUnacked(e.m, 1)
	if q.traits.watchesGets {
		ch.watchGetLocked(q, u)
	}
	return d
}
