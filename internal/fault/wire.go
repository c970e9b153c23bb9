package fault

import (
	"context"
	"crypto/tls"
	"net"
	"sync"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
)

// A wire joins one client with the server, in memory. What one end writes is cut into frames, meets the faults, and goes
// into the lane to the other end.
type wire struct {
	b              *leveret.Broker
	srv            *amqpd.Server
	client, server *wireEnd
	up, down       *lane         // to the server, to the client
	served         chan struct{} // closed when the server is done with the connection

	sock    net.Conn    // the client's connection, if the wire is not the client's: a socket, a tunnel, TLS over either
	tunnel  *tunnel     // of sock; nil: it is a socket
	secured *securedEnd // nil: without TLS

	mu       sync.Mutex // held while frames are looked at, never while they are written; guards what follows
	sent     cutter     // what the client writes
	answered cutter     // what the server writes
	channels map[uint16]*channelState
	closing  *Action // closes the connection: the broker has been told to, as if its client closed it
	cut      bool    // the connection has been cut
}

// newWire serves a new connection. Of a socket other than nil the server sees the addresses.
func newWire(srv *amqpd.Server, sock net.Conn) *wire {
	client, server := amqpd.Pipe()
	w := &wire{b: srv.Broker, srv: srv, sock: sock, up: newLane(client), down: newLane(server), served: make(chan struct{}),
		sent: newCutter(srv), answered: newCutter(srv), channels: map[uint16]*channelState{}}
	w.client = &wireEnd{Conn: client, in: w.down, out: w.up, write: w.fromClient}
	w.server = &wireEnd{Conn: server, in: w.up, out: w.down, write: w.fromServer, sock: sock}
	var end net.Conn = w.server
	if s, ok := sock.(*tls.Conn); ok {
		w.secured = newSecuredEnd(w.server, s)
		end = w.secured
	}
	go func() {
		defer close(w.served)
		untilRestarted(w.b)
		_ = srv.ServeConn(end) // ends with the connection or the server
	}()
	return w
}

// A wireEnd is one end of a wire.
type wireEnd struct {
	net.Conn
	in, out *lane
	write   func([]byte) error
	sock    net.Conn // whose addresses it shows; nil: its own
}

func (e *wireEnd) RemoteAddr() net.Addr {
	if e.sock != nil {
		return e.sock.RemoteAddr()
	}
	return e.Conn.RemoteAddr()
}

func (e *wireEnd) LocalAddr() net.Addr {
	if e.sock != nil {
		return e.sock.LocalAddr()
	}
	return e.Conn.LocalAddr()
}

func (e *wireEnd) Read(b []byte) (int, error) {
	e.in.waits()
	n, err := e.Conn.Read(b)
	e.in.took(n, err)
	return n, err
}

func (e *wireEnd) Write(b []byte) (int, error) {
	if err := e.write(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// CloseWrite ends what this end writes, as that of a socket does.
func (e *wireEnd) CloseWrite() error {
	e.out.finish()
	return nil
}

func (e *wireEnd) Close() error {
	e.out.closes()
	err := e.Conn.Close()
	e.in.end()
	return err
}

// fromClient carries what the client has written to the server.
func (w *wire) fromClient(b []byte) error {
	w.mu.Lock()
	if w.cut {
		w.mu.Unlock()
		return net.ErrClosed
	}
	w.sent.buf = append(w.sent.buf, b...)
	w.mu.Unlock()
	return w.carry(&w.sent, w.clientUnitLocked, w.up, w.down)
}

// fromServer carries what the server has written to the client. When the connection has been cut, the server does not
// notice that here but as its client has gone: it executes first what came before.
func (w *wire) fromServer(b []byte) error {
	w.mu.Lock()
	if w.cut {
		w.mu.Unlock()
		return nil
	}
	w.answered.buf = append(w.answered.buf, b...)
	w.mu.Unlock()
	return w.carry(&w.answered, w.serverUnitLocked, w.down, w.up)
}

// carry looks at the units that are complete, and writes what becomes of them. What a fault has to do outside of the
// lock it does between two units, after what comes before has been written.
func (w *wire) carry(c *cutter, look func(unit) func(), own, other *lane) error {
	for {
		outside := w.look(c, look)
		err := own.drain()
		_ = other.flush() // an error is of the other direction
		if outside == nil {
			return err
		}
		outside()
	}
}

func (w *wire) look(c *cutter, look func(unit) func()) (outside func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for outside == nil && !w.cut {
		u, ok := c.next()
		if !ok {
			break
		}
		outside = look(u)
	}
	return outside
}

// hold keeps back what is sent in both directions, until release.
func (w *wire) hold() {
	w.up.hold()
	w.down.hold()
}

func (w *wire) release() {
	w.up.release()
	w.down.release()
}

// settleUp returns when the server has executed what its client has sent, or is done with the connection.
func (w *wire) settleUp(ctx context.Context) bool {
	if !w.up.settle(ctx) {
		return false
	}
	if !w.up.hasEnded() {
		return true
	}
	select {
	case <-w.served:
		return true
	case <-ctx.Done():
		return false
	}
}

// settleSent is settleUp, and waits before for what is on its way to the wire.
func (w *wire) settleSent(ctx context.Context) bool {
	return (w.tunnel == nil || w.tunnel.up.settle(ctx)) && w.settleUp(ctx)
}

// settleDown returns when the client has read what is sent to it, or has ended.
func (w *wire) settleDown(ctx context.Context) bool {
	return w.down.settle(ctx) && (w.tunnel == nil || w.tunnel.down.settle(ctx))
}
