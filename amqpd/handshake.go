package amqpd

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/wire"
)

// The handshake: protocol header, start and start-ok, tune and tune-ok, open and open-ok. Up to tune-ok it reads and
// writes in turn. From tune-ok on the connection has a writer of its own, which sends heartbeats, too.

// silentDelay is how long a client that misbehaves before it has logged in waits for its
// connection to be closed, which slows down a client that guesses passwords.
const silentDelay = 3 * time.Second

// errSilent ends a handshake without a word.
var errSilent = errors.New("amqpd: handshake failed")

// A refused handshake ends with a connection.close.
type refused struct {
	err   error
	cause methodID
}

func (r refused) Error() string { return r.err.Error() }

// A refusedLogin ends a handshake, too. What the client is told, if anything, is answer.
type refusedLogin struct {
	user, mechanism string
	cause           error
	answer          error // a refused or errSilent
}

// isJudged reports whether the login made sense. RabbitMQ refuses such a login, and ends the connection as it ends others. A login that
// makes no sense crashes RabbitMQ's reader, which then hears and answers nothing.
func (r refusedLogin) isJudged() bool {
	return r.cause != errMalformed && r.cause != errNoTable && r.cause != errUnknownMechanism
}

func (r refusedLogin) Error() string { return r.cause.Error() }
func (r refusedLogin) Unwrap() error { return r.answer }

// An agreement is what a handshake has led to.
type agreement struct {
	release  *release
	protocol *protocol
	client   clientInfo
	tune     tuning
	session  *leveret.Conn // nil until connection.open
}

// clientInfo is what the client said about itself.
type clientInfo struct {
	user         string
	mechanism    string // of its login
	properties   leveret.Fields
	wantsBlocked bool // connection.blocked
	wantsCancel  bool // basic.cancel from the broker
	wantsClose   bool // connection.close after a failed login
}

// tuning is what both sides agreed on.
type tuning struct {
	frameMax   int
	channelMax int
	heartbeat  time.Duration
}

func (t *tuning) maxPayload() int { return t.frameMax - frameOverhead }

// A secured connection is over TLS: a *tls.Conn, or what stands for one.
type secured interface {
	Handshake() error
	ConnectionState() tls.ConnectionState
}

var _ secured = (*tls.Conn)(nil)

func (c *conn) handshake() error {
	c.nc.SetDeadline(time.Now().Add(c.srv.handshakeTimeout()))
	if t, ok := c.nc.(secured); ok {
		if err := t.Handshake(); err != nil { // before the mechanisms are offered: EXTERNAL needs a certificate
			return err
		}
	}
	for _, step := range []func() error{c.greet, c.login, c.negotiate, c.startWriter, c.enter} {
		if err := step(); err != nil {
			return err
		}
	}
	c.letGo()
	return nil
}

// letGo frees what only the handshake needed: most connections do little after it.
func (c *conn) letGo() {
	c.in.share(c.nc)
	c.in.names.slots = nil
}

// startWriter starts the goroutine that writes, and the heartbeats.
func (c *conn) startWriter() error {
	c.inbox.mail.wake = c.writer.wake
	c.inbox.from = leveret.NewInbox(leveret.InboxConfig{
		MaxDeliveries: maxInbox, MaxBytes: maxInboxBytes, Notify: c.inbox.mail.arrived,
	})
	c.writer.started = true
	go c.writeLoop()
	c.startPulse()
	return nil
}

// endHandshake ends a connection whose handshake failed.
func (c *conn) endHandshake(err error) {
	c.logFailure(err)
	var r refused
	var login refusedLogin
	isLogin := errors.As(err, &login) && login.isJudged()
	switch {
	case errors.As(err, &r):
		if c.refuse(c.closeReason(r.err, r.cause)) != nil {
			return
		}
	case lostSync(err) && c.tune.frameMax > 0:
		_ = c.refuse(c.closeReason(c.release.frameSyncError(err), 0))
	case !errors.Is(err, errSilent) && !lostSync(err):
		return
	}
	wait := silentDelay
	if r.err != nil && !isLogin {
		wait = c.closeTimeout()
	}
	c.leave(wait)
	if r.err != nil || isLogin {
		c.awaitEnd()
		return
	}
	c.drain()
}

// errUnsendable is why a client is not told that its handshake failed.
var errUnsendable = errors.New("amqpd: the reason of connection.close is too long")

// refuse sends connection.close in the handshake.
func (c *conn) refuse(why closeReason) error {
	if !why.sendable() {
		return errUnsendable
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.closing(0, c.protocol.close, why)
	return c.sendLocked()
}

// sendLocked writes what has been encoded, or leaves it to the writer if there is one.
func (c *conn) sendLocked() error {
	if c.writer.started {
		c.notifyWriterLocked()
		return nil
	}
	return c.send()
}

// leave waits no longer than that for the end of a connection whose handshake failed.
func (c *conn) leave(wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stage == ended {
		return // the writer failed, and the connection is closed
	}
	c.stage = leaving
	c.nc.SetDeadline(time.Now().Add(wait))
}

// logFailure says why a handshake failed. A client that goes away is no reason to warn: it may only have
// looked whether the port is open.
func (c *conn) logFailure(err error) {
	var login refusedLogin
	var r refused
	switch {
	case errors.As(err, &login):
		c.log.Warn("login refused", "user", login.user, "mechanism", login.mechanism, "cause", login.cause)
	case errors.As(err, &r):
		c.log.Warn("connection refused", "user", c.client.user, "error", r.err)
	case c.isLost():
		c.log.Warn("handshake failed", "user", c.client.user, "error", "missed heartbeats")
	case errors.Is(err, io.EOF):
		c.log.Info("handshake failed", "error", err)
	default:
		c.log.Warn("handshake failed", "error", err)
	}
}

// send writes what has been encoded, before there is a writer.
func (c *conn) send() error {
	err := c.write(c.out)
	c.out.release()
	return err
}

// greet reads the protocol header and answers with connection.start.
func (c *conn) greet() error {
	h, err := c.in.readExact(len(protocolHeader))
	if err != nil {
		return err
	}
	header := string(h)
	if c.protocol = c.release.protocolOf(header); c.protocol == nil {
		c.out.b = append(c.out.b, c.refusal(header)...)
		c.send()
		return errors.New("amqpd: not the AMQP 0-9-1 protocol header")
	}
	at := c.out.method(0, connectionStart)
	c.out.b = append(c.out.b, c.protocol.major, c.protocol.minor)
	c.out.b = appendFields(c.out.b, c.properties())
	c.out.b = appendLong(c.out.b, strings.Join(c.mechanisms(), " "))
	c.out.b = appendLong(c.out.b, "en_US")
	c.out.end(at)
	return c.send()
}

// refusal is the header of the protocol that is spoken here, for a client that speaks another.
func (c *conn) refusal(header string) string {
	if header == protocolHeader10 || strings.HasPrefix(header, "AMQP\x00\x00") && header[6] >= 9 {
		return protocolHeader
	}
	return c.release.refusal
}

// properties are what the broker says about itself, in the order of their names. The product is
// RabbitMQ's because clients, amqp091-go's own tests among them, decide by it what they may do; the other
// fields name leveret.
func (c *conn) properties() leveret.Fields {
	return leveret.Fields{
		{Name: "capabilities", Value: c.protocol.capabilities()},
		{Name: "cluster_name", Value: wire.NodeName},
		{Name: "copyright", Value: "Copyright the leveret authors"},
		{Name: "information", Value: "leveret, a broker that behaves as RabbitMQ. Licensed under the Apache License 2.0"},
		{Name: "platform", Value: "leveret, Go " + strings.TrimPrefix(runtime.Version(), "go")},
		{Name: "product", Value: "RabbitMQ"},
		{Name: "version", Value: c.srv.Broker.Profile().Version()},
	}
}

// await reads the method that has to come next. Heartbeats may come at any time.
func (c *conn) await(want methodID) (args, error) {
	for {
		f, err := c.in.readFrame()
		if err != nil {
			return args{}, err
		}
		if f.typ == frameHeartbeat && f.channel == 0 && len(f.payload) == 0 {
			continue
		}
		if err := c.expected(f, want); err != nil {
			return args{}, err
		}
		return newArgs(f.payload[4:], &c.in.names), nil
	}
}

// expected returns the error for a frame that is not the method wanted. Only after tuning does the client
// get to hear it.
func (c *conn) expected(f frame, want methodID) error {
	opening := want == connectionOpen
	switch {
	case f.channel != 0 && opening:
		return refused{c.release.frameProblem(leveret.UnexpectedFrame, f, nil), 0}
	case !wellFormed(f) && opening:
		return refused{c.release.frameProblem(leveret.FrameError, f, erl.Atom("unknown_frame")), 0}
	case !wellFormed(f) || f.channel != 0: // on a channel nobody asks which method it is
		return errSilent
	case f.typ == frameMethod && !c.protocol.knows(methodOf(f)):
		return errDrop
	}
	isWanted := f.typ == frameMethod && methodOf(f) == want
	switch {
	case !opening && isWanted:
		return nil
	case !opening:
		return errSilent
	case f.typ != frameMethod:
		return refused{c.release.frameProblem(leveret.UnexpectedFrame, f, nil), 0}
	}
	id := methodOf(f)
	a := newArgs(f.payload[4:], &c.in.names)
	switch err := c.protocol.signatures[id].checkOnZero(&a); {
	case errors.Is(err, leveret.FrameError):
		return refused{err, id}
	case err != nil:
		return errSilent
	case isWanted:
		return nil
	}
	return refused{errorf(leveret.ChannelError, "unexpected method in connection state opening"), id}
}

// login reads start-ok and authenticates.
// Rules: A-12.
func (c *conn) login() error {
	a, err := c.await(connectionStartOk)
	if err != nil {
		return err
	}
	c.client.properties = a.fields()
	mechanism := a.short()
	response := a.long()
	a.short() // the locale, which is not looked at
	if !a.done() {
		return errSilent
	}
	c.client.readCapabilities()
	c.client.wantsBlocked = c.client.wantsBlocked && c.protocol.extended
	user, err := c.authenticate(mechanism, response)
	c.countAttempt(err)
	if err != nil {
		login := refusedLogin{user, mechanism, err, errSilent}
		if c.client.wantsClose && login.isJudged() {
			login.answer = refused{unattributed{&leveret.Error{Code: leveret.AccessRefused, Reason: wire.LoginRefused(mechanism)}}, 0}
		}
		return login
	}
	c.client.user, c.client.mechanism = user, mechanism
	return nil
}

// Rules: D-13.
func (i *clientInfo) readCapabilities() {
	given, _ := i.properties.Get("capabilities")
	fields, _ := given.(leveret.Fields)
	capabilities := tableOf(fields)
	i.wantsBlocked, _ = capabilities["connection.blocked"].(bool)
	i.wantsCancel, _ = capabilities["consumer_cancel_notify"].(bool)
	i.wantsClose, _ = capabilities["authentication_failure_close"].(bool)
}

// negotiate proposes the limits and reads the client's, which may only be lower.
// Rules: C-16.
func (c *conn) negotiate() error {
	s := c.srv
	at := c.out.method(0, connectionTune)
	c.out.u16(uint16(s.channelMax()))
	c.out.u32(uint32(s.frameMax()))
	c.out.u16(uint16(s.heartbeat() / time.Second))
	c.out.end(at)
	if err := c.send(); err != nil {
		return err
	}
	a, err := c.await(connectionTuneOk)
	if err != nil {
		return err
	}
	channelMax, frameMax, heartbeat := int(a.u16()), int(a.u32()), a.u16()
	if !a.done() || frameMax < c.release.minFrameMax || frameMax > s.frameMax() || s.tooManyChannels(channelMax) {
		return errSilent
	}
	if channelMax == 0 {
		channelMax = leveret.NoLimit
	}
	c.tune = tuning{frameMax: frameMax, channelMax: channelMax, heartbeat: time.Duration(heartbeat) * time.Second}
	c.in.maxPayload = frameMax // eight octets too many are let pass, because clients get it wrong
	return nil
}

// enter reads connection.open and opens the connection with the broker.
func (c *conn) enter() error {
	a, err := c.await(connectionOpen)
	if err != nil {
		return err
	}
	vhost := a.short() // all arguments have been read once, and the others mean nothing
	session, err := c.srv.Broker.Open(leveret.ConnConfig{
		User: c.client.user, VHost: vhost, Name: connName(c.nc), ClientPropertyFields: c.client.properties,
		CancelNotify: c.client.wantsCancel, ChannelMax: c.tune.channelMax, Inbox: c.inbox.from,
		Describe: c.describer(),
	})
	if err != nil {
		return refused{err, connectionOpen}
	}
	c.log.Info("connection opened", "user", c.client.user, "vhost", vhost)
	// From here on a shutdown tells the client instead of cutting it off, and sets a deadline of its own:
	// the writer sends what it adds behind open-ok.
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stage != running { // the client was found to be dead
		session.Close()
		return net.ErrClosed
	}
	if err := c.nc.SetDeadline(time.Time{}); err != nil {
		session.Close()
		return err
	}
	c.session = session
	at := c.out.method(0, connectionOpenOk)
	c.out.short("")
	c.out.end(at)
	c.notifyWriterLocked()
	return nil
}

func connName(nc net.Conn) string {
	return nc.RemoteAddr().String() + " -> " + nc.LocalAddr().String()
}
