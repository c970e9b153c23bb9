package conformance

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

var rounds = flag.Int("rounds", 1, "how many rounds of random programs that restart the broker to run, each of up to 100 programs")

// TestRandomRestarts runs random programs that restart the broker, through the client on leveret's listener and, if there is one that
// can be restarted, on a real broker. All must show the same. -seed names a seed of the first round.
func TestRandomRestarts(t *testing.T) {
	broker := fromEnvironment(t)
	if broker != nil && broker.restarts == nil {
		t.Skip("it restarts the broker: set LEVERET_CONFORMANCE_RESTART and LEVERET_CONFORMANCE_KILL")
	}
	first := *seed
	if first == 0 {
		first = rand.Uint64N(1 << 40)
	}
	first -= first % roundSize
	for profile, release := range scenario.Releases {
		if broker == nil || profile == broker.profile {
			c := &restartCampaign{t: t, broker: broker, profile: profile, began: time.Now()}
			for n := range uint64(*rounds) {
				c.round(first + n*roundSize)
			}
			t.Logf("random programs with restarts on %s: seeds %d to %d, %d of them left to chance, %d programs in %s, %d again: %d differ",
				release, first, first+uint64(*rounds)*roundSize-1, c.chance, c.done, time.Since(c.began).Round(time.Second), c.again, c.differ)
		}
	}
}

// A restartCampaign runs rounds of programs that restart the broker.
type restartCampaign struct {
	t       *testing.T
	broker  *Broker // nil: only leveret
	profile leveret.Profile
	began   time.Time

	chance, done, again, differ int
}

// round runs the programs of a round, and those that differ on a real broker once or twice more, together.
func (c *restartCampaign) round(first uint64) {
	var left []*trial
	seen := newCoverage("")
	for s := first; s < first+roundSize; s++ {
		g := composeRestarting(c.profile, s, seen)
		if g == nil {
			c.chance++
			continue
		}
		left = append(left, &trial{seed: s, script: g.finish()})
		g.end()
	}
	c.done += len(left)
	listener := side{name: "listener", open: func() (scenario.Driver, error) { return Listener(c.profile) }, tries: 1}
	left = c.told(left, c.run(left, func() (side, func()) { return listener, func() {} }))
	if c.broker == nil {
		return
	}
	for n := range restartTries {
		c.broker.restarts.join(len(left))
		found := c.run(left, func() (side, func()) { return c.brokerSide(listener) })
		if n == restartTries-1 {
			c.told(left, found)
			return
		}
		var again []*trial
		for i, d := range found {
			if d != nil {
				again = append(again, left[i])
			}
		}
		if left = again; len(left) == 0 {
			return
		}
		c.again += len(left)
	}
}

// told tells of the programs that differ, and returns the others.
func (c *restartCampaign) told(programs []*trial, found []*difference) (same []*trial) {
	for i, d := range found {
		if d == nil {
			same = append(same, programs[i])
			continue
		}
		d.seed = programs[i].seed
		c.differ++
		c.t.Error(d)
	}
	return same
}

// run runs programs at once and returns how each differs.
func (c *restartCampaign) run(programs []*trial, open func() (side, func())) []*difference {
	found := make([]*difference, len(programs))
	var wg sync.WaitGroup
	for i, p := range programs {
		wg.Go(func() {
			s, letGo := open()
			defer letGo()
			found[i] = s.differs(p.script)
		})
	}
	wg.Wait()
	return found
}

// brokerSide is the broker with a virtual host of its own, which takes part in the restarts until it is let go.
func (c *restartCampaign) brokerSide(listener side) (s side, letGo func()) {
	leave := c.broker.restarts.leave
	var d *reusedDriver
	if err := patiently(func() (err error) { d, err = c.broker.reusedDriver(); return err }); err != nil {
		return side{open: func() (scenario.Driver, error) { return nil, fmt.Errorf("no virtual host: %w", err) }, tries: 1}, leave
	}
	run := &leavingDriver{reusedDriver: d, leave: sync.OnceFunc(leave)}
	open := func() (scenario.Driver, error) { return run, nil }
	return side{name: "RabbitMQ " + c.broker.Version, open: open, tries: 1, late: d.late, listener: listener.open}, func() {
		run.leave()
		if err := patiently(d.remove); err != nil {
			c.t.Log("a virtual host may be left:", err)
		}
	}
}

// A leavingDriver takes part in no more restarts when its program has ended.
type leavingDriver struct {
	*reusedDriver
	leave func()
}

func (d *leavingDriver) Close() error {
	d.leave()
	return d.reusedDriver.Close()
}
