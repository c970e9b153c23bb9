package amqpd

import (
	"cmp"
	"errors"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/leveretmq/leveret"
)

// How many octets may wait to be written before the connection stops reading. RabbitMQ has no such bound: there a
// client that sends everything before it reads anything fills the memory until the alarm stops it. During the alarm the
// bound is lower.
const (
	maxPending      = 64 << 20
	maxPendingAlarm = 1 << 20
)

// The stages of a connection from tune-ok on.
type stage uint8

const (
	running stage = iota
	closing       // connection.close was sent; only its answer counts
	leaving       // the session is over; the client's end of the connection is waited for
	ended         // nothing more is sent
)

// A conn is one client. One goroutine reads and executes methods, another writes. Both take what the broker
// has for the client out of the inbox; mu makes sure that what is encoded has the order in which it happened.
type conn struct {
	srv *Server
	nc  net.Conn
	log *slog.Logger
	in  frameReader
	agreement
	done chan struct{} // closed when serve has returned

	mu connLock // guards what follows
	phase
	inbox  inbox
	out    *output
	writer writer
	open   openChannels
	batch  batch
	logged loggedConfirms
	stops  lateStops
	sends  sendWatch
	pulse  pulse
}

// A phase is where a connection is in its life from tune-ok on.
type phase struct {
	stage   stage
	moved   sync.Cond // the writer took output, the stage or the alarm changed
	until   time.Time // when a shutdown cuts the client off; zero: it does not
	blocked bool      // the client published during the memory alarm: reading has stopped
	hangsUp bool      // connection.close was sent, and the socket is closed behind it
}

// A writer is the goroutine that writes to the client.
type writer struct {
	wake    chan struct{} // holds one token while there is output or mail for the writer
	gone    chan struct{} // closed when the writer has returned
	started bool          // of the connection's own goroutine
	busy    bool          // the writer has taken output and is not done with it
}

// An inbox is what the broker has for the client.
type inbox struct {
	from    *leveret.Inbox
	mail    mail
	notices []leveret.Notification // taken from the broker's inbox, not yet encoded
}

// openChannels are the channels that are open, or whose close the client has not answered yet.
type openChannels struct {
	byNumber map[uint16]*channel
	last     *channel // the one used last
	stream   *channel // whose body frame is to be read next, past the buffer
}

// A batch is what is kept while frames that were read together are executed.
type batch struct {
	closed   []uint16   // channels that the client closed
	confirms []*channel // with confirms that were not sent yet
	commits  []*channel // with a commit that was not answered yet
	args     args       // of the method that is executed: kept here they cost no allocation
	channel  uint16     // of the frame that is executed
	failed   bool       // a channel has ended the connection
}

// endsConnection notes why the connection ends. RabbitMQ's reader hears of a channel's error behind the frames that it reads together
// with the channel's. It does not answer a connection.close among them.
// Rules: C-17.
func (b *batch) endsConnection(err error) {
	var e *leveret.Error
	var u unattributed
	isLimit := errors.As(err, &u) && errors.As(err, &e) && e.Code == leveret.NotAllowed
	b.failed = b.channel != 0 && !aboutFrame(err) && !isLimit
}

// A connLock is the lock of a connection. It is a channel because the reader keeps it while the broker runs the event hooks
// of the program: in a testing/synctest bubble time passes while a goroutine waits for a channel, but not while it
// waits for a mutex.
type connLock chan struct{}

func (l connLock) Lock()   { l <- struct{}{} }
func (l connLock) Unlock() { <-l }

func newConn(srv *Server, nc net.Conn) *conn {
	c := &conn{
		srv: srv, nc: nc, done: make(chan struct{}), mu: make(connLock, 1),
		log: srv.logger().With("peer", nc.RemoteAddr().String()),
		out: new(output), writer: writer{wake: make(chan struct{}, 1), gone: make(chan struct{})},
		open: openChannels{byNumber: map[uint16]*channel{}},
	}
	c.release = releases[srv.Broker.Profile()]
	c.moved.L = c.mu
	c.logged.init(&c.writer)
	c.in = frameReader{r: nc, maxPayload: c.release.minFrameMax, names: names{loose: c.release.looseUTF8}}
	return c
}

// A resettable connection is one of TCP, without TLS.
type resettable interface{ SetLinger(seconds int) error }

var _ resettable = (*net.TCPConn)(nil)

// serve runs the connection to its end. A TCP connection that the client has not closed ends with a reset, as RabbitMQ's do.
func (c *conn) serve() {
	if nc, ok := c.nc.(resettable); ok {
		_ = nc.SetLinger(0)
	}
	defer c.nc.Close()
	if err := c.handshake(); err != nil {
		c.endHandshake(err)
		c.end()
		return
	}
	err := c.readLoop()
	c.session.Close() // requeues, and deletes exclusive queues, before anything else is waited for
	c.finish(err)
}

// readLoop returns errDone after a closing handshake, an error that lost the frame boundary after
// having told the client, and otherwise why reading failed.
func (c *conn) readLoop() error {
	for {
		if err := c.execute(); err != nil {
			return err
		}
		if err := c.receive(); err != nil {
			return err
		}
	}
}

// execute executes all frames that have been read.
func (c *conn) execute() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.flushLocked()
	c.inbox.mail.hold()
	for {
		if err := c.waitForRoomLocked(); err != nil {
			return err
		}
		f, ok, err := c.in.next()
		if err != nil {
			c.failLocked(c.release.frameSyncError(err), 0)
			return err
		}
		if !ok {
			break
		}
		if err := c.frameLocked(f); err != nil {
			return err
		}
	}
	c.sendWaitingLocked()
	c.in.executed(c.out.size() > 0)
	c.batch.closed = c.batch.closed[:0]
	c.batch.args = args{} // lets go of the read buffer
	c.batch.channel, c.batch.failed = 0, false
	c.open.stream = c.streamableLocked()
	return nil
}

// waitForRoomLocked waits while the client does not read what it is sent, or may not publish.
// Rules: C-19.
func (c *conn) waitForRoomLocked() error {
	for c.stage == running && (c.blocked || c.tooMuchUnreadLocked()) {
		c.pulse.unread = !c.blocked
		c.sendWaitingLocked()
		c.inbox.mail.release()
		c.notifyWriterLocked()
		c.moved.Wait()
		c.pulse.unread = false
	}
	if c.stage == ended {
		return errDone
	}
	return nil
}

// sendWaitingLocked sends what has waited for the frames that were read together: answers to commits, confirms, each consume-ok, and
// the deliveries among them.
func (c *conn) sendWaitingLocked() {
	c.answerCommitsLocked()
	c.sendConfirmsLocked()
	if len(c.inbox.notices) > 0 {
		c.encodeNoticesLocked(len(c.inbox.notices))
	}
}

// tooMuchUnreadLocked reports whether the client has to read before more of what it sends is executed.
func (c *conn) tooMuchUnreadLocked() bool {
	waiting := c.out.size() + int(c.in.meter.pending.Load())
	return waiting > maxPendingAlarm && (waiting > maxPending || c.session.Blocked())
}

// receive reads more, without holding the mutex.
func (c *conn) receive() error {
	ch := c.open.stream
	if ch == nil {
		return c.in.fill()
	}
	h, _ := c.in.head()
	piece := ch.content.room(h.size)
	err := c.in.readPayload(piece)
	if lostSync(err) {
		c.mu.Lock()
		defer c.mu.Unlock()
		defer c.notifyWriterLocked()
		c.failLocked(c.release.frameSyncError(err), 0)
	}
	if err != nil {
		return err
	}
	return c.received(ch)
}

// received goes on after a piece of a body was read, before the frames behind it are executed.
func (c *conn) received(ch *channel) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inbox.mail.hold()
	if c.open.byNumber[ch.number] != ch || ch.closing && !ch.gone || !ch.content.complete() {
		return nil
	}
	return c.completeLocked(ch)
}

// frameSyncError is what the client is told when frame boundaries are lost.
func (r *release) frameSyncError(err error) error {
	var large frameTooLarge
	if errors.As(err, &large) {
		f := frame{typ: large.typ, channel: large.channel}
		return r.frameProblem(leveret.FrameError, f, large.term())
	}
	var end badFrameEnd
	errors.As(err, &end)
	return r.frameProblem(leveret.FrameError, end.frame, end.term())
}

// failLocked sends connection.close behind the deliveries that the broker made before the failure. RabbitMQ's reader finds what is wrong
// with a frame, and ends all channels before they hear what queues do with the frames that were read together.
// Rules: E-8.
func (c *conn) failLocked(err error, cause methodID) {
	if c.stage == running {
		c.batch.endsConnection(err)
		c.takeNoticesLocked()
		if aboutFrame(err) {
			for _, ch := range c.batch.confirms {
				c.endConfirmsLocked(ch)
			}
			c.inbox.notices = slices.DeleteFunc(c.inbox.notices, func(n leveret.Notification) bool { return n.Kind == leveret.Delivered })
		}
		isEnd := func(n leveret.Notification) bool { return n.Kind == leveret.ConnClosed }
		n := slices.IndexFunc(c.inbox.notices, isEnd)
		if n < 0 {
			n = len(c.inbox.notices)
		}
		c.encodeNoticesLocked(n) // what stands behind the end comes too late
	}
	c.closeLocked(err, cause)
}

// aboutFrame reports whether an error is about a frame, and not about what it asks for.
func aboutFrame(err error) bool {
	var e *leveret.Error
	return errors.As(err, &e) && (e.Code == leveret.FrameError || e.Code == leveret.UnexpectedFrame)
}

// closeLocked sends connection.close, and waits for its answer from then on. An error that hangs up lets the client see
// the end of the stream at once; what the client still sends is read, so that its socket does not fail before it has read
// the reason.
// Rules: A-11.
func (c *conn) closeLocked(err error, cause methodID) {
	if c.stage != running {
		return
	}
	why := c.closeReason(err, cause)
	c.log.Warn("connection closed", "user", c.client.user, "reason", why.text)
	if !why.sendable() {
		c.dropLocked()
		return
	}
	c.flushConfirmsLocked()
	c.stage, c.hangsUp = closing, why.hangUp
	c.out.closing(0, c.protocol.close, why)
	c.session.Close()
	c.nc.SetReadDeadline(time.Now().Add(c.closeTimeout()))
	c.moved.Broadcast()
}

// maxCloseTimeout is how long a client has at most to answer connection.close.
const maxCloseTimeout = 30 * time.Second

// closeTimeout is how long the answer to connection.close, or the client's end of the connection, is waited for.
func (c *conn) closeTimeout() time.Duration {
	if c.tune.heartbeat > 0 {
		return min(c.tune.heartbeat, maxCloseTimeout)
	}
	return maxCloseTimeout
}

// finish writes what there is to write and waits for the client to close its end, so that the last
// frames are not lost.
func (c *conn) finish(err error) {
	c.mu.Lock()
	graceful := (errors.Is(err, errDone) || lostSync(err)) && !c.pulse.lost
	was := c.stage
	c.stage = leaving
	cutOff := c.until
	for _, ch := range c.open.byNumber {
		ch.content.reset()
	}
	c.moved.Broadcast()
	c.mu.Unlock()
	if !graceful {
		c.nc.Close()
		c.logLoss(err, was)
		c.end()
		return
	}
	wait := c.closeTimeout()
	if lostSync(err) {
		wait = silentDelay
	}
	until := time.Now().Add(wait)
	if !cutOff.IsZero() && cutOff.Before(until) {
		until = cutOff
	}
	c.nc.SetDeadline(until)
	switch {
	case errors.Is(err, errAnswered):
	case lostSync(err):
		c.drain()
	default:
		c.awaitEnd()
	}
	c.end()
}

// end stops the writer, if it was started, behind all that there is to write.
func (c *conn) end() {
	c.mu.Lock()
	c.stage = ended
	c.stopPulseLocked()
	c.endTimersLocked()
	c.moved.Broadcast()
	c.notifyWriterLocked()
	c.mu.Unlock()
	if c.writer.started {
		<-c.writer.gone
	}
}

// awaitEnd reads until the client closes its end of the connection, or sends what ends the connection.
func (c *conn) awaitEnd() {
	for {
		f, err := c.in.readFrame()
		if err == nil {
			c.mu.Lock()
			err = cmp.Or(c.closingFrameLocked(f), c.sendLocked())
			c.mu.Unlock()
		}
		if lostSync(err) && c.client.user != "" { // see closingFrameLocked
			c.nc.SetDeadline(time.Now().Add(silentDelay))
			c.drain()
		}
		if err != nil {
			return
		}
	}
}

// logLoss says why a connection ended without a closing handshake, or in one.
func (c *conn) logLoss(err error, was stage) {
	switch {
	case c.pulse.lost:
		c.log.Warn("connection lost", "user", c.client.user, "error", "missed heartbeats")
	case was != running: // why it was to be closed has been said
		c.log.Info("connection lost while it was closed", "user", c.client.user, "error", err)
	default:
		c.log.Warn("connection lost", "user", c.client.user, "error", err)
	}
}

// drain reads and forgets until the peer closes its end or the deadline passes.
func (c *conn) drain() {
	buf := make([]byte, 512)
	for {
		if _, err := c.nc.Read(buf); err != nil {
			return
		}
	}
}

// shutdown sends connection.close, and cuts the client off if it has not answered within wait.
func (c *conn) shutdown(e *leveret.Error, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil || c.stage >= leaving {
		c.nc.Close()
		return
	}
	c.failLocked(unattributed{e}, 0)
	c.until = time.Now().Add(wait)
	c.nc.SetDeadline(c.until)
	c.notifyWriterLocked()
}
