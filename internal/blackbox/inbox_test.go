package blackbox_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// Several goroutines may receive from one consumer: each message goes to one of them, none
// sleeps while there are messages, and all end with the consumer.
func TestManyReceiversShareAConsumer(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	q, err := b.DeclareQueue("q", leveret.QueueConfig{})
	require.NoError(t, err)
	c, err := q.Consume(leveret.ConsumeConfig{})
	require.NoError(t, err)
	const messages, receivers = 2000, 4
	gone, cancel := context.WithCancel(context.Background())
	var given, wg sync.WaitGroup
	given.Go(func() {
		_, err := c.Receive(gone)
		require.ErrorIs(t, err, context.Canceled)
	})
	cancel()
	given.Wait()
	seen := make([]map[uint64]bool, receivers)
	given.Add(messages)
	for i := range receivers {
		seen[i] = map[uint64]bool{}
		wg.Go(func() {
			for {
				d, err := c.Receive(context.Background())
				if err != nil {
					require.ErrorIs(t, err, leveret.ErrClosed)
					return
				}
				seen[i][d.DeliveryTag] = true
				require.NoError(t, d.Ack())
				given.Done()
			}
		})
	}
	for range messages {
		_, err := b.Publish("", "q", leveret.Message{})
		require.NoError(t, err)
	}
	given.Wait()
	require.NoError(t, c.Cancel())
	wg.Wait()
	all := map[uint64]bool{}
	for _, tags := range seen {
		for tag := range tags {
			require.False(t, all[tag], "delivered twice: %d", tag)
			all[tag] = true
		}
	}
	require.Len(t, all, messages)
	require.NoError(t, b.Check())
}

// A batch wakes the receivers that wait: one that does not come back must not keep it.
func TestAReceiverLeavesTheRestToOthers(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	q, err := b.DeclareQueue("q", leveret.QueueConfig{})
	require.NoError(t, err)
	c, err := q.Consume(leveret.ConsumeConfig{})
	require.NoError(t, err)
	for range 3 {
		_, err := b.Publish("", "q", leveret.Message{})
		require.NoError(t, err)
	}
	require.NoError(t, c.Cancel())
	for tag := range uint64(3) {
		done := make(chan uint64)
		go func() {
			d, err := c.Receive(context.Background())
			if err != nil {
				t.Error(err)
			}
			done <- d.DeliveryTag
		}()
		require.Equal(t, tag+1, <-done)
	}
	_, err = c.Receive(context.Background())
	require.ErrorIs(t, err, leveret.ErrClosed)
}

// A shared inbox at its limit stalls its consumers; taking resumes them, and nothing is lost.
func TestInboxLimitStallsAndResumes(t *testing.T) {
	bothTypes(t, func(t *testing.T, kind string) {
		b, _ := newTestBroker(t)
		q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": kind})
		inbox := leveret.NewInbox(leveret.InboxConfig{MaxDeliveries: 3})
		conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: inbox})
		require.NoError(t, err)
		for range 2 {
			ch, err := conn.Channel()
			require.NoError(t, err)
			_, err = ch.Consume("q", leveret.ConsumeConfig{NoAck: true})
			require.NoError(t, err)
		}
		for i := range 10 {
			mustPublish(t, b, "q", fmt.Sprint(i), "")
		}
		var got []string
		for range 4 {
			taken := inbox.Take(nil)
			require.LessOrEqual(t, len(taken), 3)
			for _, n := range taken {
				got = append(got, string(n.Delivery.Body))
			}
			require.NoError(t, b.Check())
		}
		require.Equal(t, strings.Split("0123456789", ""), got)
		require.Zero(t, q.Info().Messages)
	})
}

// A consumer whose own window gets room while the inbox of its connection is full goes on when the inbox has been taken.
func TestWindowOpensWhileTheInboxIsFull(t *testing.T) {
	bothTypes(t, func(t *testing.T, kind string) {
		b, _ := newTestBroker(t)
		for _, name := range []string{"slow", "fast"} {
			mustDeclare(t, b, name, leveret.Table{"x-queue-type": kind})
		}
		inbox := leveret.NewInbox(leveret.InboxConfig{MaxDeliveries: 1})
		conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: inbox})
		require.NoError(t, err)
		ch, err := conn.Channel()
		require.NoError(t, err)
		require.NoError(t, ch.Qos(leveret.QosConfig{PrefetchCount: 1}))
		_, err = ch.Consume("slow", leveret.ConsumeConfig{})
		require.NoError(t, err)
		mustPublish(t, b, "slow", "1", "")
		first := inbox.Take(nil)
		require.Len(t, first, 1)
		mustPublish(t, b, "slow", "2", "") // finds the consumer's window full

		require.NoError(t, ch.Qos(leveret.QosConfig{}))
		_, err = ch.Consume("fast", leveret.ConsumeConfig{NoAck: true})
		require.NoError(t, err)
		mustPublish(t, b, "fast", "fills the inbox", "")
		require.NoError(t, first[0].Delivery.Ack())

		require.Len(t, inbox.Take(nil), 1)
		next := inbox.Take(nil)
		require.Len(t, next, 1)
		require.Equal(t, "2", string(next[0].Delivery.Body))
		require.NoError(t, b.Check())
	})
}

// A listener is told when its inbox stops being empty, and not again before it has taken what is there.
func TestInboxNotifies(t *testing.T) {
	b, _ := newTestBroker(t)
	mustDeclare(t, b, "q", nil)
	told := 0
	inbox := leveret.NewInbox(leveret.InboxConfig{MaxDeliveries: 3, Notify: func() { told++ }})
	require.Empty(t, inbox.Take(nil), "no connection has it yet")
	conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: inbox})
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.Consume("q", leveret.ConsumeConfig{NoAck: true})
	require.NoError(t, err)
	require.Zero(t, told)
	for range 5 {
		mustPublish(t, b, "q", "m", "")
		require.Equal(t, 1, told)
	}
	require.Len(t, inbox.Take(nil), 3)
	require.Equal(t, 2, told, "the other two came as there was room")
	require.Len(t, inbox.Take(nil), 2)
	mustPublish(t, b, "q", "m", "")
	require.Equal(t, 3, told)
}

// The zero Inbox has no limits.
func TestZeroInboxHasNoLimits(t *testing.T) {
	b, _ := newTestBroker(t)
	mustDeclare(t, b, "q", nil)
	in := new(leveret.Inbox)
	conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: in})
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.Consume("q", leveret.ConsumeConfig{})
	require.NoError(t, err)
	for range 3 {
		mustPublish(t, b, "q", "m", "")
	}
	require.Len(t, in.Take(nil), 3)
}
