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
// A program that connects by itself gets a [Dialer], or a [URL] if it takes nothing else; with TLS a [TLSDialer] or a [TLSURL],
// and certificates of an [Authority]. With [Strict] a test fails that leaves messages behind.
//
// # Time
//
// Nothing but URL, TLSURL and Management touches the network, and everything else works inside a testing/synctest bubble, where
// a message's TTL or a delay passes without waiting, and where synctest.Wait returns when everything has happened. Two
// things do not work in a bubble. A goroutine that waits for a sync.Mutex is not durably blocked: if the holder waits for time to
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
// and not by chance. The clients are those of all doors, with TLS or without. A program that uses the Go API meets none, but for
// the alarm of [Block].
//
//	leverettest.Inject(t, b, leverettest.Fault{On: leverettest.OnConfirm, Nth: 2, Do: leverettest.Cut()})
//
// [Restart] has the broker restart at a message; [leveret.Broker.Restart] does so whenever the test likes. Clients that connect
// again find it at the address where it was. A connection of a [Dialer] can also be closed by the test itself: it is a
// net.Conn. Programs in other languages meet the same faults by leveret serve --faults and leveret ctl fault.
//
// # Management API
//
// A program that uses RabbitMQ's management API gets the URL of [Management], or in a bubble [ManagementClient]. Four
// things surprise. RabbitMQ's lists are some seconds old, and may not have a new connection yet; those of leveret are of the
// moment, so a program that does not wait passes here and fails there. Rates are made of figures that are taken once a
// second, from the first question for statistics on: in a bubble, let seconds pass by time.Sleep. With a
// [leveret.ManualClock] they go by the time of the machine, not by that clock. And looking at messages
// (POST /api/queues/VHOST/QUEUE/get) takes and returns them: they are redelivered afterwards, and the recorder has the
// events. With the mode reject_requeue_true a look counts against a quorum queue's delivery limit.
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
		lookBack(b)
		if err := b.Check(); err != nil {
			t.Errorf("leveret: the broker is inconsistent: %v", err)
		}
		if err := b.Close(); err != nil {
			t.Errorf("leveret: closing the broker: %v", err)
		}
	})
	return b
}
