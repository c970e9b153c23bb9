// Package leverettest helps tests of programs that use RabbitMQ: a broker that checks itself, and
// connections to it for the amqp091-go client.
//
//	func TestOrders(t *testing.T) {
//		b := leverettest.New(t)
//		conn := leverettest.Dial(t, b) // a *amqp091.Connection, as amqp091.Dial returns
//		…
//	}
//
// Nothing touches the network, and everything works inside a testing/synctest bubble, where a message's TTL or
// a delay passes without waiting.
package leverettest

import (
	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// T is the part of [testing.TB] that is needed.
type T interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// New returns a broker. When the test ends, the broker's invariants are checked and it is closed.
func New(t T, opts ...leveret.Option) *leveret.Broker {
	t.Helper()
	b := leveret.New(opts...)
	t.Cleanup(func() {
		t.Helper()
		if err := b.Check(); err != nil {
			t.Errorf("leveret: the broker is inconsistent: %v", err)
		}
		if err := b.Close(); err != nil {
			t.Errorf("leveret: closing the broker: %v", err)
		}
	})
	return b
}

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
	srv := &amqpd.Server{Broker: b}
	t.Cleanup(func() { srv.Close() })
	nc, err := srv.Dial()
	if err != nil {
		t.Fatalf("leveret: %v", err)
	}
	conn, err := amqp091.Open(nc, cfg)
	if err != nil {
		t.Fatalf("leveret: connecting: %v", err)
	}
	t.Cleanup(func() { conn.Close() }) // it may be closed already
	return conn
}
