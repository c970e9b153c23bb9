package amqpd

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/wire"
)

// ErrServerClosed is returned by Serve and ServeConn after Close.
var ErrServerClosed = errors.New("amqpd: server closed")

// How much of what a broker has for one connection may wait for it. A client that does not read fast enough
// gets no more; its messages stay in their queues.
const (
	maxInbox      = 1024
	maxInboxBytes = 1 << 20
)

// shutdownWait is how long Close gives a client to answer, and hookWait how much longer it waits for a connection that
// has cut its client off and does not end: it runs an event hook of the program.
const (
	shutdownWait = 2 * time.Second
	hookWait     = time.Second
)

// acceptPause is how long Serve waits before it accepts again after an error that may pass.
const acceptPause = 10 * time.Millisecond

// What RabbitMQ does by default.
const (
	defaultHeartbeat        = time.Minute
	defaultHandshakeTimeout = 10 * time.Second
	defaultStopDelay        = 5 * time.Millisecond
)

// A Server serves AMQP 0-9-1 clients of a broker. Only Broker must be set; the zero value of every other field
// means what RabbitMQ does by default. The fields must not be changed once a connection is served.
type Server struct {
	Broker *leveret.Broker

	// TLS, if not nil, is used on every connection that Serve accepts. Clients that present a certificate
	// which it verifies may log in with the EXTERNAL mechanism.
	TLS *tls.Config
	// CertLogin returns the user that a certificate stands for. Nil: its distinguished name.
	CertLogin func(*x509.Certificate) string

	// Logger gets refused logins with their causes, what closed connections and channels because of an error, and lost
	// connections as warnings; other connections that open and close as information. Nil: nothing is logged.
	Logger *slog.Logger

	Heartbeat        time.Duration // proposed to clients, in whole seconds, at most 65535 s; 0: 60 s; negative: none
	FrameMax         int           // octets in a frame, at least 8192 (RabbitMQ 3.10: 4096); 0: 131072
	ChannelMax       int           // channels in a connection, from 1 to 65535; 0: 2047; leveret.NoLimit: no limit
	HandshakeTimeout time.Duration // 0: 10 s

	// StopDelay is how long a client's publishes are still accepted when one has led a quorum queue with reject-publish over its
	// limit. Its confirm waits as long. A RabbitMQ takes that long to write the message, and to confirm it. 0: 5 ms; negative: none.
	StopDelay time.Duration

	// LoopbackUsers may log in from this machine only: over a loopback address, a Unix socket, Pipe or net.Pipe. A
	// connection of another kind may come from anywhere. Nil: guest. Empty: nobody is so restricted.
	LoopbackUsers []string

	// Mechanisms may be used to log in: PLAIN, AMQPLAIN, EXTERNAL for clients with a certificate, and in RabbitMQ 4.3 ANONYMOUS. Nil:
	// all of these.
	Mechanisms []string
	// AnonymousUser and AnonymousPassword are with which a client logs in by ANONYMOUS. Without a user they are guest's.
	AnonymousUser, AnonymousPassword string

	mu        sync.Mutex
	closed    bool
	listeners map[net.Listener]struct{}
	conns     map[*conn]struct{}
}

// check returns what is wrong with the fields.
func (s *Server) check() error {
	const maxFrame = 1<<31 - 1
	switch {
	case s.Broker == nil:
		return errors.New("amqpd: Server.Broker is nil")
	case s.heartbeat() > math.MaxUint16*time.Second:
		return fmt.Errorf("amqpd: Server.Heartbeat is %v, more than 65535 seconds", s.Heartbeat)
	case s.channelMax() < 0 || s.ChannelMax > math.MaxUint16:
		return fmt.Errorf("amqpd: Server.ChannelMax is %d, not from 1 to 65535", s.ChannelMax)
	case s.HandshakeTimeout < 0:
		return fmt.Errorf("amqpd: Server.HandshakeTimeout is %v, in the past", s.HandshakeTimeout)
	}
	if least := releases[s.Broker.Profile()].minFrameMax; s.frameMax() < least || s.frameMax() > maxFrame {
		return fmt.Errorf("amqpd: Server.FrameMax is %d, not from %d to %d", s.FrameMax, least, maxFrame)
	}
	return nil
}

// Serve accepts connections until l fails or the server is closed; then it returns ErrServerClosed. It closes l. While the
// broker is stopped connections are closed at once: see [leveret.Broker.Stop]. A Server without a Broker, or with a field
// out of its range, serves nothing: the error says which.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	if err := s.check(); err != nil {
		return err
	}
	if !s.track(l) {
		return ErrServerClosed
	}
	defer s.untrack(l)
	for {
		nc, err := l.Accept()
		if err != nil {
			if s.isClosed() {
				return ErrServerClosed
			}
			var ne net.Error
			if errors.As(err, &ne) && ne.Timeout() || isTemporary(err) {
				time.Sleep(acceptPause) // out of file descriptors, most likely
				continue
			}
			return err
		}
		if s.TLS != nil {
			nc = tls.Server(nc, s.TLS)
		}
		go s.ServeConn(nc)
	}
}

// isTemporary reports whether accepting may work again in a moment.
func isTemporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

// ServeConn serves one connection and returns when it has ended. It closes nc. Errors are ErrServerClosed, those of
// Serve, and syscall.ECONNREFUSED while the broker is stopped or after it was closed.
func (s *Server) ServeConn(nc net.Conn) error {
	if err := s.check(); err != nil {
		nc.Close()
		return err
	}
	if !s.isClosed() && !s.Broker.Serving() {
		nc.Close() // a node that is down does not listen; the address is kept for when it is up again
		return errRefused()
	}
	c := newConn(s, nc)
	if !s.add(c) {
		nc.Close()
		return ErrServerClosed
	}
	defer s.remove(c)
	c.serve()
	return nil
}

// errRefused is what whoever connects to a node that is down would get from a network.
func errRefused() error { return &net.OpError{Op: "dial", Net: "amqp", Err: syscall.ECONNREFUSED} }

// Dial returns the client's end of a new connection in memory, which the server serves. The error
// is ErrServerClosed, one of those of Serve, or syscall.ECONNREFUSED while the broker is stopped or after it was closed.
func (s *Server) Dial() (net.Conn, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if !s.isClosed() && !s.Broker.Serving() {
		return nil, errRefused()
	}
	client, server := Pipe()
	c := newConn(s, server)
	if !s.add(c) {
		return nil, ErrServerClosed
	}
	go func() {
		defer s.remove(c)
		c.serve()
	}()
	return client, nil
}

// Close stops accepting, closes the connections (code 320, CONNECTION_FORCED) and returns when all of them have ended.
// Clients that do not answer are cut off after two seconds. Close does not wait longer than another second for a
// connection that is running an event hook or handler of the program. So a hook may call Close; the connection that
// runs the hook ends when the hook has returned. Close does not close the broker, and always returns nil.
func (s *Server) Close() error {
	e := errorf(leveret.ConnectionForced, "broker forced connection closure with reason 'shutdown'")
	conns := s.stop()
	for _, c := range conns {
		go c.shutdown(e, shutdownWait) // a hook may keep it waiting
	}
	late := time.NewTimer(shutdownWait + hookWait)
	defer late.Stop()
	for _, c := range conns {
		select {
		case <-c.done:
		case <-late.C:
			return nil
		}
	}
	return nil
}

// stop takes no more connections and returns those there are.
func (s *Server) stop() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for l := range s.listeners {
		l.Close()
	}
	return slices.Collect(maps.Keys(s.conns))
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (s *Server) track(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listeners == nil {
		s.listeners = map[net.Listener]struct{}{}
	}
	if !s.closed {
		s.listeners[l] = struct{}{}
	}
	return !s.closed
}

func (s *Server) untrack(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

func (s *Server) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.conns == nil {
		s.conns = map[*conn]struct{}{}
	}
	s.conns[c] = struct{}{}
	return true
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	close(c.done)
}

func (s *Server) logger() *slog.Logger {
	if s.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Logger
}

func (s *Server) heartbeat() time.Duration {
	if s.Heartbeat == 0 {
		return defaultHeartbeat
	}
	return max(s.Heartbeat, 0)
}

func (s *Server) frameMax() int {
	if s.FrameMax == 0 {
		return wire.FrameMax
	}
	return s.FrameMax
}

// channelMax is the number of channels that is proposed to clients; 0: no limit.
func (s *Server) channelMax() int {
	switch s.ChannelMax {
	case 0:
		return wire.ChannelMax
	case leveret.NoLimit:
		return 0
	}
	return s.ChannelMax
}

// tooManyChannels reports whether a client wants more channels than it may have; 0 means that it wants no limit.
// Rules: C-16.
func (s *Server) tooManyChannels(n int) bool {
	limit := s.channelMax()
	return limit != 0 && (n == 0 || n > limit)
}

func (s *Server) stopDelay() time.Duration { return cmp.Or(max(s.StopDelay, -1), defaultStopDelay) }

func (s *Server) handshakeTimeout() time.Duration {
	if s.HandshakeTimeout == 0 {
		return defaultHandshakeTimeout
	}
	return s.HandshakeTimeout
}

func (s *Server) loopbackUsers() []string {
	if s.LoopbackUsers == nil {
		return []string{"guest"}
	}
	return s.LoopbackUsers
}

func (s *Server) certLogin(cert *x509.Certificate) string {
	if s.CertLogin == nil {
		return cert.Subject.String()
	}
	return s.CertLogin(cert)
}
