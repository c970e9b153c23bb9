package fault

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"

	"github.com/leveretmq/leveret/amqpd"
)

// Over TLS the octets between client and server say nothing. So the door ends TLS, and the wire carries what is inside of
// it. The server asks its end of the wire for what it has to know of TLS.

// A securedEnd is the server's end of a wire over TLS.
type securedEnd struct {
	*wireEnd
	tls    *tls.Conn
	ctx    context.Context // done when the server has closed its end
	closed func()          // cancels ctx
	shaken chan struct{}   // closed when what is inside of TLS can be carried, or never will be
	over   sync.Once       // for shaken

	mu    sync.Mutex
	until time.Time // deadline of the handshake; zero: there is none
}

func newSecuredEnd(e *wireEnd, sock *tls.Conn) *securedEnd {
	s := &securedEnd{wireEnd: e, tls: sock, shaken: make(chan struct{})}
	s.ctx, s.closed = context.WithCancel(context.Background())
	return s
}

// Handshake is that of TLS. While it lasts the server waits for its client.
func (e *securedEnd) Handshake() error {
	e.in.waits()
	defer e.in.took(0, nil)
	defer e.settled()
	ctx, stop := e.limited()
	defer stop()
	return e.tls.HandshakeContext(ctx)
}

// limited returns the context of the handshake.
func (e *securedEnd) limited() (ctx context.Context, stop func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.until.IsZero() {
		return context.WithCancel(e.ctx)
	}
	return context.WithDeadline(e.ctx, e.until)
}

// settled notes that the handshake has ended.
func (e *securedEnd) settled() { e.over.Do(func() { close(e.shaken) }) }

// ConnectionState tells of TLS.
func (e *securedEnd) ConnectionState() tls.ConnectionState { return e.tls.ConnectionState() }

// SetDeadline sets that of the handshake, too.
func (e *securedEnd) SetDeadline(t time.Time) error {
	e.mu.Lock()
	e.until = t
	e.mu.Unlock()
	return e.wireEnd.SetDeadline(t)
}

// Close ends a handshake, too.
func (e *securedEnd) Close() error {
	e.closed()
	e.settled()
	return e.wireEnd.Close()
}

// A tunnel joins a client with a door in memory, and carries what the door has to decrypt.
type tunnel struct {
	client, server *wireEnd
	up, down       *lane // to the door, to the client
}

func newTunnel() *tunnel {
	client, server := amqpd.Pipe()
	t := &tunnel{up: newLane(client), down: newLane(server)}
	t.client = &wireEnd{Conn: client, in: t.down, out: t.up, write: t.up.write}
	t.server = &wireEnd{Conn: server, in: t.up, out: t.down, write: t.down.write}
	return t
}

// write carries octets as they are.
func (l *lane) write(b []byte) error {
	l.queue(b)
	return l.drain()
}

// bare returns what TLS is spoken over, or sock itself without TLS.
func bare(sock net.Conn) net.Conn {
	if s, ok := sock.(*tls.Conn); ok {
		return s.NetConn()
	}
	return sock
}
