package amqpd

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/wire"
)

// term prints the error as RabbitMQ does.
func (e frameTooLarge) term() erl.Tuple {
	return erl.Tuple{erl.Atom("frame_too_large"), e.size, e.limit}
}

func (e badFrameEnd) term() erl.Tuple { return erl.Tuple{erl.Atom("invalid_frame_end_marker"), e.end} }

// frameLocked handles one frame. An error ends the connection at once; errors that the client is told are
// dealt with before it returns.
func (c *conn) frameLocked(f frame) error {
	c.batch.channel = f.channel
	switch {
	case c.stage != running:
		return c.closingFrameLocked(f)
	case !wellFormed(f):
		c.failLocked(c.release.frameProblem(leveret.FrameError, f, erl.Atom("unknown_frame")), 0)
		return nil
	case f.channel == 0:
		return c.connectionFrameLocked(f)
	case f.typ == frameMethod:
		return c.channelMethodLocked(f)
	case f.typ == frameHeartbeat:
		c.failLocked(c.release.frameProblem(leveret.UnexpectedFrame, f, nil), 0)
		return nil
	}
	return c.contentFrameLocked(f)
}

// wellFormed reports whether a frame has a known type and the fixed part of its payload.
func wellFormed(f frame) bool {
	switch f.typ {
	case frameMethod:
		return len(f.payload) >= methodHead
	case frameHeader:
		return len(f.payload) >= contentHead
	case frameBody:
		return true
	case frameHeartbeat:
		return len(f.payload) == 0
	}
	return false
}

func methodOf(f frame) methodID { return methodID(binary.BigEndian.Uint32(f.payload)) }

// connectionFrameLocked handles a frame on channel 0 of a running connection.
func (c *conn) connectionFrameLocked(f frame) error {
	switch f.typ {
	case frameHeartbeat:
		return nil
	case frameMethod:
	default:
		c.failLocked(c.release.frameProblem(leveret.UnexpectedFrame, f, nil), 0)
		return nil
	}
	id := methodOf(f)
	if !c.protocol.knows(id) {
		return errDrop
	}
	a := newArgs(f.payload[4:], &c.in.names)
	if err := c.protocol.signatures[id].checkOnZero(&a); err != nil {
		return c.handledLocked(nil, err, id)
	}
	switch id {
	case c.protocol.close:
		return c.closedByClientLocked()
	case connectionUpdateSecret:
		if err := c.session.UpdateSecret(); err != nil {
			return c.handledLocked(nil, err, id)
		}
		c.out.bare(0, connectionUpdateSecretOk)
		return nil
	}
	c.failLocked(errorf(leveret.ChannelError, "unexpected method in connection state running"), id)
	return nil
}

// closedByClientLocked answers connection.close. By then exclusive queues are gone.
// Rules: Q-31.
func (c *conn) closedByClientLocked() error {
	for _, ch := range c.batch.confirms {
		c.endConfirmsLocked(ch)
	}
	c.flushConfirmsLocked()
	c.session.Close()
	c.stage = closing
	c.out.bare(0, c.protocol.closeOk)
	c.log.Info("connection closed", "user", c.client.user, "reason", "by its client")
	return errDone
}

// closingFrameLocked handles what comes after connection.close was sent or answered. Three methods count: close-ok ends the connection,
// another connection.close is answered, and a method that AMQP does not have ends the connection, too.
// Rules: C-17.
func (c *conn) closingFrameLocked(f frame) error {
	if f.channel != 0 || f.typ != frameMethod || len(f.payload) < methodHead {
		return nil
	}
	id := methodOf(f)
	a := newArgs(f.payload[4:], &c.in.names)
	switch {
	case !c.protocol.knows(id):
		return errAnswered // no other answer can come
	case c.protocol.signatures[id].check(&a) != nil:
		if c.client.user == "" { // without a user to name in its log RabbitMQ's reader crashes
			return errAnswered
		}
	case id == c.protocol.close && c.batch.failed:
		c.batch.failed = false
	case id == c.protocol.close:
		c.out.bare(0, c.protocol.closeOk)
	case id == c.protocol.closeOk:
		return errAnswered
	}
	return nil
}

// channelMethodLocked handles a method on a channel.
func (c *conn) channelMethodLocked(f frame) error {
	id := methodOf(f)
	a := &c.batch.args
	*a = newArgs(f.payload[4:], &c.in.names)
	if id != basicPublish {
		c.in.burst.other = true
	}
	ch := c.channelLocked(f.channel)
	if ch == nil {
		return c.unopenedLocked(f.channel, id, a)
	}
	h, known := c.protocol.handler(id)
	if !known {
		return errDrop
	}
	if ch.content.state != noContent {
		c.failLocked(ch.content.unexpected(), ch.content.method)
		return nil
	}
	if ch.closing {
		return c.closingChannelLocked(ch, id, a)
	}
	if ch.tx.committing && !passesCommit(id) {
		return c.refusedLocked(ch, id, a, errCommitting())
	}
	if h == nil {
		return c.refusedLocked(ch, id, a, errUnimplemented())
	}
	return c.handledLocked(ch, h(c, ch, a), id)
}

// handler finds the handler of a method; the ones that come with every message go first.
func (p *protocol) handler(id methodID) (h handler, known bool) {
	switch id {
	case basicPublish:
		return (*conn).basicPublishLocked, true
	case basicAck:
		return (*conn).basicAckLocked, true
	}
	h, known = p.methods[id]
	return h, known
}

// unopenedLocked handles a method on a channel that is not open.
// Rules: C-15.
func (c *conn) unopenedLocked(number uint16, id methodID, a *args) error {
	if !c.protocol.knows(id) {
		return errDrop
	}
	if id == channelOpen {
		return c.handledLocked(nil, c.openChannelLocked(number, a), id)
	}
	if err := c.admitFrameLocked(number); err != nil {
		return c.handledLocked(nil, err, id)
	}
	switch id {
	case basicPublish, basicReturn, basicDeliver, basicGetOk: // what follows must be its content; then it is refused
		ch := &channel{number: number}
		c.open.byNumber[number] = ch
		if slices.Contains(c.batch.closed, number) { // nobody refuses it
			ch.closing, ch.gone = true, true
			return c.closingChannelLocked(ch, id, a)
		}
		return c.handledLocked(nil, c.protocol.methods[id](c, ch, a), id)
	}
	err := c.protocol.signatures[id].check(a)
	switch {
	case err != nil:
	case slices.Contains(c.batch.closed, number): // it was sent before the client could know that the channel is closed
		if id == channelClose {
			c.out.bare(number, channelCloseOk)
		}
		return nil
	case omitsQueue(id, a.whole):
		c.closeUnopenedLocked(number, id)
		return nil
	default:
		err = errNotOpen()
	}
	return c.handledLocked(nil, err, id)
}

// omitsQueue reports whether a method leaves the name of the queue to the channel.
func omitsQueue(id methodID, arguments []byte) bool {
	switch id {
	case basicGet, basicConsume, queueBind, queueUnbind, queuePurge, queueDelete:
		return arguments[2] == 0 // the length of the name, behind the ticket
	}
	return false
}

// closeUnopenedLocked closes a channel that is not open because of a method that leaves the name of the queue to
// it. RabbitMQ looks for the name before it asks whether the channel is open.
// Rules: C-15.
func (c *conn) closeUnopenedLocked(number uint16, id methodID) {
	ch := &channel{number: number}
	c.open.byNumber[number] = ch
	c.refuseChannelLocked(ch, errorf(leveret.NotFound, wire.NoDeclaredQueue), id)
}

// passesCommit reports whether a method is executed while the channel's commit waits for queues. The content of a method is waited
// for before it is refused.
// Rules: C-10.
func passesCommit(id methodID) bool {
	switch id {
	case channelOpen, channelClose, basicPublish, basicReturn, basicDeliver, basicGetOk:
		return true
	}
	return false
}

// refusedLocked ends the connection because of a method that a client may not send, or not now. What is wrong with its arguments
// comes before that.
// Rules: C-10, C-17.
func (c *conn) refusedLocked(ch *channel, id methodID, a *args, why error) error {
	if err := c.protocol.signatures[id].check(a); err != nil {
		why = err
	}
	return c.handledLocked(ch, why, id)
}

func errNotOpen() error { return errorf(leveret.ChannelError, "expected 'channel.open'") }

// closingChannelLocked handles a method on a channel that the broker has closed. RabbitMQ looks for the queue that a method
// leaves to the channel before it asks whether the channel is closing.
// Rules: E-7, C-15.
func (c *conn) closingChannelLocked(ch *channel, id methodID, a *args) error {
	if err := c.protocol.signatures[id].check(a); err != nil {
		return c.handledLocked(nil, err, id)
	}
	if omitsQueue(id, a.whole) && !ch.hasDeclared() {
		c.sendCloseLocked(ch, errorf(leveret.NotFound, wire.NoDeclaredQueue), id)
		return nil
	}
	switch id {
	case channelCloseOk:
		if ch.ch != nil { // it was open
			ch.ch.Close()
		}
		c.forgetLocked(ch)
	case channelClose:
		c.out.bare(ch.number, channelCloseOk)
	case channelOpen:
		c.failLocked(errSecondOpen(), id)
	case basicPublish, basicReturn, basicDeliver, basicGetOk:
		ch.content.begin(id) // what follows must still be its content
	}
	return nil
}

// handledLocked tells the client about the error of a method, if there is one. What is wrong with the frame is found by RabbitMQ's
// reader, any other error by the channel, which then ends before the others.
// Rules: C-20, E-8.
func (c *conn) handledLocked(ch *channel, err error, id methodID) error {
	if err == nil || errors.Is(err, leveret.ErrClosed) {
		return nil // the session was closed meanwhile: the inbox has the reason
	}
	if errors.Is(err, errDrop) {
		return err
	}
	var e *leveret.Error
	if ch == nil || !errors.As(err, &e) || e.ClosesConnection() {
		if ch != nil && e != nil && !aboutFrame(e) {
			c.endConfirmsLocked(ch)
			c.dropNoticesLocked(ch)
			ch.ch.Fail(e)
		}
		c.failLocked(err, id)
		return nil
	}
	c.refuseChannelLocked(ch, err, id)
	return nil
}

// dropNoticesLocked drops what queues have for a channel that ends its connection by an error: in RabbitMQ that comes behind the frames
// that were read together, when the channel is not there any more.
// Rules: E-8.
func (c *conn) dropNoticesLocked(ch *channel) {
	c.takeNoticesLocked()
	c.inbox.notices = slices.DeleteFunc(c.inbox.notices, func(n leveret.Notification) bool { return n.Channel != nil && n.Channel == ch.ch })
}

// refuseChannelLocked closes a channel because of what its client has asked for. Classic queues that the channel consumes from have
// what it held by then, and may have delivered that to others. What is on its way to the channel itself comes behind channel.close.
// Rules: E-7.
func (c *conn) refuseChannelLocked(ch *channel, err error, id methodID) {
	if ch.closing {
		return
	}
	ch.closing = true
	c.endConfirmsLocked(ch)
	c.takeNoticesLocked()
	c.encodeSomeLocked(func(_ int, to *channel) bool { return to != ch })
	c.sendCloseLocked(ch, err, id)
}

// closeChannelLocked closes a channel by the broker's will.
// Rules: E-7.
func (c *conn) closeChannelLocked(ch *channel, err error) {
	if ch.closing {
		return
	}
	ch.closing = true
	c.sendCloseLocked(ch, err, 0)
}

func (c *conn) sendCloseLocked(ch *channel, err error, id methodID) {
	if c.stage != running {
		return
	}
	c.flushConfirmsLocked()
	why := c.closeReason(err, id)
	c.log.Warn("channel closed", "user", c.client.user, "channel", ch.number, "reason", why.text)
	c.out.closing(ch.number, channelClose, why)
}

// channelLocked returns an open channel, or nil.
func (c *conn) channelLocked(number uint16) *channel {
	if c.open.last != nil && c.open.last.number == number {
		return c.open.last
	}
	ch := c.open.byNumber[number]
	if ch != nil {
		c.open.last = ch
	}
	return ch
}

func (c *conn) forgetLocked(ch *channel) {
	delete(c.open.byNumber, ch.number)
	c.open.last = nil
}
