package amqpd

import "github.com/leveretmq/leveret"

// notifyWriterLocked makes the writer look for output, if there is any or the connection has ended.
func (c *conn) notifyWriterLocked() {
	if c.out.size() == 0 && c.stage != ended {
		return
	}
	c.writer.notify()
}

// notify makes the writer look for output.
func (w *writer) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// flushLocked sends the output of the frames that were just executed: a small one at once, if the writer is idle,
// because to wake the writer for it costs more. The rest, and what the socket does not take now, is left to the writer.
func (c *conn) flushLocked() {
	defer c.notifyWriterLocked()
	if !c.in.direct() || c.stage != running || c.writer.busy {
		c.inbox.mail.release()
		return
	}
	c.inbox.mail.taken()
	c.takeNoticesLocked()
	c.in.burst.other = c.in.burst.other || len(c.inbox.notices) > 0
	c.encodeNoticesLocked(len(c.inbox.notices))
	if n := c.out.size(); c.stage != running || n == 0 || n > maxAnswer || n != len(c.out.b) {
		return
	}
	wrote := c.in.tryWrite(c.out.b)
	if wrote == len(c.out.b) {
		c.out.release()
	} else {
		c.out.b = c.out.b[:copy(c.out.b, c.out.b[wrote:])]
	}
}

// maxAnswer is how many octets the reader writes itself, at most.
const maxAnswer = 8 << 10

// writeLoop writes what the reader and the broker have for the client, all there is at once, and
// heartbeats when there is nothing. It returns when the connection has ended.
func (c *conn) writeLoop() {
	defer close(c.writer.gone)
	look, stop := c.heartbeats()
	defer stop()
	var o output
	var b beat
	for {
		select {
		case <-c.writer.wake:
		case <-look:
			c.heartbeat(&b)
		}
		if !c.flush(&o) {
			c.hangUp()
			return
		}
	}
}

// flush writes until there is nothing left. It returns false when the connection has ended or
// cannot be written to.
func (c *conn) flush(o *output) bool {
	for {
		last := c.takeOutput(o)
		if o.size() == 0 {
			return !last
		}
		err := c.write(o)
		o.release()
		if err != nil {
			c.lost()
			return false
		}
	}
}

// hangUp ends the stream to the client behind what was written, if the client's answer is not waited for.
func (c *conn) hangUp() {
	c.mu.Lock()
	hangsUp := c.hangsUp
	c.mu.Unlock()
	if !hangsUp {
		return
	}
	if half, ok := c.nc.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	} else {
		c.nc.Close()
	}
}

// write writes o, and counts what was written.
func (c *conn) write(o *output) error {
	c.in.meter.sending(o.size())
	return o.writeTo(c.nc, &c.in.meter)
}

// takeOutput puts everything there is to write into o, which is empty, and reports whether it is the last.
func (c *conn) takeOutput(o *output) (last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.takeNoticesLocked()
	c.encodeNoticesLocked(len(c.inbox.notices))
	c.sendLoggedLocked()
	*o, *c.out = *c.out, *o
	if c.writer.busy = o.size() > 0; c.writer.busy {
		c.watchLocked()
	}
	c.in.burst.other = c.in.burst.other || c.writer.busy
	c.moved.Broadcast()
	return c.stage == ended || c.hangsUp
}

// lost ends a connection that cannot be written to.
func (c *conn) lost() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropLocked()
}

// dropLocked ends the connection without a word.
func (c *conn) dropLocked() {
	c.stage = ended
	c.nc.Close() // the reader, too, is to notice
	c.moved.Broadcast()
}

// takeNoticesLocked moves what the broker has for the client out of the inbox.
// Before open-ok is encoded there is no session, and nothing is taken.
func (c *conn) takeNoticesLocked() {
	if c.session == nil {
		return
	}
	c.inbox.notices = c.inbox.from.Take(c.inbox.notices)
}

// encodeNoticesLocked encodes the first n notices.
func (c *conn) encodeNoticesLocked(n int) {
	for i := range c.inbox.notices[:n] {
		c.encodeNoticeLocked(&c.inbox.notices[i])
	}
	rest := copy(c.inbox.notices, c.inbox.notices[n:])
	clear(c.inbox.notices[rest:]) // lets go of the messages
	if c.inbox.notices = c.inbox.notices[:rest]; rest == 0 && cap(c.inbox.notices) > 2*maxInbox {
		c.inbox.notices = nil // there were many replies
	}
}

// sendNoticesLocked sends all that the broker has for the client before an answer.
func (c *conn) sendNoticesLocked() {
	c.takeNoticesLocked()
	c.encodeNoticesLocked(len(c.inbox.notices))
}

// promptLocked is how many of the notices come before the answer to what led to them: all but the echoes at their end.
// Rules: C-5a, C-10.
func (c *conn) promptLocked() int {
	n := len(c.inbox.notices)
	for n > 0 && c.inbox.notices[n-1].Echo {
		n--
	}
	return n
}

// encodeSomeLocked encodes the notices that is reports true for: is is given the place of a notice, and its channel, which is nil if
// the notice is for none that is open. The other notices keep their order.
func (c *conn) encodeSomeLocked(is func(i int, ch *channel) bool) {
	rest := c.inbox.notices[:0]
	for i := range c.inbox.notices {
		if n := &c.inbox.notices[i]; is(i, c.addresseeLocked(n)) {
			c.encodeNoticeLocked(n)
		} else {
			rest = append(rest, *n)
		}
	}
	clear(c.inbox.notices[len(rest):]) // lets go of the messages
	c.inbox.notices = rest
}

// addresseeLocked returns the open channel that a notice is for, or nil.
func (c *conn) addresseeLocked(n *leveret.Notification) *channel {
	if n.Channel == nil {
		return nil
	}
	if ch := c.channelLocked(n.Channel.Number()); ch != nil && ch.ch == n.Channel {
		return ch
	}
	return nil
}

// Rules: D-13.
func (c *conn) encodeNoticeLocked(n *leveret.Notification) {
	if c.stage != running {
		return
	}
	switch n.Kind {
	case leveret.ConnClosed:
		c.closeLocked(unattributed{n.Err}, 0)
		return
	case leveret.ConnBlocked: // blockLocked asks for itself
		return
	case leveret.ConnUnblocked:
		c.unblockLocked()
		return
	}
	ch := c.addresseeLocked(n)
	if ch == nil || ch.closing && n.Kind != leveret.Delivered {
		return // what was sent to a channel that is closed by now is back in its queue
	}
	switch n.Kind {
	case leveret.Delivered:
		c.out.deliver(ch.number, n.Delivery, c.tune.maxPayload())
	case leveret.ConsumerCancelled:
		at := c.out.method(ch.number, basicCancel)
		c.out.short(n.ConsumerTag)
		c.out.bool(true) // no answer is expected
		c.out.end(at)
	case leveret.ChannelClosed:
		c.closeChannelLocked(ch, unattributed{n.Err})
	case consumeOk:
		c.consumeOkLocked(ch, n.ConsumerTag)
	case creditOk:
		c.creditOkLocked(ch)
	case cancelOk:
		c.cancelOkLocked(ch, n.ConsumerTag)
	}
}

// blockLocked stops reading from a client that publishes during an alarm, and tells it, if it wants to be told.
// Rules: C-19.
func (c *conn) blockLocked() {
	c.blocked = true
	if c.client.wantsBlocked {
		at := c.out.method(0, connectionBlocked)
		c.out.short("low on " + c.session.BlockedBy().String())
		c.out.end(at)
	}
}

// unblockLocked goes on reading, unless an alarm is in force again.
func (c *conn) unblockLocked() {
	c.moved.Broadcast() // more may be unread again
	if !c.blocked || c.session.Blocked() {
		return
	}
	c.blocked = false
	if c.client.wantsBlocked {
		c.out.bare(0, connectionUnblocked)
	}
}
