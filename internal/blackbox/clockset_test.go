package blackbox_test

import (
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A setClock is a clock that somebody sets: what it shows jumps, the time that passes does not.
type setClock struct {
	*leveret.ManualClock
	ahead time.Duration
}

func (c *setClock) Now() time.Time { return c.ManualClock.Now().Add(c.ahead) }
func (c *setClock) Elapsed() time.Duration {
	return c.ManualClock.Now().Sub(start) + time.Hour
}
func (c *setClock) Read() (time.Time, time.Duration) { return c.Now(), c.Elapsed() }

// Queues that nobody uses go when the time has passed, whatever the clock shows meanwhile. Messages expire by what it
// shows.
func TestTheClockIsSet(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		clk := &setClock{ManualClock: leveret.NewManualClock(start)}
		b := leveret.New(leveret.WithClock(clk))
		ended := map[string]time.Duration{}
		at := func(what string) { ended[what] = clk.ManualClock.Now().Sub(start) }
		b.Watch(leveret.Events{
			QueueDeleted:    func(e leveret.QueueEvent) { at(e.Queue) },
			Dropped:         func(leveret.DroppedEvent) { at("message") },
			ConsumerRemoved: func(e leveret.ConsumerEvent) { at("consumer") },
		})
		mustDeclare(t, b, "before", leveret.Table{"x-expires": 10 * time.Minute})
		quorum := mustDeclare(t, b, "quorum", leveret.Table{"x-queue-type": "quorum", "x-consumer-timeout": 20 * time.Minute})
		mustPublish(t, b, "quorum", "m", "")
		c, err := quorum.Consume(leveret.ConsumeConfig{})
		require.NoError(t, err)
		_, err = c.Receive(t.Context())
		require.NoError(t, err)
		messages := mustDeclare(t, b, "messages", nil)
		clk.Advance(time.Minute)

		clk.ahead = by
		mustDeclare(t, b, "after", leveret.Table{"x-expires": 10 * time.Minute})
		mustPublish(t, b, "messages", "m", "900000")
		clk.Advance(4 * time.Minute)
		clk.ahead = 2 * by
		clk.Advance(40 * time.Minute)
		want := map[string]time.Duration{"before": 10 * time.Minute, "after": 11 * time.Minute, "consumer": 20 * time.Minute}
		if by > 0 {
			want["message"] = ended["message"]
			assert.LessOrEqual(t, ended["message"], 16*time.Minute, "the clock shows an hour more than the message had")
		}
		assert.Equal(t, want, ended, "set by %v", by)
		assert.Equal(t, by < 0, messages.Info().Ready == 1)
		require.NoError(t, b.Check())
		require.NoError(t, b.Close())
	}
}
