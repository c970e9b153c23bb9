package leveret

import "slices"

// Publish is basic.publish. It returns when every queue has taken or refused the message, so
// the outcome is all that a client would be told later: first Return (basic.return), then on a
// confirming channel an ack of Sequence, or a nack if Rejected. On a channel in a transaction
// nothing happens, and nothing is told, before Commit.
func (ch *Channel) Publish(exchange, key string, m Message) (Outcome, error) {
	v := ch.v
	v.lock()
	var out Outcome
	err := ch.usable()
	if err == nil {
		var e *Error
		if out, e = ch.publish(exchange, key, &m); e != nil {
			err = ch.fail("basic.publish", e)
		}
	}
	v.unlock()
	return out, err
}

// A routeCache is the last route of a channel: publishers mostly publish the same way again.
// It holds while the topology stands.
type routeCache struct {
	topology      uint64
	exchange, key string
	x             *Exchange
	queues        []*Queue
}

func (ch *Channel) publish(exchange, key string, m *Message) (Outcome, *Error) {
	v := ch.v
	if m.Immediate {
		return Outcome{}, errorf(NotImplemented, "", exchange, "immediate=true")
	}
	if size := max(uint64(len(m.Body)), m.Announced); size > uint64(v.b.maxMessageSize) {
		return Outcome{}, v.tooLarge(size)
	}
	if err := ch.check(write, exchangeResource, exchange); err != nil {
		return Outcome{}, err
	}
	c := &ch.cache
	known := c.topology == v.topology && c.key == key && c.exchange == exchange && c.x != nil
	x := c.x
	if !known {
		if x = v.exchanges[exchange]; x == nil {
			return Outcome{}, v.noExchange(exchange)
		}
	}
	if x.cfg.Internal {
		return Outcome{}, errorf(AccessRefused, "", exchange, "cannot publish to internal %s", v.exchangeText(exchange))
	}
	if key == "" || m.Properties != nil || !ch.super {
		if err := ch.checkPublish(x, key, m); err != nil {
			return Outcome{}, err
		}
	}
	stored, err := v.rules.accept(x, key, m)
	if err != nil {
		return Outcome{}, err
	}
	if m.Properties != nil || !ch.super {
		if err := ch.checkStored(x, stored, m); err != nil {
			return Outcome{}, err
		}
	}
	var out Outcome
	if ch.confirm {
		ch.sequence++
		out.Sequence = ch.sequence
	}
	queues := c.queues
	if !known || stored.extra != nil {
		queues = v.route(x, stored)
		if stored.extra == nil && !v.router.varying {
			*c = routeCache{v.topology, exchange, key, x, append(c.queues[:0], queues...)}
		}
	}
	if ch.tx != nil {
		ch.tx.publish(stored, slices.Clone(queues), m.Mandatory)
		return Outcome{Queues: len(queues)}, nil
	}
	ch.hand(stored, queues, m.Mandatory, &out)
	return out, nil
}

func (v *vhost) tooLarge(size uint64) *Error {
	const absolute = 512 << 20
	configured := "configured max"
	if v.b.maxMessageSize >= absolute {
		configured = "max"
	}
	return errorf(PreconditionFailed, "", "", "message size %d is larger than %s size %d", size, configured, v.b.maxMessageSize)
}

// hand gives a routed message to its queues, or back to its publisher.
func (ch *Channel) hand(m *message, queues []*Queue, mandatory bool, out *Outcome) {
	v := ch.v
	v.counters.Published++
	out.Queues = len(queues)
	v.publishedEvent(m, queues)
	if len(queues) == 0 {
		v.unroutable(m, mandatory, out)
		return
	}
	v.counters.Routed++
	for _, q := range queues {
		if !q.accept(m, 0, ch) && (ch.tx == nil || q.quorum == nil) { // a commit does not hear of a quorum queue's refusal
			out.Rejected = true
		}
	}
	if out.Sequence > 0 && !out.Rejected {
		v.counters.Confirmed++
	}
}

func (v *vhost) unroutable(m *message, mandatory bool, out *Outcome) {
	if out.Sequence > 0 {
		v.counters.Confirmed++
	}
	if v.isReply(m) {
		if delivered := v.deliverReply(m); delivered || !v.rules.returnReplies {
			if delivered {
				out.Queues = 1
			}
			if !mandatory || !v.rules.returnReplies {
				return
			}
		}
	}
	if !mandatory {
		v.counters.UnroutableDropped++
		v.droppedEvent(nil, m, "", CauseUnroutable, "")
		return
	}
	v.counters.UnroutableReturned++
	v.returnedEvent(m)
	p := m.props
	if p != nil && p.HeaderFields != nil {
		own := *p
		h := p.HeaderFields
		if !v.rules.keepHeaderOrder {
			h = h.sorted()
		}
		own.HeaderFields, own.Headers = h, h.Table()
		p = &own
	}
	out.Return = &Return{Exchange: m.exchange.name, RoutingKey: m.key, Message: Message{Properties: p, Body: m.body}}
}

// checkPublish makes the checks that come before the properties are taken in.
func (ch *Channel) checkPublish(x *Exchange, key string, m *Message) *Error {
	r := ch.v.rules
	if r.userIDFirst {
		if x.kind == Topic {
			if err := ch.checkTopic(write, x.name, key); err != nil {
				return err
			}
		}
	}
	if m.Properties == nil {
		return nil
	}
	if err := ch.checkReplyTo(m); err != nil {
		return err
	}
	if !r.userIDFirst {
		return nil
	}
	if err := ch.checkUserID(m.Properties); err != nil {
		return err
	}
	return nil
}

// checkStored makes the checks that come after expiration, CC and BCC are known.
func (ch *Channel) checkStored(x *Exchange, stored *message, m *Message) *Error {
	r := ch.v.rules
	if p := m.Properties; p != nil && r.strictDeliveryMode && (p.DeliveryMode > 2 || p.DeliveryMode == 0 && p.Present&PropDeliveryMode != 0) {
		return errorf(PreconditionFailed, "", "", "invalid message: {delivery_mode_unknown,%d}", p.DeliveryMode)
	}
	if r.userIDFirst {
		return nil
	}
	if x.kind == Topic {
		if stored.extra == nil {
			if err := ch.checkTopic(write, x.name, stored.key); err != nil {
				return err
			}
		}
		for _, key := range stored.keys() {
			if err := ch.checkTopic(write, x.name, key); err != nil {
				return err
			}
		}
	}
	return ch.checkUserID(m.Properties)
}

// checkUserID holds a publisher to its own name.
func (ch *Channel) checkUserID(p *Properties) *Error {
	if p == nil || p.UserID == "" && p.Present&PropUserID == 0 || ch.super {
		return nil
	}
	user := ch.conn.cfg.User
	if p.UserID == user || ch.v.b.access.Load().isImpersonator(user) {
		return nil
	}
	return errorf(PreconditionFailed, "", "", "user_id property set to '%s' but authenticated user was '%s'", p.UserID, user)
}
