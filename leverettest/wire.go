package leverettest

import (
	"context"
	"net"
	"sync"

	"github.com/leveretmq/leveret/amqpd"
)

// A wire joins one client with the server, in memory.
type wire struct {
	client, server net.Conn
	up, down       *lane         // to the server, to the client
	served         chan struct{} // closed when the server is done with the connection
}

// newWire serves a new connection. A peer other than nil is whom the server takes its client for.
func newWire(srv *amqpd.Server, peer net.Addr) *wire {
	client, server := amqpd.Pipe()
	w := &wire{up: newLane(), down: newLane(), served: make(chan struct{})}
	w.client = &wireEnd{Conn: client, in: w.down, out: w.up}
	w.server = &wireEnd{Conn: server, in: w.up, out: w.down, peer: peer}
	go func() {
		defer close(w.served)
		_ = srv.ServeConn(w.server) // ends with the connection or the server
	}()
	return w
}

// A wireEnd is one end of a wire.
type wireEnd struct {
	net.Conn
	in, out *lane
	peer    net.Addr
}

func (e *wireEnd) RemoteAddr() net.Addr {
	if e.peer != nil {
		return e.peer
	}
	return e.Conn.RemoteAddr()
}

func (e *wireEnd) Read(b []byte) (int, error) {
	e.in.waits()
	n, err := e.Conn.Read(b)
	e.in.took(n, err)
	return n, err
}

func (e *wireEnd) Write(b []byte) (int, error) {
	e.out.sends(len(b))
	return e.Conn.Write(b)
}

func (e *wireEnd) Close() error {
	e.out.closes()
	err := e.Conn.Close()
	e.in.end()
	return err
}

// A lane is one direction of a wire. It counts what is on its way, so that whoever waits for the reader knows when the
// reader has nothing left.
type lane struct {
	mu      sync.Mutex
	changed sync.Cond
	unread  int  // octets that were written and not read
	waiting bool // the reader waits for more: it is done with what it has read
	closed  bool // the writer has closed its end: the reader gets what is on its way, and then an error
	ended   bool // the reader has closed its end, or has read the last
	moves   int  // how often something has changed
}

func newLane() *lane {
	l := &lane{}
	l.changed.L = &l.mu
	return l
}

// change tells those who wait in settle.
func (l *lane) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	l.moves++
	l.changed.Broadcast()
}

// sends is called before n octets are written.
func (l *lane) sends(n int) { l.change(func() { l.unread += n }) }

// waits is called before the reader waits for more.
func (l *lane) waits() { l.change(func() { l.waiting = true }) }

// took is called when the reader has got n octets. An error but that of a deadline is the last that it gets.
func (l *lane) took(n int, err error) {
	ne, isNet := err.(net.Error)
	over := err != nil && !(isNet && ne.Timeout())
	l.change(func() { l.unread, l.waiting, l.ended = l.unread-n, false, l.ended || over })
}

// closes is called before the writer closes its end.
func (l *lane) closes() { l.change(func() { l.closed = true }) }

// end is called when the reader has closed its end.
func (l *lane) end() { l.change(func() { l.ended = true }) }

// settle returns when the reader has read everything and waits for more, or has ended. It reports false if ctx is done
// before.
func (l *lane) settle(ctx context.Context) bool {
	defer context.AfterFunc(ctx, func() { l.change(func() {}) })()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		idle := l.waiting && l.unread == 0 && !l.closed
		if l.ended || idle {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		l.changed.Wait()
	}
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

// hasEnded reports whether no more is read.
func (l *lane) hasEnded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// moved counts what has happened so far.
func (l *lane) moved() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.moves
}
