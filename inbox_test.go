package leveret_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leveretmq/leveret"
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
