package leveret

import (
	"slices"
	"strings"
)

// Direct reply-to: a consumer of the pseudo queue amq.rabbitmq.reply-to makes its channel the
// target of replies. A request's reply-to property of that name is replaced by a generated
// name, which leads straight to the channel and is no queue.

// directReply is a channel's consumer of replies and the name that leads to it.
type directReply struct {
	reply        *Consumer
	replyProcess replyProcess // stays when the consumer is gone; zero: the channel had none yet
	replyKey     string
	replyName    string
}

func (d *directReply) replyAddress() replyAddress { return replyAddress{d.replyProcess, d.replyKey} }

// consumeRepliesLocked makes the channel's one direct reply consumer.
// Rules: M-18.
func (ch *Channel) consumeRepliesLocked(cfg ConsumeConfig) (*Consumer, *Error) {
	if used := ch.consumers[cfg.Tag]; used != nil && used != ch.reply {
		return nil, NotAllowed.errorf(replyQueue, "attempt to reuse consumer tag '%s'", cfg.Tag)
	}
	if !cfg.NoAck {
		return nil, PreconditionFailed.errorf(replyQueue, "reply consumer cannot acknowledge")
	}
	if ch.reply != nil {
		return nil, PreconditionFailed.errorf(replyQueue, "reply consumer already set")
	}
	c := &Consumer{ch: ch, tag: cfg.Tag, cfg: cfg}
	c.timer.Value = c
	ch.subscribeLocked(c)
	ch.reply = c
	ch.beginRepliesLocked()
	return c, nil
}

func (ch *Channel) beginRepliesLocked() {
	v := ch.v
	if ch.replyProcess == (replyProcess{}) {
		v.lastReply++
		ch.replyProcess = newReplyProcess(v.lastReply)
	}
	ch.replyKey = v.b.random.key()
	ch.replyName = ch.replyAddress().name()
	v.replies[ch.replyAddress()] = ch
}

func (ch *Channel) endRepliesLocked() {
	delete(ch.v.replies, ch.replyAddress())
	ch.reply, ch.replyKey, ch.replyName = nil, "", ""
}

// takeReplyToLocked puts the name of the channel's reply consumer in the place of the pseudo queue's.
// Rules: M-1, M-18.
func (ch *Channel) takeReplyToLocked(m *message) *Error {
	if m.props == nil || m.props.ReplyTo != replyQueue {
		return nil
	}
	if ch.reply == nil {
		return PreconditionFailed.errorf("", "fast reply consumer does not exist")
	}
	m.editProps().ReplyTo = ch.replyName
	return nil
}

// findReplyLocked returns the channel whose consumer a direct reply-to name leads to, or nil. In 4.3 the name must be
// the one that the channel was given, in 3.10 any other with the same process and key does.
// Rules: M-19.
func (v *vhost) findReplyLocked(name string) (*Channel, replyAddress, replyNameState) {
	address, state := parseReplyName(name, v.rules)
	ch := v.replies[address]
	if state != replyWellFormed || ch == nil || ch.replyName != name && !v.rules.repliesBypassQueues {
		return nil, address, state
	}
	return ch, address, state
}

// replyStateLocked answers a declaration of the pseudo queue or of a generated name. It makes the name the last
// declared one.
// Rules: M-19, Q-33.
func (ch *Channel) replyStateLocked(name string, s *QueueState) *Error {
	// To 4.3 these are queues to be made, but its channel crashes over the answer that there is no room for one. // Q-11
	if !ch.v.rules.repliesBypassQueues && ch.v.admitOneMoreLocked(name) != nil {
		return &Error{Code: InternalError}
	}
	if name != replyQueue {
		to, address, state := ch.v.findReplyLocked(name)
		asksItself := ch.v.rules.repliesBypassQueues && state == replyWellFormed && address.process == ch.replyProcess
		if state == replyCrash || asksItself {
			return &Error{Code: InternalError} // RabbitMQ's channel crashes
		}
		if to == nil || to == ch {
			return ch.v.noQueue(name)
		}
	}
	*s = QueueState{Name: name, Consumers: 1}
	ch.lastQueue = name
	return nil
}

// isVolatile reports whether name is that of a volatile queue, which is what 4.3 makes of every well-formed direct
// reply-to name, whether its consumer is there or not.
// Rules: M-19b.
func (v *vhost) isVolatile(name string) bool {
	if v.rules.repliesBypassQueues || !strings.HasPrefix(name, replyPrefix) {
		return false
	}
	_, state := parseReplyName(name, v.rules)
	return state == replyWellFormed
}

// orVolatile returns what an operation says of a volatile queue if err says that there is no queue of such a name, and
// err otherwise.
// Rules: M-19b.
func (v *vhost) orVolatile(err *Error, code Code, format string) *Error {
	if err.Code != NotFound || !v.isVolatile(err.Name) {
		return err
	}
	return code.errorf(err.Name, format, v.queueText(err.Name))
}

// refuseVolatile refuses to bind or unbind a direct reply-to name, be it well-formed or not.
// Rules: M-19b.
func (v *vhost) refuseVolatile(r *bindRequest) *Error {
	if v.rules.repliesBypassQueues || !r.toQueue || !strings.HasPrefix(r.destination, replyPrefix) {
		return nil
	}
	return AccessRefused.errorf(r.destination, "cannot bind or unbind to a volatile (direct reply-to) queue")
}

// mayReply reports whether a message has a routing key that may be a direct reply-to name.
func (m *message) mayReply() bool {
	return m.exchange.name == "" && (m.extra != nil || strings.HasPrefix(m.key, replyPrefix))
}

// replies are how many direct reply-to names of a message had a consumer, and how many had none any more.
type replies struct{ delivered, lost int }

// checkReplyNames refuses a message of which a routing key is a direct reply-to name that 3.10 crashes on.
// Rules: M-19a.
func (v *vhost) checkReplyNames(m *message) *Error {
	for key := range m.eachKey {
		if !strings.HasPrefix(key, replyPrefix) {
			continue
		}
		if _, state := parseReplyName(key, v.rules); state == replyCrash {
			return &Error{Code: InternalError}
		}
	}
	return nil
}

// replyNames are the direct reply-to names among the routing keys, well-formed or not, each once.
func (m *message) replyNames() (names []string) {
	for key := range m.eachKey {
		if strings.HasPrefix(key, replyPrefix) && !slices.Contains(names, key) {
			names = append(names, key)
		}
	}
	return names
}

// deliverRepliesLocked hands a message to the consumers whose direct reply-to names are among its routing keys: l is the message, which q
// dead-letters, or which was published if q is nil. 4.3 also routes to names whose consumer is gone: there a copy is lost.
// Rules: M-18, M-19a.
func (v *vhost) deliverRepliesLocked(q *Queue, l loss) (n replies) {
	for _, name := range v.deliveredNames(l.m.replyNames()) {
		ch, _, state := v.findReplyLocked(name)
		switch {
		case ch != nil:
			ch.deliverReplyLocked(l.m)
			n.delivered++
		case state == replyWellFormed && !v.rules.repliesBypassQueues:
			l.cause = CauseNoReplyConsumer
			v.dropLocked(q, l)
			n.lost++
		}
	}
	return n
}

// deliveredNames returns the direct reply-to names by which a message is delivered, in the order of delivery. In 4.3 the last name comes
// first, and each channel gets the message once: by the first of its names in that order. If this name leads nowhere, the channel gets
// nothing, though another name would lead to its consumer.
// Rules: M-19a, X-18a.
func (v *vhost) deliveredNames(names []string) []string {
	if v.rules.repliesBypassQueues || len(names) < 2 {
		return names
	}
	slices.Sort(names)
	slices.Reverse(names)
	var served []replyProcess
	return slices.DeleteFunc(names, func(name string) bool {
		address, state := parseReplyName(name, v.rules)
		if state != replyWellFormed || slices.Contains(served, address.process) {
			return true
		}
		served = append(served, address.process)
		return false
	})
}

// deadRepliesLocked is deliverRepliesLocked for a dead letter of l that is published as m.
// Rules: M-19c.
func (v *vhost) deadRepliesLocked(l *deadLetter, m *message) (n replies) {
	if m.mayReply() {
		n = v.deliverRepliesLocked(l.q, loss{m: m, parent: l.copy, reason: l.reason})
	}
	return n
}

// deliverReplyLocked hands a reply to the channel's consumer. A client that does not read keeps 128 MiB of them, and
// the rest is lost. In 3.10 the next message gets the same delivery tag.
// Rules: M-18.
func (ch *Channel) deliverReplyLocked(m *message) {
	c := ch.reply
	if !c.takesReplyLocked(m) {
		ch.v.dropLocked(nil, loss{m: m, cause: CauseReplyUnread})
		return
	}
	e := entry{m: m}
	ch.usedLocked()
	d := c.spares.take()
	ch.fillDelivery(d, nil, &e)
	d.ConsumerTag, d.DeliveryTag = c.tag, ch.tags.Last()+1
	if !ch.v.rules.repliesUncounted {
		ch.tags.Skip()
	}
	c.inbox.expectLocked(m)
	c.handLocked(d)
	d.eventLocked(EventDelivery{ch.session(), replyQueue, 0, c.tag, d.DeliveryTag}, true)
}

// takesReplyLocked counts a direct reply that is going to wait for c's client, unless too much of them is unread. A
// handler gets each at once.
func (c *Consumer) takesReplyLocked(m *message) bool {
	switch {
	case c.own != nil:
		return c.own.replies.take(m)
	case c.inbox != nil:
		return c.inbox.replies.take(m)
	}
	return true
}
