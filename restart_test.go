package leveret_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var persistent = &leveret.Properties{DeliveryMode: 2}

// TestRestartInTheMiddle restarts a broker while publishers, consumers and transactions are at work. What was confirmed is
// there at the end, and the invariants hold.
func TestRestartInTheMiddle(t *testing.T) {
	for _, as := range []leveret.NodeEnd{leveret.StoppedNode, leveret.KilledNode} {
		for _, kind := range []leveret.QueueType{leveret.QueueTypeClassic, leveret.QueueTypeQuorum} {
			b := leveret.New()
			args := leveret.Table{leveret.ArgQueueType: string(kind)}
			if kind == leveret.QueueTypeQuorum {
				args[leveret.ArgDeliveryLimit] = -1 // a message may come back more often than 20 times
			}
			q, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: args})
			require.NoError(t, err)
			var wg sync.WaitGroup
			var mu sync.Mutex
			taken, acked := 0, 0
			stop := make(chan struct{})
			work := func(step func(*leveret.Channel) error) {
				wg.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						conn, err := b.Connect("guest", "guest", "/")
						if err != nil {
							continue
						}
						ch, err := conn.Channel()
						for err == nil {
							err = step(ch)
						}
						_ = conn.Close()
					}
				})
			}
			for range 2 {
				work(func(ch *leveret.Channel) error {
					mu.Lock()
					defer mu.Unlock()
					if taken == 500 {
						return errors.New("enough")
					}
					_, err := ch.Publish("", "q", leveret.Message{Properties: persistent})
					if err == nil {
						taken++
					}
					return err
				})
				work(func(ch *leveret.Channel) error {
					d, ok, err := ch.Get("q", leveret.GetConfig{})
					if err != nil || !ok {
						return errors.New("nothing")
					}
					mu.Lock()
					defer mu.Unlock()
					if err := d.Ack(); err != nil {
						return err
					}
					acked++
					return nil
				})
				work(func(ch *leveret.Channel) error {
					if err := ch.Tx(); err != nil {
						return err
					}
					_, err := ch.Publish("", "q", leveret.Message{Properties: persistent})
					return errors.Join(err, ch.Close(), errors.New("not committed"))
				})
				work(func(ch *leveret.Channel) error {
					_, err := ch.Consume("q", leveret.ConsumeConfig{Prefetch: 3})
					return errors.Join(err, errors.New("acknowledges nothing"))
				})
			}
			for range 20 {
				require.NoError(t, b.Restart(as))
				require.NoError(t, b.Check())
			}
			close(stop)
			wg.Wait()
			require.NoError(t, b.Restart(as))
			assert.Equal(t, taken-acked, q.Info().Messages, "%v %v", as, kind)
			assert.NoError(t, b.Check())
			assert.NoError(t, b.Close())
		}
	}
}

// TestRestartEndsWaits ends what a program waits for, and what it was handed before cannot be settled any more.
func TestRestartEndsWaits(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	q, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
	require.NoError(t, err)
	_, err = b.Publish("", "q", leveret.Message{Properties: persistent})
	require.NoError(t, err)
	d, _, err := q.Get()
	require.NoError(t, err)
	c, err := q.Consume(leveret.ConsumeConfig{})
	require.NoError(t, err)
	ended := make(chan error)
	go func() {
		_, err := c.Receive(context.Background())
		ended <- err
	}()
	require.NoError(t, b.Restart(leveret.StoppedNode))
	assert.ErrorIs(t, <-ended, leveret.ErrClosed)
	assert.ErrorIs(t, d.Ack(), leveret.ErrPreconditionFailed)
	again, ok, err := q.Get()
	require.NoError(t, err)
	require.True(t, ok)
	assert.True(t, again.Redelivered)
	assert.NoError(t, again.Ack())
	assert.NoError(t, b.Check())
}

// TestNothingHappensWhileDown: no timer fires, and nothing can be changed.
func TestNothingHappensWhileDown(t *testing.T) {
	clock := leveret.NewManualClock(time.Unix(1e9, 0))
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()
	q, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{leveret.ArgMessageTTL: 1000}})
	require.NoError(t, err)
	_, err = b.Publish("", "q", leveret.Message{Properties: persistent})
	require.NoError(t, err)
	require.NoError(t, b.Stop(leveret.StoppedNode))
	require.NoError(t, b.Stop(leveret.StoppedNode))
	_, armed := b.NextDeadline()
	assert.False(t, armed)
	clock.Advance(time.Hour)
	assert.Equal(t, 1, q.Info().Messages)
	_, err = b.DeclareQueue("other", leveret.QueueConfig{})
	for _, err := range []error{err, b.AddUser("ada", "x"), b.DeleteVHost("/"), b.SetPolicy(leveret.Policy{Name: "p", Pattern: ".", ApplyTo: leveret.ApplyToAll, Definition: leveret.Table{"max-length": 1}}),
		b.SetGlobalParameter(leveret.GlobalParameter{Name: "x"}), b.ClearGlobalParameter("x"), q.Bind("amq.direct", "k", nil)} {
		assert.ErrorIs(t, err, leveret.ErrClosed)
	}
	require.NoError(t, b.Start())
	assert.Zero(t, q.Info().Messages)
	assert.EqualValues(t, 0, b.Counters().Dropped.NodeDown)
}

// TestRestartTellsOfLosses: what a restart does not keep is dropped with a cause of its own.
func TestRestartTellsOfLosses(t *testing.T) {
	var lost []leveret.Cause
	b := leveret.New(leveret.WithEvents(leveret.Events{Dropped: func(e leveret.DroppedEvent) { lost = append(lost, e.Cause) }}))
	defer b.Close()
	for _, name := range []string{"kept", "gone"} {
		_, err := b.DeclareQueue(name, leveret.QueueConfig{Durable: name == "kept"})
		require.NoError(t, err)
		_, err = b.Publish("", name, leveret.Message{})
		require.NoError(t, err)
	}
	require.NoError(t, b.Restart(leveret.KilledNode))
	assert.Equal(t, []leveret.Cause{leveret.CauseNodeDown, leveret.CauseNodeDown}, lost)
	assert.EqualValues(t, 2, b.Counters().Dropped.NodeDown)
	assert.Zero(t, b.Memory().Bodies)
}

// TestResetRevivesTheFirstVHost: the broker's own methods work again, even if the virtual host "/" had been deleted.
func TestResetRevivesTheFirstVHost(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	require.NoError(t, b.AddUser("ada", "x"))
	require.NoError(t, b.DeleteVHost("/"))
	require.NoError(t, b.Stop(leveret.StoppedNode))
	require.NoError(t, b.Reset())
	require.NoError(t, b.Start())
	_, err := b.DeclareQueue("q", leveret.QueueConfig{})
	assert.NoError(t, err)
	assert.Len(t, b.Users(), 1)
	assert.NoError(t, b.Check())
}
