package blackbox_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/turns"
	"github.com/stretchr/testify/require"
)

// windowChannel returns a channel of an inbox whose consumers share a window of n.
func windowChannel(t *testing.T, b *leveret.Broker, n int) (*leveret.Channel, *leveret.Inbox) {
	inbox := leveret.NewInbox(leveret.InboxConfig{})
	conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: inbox})
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	require.NoError(t, ch.Qos(leveret.QosConfig{PrefetchCount: n, Global: true}))
	return ch, inbox
}

func consume(t *testing.T, ch *leveret.Channel, queue, tag string) {
	_, err := ch.Consume(queue, leveret.ConsumeConfig{Tag: tag})
	require.NoError(t, err)
}

// came returns what came to an inbox: consumer and body.
func came(inbox *leveret.Inbox) (all []string, deliveries []*leveret.Delivery) {
	for _, n := range inbox.Take(nil) {
		all = append(all, n.ConsumerTag+" "+string(n.Delivery.Body))
		deliveries = append(deliveries, n.Delivery)
	}
	return all, deliveries
}

// Several queues with messages take turns in the room of a window. RabbitMQ 4.3.6 and 3.10.8 take any of them each time, so none
// waits for long. // D-27
func TestQueuesShareAWindow(t *testing.T) {
	for _, window := range []int{1, 2} {
		b, _ := newTestBroker(t)
		ch, inbox := windowChannel(t, b, window)
		const queues, each = 3, 6
		for q := range queues {
			name := string(rune('a' + q))
			mustDeclare(t, b, name, nil)
			for range each {
				mustPublish(t, b, name, "m", "")
			}
			consume(t, ch, name, name)
		}
		got := map[string]int{}
		for n := 0; n < queues*each; {
			all, deliveries := came(inbox)
			require.NotEmpty(t, all)
			for i, d := range deliveries {
				got[all[i]]++
				n++
				require.NoError(t, d.Ack())
			}
			if n > 2*queues {
				for _, name := range []string{"a m", "b m", "c m"} {
					require.GreaterOrEqual(t, got[name], min(n/queues-window, each), "%s after %d of window %d", name, n, window)
				}
			}
		}
		require.NoError(t, b.Check())
	}
}

// A queue that has found the window of a channel full goes on waiting for the window after one of the channel's consumers is cancelled.
// What comes back meanwhile goes to others. This is a test and no scenario, because RabbitMQ 4.3.6 and 3.10.8 each did otherwise in one of 12
// runs: now and then a queue hears of the room before it has the message back. // D-27
func TestQueueWaitsForTheWindowAfterACancel(t *testing.T) {
	b, _ := newTestBroker(t)
	mustDeclare(t, b, "q", nil)
	ch, inbox := windowChannel(t, b, 0)
	consume(t, ch, "q", "first")
	require.NoError(t, ch.Qos(leveret.QosConfig{PrefetchCount: 1}))
	consume(t, ch, "q", "second")
	mustPublish(t, b, "q", "1", "")
	mustPublish(t, b, "q", "2", "")
	all, held := came(inbox)
	require.Equal(t, []string{"first 1", "second 2"}, all)
	require.NoError(t, ch.Qos(leveret.QosConfig{PrefetchCount: 2, Global: true}))
	mustPublish(t, b, "q", "3", "") // finds the window full

	other, others := windowChannel(t, b, 0)
	require.NoError(t, other.Qos(leveret.QosConfig{PrefetchCount: 1}))
	consume(t, other, "q", "other")
	all, _ = came(others)
	require.Equal(t, []string{"other 3"}, all)
	require.NoError(t, ch.Qos(leveret.QosConfig{PrefetchCount: 1, Global: true}))
	require.NoError(t, held[1].Ack()) // brings the consumers back, and the window stays full
	require.NoError(t, ch.Cancel("second"))
	require.NoError(t, other.Qos(leveret.QosConfig{}))
	consume(t, other, "q", "last")
	require.NoError(t, held[0].Nack(true))
	all, _ = came(others)
	require.Equal(t, []string{"last 1"}, all)
	require.NoError(t, b.Check())
}

// While one queue delivers into the room of a window, others get in. They end the wait of another queue, and its wait begins anew. The
// new consumer is not forgotten. // D-27
func TestQueueWaitsAnewWhileAnotherDelivers(t *testing.T) {
	shortTurns(t)
	turns.SetLength(1)
	let := 0
	for waitsAnew(t, let) {
		let++
	}
	require.Positive(t, let, "nobody was let in")
}

// waitsAnew has the queue wait anew when others are let in for the n-th time. It reports false if they are let in less often.
func waitsAnew(t *testing.T, n int) (again bool) {
	b, _ := newTestBroker(t)
	mustDeclare(t, b, "q", nil)
	mustDeclare(t, b, "r", nil)
	ch, inbox := windowChannel(t, b, 1)
	consume(t, ch, "q", "q1")
	consume(t, ch, "r", "r1")
	for _, body := range []string{"1", "2", "3"} {
		mustPublish(t, b, "q", body, "")
	}
	mustPublish(t, b, "r", "4", "")
	_, held := came(inbox)
	require.Len(t, held, 1)

	let := 0
	turns.SetBetween(func() {
		if let++; let == n+1 {
			require.NoError(t, ch.Cancel("r1"))
			consume(t, ch, "r", "r2")
			again = true
		}
	})
	defer turns.SetBetween(nil)
	require.NoError(t, held[0].Ack())
	turns.SetBetween(nil)
	var all []string
	for range 3 {
		tags, next := came(inbox)
		require.Len(t, next, 1, "when others are let in for the time %d", n)
		require.NoError(t, b.Check())
		all = append(all, tags...)
		require.NoError(t, next[0].Ack())
	}
	if again {
		require.ElementsMatch(t, []string{"q1 2", "q1 3", "r2 4"}, all)
	}
	return again
}
