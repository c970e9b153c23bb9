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
