package blackbox_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// What has gone leaves nothing behind, and what nobody reads is bounded.

// grows returns by how much the heap is larger after a second round of f than after the first, in bytes.
func grows(f func()) int64 {
	f()
	before := heapInUse()
	f()
	return int64(heapInUse()) - int64(before)
}

// A connection that declares exclusive queues and deletes them, as a client does for each of its requests, keeps none
// of them.
func TestDeletedExclusiveQueuesAreForgotten(t *testing.T) {
	b, _ := newTestBroker(t)
	ch := mustChannel(t, b)
	round := func() {
		for range 5000 {
			s, err := ch.DeclareQueue("", leveret.QueueConfig{Exclusive: true})
			require.NoError(t, err)
			_, err = ch.DeleteQueue(s.Name, leveret.DeleteConfig{})
			require.NoError(t, err)
		}
	}
	require.Less(t, grows(round), int64(500<<10))
}

// A consumer for which there is no room in its connection's inbox waits once, whatever is published meanwhile.
func TestStalledConsumersAreRememberedOnce(t *testing.T) {
	bothTypes(t, func(t *testing.T, kind string) {
		b, _ := newTestBroker(t)
		mustDeclare(t, b, "q", leveret.Table{"x-single-active-consumer": true, "x-max-length": 10, "x-queue-type": kind})
		conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: leveret.NewInbox(leveret.InboxConfig{MaxDeliveries: 1})})
		require.NoError(t, err)
		ch, err := conn.Channel()
		require.NoError(t, err)
		_, err = ch.Consume("q", leveret.ConsumeConfig{})
		require.NoError(t, err)
		round := func() {
			for range 50_000 {
				mustPublish(t, b, "q", "m", "")
			}
		}
		require.Less(t, grows(round), int64(200<<10))
	})
}

// Nor does one for which there is no room in its channel's window.
func TestConsumersThatWaitForTheWindowAreRememberedOnce(t *testing.T) {
	b, _ := newTestBroker(t, leveret.WithProfile(leveret.RabbitMQ310))
	mustDeclare(t, b, "q", leveret.Table{"x-single-active-consumer": true, "x-max-length": 10})
	ch := mustChannel(t, b)
	require.NoError(t, ch.Qos(leveret.QosConfig{PrefetchCount: 1, Global: true}))
	_, err := ch.Consume("q", leveret.ConsumeConfig{})
	require.NoError(t, err)
	round := func() {
		for range 50_000 {
			mustPublish(t, b, "q", "m", "")
		}
	}
	require.Less(t, grows(round), int64(200<<10))
}

// A consumer that is cancelled while it waits for the window is forgotten.
func TestCancelledConsumersDoNotWaitForTheWindow(t *testing.T) {
	b, _ := newTestBroker(t, leveret.WithProfile(leveret.RabbitMQ310))
	mustDeclare(t, b, "q", nil)
	ch := mustChannel(t, b)
	require.NoError(t, ch.Qos(leveret.QosConfig{PrefetchCount: 1, Global: true}))
	_, err := ch.Consume("q", leveret.ConsumeConfig{})
	require.NoError(t, err)
	for range 2 {
		mustPublish(t, b, "q", "m", "")
	}
	round := func() {
		for range 5_000 {
			c, err := ch.Consume("q", leveret.ConsumeConfig{})
			require.NoError(t, err)
			require.NoError(t, c.Cancel())
		}
	}
	require.Less(t, grows(round), int64(200<<10))
}

// A channel that holds messages of queues that are gone does not hold their bodies.
func TestBodiesOfDeletedQueuesAreLetGo(t *testing.T) {
	bothTypes(t, func(t *testing.T, kind string) {
		b, _ := newTestBroker(t)
		ch := mustChannel(t, b)
		const size = 64 << 10
		before := heapInUse()
		for i := range 500 { // 32 MB
			name := fmt.Sprint("q", i)
			q := mustDeclare(t, b, name, leveret.Table{"x-queue-type": kind})
			_, err := b.Publish("", name, leveret.Message{Body: make([]byte, size)})
			require.NoError(t, err)
			_, ok, err := ch.Get(name, leveret.GetConfig{})
			require.NoError(t, err)
			require.True(t, ok)
			_, err = q.Delete(leveret.DeleteConfig{})
			require.NoError(t, err)
		}
		require.NoError(t, b.Check())
		require.Less(t, heapInUse(), before+4<<20)
		require.NoError(t, ch.Nack(0, true, false), "they can still be settled")
		require.Zero(t, b.Memory().Used)
	})
}

// A message that a slow consumer of a quorum queue lost is not held for its tag.
func TestTimedOutDeliveriesAreLetGo(t *testing.T) {
	b, clk := newTestBroker(t)
	q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum", "x-consumer-timeout": 1000})
	ch := mustChannel(t, b)
	before := heapInUse()
	for range 500 {
		_, err := b.Publish("", "q", leveret.Message{Body: make([]byte, 64<<10)})
		require.NoError(t, err)
	}
	c, err := ch.Consume("q", leveret.ConsumeConfig{})
	require.NoError(t, err)
	for range 500 {
		_, err := c.Receive(context.Background())
		require.NoError(t, err)
	}
	clk.Advance(time.Minute)
	require.ErrorIs(t, c.Err(), leveret.ErrAckTimeout)
	_, err = q.Purge()
	require.NoError(t, err)
	require.Less(t, heapInUse(), before+4<<20)
}

// A listing counts a single active consumer that was late, and declare-ok does not: Q-41, asked of RabbitMQ 4.3 with list_queues.
func TestSlowSingleActiveConsumerIsListed(t *testing.T) {
	b, clk := newTestBroker(t)
	q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum", "x-single-active-consumer": true})
	ch, other := mustChannel(t, b), mustChannel(t, b)
	_, err := b.Publish("", "q", leveret.Message{})
	require.NoError(t, err)
	for _, c := range []*leveret.Channel{ch, other} {
		_, err := c.Consume("q", leveret.ConsumeConfig{Tag: "c", Arguments: leveret.Table{"x-consumer-timeout": 1000}})
		require.NoError(t, err)
		clk.Advance(2 * time.Second) // the consumer is late
	}
	count := func() [2]int {
		s, err := other.CheckQueue("q")
		require.NoError(t, err)
		return [2]int{s.Consumers, q.Info().Consumers}
	}
	require.Equal(t, [2]int{0, 2}, count())
	require.NoError(t, ch.Cancel("c"))
	require.Equal(t, [2]int{0, 1}, count())
	require.NoError(t, other.Cancel("c"))
	require.Equal(t, [2]int{0, 0}, count())
	require.NoError(t, b.Check())
}

// Replies to a client that does not read are kept up to a bound, and every one beyond is a loss with its cause.
func TestUnreadRepliesAreBounded(t *testing.T) {
	for _, p := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		t.Run(p.String(), func(t *testing.T) {
			b, _ := newTestBroker(t, leveret.WithProfile(p))
			mustDeclare(t, b, "requests", nil)
			ch := mustChannel(t, b)
			c, err := ch.Consume("amq.rabbitmq.reply-to", leveret.ConsumeConfig{NoAck: true})
			require.NoError(t, err)
			_, err = ch.Publish("", "requests", leveret.Message{Properties: &leveret.Properties{ReplyTo: "amq.rabbitmq.reply-to"}})
			require.NoError(t, err)
			request, ok, err := mustQueue(t, b, "requests").Get()
			require.NoError(t, err)
			require.True(t, ok)
			body := make([]byte, 1<<20)
			var headers leveret.Table
			for range 100 {
				headers = leveret.Table{"h": strings.Repeat("h", 100<<10)}
			}
			for range 200 {
				out, err := b.Publish("", request.ReplyTo, leveret.Message{Body: body, Properties: &leveret.Properties{Headers: headers}})
				require.NoError(t, err)
				require.Equal(t, 1, out.Queues)
			}
			lost := b.Counters().Dropped
			require.Greater(t, lost.ReplyUnread, uint64(70))
			require.Equal(t, lost.ReplyUnread, lost.Total())
			for range 200 - lost.ReplyUnread {
				_, err := c.Receive(context.Background())
				require.NoError(t, err)
			}
			_, err = b.Publish("", request.ReplyTo, leveret.Message{})
			require.NoError(t, err)
			require.Equal(t, lost, b.Counters().Dropped, "there is room again")
		})
	}
}

// An emptying is a queue to be emptied.
type emptying struct {
	t   *testing.T
	b   *leveret.Broker
	clk *leveret.ManualClock
	q   *leveret.Queue
	ch  *leveret.Channel
	n   int // messages
}

// emptyings are the ways in which a queue becomes empty.
var emptyings = map[string]func(*emptying){
	"acknowledged": func(e *emptying) {
		hold(e.t, e.ch, e.n)
		require.NoError(e.t, e.ch.Ack(0, true))
	},
	"requeued": func(e *emptying) {
		for range 3 {
			hold(e.t, e.ch, e.n)
			require.NoError(e.t, e.ch.Nack(0, true, true))
		}
		hold(e.t, e.ch, e.n)
		require.NoError(e.t, e.ch.Ack(0, true))
	},
	"rejected": func(e *emptying) {
		hold(e.t, e.ch, e.n)
		require.NoError(e.t, e.ch.Nack(0, true, false))
	},
	"purged": func(e *emptying) {
		_, err := e.q.Purge()
		require.NoError(e.t, err)
	},
	"trimmed": func(e *emptying) {
		require.NoError(e.t, e.b.SetPolicy(leveret.Policy{Name: "p", Definition: leveret.Table{"max-length": 0}}))
		require.NoError(e.t, e.b.ClearPolicy("p"))
	},
	"expired": func(e *emptying) { e.clk.Advance(time.Minute) },
	"consumed": func(e *emptying) {
		c, err := e.ch.Consume("q", leveret.ConsumeConfig{NoAck: true})
		require.NoError(e.t, err)
		for range e.n {
			_, err := c.Receive(context.Background())
			require.NoError(e.t, err)
		}
		require.NoError(e.t, c.Cancel())
	},
	"given back by a channel that ends": func(e *emptying) {
		ch := mustChannel(e.t, e.b)
		hold(e.t, ch, e.n)
		require.NoError(e.t, ch.Close())
		hold(e.t, e.ch, e.n)
		require.NoError(e.t, e.ch.Ack(0, true))
	},
	"retried": func(e *emptying) {
		require.NoError(e.t, e.b.SetPolicy(leveret.Policy{Name: "p", ApplyTo: leveret.ApplyToQuorumQueues,
			Definition: leveret.Table{"delayed-retry-type": "all", "delayed-retry-min": 1000}}))
		hold(e.t, e.ch, e.n)
		require.NoError(e.t, e.ch.Nack(0, true, true))
		e.clk.Advance(time.Second)
		hold(e.t, e.ch, e.n)
		require.NoError(e.t, e.ch.Ack(0, true))
		require.NoError(e.t, e.b.ClearPolicy("p"))
	},
}

// A queue that was full and is empty again, in whatever way, takes as little as one that never was.
func TestEmptiedQueuesAreSmall(t *testing.T) {
	const n = 20_000
	for kind, args := range map[string]leveret.Table{
		"classic":    nil,
		"priorities": {"x-max-priority": 5},
		"quorum":     {"x-queue-type": "quorum", "x-delivery-limit": -1},
	} {
		for name, empty := range emptyings {
			t.Run(kind+"/"+name, func(t *testing.T) {
				b, clk := newTestBroker(t)
				e := &emptying{t, b, clk, mustDeclare(t, b, "q", args), mustChannel(t, b), n}
				before := heapInUse()
				for i := range n {
					_, err := b.Publish("", "q", leveret.Message{Properties: &leveret.Properties{Priority: uint8(i % 8), Expiration: "60000"}})
					require.NoError(t, err)
				}
				empty(e)
				require.Zero(t, e.q.Info().Messages)
				require.Less(t, int64(heapInUse())-int64(before), int64(100<<10))
			})
		}
	}
}

// hold takes n messages of the queue q and does not settle them.
func hold(t *testing.T, ch *leveret.Channel, n int) {
	t.Helper()
	for range n {
		_, ok, err := ch.Get("q", leveret.GetConfig{})
		require.NoError(t, err)
		require.True(t, ok)
	}
}

// A storm leaves nothing behind when it is over: not in a consumer's inbox, nor among the events and the dead letters.
func TestStormsLeaveNothingBehind(t *testing.T) {
	const n = 100_000
	for name, storm := range map[string]func(t *testing.T, b *leveret.Broker) (stop func()){
		"inbox": func(t *testing.T, b *leveret.Broker) func() {
			q := mustDeclare(t, b, "q", nil)
			c, err := q.Consume(leveret.ConsumeConfig{NoAck: true})
			require.NoError(t, err)
			for range 2 {
				for range n {
					mustPublish(t, b, "q", "m", "")
				}
				for range n {
					_, err := c.Receive(context.Background())
					require.NoError(t, err)
				}
			}
			return func() { c.Close() }
		},
		"events": func(t *testing.T, b *leveret.Broker) func() {
			q := mustDeclare(t, b, "q", nil)
			for range n {
				mustPublish(t, b, "q", "m", "")
			}
			stop := b.Watch(leveret.Events{Dropped: func(leveret.DroppedEvent) {}})
			_, err := q.Purge()
			require.NoError(t, err)
			return stop
		},
		"dead letters": func(t *testing.T, b *leveret.Broker) func() {
			q := mustDeclare(t, b, "q", leveret.Table{"x-dead-letter-exchange": "amq.fanout"})
			for range n {
				mustPublish(t, b, "q", "m", "")
			}
			require.NoError(t, b.SetPolicy(leveret.Policy{Name: "p", Definition: leveret.Table{"max-length": 0}}))
			require.Zero(t, q.Info().Messages)
			return func() {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := newTestBroker(t)
			before := heapInUse()
			stop := storm(t, b)
			require.Less(t, int64(heapInUse())-int64(before), int64(1<<20))
			stop()
		})
	}
}

// What waits for a hook that does not return can be seen.
func TestUntoldEvents(t *testing.T) {
	b, _ := newTestBroker(t)
	enter, leave := make(chan struct{}), make(chan struct{})
	var once sync.Once
	b.Watch(leveret.Events{Published: func(leveret.PublishedEvent) {
		once.Do(func() {
			close(enter)
			<-leave
		})
	}})
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Publish("amq.fanout", "", leveret.Message{})
	}()
	<-enter
	for range 1000 {
		_, err := b.Publish("amq.fanout", "", leveret.Message{})
		require.NoError(t, err)
	}
	require.Equal(t, 1000, b.Memory().Untold)
	close(leave)
	<-done
	require.Zero(t, b.Memory().Untold)
}

// What a publisher gets back is not kept.
func TestReturnedMessagesAreForgotten(t *testing.T) {
	b, _ := newTestBroker(t)
	ch := mustChannel(t, b)
	require.NoError(t, ch.Confirm())
	round := func() {
		for i := range 1000 {
			out, err := ch.Publish("", fmt.Sprint("missing", i), leveret.Message{Mandatory: true, Body: make([]byte, 10<<10)})
			require.NoError(t, err)
			require.NotNil(t, out.Return)
		}
	}
	require.Less(t, grows(round), int64(100<<10))
}

// Nobody who looks sees a broker that is inconsistent, while timers fire.
func TestCheckWhileTimersFire(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	mustDeclare(t, b, "q", leveret.Table{"x-message-ttl": 1, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "r"})
	mustDeclare(t, b, "r", leveret.Table{"x-message-ttl": 1})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					b.Publish("", "q", leveret.Message{Body: make([]byte, 1000)})
				}
			}
		})
	}
	for range max(scaled(20_000), 500) {
		require.NoError(t, b.Check())
	}
	close(stop)
	wg.Wait()
}

// What waits for a retry or for a dead-letter target can be looked at.
func TestWaitingMessages(t *testing.T) {
	b, clk := newTestBroker(t)
	q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum", "x-dead-letter-exchange": "missing",
		"x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish"})
	require.NoError(t, b.SetPolicy(leveret.Policy{Name: "retry", Pattern: "q", Definition: leveret.Table{
		"delayed-retry-type": "all", "delayed-retry-min": 1000}}))
	for _, body := range []string{"dies", "waits"} {
		mustPublish(t, b, "q", body, "")
	}
	for _, requeue := range []bool{false, true} {
		d, ok, err := q.Get()
		require.NoError(t, err)
		require.True(t, ok)
		require.NoError(t, d.Nack(requeue))
	}
	require.Empty(t, q.Messages())
	require.Equal(t, 2, q.Info().Messages)
	waiting := q.Waiting()
	require.Len(t, waiting, 2)
	require.Equal(t, "waits", string(waiting[0].Body))
	require.Equal(t, clk.Now().Add(time.Second), waiting[0].DueAt)
	require.Empty(t, waiting[0].DeadLetter)
	require.Equal(t, "dies", string(waiting[1].Body))
	require.Equal(t, leveret.Rejected, waiting[1].DeadLetter)
	require.True(t, waiting[1].DueAt.After(clk.Now()))
	clk.Advance(time.Second)
	require.Len(t, q.Waiting(), 1)
	require.Equal(t, []string{"waits"}, bodies(q))
}
