package fault

import (
	"crypto/tls"
	"errors"
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

	relays sync.WaitGroup // what carries between sockets and wires
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

// Dial returns the client's end of a new connection in memory. If the server has TLS the client has to speak it.
func (d *Door) Dial() (net.Conn, error) {
	if d.srv.TLS == nil {
		w, err := d.admit(nil, nil)
		if err != nil {
			return nil, err
		}
		return w.client, nil
	}
	t := newTunnel()
	if err := d.relay(t.server, t); err != nil {
		return nil, err
	}
	return t.client, nil
}

// admit lets a client in whose connection is sock; nil: it gets the wire's own end.
func (d *Door) admit(sock net.Conn, t *tunnel) (*wire, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, amqpd.ErrServerClosed
	}
	w := newWire(d.srv, sock)
	w.tunnel = t
	d.wires[w] = struct{}{}
	if sock != nil {
		d.relays.Go(w.receive)
		d.relays.Go(w.send)
	}
	go d.forget(w)
	return w, nil
}

// forget drops a connection when both sides are done with it. A client over a socket has not for ever to take what it
// is sent.
func (d *Door) forget(w *wire) {
	<-w.served
	if w.sock != nil {
		_ = bare(w.sock).SetDeadline(time.Now().Add(hangUpTime))
	}
	w.down.untilEnded()
	if w.tunnel != nil {
		w.tunnel.down.untilEnded()
	}
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

// acceptPause is how long Serve waits before it accepts again after an error that may pass.
const acceptPause = 10 * time.Millisecond

// Serve lets in who connects to l, until l is closed, and returns when all connections have ended. It returns
// [amqpd.ErrServerClosed] if the door was shut before.
func (d *Door) Serve(l net.Listener) error {
	defer d.Wait()
	for {
		sock, err := l.Accept()
		var passing interface{ Temporary() bool }
		switch {
		case errors.As(err, &passing) && passing.Temporary(): // out of file descriptors, most likely
			time.Sleep(acceptPause)
		case err != nil:
			return d.ended(err)
		default:
			if err := d.relay(sock, nil); err != nil {
				return err
			}
		}
	}
}

// relay lets a client in over a socket or a tunnel.
func (d *Door) relay(sock net.Conn, t *tunnel) error {
	if d.srv.TLS != nil {
		sock = tls.Server(sock, d.srv.TLS)
	}
	_, err := d.admit(sock, t)
	if err != nil {
		sock.Close()
	}
	return err
}

// Wait returns when all connections over sockets and tunnels have ended.
func (d *Door) Wait() { d.relays.Wait() }

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
		if w.sock != nil {
			bare(w.sock).Close()
		}
		if w.tunnel != nil {
			w.tunnel.client.Close()
		}
	}
}

// hangUpTime is how long a client over a socket has to close its end after the server has closed the other.
const hangUpTime = 2 * time.Second

// receive carries what a client sends, and then ends both connections.
func (w *wire) receive() {
	if w.shaken() {
		_, _ = io.Copy(w.client, w.sock)
	}
	w.client.Close()
	w.sock.Close()
}

// send carries what the server sends to a client. Then the client is to close its end.
func (w *wire) send() {
	w.down.waits() // for what is inside of TLS
	complete := w.shaken()
	w.down.took(0, nil)
	if !complete {
		return
	}
	_, _ = io.Copy(w.sock, w.client)
	end := w.sock
	if w.wasCut() {
		end = bare(w.sock) // TLS says no farewell
	}
	if c, ok := end.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
	_ = w.sock.SetReadDeadline(time.Now().Add(hangUpTime))
}

// shaken returns when the handshake of TLS has ended, if there is one, and reports whether it came to its end.
func (w *wire) shaken() bool {
	if w.secured == nil {
		return true
	}
	<-w.secured.shaken
	return w.secured.ConnectionState().HandshakeComplete
}

func (w *wire) wasCut() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cut
}
