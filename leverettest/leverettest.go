// Package leverettest helps tests of programs that use RabbitMQ: a broker that checks itself, connections to it for the
// amqp091-go client, the story of every message, and assertions on what became of them.
//
//	func TestOrders(t *testing.T) {
//		b := leverettest.New(t)
//		leverettest.Record(t, b)          // a failing test prints what happened to its messages
//		conn := leverettest.Dial(t, b)    // a *amqp091.Connection, as amqp091.Dial returns
//		…
//		leverettest.RequireQueue(t, b, "parked", leverettest.Body("order 17"))
//		leverettest.RequireNoLoss(t, b)
//	}
//
// A program that connects by itself gets a [Dialer], or a [URL] if it takes nothing else.
//
// # Time
//
// Nothing but URL touches the network, and everything else works inside a testing/synctest bubble, where a message's
// TTL or a delay passes without waiting, and where synctest.Wait returns when everything has happened. Two things do
// not work in a bubble. A goroutine that waits for a sync.Mutex is not durably blocked: if the holder waits for time to
// pass, the time stands still, and the test hangs. A goroutine that waits for a socket is not durably blocked either.
//
// Outside a bubble a client works beside the test: what it has not yet sent, the broker does not know. An assertion
// looks once, and waits for nobody. [Settle] waits for the clients' connections: what was sent is executed, what came of it
// is read. Whatever else the program does with it, let the test wait for that, an answer or a closed channel, before it
// asserts. With a [leveret.ManualClock] such a test moves the time by itself.
//
// # Faults
//
// [Inject] puts a fault where a message is on its way between client and broker: a publish is refused, a confirm is lost
// with its connection, a channel is closed in place of a delivery. Each is a rule, and acts at the message that it names
// and not by chance.
//
//	leverettest.Inject(t, b, leverettest.Fault{On: leverettest.OnConfirm, Nth: 2, Do: leverettest.Cut()})
//
// A connection of a [Dialer] can also be closed by the test itself: it is a net.Conn. A broker that restarts is not among
// the faults.
package leverettest

import "github.com/leveretmq/leveret"

// T is the part of [testing.TB] that is needed.
type T interface {
	Helper()
	Cleanup(func())
	Failed() bool
	Logf(format string, args ...any)
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
