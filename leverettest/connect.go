package leverettest

import (
	"crypto/tls"
	"net"
	"net/url"
	"os"
	"runtime"
	"sync/atomic"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/internal/fault"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// Dial connects to the virtual host "/" of the broker as guest, in memory. The connection is closed
// when the test ends.
func Dial(t T, b *leveret.Broker) *amqp091.Connection {
	t.Helper()
	return DialConfig(t, b, amqp091.Config{
		SASL:  []amqp091.Authentication{&amqp091.PlainAuth{Username: "guest", Password: "guest"}},
		Vhost: "/",
	})
}

// DialConfig is Dial with the client's settings: user, virtual host, heartbeat, properties. TLS and
// the dial function are not used.
func DialConfig(t T, b *leveret.Broker, cfg amqp091.Config) *amqp091.Connection {
	t.Helper()
	d := newDoor(b, nil)
	t.Cleanup(d.close)
	pipe, err := d.Dial()
	if err != nil {
		t.Fatalf("leveret: %v", err)
	}
	nc := &clientEnd{Conn: pipe}
	conn, err := amqp091.Open(nc, cfg)
	if err != nil && !b.Serving() { // what the client says is EOF
		t.Fatalf("leveret: connecting: the broker is stopped or closed")
	}
	if err != nil {
		t.Fatalf("leveret: connecting: %v", err)
	}
	t.Cleanup(func() {
		lookBack(b)
		hangUp(conn, nc)
	})
	return conn
}

// hangUp closes the connection as a client does. If the close is not answered the connection is cut off: the memory
// alarm may be on, or nobody reads from a channel that the test has given to the client. It may be closed already.
func hangUp(conn *amqp091.Connection, nc *clientEnd) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		conn.Close()
	}()
	if !comes(closed) {
		nc.cutOff()
		comes(closed)
	}
}

// A clientEnd is the client's end of a connection. After it is cut off the client reads that the connection has ended,
// and writes in vain without an error: amqp091-go 1.16 closes the program's listeners when a write fails, and panics if
// its reader is sending to one of them.
type clientEnd struct {
	net.Conn
	cut atomic.Bool
}

func (e *clientEnd) Write(p []byte) (int, error) {
	if n, err := e.Conn.Write(p); !e.cut.Load() {
		return n, err
	}
	return len(p), nil
}

func (e *clientEnd) cutOff() {
	e.cut.Store(true)
	e.Conn.Close()
}

// A door is where the clients of one Dial, Dialer or URL get in.
type door struct {
	*fault.Door
	srv *amqpd.Server
}

// newDoor returns a door to the broker, for clients with TLS if secure is not nil.
func newDoor(b *leveret.Broker, secure *tls.Config) door {
	srv := &amqpd.Server{Broker: b, TLS: secure}
	return door{fault.NewDoor(srv), srv}
}

// close tells the clients that the broker ends, and cuts off those that do not answer.
func (d door) close() {
	lookBack(d.srv.Broker)
	d.Shut()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		d.srv.Close()
		d.Wait()
	}()
	comes(closed)
	d.CutOff() // also those that have not closed their end
	<-closed
}

// comes reports whether done is closed, having let the other goroutines run for a while. It waits for no time, because
// in a synctest bubble time stands still as long as a goroutine waits for a mutex.
func comes(done <-chan struct{}) bool {
	for range 100_000 {
		select {
		case <-done:
			return true
		default:
			runtime.Gosched()
		}
	}
	return false
}

// Dialer returns a dial function for a program that connects by itself, and again after it has lost a connection. It is
// the field Dial of amqp091-go's Config: whatever address the program names, it gets the broker, in memory.
//
//	cfg := amqp091.Config{Dial: leverettest.Dialer(t, b)}
//	conn, err := amqp091.DialConfig("amqp://guest:guest@rabbitmq/", cfg)
//
// When the test ends, what is connected is cut off. [TLSDialer] is for a program that uses TLS.
func Dialer(t T, b *leveret.Broker) func(network, addr string) (net.Conn, error) {
	return dialer(t, newDoor(b, nil))
}

func dialer(t T, d door) func(network, addr string) (net.Conn, error) {
	t.Cleanup(d.close)
	return func(string, string) (net.Conn, error) { return d.Dial() }
}

// URL listens on a free port of this machine and returns the URL of the broker's virtual host "/" there, with guest's
// password, for a program that takes nothing but a URL. When the test ends, the listener and its connections are
// closed.
//
// Sockets do not work in a testing/synctest bubble: use [Dialer] there. [TLSURL] is for a program that uses TLS.
func URL(t T, b *leveret.Broker) string {
	t.Helper()
	return address(t, "amqp", newDoor(b, nil))
}

// address has a door serve a port, and returns the URL.
func address(t T, scheme string, d door) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("leveret: %v", err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = d.Serve(l) // ends with the listener
	}()
	t.Cleanup(func() {
		lookBack(d.srv.Broker)
		d.Shut()
		d.srv.Close() // waits by the clock, because an answer over a socket takes time
		l.Close()
		<-served
		d.CutOff() // forgets what is left
	})
	u := url.URL{Scheme: scheme, User: url.UserPassword("guest", "guest"), Host: l.Addr().String(), Path: "/"}
	return u.String()
}

// Load imports a definitions file, as RabbitMQ exports it, into the broker. The test ends if the file cannot be
// imported.
func Load(t T, b *leveret.Broker, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("leveret: %v", err)
	}
	if err := definitions.Import(b, data); err != nil {
		t.Fatalf("leveret: %s: %v", path, err)
	}
}
