package leveret

// For packages that serve a protocol, as amqpd does AMQP 0-9-1; a program that uses the broker needs nothing of this. A
// listener opens a connection for each remote client, with Broker.Authenticate and Broker.Open. It gives the connection
// an Inbox and sends the client what it takes from there, encodes Delivery.WireProperties or WireHeaders, and tells by
// ConnConfig.Describe what carries the connection.

// MaxMessageSize returns the largest body a publisher may send, in bytes. A listener need not take in a larger one: see
// Channel.RefuseBody.
func (b *Broker) MaxMessageSize() int { return b.maxMessageSize }

// RefuseBody does what Publish does with a body of size bytes, for a listener that has not taken it in because it is
// larger than Broker.MaxMessageSize: the error is ErrPreconditionFailed and closes the channel. A smaller size is no
// error.
func (ch *Channel) RefuseBody(size uint64) error {
	return ch.do("basic.publish", func() *Error {
		if size <= uint64(ch.v.b.maxMessageSize) {
			return nil
		}
		return ch.v.tooLarge(size)
	})
}

// RefuseProperties does what Publish does with a message whose properties cannot be read, for a listener that decodes them: an error
// that Publish finds without a look at them or, if there is none, ErrInternal, which ends the connection.
//
// Rules: M-1, M-3.
func (ch *Channel) RefuseProperties(exchange, key string, m Message) error {
	return ch.do("basic.publish", func() *Error {
		ch.cache = ch.caches.of(key)
		x, err := ch.checkTargetLocked(exchange, key, &m, ch.cache.leads(exchange, key, ch.v.topology))
		if err != nil {
			return err
		}
		if ch.v.rules.oldPublishChecks {
			if err := ch.checkTopicKeyLocked(&message{exchange: x, key: key}); err != nil {
				return err
			}
		}
		return &Error{Code: InternalError}
	})
}

// Fail does what a method does that fails with err, for a method that the listener itself refuses: it closes what err closes.
//
// Rules: E-8.
func (ch *Channel) Fail(err *Error) error {
	return ch.do(err.Op, func() *Error { return err })
}

// DeclaredQueue returns the queue that the channel's client means by an empty name: the one that the channel declared last,
// or "". It does so for a closed channel, too.
//
// Rules: C-15.
func (ch *Channel) DeclaredQueue() string {
	ch.v.lock()
	defer ch.v.unlock()
	return ch.lastQueue
}

// Consumes reports whether a consumer of a queue has the tag: its queue answers basic.cancel.
//
// Rules: D-14.
func (ch *Channel) Consumes(tag string) bool {
	ch.v.lock()
	defer ch.v.unlock()
	return ch.consumers[tag] != nil && (ch.reply == nil || ch.reply.tag != tag)
}

// UpdateSecret is connection.update-secret. A password does not expire, so there is nothing to renew, but RabbitMQ 4.3 takes the
// occasion to look at the user's permissions: the channels forget those that they remember, and consumers of queues that the user may not
// read any more are cancelled. The error is ErrNotAllowed, and the connection ends, if the user has no permissions in the virtual host.
//
// Rules: A-8a.
func (c *Conn) UpdateSecret() error {
	v := c.v
	v.lock()
	defer v.unlock()
	if c.err != nil || v.rules.keptPermissions {
		return c.err
	}
	if !v.b.access.Load().hasVHost(c.cfg.User, v.name) {
		err := connectionRefused(v.name, "access to vhost '%s' refused for user '%s'", v.name, c.cfg.User)
		err.Op = "connection.update-secret"
		c.endLocked(err)
		return err
	}
	for _, ch := range c.sortedChannelsLocked() {
		ch.grants.forget()
		for _, consumer := range append(ch.sortedConsumersLocked(), ch.late...) {
			consumer.cancelUnpermittedLocked()
			v.tookLocked(1)
			v.restLocked()
		}
	}
	return nil
}

// cancelUnpermittedLocked cancels c if its user may not read its queue any more. Direct replies need no permission.
// Rules: A-8a.
func (c *Consumer) cancelUnpermittedLocked() {
	if c.q == nil || c.mayReadLocked() || c.ended && !c.late { // ended while others got in
		return
	}
	c.tellCancelledLocked()
	c.ch.cancelLocked(c.tag)
}

func (c *Consumer) mayReadLocked() bool {
	check := func() *Error { return c.ch.checkLocked(read, queueResource, c.q.name) }
	err := check()
	if err == errLongMatch {
		err = c.ch.v.attemptAgainLocked(check)
	}
	return err == nil
}

// CancelOk is basic.cancel-ok, the answer of a client to a basic.cancel of the broker's. RabbitMQ 4.3 cancels the consumer, without an
// answer. No consumer of a queue may have the tag: then known is false.
//
// Rules: D-14, D-35.
func (ch *Channel) CancelOk(tag string) (known bool, err error) {
	err = ch.do("basic.cancel-ok", func() *Error {
		known = ch.cancelLocked(tag)
		return nil
	})
	return known, err
}
