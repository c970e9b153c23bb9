package amqpd

import (
	"slices"

	"github.com/leveretmq/leveret"
)

func (c *conn) basicPublishLocked(ch *channel, a *args) error {
	a.u16() // a ticket
	m := &ch.content
	m.exchange = a.raw()
	m.key = a.raw()
	m.flags = a.bits() // 0: mandatory, 1: immediate
	if err := a.end(); err != nil {
		return err
	}
	m.begin(basicPublish)
	return nil
}

// serverContent returns the handler of a method with content that only a server sends. Its content is waited for before
// it is refused.
// Rules: C-17.
func serverContent(id methodID, s signature) handler {
	return func(_ *conn, ch *channel, a *args) error {
		if err := s.check(a); err != nil {
			return err
		}
		ch.content.begin(id)
		return nil
	}
}

// publishLocked hands a message that is complete to the broker.
// Rules: C-5.
func (c *conn) publishLocked(ch *channel) error {
	m := &ch.content
	immediate := m.flags.has(1)
	if m.refused > 0 && !immediate { // immediate is refused first
		size := m.refused
		m.reset()
		return ch.ch.RefuseBody(size)
	}
	if m.unreadable {
		exchange, key, body := m.exchange, m.key, m.body
		m.reset()
		return ch.ch.RefuseProperties(exchange, key, leveret.Message{Body: body, Immediate: immediate})
	}
	out, err := ch.ch.Publish(m.exchange, m.key, leveret.Message{
		Properties: m.props, WireProperties: m.wire, Body: m.body,
		Mandatory: m.flags.has(0), Immediate: immediate,
	})
	size := len(m.body)
	m.reset()
	if err != nil {
		return err
	}
	ch.tx.routed = ch.tx.routed || ch.tx.selected && out.Queues > 0
	c.in.burst.published(size, out.Return == nil && out.Sequence == 0)
	if out.Return != nil {
		c.out.returned(ch.number, out.Return, c.tune.maxPayload())
	}
	if out.Sequence != 0 {
		c.confirmLocked(ch, out)
	}
	if out.Stopped || ch.unheard > 0 {
		c.stoppedLocked(ch, out.Stopped)
	}
	return nil
}

func (c *conn) basicAckLocked(ch *channel, a *args) error {
	tag := a.u64()
	multiple := a.bits().has(0)
	if err := a.end(); err != nil {
		return err
	}
	return ch.ch.Ack(tag, multiple)
}

func (c *conn) basicNackLocked(ch *channel, a *args) error {
	tag := a.u64()
	f := a.bits() // 0: multiple, 1: requeue
	if err := a.end(); err != nil {
		return err
	}
	return ch.ch.Nack(tag, f.has(0), f.has(1))
}

func (c *conn) basicRejectLocked(ch *channel, a *args) error {
	tag := a.u64()
	requeue := a.bits().has(0)
	if err := a.end(); err != nil {
		return err
	}
	return ch.ch.Reject(tag, requeue)
}

func (c *conn) basicRecoverLocked(ch *channel, a *args) error {
	return c.answerLocked(ch, recoverAll(ch, a), false, basicRecoverOk)
}

func (c *conn) basicRecoverAsyncLocked(ch *channel, a *args) error { return recoverAll(ch, a) }

// recoverAll reads the arguments of both. RabbitMQ cannot redeliver to the same consumer, which requeue false asks for.
func recoverAll(ch *channel, a *args) error {
	requeue := a.bits().has(0)
	if err := a.end(); err != nil {
		return err
	}
	if !requeue {
		return errorf(leveret.NotImplemented, "requeue=false")
	}
	return ch.ch.Recover()
}

func (c *conn) basicQosLocked(ch *channel, a *args) error {
	cfg := leveret.QosConfig{PrefetchSize: a.u32(), PrefetchCount: int(a.u16()), Global: a.bits().has(0)}
	if err := a.end(); err != nil {
		return err
	}
	return c.answerLocked(ch, ch.ch.Qos(cfg), false, basicQosOk)
}

// basicConsumeLocked leaves the answer to the queue, as RabbitMQ does: until the frames that were read together are done
// consume-ok waits with the deliveries, in front of those of the consumer. A consumer of direct replies has no queue.
// Rules: D-15.
func (c *conn) basicConsumeLocked(ch *channel, a *args) error {
	a.u16()
	queue, tag := a.short(), a.short()
	f := a.bits() // 0: no-local, 1: no-ack, 2: exclusive, 3: no-wait
	cfg := leveret.ConsumeConfig{
		Tag: tag, NoAck: f.has(1), Exclusive: f.has(2),
	}
	if c.protocol.extended {
		cfg.ArgumentFields = a.fields()
	}
	if err := a.end(); err != nil {
		return err
	}
	c.takeNoticesLocked() // what came before
	if len(c.inbox.notices) >= maxInbox {
		c.encodeNoticesLocked(len(c.inbox.notices)) // no more is kept back
	}
	consumer, err := ch.ch.Consume(queue, cfg)
	if err != nil || f.has(3) {
		return err
	}
	if queue == replyQueue {
		c.consumeOkLocked(ch, consumer.Tag())
		return nil
	}
	n := leveret.Notification{Kind: consumeOk, Channel: ch.ch, ConsumerTag: consumer.Tag()}
	c.inbox.notices = append(c.inbox.notices, n)
	return nil
}

// replyQueue is what a client consumes to get direct replies.
const replyQueue = "amq.rabbitmq.reply-to"

// The kinds of notices that the connection puts among the broker's: the answers to basic.consume, basic.cancel and basic.credit.
const (
	consumeOk leveret.NotificationKind = 255 - iota
	cancelOk
	creditOk
)

func (c *conn) consumeOkLocked(ch *channel, tag string) {
	at := c.out.method(ch.number, basicConsumeOk)
	c.out.short(tag)
	c.out.end(at)
}

// basicCancelLocked leaves the answer to the queue, too, behind everything that the consumer was given. A consume-ok that still waits
// would come to a channel that does not know the consumer any more. Of a consumer without a queue there is nothing to wait for.
// Rules: D-14, D-15.
func (c *conn) basicCancelLocked(ch *channel, a *args) error {
	tag := a.short()
	noWait := a.bits().has(0)
	if err := a.end(); err != nil {
		return err
	}
	hasQueue := ch.ch.Consumes(tag)
	if err := ch.ch.Cancel(tag); err != nil {
		return err
	}
	c.takeNoticesLocked()
	c.dropConsumeOkLocked(ch, tag)
	switch {
	case noWait:
	case hasQueue:
		c.inbox.notices = append(c.inbox.notices, leveret.Notification{Kind: cancelOk, Channel: ch.ch, ConsumerTag: tag})
	default:
		c.inbox.notices = slices.DeleteFunc(c.inbox.notices, func(n leveret.Notification) bool {
			return n.Kind == leveret.ConsumerCancelled && n.Channel == ch.ch && n.ConsumerTag == tag
		})
		c.cancelOkLocked(ch, tag)
	}
	return nil
}

func (c *conn) cancelOkLocked(ch *channel, tag string) {
	at := c.out.method(ch.number, basicCancelOk)
	c.out.short(tag)
	c.out.end(at)
}

func (c *conn) dropConsumeOkLocked(ch *channel, tag string) {
	c.inbox.notices = slices.DeleteFunc(c.inbox.notices, func(n leveret.Notification) bool {
		return n.Kind == consumeOk && n.Channel == ch.ch && n.ConsumerTag == tag
	})
}

// dropAnswersLocked drops the answers to basic.consume and basic.cancel that still wait, because the channel is closed.
// Rules: D-14, D-15.
func (c *conn) dropAnswersLocked(ch *channel) {
	c.inbox.notices = slices.DeleteFunc(c.inbox.notices, func(n leveret.Notification) bool {
		return n.Channel == ch.ch && n.Kind <= consumeOk && n.Kind >= creditOk
	})
}

// basicCancelOkLocked is what a client answers to a basic.cancel of the broker's. That asks for no answer, but some clients send one.
// RabbitMQ 4.3 cancels the consumer, and crashes if there is none.
// Rules: D-14, D-35.
func (c *conn) basicCancelOkLocked(ch *channel, a *args) error {
	tag := a.short()
	if err := a.end(); err != nil {
		return err
	}
	if !c.release.takesCancelOk {
		return errUnimplemented()
	}
	known, err := ch.ch.CancelOk(tag)
	if err != nil {
		return err
	}
	if !known {
		return internalError()
	}
	c.takeNoticesLocked()
	c.dropConsumeOkLocked(ch, tag)
	return nil
}

// basicCreditLocked answers basic.credit, by which a client of 3.10 says how many messages a consumer gets. It has no effect here.
// Rules: D-18.
func (c *conn) basicCreditLocked(ch *channel, a *args) error {
	tag := a.short()
	a.u32()  // credit
	a.bits() // 0: drain
	if err := a.end(); err != nil {
		return err
	}
	switch {
	case !c.release.takesCredit:
		return errUnimplemented()
	case !ch.ch.Consumes(tag):
		return errorf(leveret.PreconditionFailed, "unknown consumer tag '%s'", tag)
	}
	c.takeNoticesLocked()
	c.inbox.notices = append(c.inbox.notices, leveret.Notification{Kind: creditOk, Channel: ch.ch, ConsumerTag: tag})
	return nil
}

func (c *conn) creditOkLocked(ch *channel) {
	at := c.out.method(ch.number, basicCreditOk)
	c.out.u32(0) // messages that are ready
	c.out.end(at)
}

func (c *conn) basicGetLocked(ch *channel, a *args) error {
	a.u16()
	queue := a.short()
	noAck := a.bits().has(0)
	if err := a.end(); err != nil {
		return err
	}
	d, ok, err := ch.ch.Get(queue, leveret.GetConfig{NoAck: noAck})
	if err != nil {
		return err
	}
	if !ok {
		at := c.out.method(ch.number, basicGetEmpty)
		c.out.short("")
		c.out.end(at)
		return nil
	}
	c.encodeUpToLocked(ch, d.DeliveryTag)
	c.out.getOk(ch.number, d, c.tune.maxPayload())
	return nil
}

// encodeUpToLocked encodes the deliveries whose tags come before the given one, and what happened before them.
// Rules: D-30.
func (c *conn) encodeUpToLocked(ch *channel, tag uint64) {
	c.takeNoticesLocked()
	n := 0
	for i := range c.inbox.notices {
		no := &c.inbox.notices[i]
		if no.Kind == leveret.Delivered && no.Channel == ch.ch && no.Delivery.DeliveryTag < tag {
			n = i + 1
		}
	}
	c.encodeNoticesLocked(n)
}
