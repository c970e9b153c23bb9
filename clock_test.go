package leveret_test

import (
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
)

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
