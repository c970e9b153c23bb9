package page

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/leveretmq/leveret"
)

// On virtual time nothing happens by itself. Administrators let the time pass by buttons.

// A Clock is the broker's clock, which is moved by hand.
type Clock struct {
	Now     func() time.Time
	Advance func(time.Duration) error // returns when all that was due has happened
}

// latest is the last time that a manual clock can show.
var latest = time.Unix(0, math.MaxInt64)

var clockActs = map[string]func(*visit) act{"advance": (*visit).advance, "next": (*visit).toNext}

// A clockData is what the view of the clock shows.
type clockData struct {
	Now, Next, In string
	Steps         []string
}

func (v *visit) showClock() (any, error) {
	if v.clock == nil {
		return nil, &Refusal{http.StatusNotFound, "The time passes by itself here."}
	}
	now := v.clock.Now()
	d := clockData{Now: clockText(now), Steps: []string{"1s", "10s", "1m", "10m", "1h", "24h"}}
	if next, ok := v.broker.NextDeadline(); ok {
		d.Next, d.In = clockText(next), max(next.Sub(now), 0).String()
	}
	return d, nil
}

func clockText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999 UTC") }

// advance lets the time of the form pass.
func (v *visit) advance() act {
	d, err := time.ParseDuration(v.field("for"))
	if err != nil || d < 0 {
		return failed(&Refusal{http.StatusBadRequest, "'" + v.field("for") + "' is not a duration such as 60s or 1h30m."})
	}
	return v.pass(func(time.Time) time.Duration { return d })
}

// toNext lets the time pass until something happens.
func (v *visit) toNext() act {
	next, ok := v.broker.NextDeadline()
	if !ok {
		return failed(&Refusal{http.StatusConflict, "Nothing is due, ever."})
	}
	return v.pass(func(now time.Time) time.Duration { return max(next.Sub(now), 0) })
}

func (v *visit) pass(span func(now time.Time) time.Duration) act {
	if v.clock == nil {
		return failed(&Refusal{http.StatusNotFound, "The time passes by itself here."})
	}
	if !slices.Contains(v.user.Tags, "administrator") {
		return failed(&Refusal{http.StatusForbidden, "Only administrators move the clock."})
	}
	before := v.clock.Now()
	d := span(before)
	if d > latest.Sub(before) {
		return failed(&Refusal{http.StatusBadRequest, "The clock would show a time after the year 2262."})
	}
	if err := v.clock.Advance(d); err != nil {
		return failed(err)
	}
	return did(fmt.Sprintf("%s have passed.", d))
}

// ManualClock returns the page's form of a manual clock. A nil advance moves it and waits for what happens then.
func ManualClock(b *leveret.Broker, c *leveret.ManualClock, advance func(time.Duration) error) *Clock {
	if c == nil {
		return nil
	}
	if advance == nil {
		advance = func(d time.Duration) error {
			c.Advance(d)
			b.Settle()
			return nil
		}
	}
	return &Clock{c.Now, advance}
}
