package fault

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

// A Door is where clients of a server get in, past the faults.
type Door struct {
	b   *leveret.Broker
	srv *amqpd.Server

	mu     sync.Mutex
	closed bool
	wires  map[*wire]struct{}
}

// doors are the open ones of each broker, so that Settle finds them.
var doors struct {
	mu   sync.Mutex
	open map[*leveret.Broker][]*Door
}

// NewDoor returns a door to a server. It has to be shut.
func NewDoor(srv *amqpd.Server) *Door {
	b := srv.Broker
	d := &Door{b: b, srv: srv, wires: map[*wire]struct{}{}}
	doors.mu.Lock()
	defer doors.mu.Unlock()
	if doors.open == nil {
		doors.open = map[*leveret.Broker][]*Door{}
	}
	doors.open[b] = append(doors.open[b], d)
	return d
}

func doorsOf(b *leveret.Broker) []*Door {
	doors.mu.Lock()
	defer doors.mu.Unlock()
	return slices.Clone(doors.open[b])
}

// Dial returns the client's end of a new connection. Of a socket other than nil the broker sees the addresses.
func (d *Door) Dial(sock net.Conn) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, amqpd.ErrServerClosed
	}
	w := newWire(d.srv, sock)
	d.wires[w] = struct{}{}
	go func() {
		<-w.served
		d.forget(w)
	}()
	return w.client, nil
}

// forget drops a connection that the server is done with.
func (d *Door) forget(w *wire) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.wires, w)
}

// all returns the connections that there are.
func (d *Door) all() []*wire {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.wires))
}

// Shut lets nobody in any more.
func (d *Door) Shut() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	doors.mu.Lock()
	defer doors.mu.Unlock()
	left := slices.DeleteFunc(doors.open[d.b], func(other *Door) bool { return other == d })
	if doors.open[d.b] = left; len(left) == 0 {
		delete(doors.open, d.b)
	}
}

// Serve lets in who connects to l, until l is closed, and returns when all connections have ended. It returns
// [amqpd.ErrServerClosed] if the door was shut before.
func (d *Door) Serve(l net.Listener) error {
	var running sync.WaitGroup
	defer running.Wait()
	for {
		sock, err := l.Accept()
		if err != nil {
			return d.ended(err)
		}
		nc, err := d.Dial(sock)
		if err != nil {
			sock.Close()
			return err
		}
		running.Go(func() { receive(sock, nc) })
		running.Go(func() { send(sock, nc) })
	}
}

// ended returns why a listener accepts nobody any more.
func (d *Door) ended(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return amqpd.ErrServerClosed
	}
	return err
}

// CutOff ends all connections without a word.
func (d *Door) CutOff() {
	for _, w := range d.all() {
		w.client.Close()
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
