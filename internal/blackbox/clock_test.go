package blackbox_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// Whoever asks when something will happen does not change what happens: a classic queue looks at a head that
// came in front of others when it would have looked at one that has gone.
func TestAskingForTheDeadlineChangesNothing(t *testing.T) {
	for _, ask := range []bool{false, true} {
		for _, behind := range []string{"", "5000"} {
			b, clk := newTestBroker(t)
			deadline := func(want time.Duration) {
				if !ask {
					return
				}
				at, ok := b.NextDeadline()
				require.Equal(t, want != 0, ok)
				if ok {
					require.Equal(t, want, at.Sub(start))
				}
			}
			q := mustDeclare(t, b, "q", leveret.Table{"x-max-priority": 1})
			publish := func(body, expiration string, priority uint8) {
				_, err := b.Publish("", "q", leveret.Message{Body: []byte(body),
					Properties: &leveret.Properties{Expiration: expiration, Priority: priority}})
				require.NoError(t, err)
			}
			publish("first", "1000", 1)
			deadline(time.Second)
			publish("behind", behind, 0)
			_, ok, err := q.Get()
			require.NoError(t, err)
			require.True(t, ok)
			if behind == "" {
				deadline(0)
			} else {
				deadline(5 * time.Second)
			}
			clk.Advance(100 * time.Millisecond)
			publish("over", "1000", 1)
			deadline(time.Second)
			clk.Advance(900 * time.Millisecond)
			require.Equal(t, 2, q.Info().Ready)
			deadline(1100 * time.Millisecond)
			clk.Advance(100 * time.Millisecond)
			require.Equal(t, 1, q.Info().Ready, "asked: %v, behind: %v", ask, behind)
		}
	}
}

// The real clock inside a bubble: time passes when everybody waits, and nobody is left behind.
func TestInsideSynctest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leveret.New()
		start := time.Now()
		mustDeclare(t, b, "work", leveret.Table{"x-message-ttl": 5 * time.Second, "x-dead-letter-exchange": "",
			"x-dead-letter-routing-key": "dead"})
		dead := mustDeclare(t, b, "dead", nil)
		mustPublish(t, b, "work", "m", "")
		c, err := dead.Consume(leveret.ConsumeConfig{})
		require.NoError(t, err)
		d, err := c.Receive(t.Context()) // blocks for five seconds of the bubble's time
		require.NoError(t, err)
		require.Equal(t, 5*time.Second, time.Since(start))
		require.Equal(t, leveret.Expired, d.Deaths()[0].Reason)
		require.NoError(t, d.Ack())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = c.Receive(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		mustPublish(t, b, "work", "forgotten", "")
		done := make(chan error)
		go func() {
			_, err := c.Receive(context.Background())
			done <- err
		}()
		synctest.Wait()
		require.NoError(t, b.Check())
		require.NoError(t, b.Close())
		require.ErrorIs(t, <-done, leveret.ErrClosed)
	})
}

// The real clock outside of one: waits are for what happens, never for a guess.
func TestRealClockExpires(t *testing.T) {
	defer noLeaks(t)
	b := leveret.New()
	defer b.Close()
	mustDeclare(t, b, "work", leveret.Table{"x-message-ttl": 20, "x-dead-letter-exchange": "",
		"x-dead-letter-routing-key": "dead"})
	dead := mustDeclare(t, b, "dead", nil)
	c, err := dead.Consume(leveret.ConsumeConfig{NoAck: true})
	require.NoError(t, err)
	start := time.Now()
	for range 10 {
		mustPublish(t, b, "work", "m", "")
	}
	for range 10 {
		_, err := c.Receive(t.Context())
		require.NoError(t, err)
	}
	require.GreaterOrEqual(t, time.Since(start), 20*time.Millisecond)
	require.NoError(t, b.Check())
}
