package leveret_test

import (
	"math"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
)

// A timer whose deadline no clock can show does not fire.
func TestManualClockTimerBeyondTheEnd(t *testing.T) {
	clk := leveret.NewManualClock(time.Unix(0, 0))
	clk.Advance(time.Hour)
	timer := clk.AfterFunc(math.MaxInt64, func() { t.Error("due in 292 years") })
	clk.Advance(time.Hour)
	assert.True(t, timer.Stop())
}

// Timers fire in the order of their deadlines; those of one instant fire in the order in which they were set.
func TestManualClockOrder(t *testing.T) {
	clock := leveret.NewManualClock(time.Unix(0, 0))
	var fired []string
	set := func(after time.Duration, name string) {
		clock.AfterFunc(after, func() { fired = append(fired, name) })
	}
	set(2*time.Second, "late")
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		set(time.Second, name)
	}
	set(-time.Second, "overdue")
	clock.Advance(time.Second)
	assert.Equal(t, []string{"overdue", "a", "b", "c", "d", "e", "f", "g"}, fired)
	clock.Advance(time.Second)
	assert.Equal(t, "late", fired[len(fired)-1])
}

// Each timer sees its own deadline as Now, and what it sets fires in the same Advance if it is due by then.
func TestManualClockNow(t *testing.T) {
	start := time.Unix(1000, 0)
	clock := leveret.NewManualClock(start)
	var seen []time.Duration
	look := func() { seen = append(seen, clock.Now().Sub(start)) }
	clock.AfterFunc(3*time.Second, look)
	clock.AfterFunc(time.Second, func() {
		look()
		clock.AfterFunc(time.Second, look)
		clock.AfterFunc(time.Hour, look)
	})
	clock.Advance(5 * time.Second)
	assert.Equal(t, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}, seen)
	assert.Equal(t, start.Add(5*time.Second), clock.Now())
	clock.Advance(-time.Second)
	assert.Equal(t, start.Add(5*time.Second), clock.Now(), "time does not go back")
}

func TestManualClockStop(t *testing.T) {
	clock := leveret.NewManualClock(time.Unix(0, 0))
	fired := 0
	first := clock.AfterFunc(time.Second, func() { fired++ })
	second := clock.AfterFunc(time.Second, func() { fired += 10 })
	assert.True(t, first.Stop())
	assert.False(t, first.Stop(), "stopped already")
	clock.Advance(time.Second)
	assert.Equal(t, 10, fired)
	assert.False(t, second.Stop(), "fired already")
}

func TestManualClockAdvanceTo(t *testing.T) {
	start := time.Unix(1000, 0)
	clock := leveret.NewManualClock(start)
	fired := 0
	clock.AfterFunc(0, func() { fired++ })
	clock.AfterFunc(time.Minute, func() { fired += 10 })
	clock.AdvanceTo(start.Add(-time.Hour))
	assert.Equal(t, start, clock.Now(), "time does not go back")
	assert.Equal(t, 1, fired, "what is due happens")
	clock.AdvanceTo(start.Add(time.Minute))
	assert.Equal(t, start.Add(time.Minute), clock.Now())
	assert.Equal(t, 11, fired)
	assert.Panics(t, func() { clock.AdvanceTo(time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)) })
	assert.Equal(t, start.Add(time.Minute), clock.Now())
}

// The clock stops where the last thing happened, though timers for what has gone are left, or at the limit.
func TestManualClockAdvanceUntilIdle(t *testing.T) {
	start := time.Unix(1000, 0)
	clock := leveret.NewManualClock(start)
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()
	q, err := b.DeclareQueue("q", leveret.QueueConfig{})
	assert.NoError(t, err)
	publish := func(expiration string) {
		_, err := b.Publish("", "q", leveret.Message{Properties: &leveret.Properties{Expiration: expiration}})
		assert.NoError(t, err)
	}
	publish("3600000")
	d, ok, err := q.Get()
	assert.True(t, ok)
	assert.NoError(t, err)
	assert.NoError(t, d.Ack())
	publish("2000")
	publish("5000")

	assert.False(t, clock.AdvanceUntilIdle(b, 3*time.Second))
	assert.Equal(t, start.Add(3*time.Second), clock.Now())
	assert.Equal(t, 1, q.Info().Messages)
	assert.True(t, clock.AdvanceUntilIdle(b, time.Hour))
	assert.Equal(t, start.Add(5*time.Second), clock.Now())
	assert.Equal(t, 0, q.Info().Messages)
	assert.True(t, clock.AdvanceUntilIdle(b, -time.Second))
	assert.Equal(t, start.Add(5*time.Second), clock.Now())

	other := leveret.NewManualClock(start)
	assert.Panics(t, func() { other.AdvanceUntilIdle(b, time.Hour) })
}
