package ctl

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/leveretmq/leveret"
)

// Virtual time is for tests in any language: nothing happens by itself before it is told that time has passed. RabbitMQ
// has no such command.

// VirtualTime is a clock that the command advance moves.
type VirtualTime struct {
	Clock *leveret.ManualClock
	// Written returns when what the broker has for its clients has been written to their connections. Nil: that is not
	// waited for.
	Written func(context.Context) error

	mu sync.Mutex // one advance at a time
}

// writtenLimit is how long advance waits for clients that do not read what is written to them.
const writtenLimit = 10 * time.Second

func timeCommands() []*command {
	return []*command{{
		name: "advance", offline: true, usage: "advance <duration>", min: 1, max: 1,
		about: "Moves the manual clock, by 60s or 1h30m for example, and returns when what is due has been sent to clients.",
		note:  "Needs leveret serve --clock manual. Prints the time that the clock shows. With 0s it sets in motion what is due now.",
		validate: func(c *call) error {
			_, err := parseDuration(c.args[0])
			return err
		},
		banner: func(c *call) string {
			return "Advancing the clock of node " + c.node.Name + " by " + c.args[0] + " ..."
		},
		run: advance,
	}}
}

func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, badArgument("'" + s + "' is not a duration such as 60s or 1h30m")
	}
	return d, nil
}

func advance(c *call) (result, error) {
	v := c.node.Time
	if v == nil {
		return result{}, failed(exitUnavailable, "the clock of this node cannot be moved: start it with leveret serve --clock manual, or give control.Config its ManualClock")
	}
	d, _ := parseDuration(c.args[0]) // validated
	now, err := v.Advance(c.node.Broker, d)
	if err != nil {
		return result{}, err
	}
	return result{message: now.UTC().Format(time.RFC3339Nano)}, nil
}

// Advance moves the clock and returns what it shows when all that is due has happened and has been written.
func (v *VirtualTime) Advance(b *leveret.Broker, d time.Duration) (now time.Time, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	last := time.Unix(0, math.MaxInt64)
	if d > last.Sub(v.Clock.Now()) {
		return now, failed(exitData, "the clock would show a time after the year 2262")
	}
	v.Clock.Advance(d)
	b.Settle()
	if v.Written == nil {
		return v.Clock.Now(), nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), writtenLimit)
	defer cancel()
	if err := v.Written(ctx); err != nil {
		return now, failed(exitUnavailable, "the clock has moved, but not all clients know what has happened: "+err.Error())
	}
	return v.Clock.Now(), nil
}
