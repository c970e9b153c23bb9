package leverettest

import (
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
)

// A door is where clients of one Dial, Dialer or URL get in.
type door struct {
	b   *leveret.Broker
	srv *amqpd.Server

	mu     sync.Mutex
	closed bool
	wires  map[*wire]struct{}
}

// doors are the open ones of each broker, so that Settle finds them.
var doors struct {
	mu   sync.Mutex
	open map[*leveret.Broker][]*door
}

func newDoor(b *leveret.Broker) *door {
	d := &door{b: b, srv: &amqpd.Server{Broker: b}, wires: map[*wire]struct{}{}}
	doors.mu.Lock()
	defer doors.mu.Unlock()
	if doors.open == nil {
		doors.open = map[*leveret.Broker][]*door{}
	}
	doors.open[b] = append(doors.open[b], d)
	return d
}

func doorsOf(b *leveret.Broker) []*door {
	doors.mu.Lock()
	defer doors.mu.Unlock()
	return slices.Clone(doors.open[b])
}

// dial returns the client's end of a new connection. A peer other than nil is whom the broker takes the client for.
func (d *door) dial(peer net.Addr) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, amqpd.ErrServerClosed
	}
	w := newWire(d.srv, peer)
	d.wires[w] = struct{}{}
	go func() {
		<-w.served
		d.forget(w)
	}()
	return w.client, nil
}

// forget drops a connection that the server is done with.
func (d *door) forget(w *wire) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.wires, w)
}

// all returns the connections that there are.
func (d *door) all() []*wire {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.wires))
}

// close tells the clients that the broker ends, and cuts off those that do not answer.
func (d *door) close() {
	d.shut()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		d.srv.Close()
	}()
	if comes(closed) {
		return
	}
	for _, w := range d.all() {
		w.client.Close()
	}
	<-closed
}

// shut lets nobody in any more.
func (d *door) shut() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	doors.mu.Lock()
	defer doors.mu.Unlock()
	left := slices.DeleteFunc(doors.open[d.b], func(other *door) bool { return other == d })
	if doors.open[d.b] = left; len(left) == 0 {
		delete(doors.open, d.b)
	}
}

// listen lets in who connects to l. The function that it returns closes l, and returns when all connections have ended.
func (d *door) listen(l net.Listener) (stop func()) {
	var running sync.WaitGroup
	running.Go(func() {
		for {
			sock, err := l.Accept()
			if err != nil {
				return
			}
			nc, err := d.dial(sock.RemoteAddr())
			if err != nil {
				sock.Close()
				return
			}
			running.Go(func() { receive(sock, nc) })
			running.Go(func() { send(sock, nc) })
		}
	})
	return func() {
		l.Close()
		running.Wait()
	}
}

// hangUpTime is how long a client over a socket has to close its end after the server has closed the other.
const hangUpTime = 2 * time.Second

// receive carries what a client over a socket sends, and then ends both.
func receive(sock, nc net.Conn) {
	_, _ = io.Copy(nc, sock)
	nc.Close()
	sock.Close()
}

// send carries what the server sends to a client over a socket. Then the client is to close its end.
func send(sock, nc net.Conn) {
	_, _ = io.Copy(sock, nc)
	if c, ok := sock.(*net.TCPConn); ok {
		_ = c.CloseWrite()
	}
	_ = sock.SetReadDeadline(time.Now().Add(hangUpTime))
}
