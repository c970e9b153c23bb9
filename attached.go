package leveret

// A channel of RabbitMQ 4.3 keeps what it needs to send to a quorum queue from its first basic.get or basic.consume on. Of the
// queue's end it hears only if it has published to the queue, consumes, or holds messages. If not, a commit after the end
// sends to a queue that is not there, and nobody notices. // C-10

// attach notes that a channel has got or consumed messages. In 3.10 a commit seeks its queues by their names.
// Rules: C-10.
func (c *quorum) attach(ch *Channel) {
	if _, known := c.clients[ch]; known || ch.super || c.q.v.rules.routesToNames {
		return
	}
	if c.clients == nil {
		c.clients = map[*Channel]struct{}{}
	}
	c.clients[ch] = struct{}{}
	c.register(ch)
}

// endUnnoticed has the transactions of channels that do not hear of the queue's end lose what they publish to it.
// Rules: C-10.
func (c *quorum) endUnnoticed() {
	for ch := range c.clients {
		if ch.tx != nil && !c.tellsEndTo(ch) {
			ch.tx.unnoticed = append(ch.tx.unnoticed, c.q)
		}
		delete(ch.asPublisher.queues, c)
	}
	c.clients = nil
}

// tellsEndTo reports whether a channel hears of the queue's end.
func (c *quorum) tellsEndTo(ch *Channel) bool {
	if _, publishes := c.soft.publishers[ch]; publishes {
		return true
	}
	for _, consumer := range ch.consumers {
		if consumer.q == c.q {
			return true
		}
	}
	for _, u := range ch.tags.All() {
		if u.q == c.q {
			return true
		}
	}
	return false
}
