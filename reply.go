package leveret

import "strings"

// Direct reply-to: a consumer of the pseudo queue amq.rabbitmq.reply-to makes its channel the
// target of replies. A request's reply-to property of that name is replaced by a generated
// name, which leads straight to the channel and is no queue.

// directReply is a channel's consumer of replies and the name that leads to it.
type directReply struct {
	reply     *Consumer
	replyName string
}

const replyQueue = "amq.rabbitmq.reply-to"

// isReplyQueue reports whether name is the pseudo queue or one of the generated names.
func isReplyQueue(name string) bool {
	return name == replyQueue || strings.HasPrefix(name, replyQueue+".")
}

// consumeRepliesLocked makes the channel's one direct reply consumer.
// Rules: M-18.
func (ch *Channel) consumeRepliesLocked(cfg ConsumeConfig) (*Consumer, *Error) {
	if !cfg.NoAck {
		return nil, PreconditionFailed.errorf(replyQueue, "reply consumer cannot acknowledge")
	}
	if ch.reply != nil {
		return nil, PreconditionFailed.errorf(replyQueue, "reply consumer already set")
	}
	if ch.consumers[cfg.Tag] != nil {
		return nil, NotAllowed.errorf(replyQueue, "attempt to reuse consumer tag '%s'", cfg.Tag)
	}
	c := &Consumer{ch: ch, tag: cfg.Tag, cfg: cfg}
	c.timer.Value = c
	ch.subscribeLocked(c)
	ch.reply = c
	ch.replyName = ch.v.b.random.name(replyQueue+".") + replySuffix
	ch.v.replies[ch.replyName] = ch
	return c, nil
}

func (ch *Channel) endRepliesLocked() {
	delete(ch.v.replies, ch.replyName)
	ch.reply, ch.replyName = nil, ""
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

const replySuffix = "==" // RabbitMQ's names end in base64 padding

// Rules: M-19.
func wellFormedReply(name string) bool {
	return len(name) == len(replyQueue)+1+generatedLen+len(replySuffix) && strings.HasSuffix(name, replySuffix)
}

// replyStateLocked answers a declaration of the pseudo queue or of a generated name.
// Rules: M-19.
func (ch *Channel) replyStateLocked(name string, s *QueueState) *Error {
	if name != replyQueue {
		old := ch.v.rules.returnReplies
		to := ch.v.replies[name]
		if crash := !wellFormedReply(name) && !old || to == ch && old; crash {
			return &Error{Code: InternalError} // RabbitMQ's channel crashes
		}
		if to == nil || to == ch {
			return ch.v.noQueue(name)
		}
	}
	*s = QueueState{Name: name, Consumers: 1}
	return nil
}

// isReply reports whether a message that no queue received is a direct reply. A malformed name leads nowhere.
// Rules: M-19a.
func (m *message) isReply() bool {
	return m.exchange.name == "" && strings.HasPrefix(m.key, replyQueue+".") && wellFormedReply(m.key)
}

// publishReplyLocked hands a reply to the channel that waits for it, and reports whether that ends the publish. RabbitMQ 4.3 never
// returns a reply, whether its consumer is there or not. 3.10 returns every mandatory one: a reply name is no queue.
// Rules: M-19a.
func (v *vhost) publishReplyLocked(p publication, out *Outcome) bool {
	delivered := v.deliverReplyLocked(p.m)
	if !delivered && !v.rules.returnReplies {
		v.dropLocked(nil, loss{m: p.m, cause: CauseNoReplyConsumer})
	}
	if delivered {
		out.Queues = 1
	}
	if !v.rules.returnReplies {
		return true
	}
	return delivered && !p.mandatory
}

// deliverReplyLocked delivers a reply if its consumer is there.
// Rules: M-18.
func (v *vhost) deliverReplyLocked(m *message) bool {
	ch := v.replies[m.key]
	if ch == nil || ch.reply == nil {
		return false
	}
	c := ch.reply
	e := entry{m: m}
	d := ch.newDelivery(nil, &e)
	d.ConsumerTag, d.DeliveryTag = c.tag, ch.tags.Skip()
	c.inbox.expectLocked(m)
	c.handLocked(d)
	d.eventLocked(EventDelivery{ch.session(), replyQueue, 0, c.tag, d.DeliveryTag}, true)
	return true
}
