package conformance

import (
	"cmp"
	"errors"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leveretmq/leveret/internal/scenario"
)

// TestScenarios runs every scenario against the broker that two environment variables name:
// LEVERET_CONFORMANCE_AMQP, such as amqp://guest:guest@localhost:5672/, and LEVERET_CONFORMANCE_ADMIN: its
// management API, such as http://guest:guest@localhost:15672, or the command line of its rabbitmqctl, such as
// leveret ctl. Its version chooses the expectations.
func TestScenarios(t *testing.T) {
	broker := fromEnvironment(t)
	if broker == nil {
		t.Skip("no broker to compare with: set LEVERET_CONFORMANCE_AMQP and LEVERET_CONFORMANCE_ADMIN")
	}
	t.Cleanup(func() { broker.removeUsers(t) })
	listener := func() (scenario.Driver, error) { return Listener(broker.profile) }
	runAll(t, broker.Release(), side{open: broker.Driver, tries: 5, listener: listener}, broker)
}

// fromEnvironment opens the broker that the two variables name, if they do.
func fromEnvironment(t *testing.T) *Broker {
	amqpURL, admin := os.Getenv("LEVERET_CONFORMANCE_AMQP"), os.Getenv("LEVERET_CONFORMANCE_ADMIN")
	if amqpURL == "" || admin == "" {
		return nil
	}
	broker, err := Open(amqpURL, admin)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("RabbitMQ %s", broker.Version)
	return broker
}

// TestListener runs the same scenarios through the same client on leveret's own listener.
func TestListener(t *testing.T) {
	for profile, release := range scenario.Releases {
		runAll(t, release, side{open: func() (scenario.Driver, error) { return Listener(profile) }, tries: 1}, nil)
	}
}

// runAll runs the scenarios for a release through drivers of their own, many at once: most of their time is waiting.
// On a real broker they are tried several times before they count as different: a machine that is busy stretches the time
// between their steps, and a client may see the end of its connection before what came ahead of it. Those that restart a shared
// broker run before the others.
func runAll(t *testing.T, release string, on side, shared *Broker) {
	scripts, err := scenario.Load(os.DirFS("../testdata/scenarios"))
	if err != nil {
		t.Fatal(err)
	}
	t.Run(release, func(t *testing.T) {
		slots := make(chan bool, parallel)
		scripts := slices.DeleteFunc(scripts, func(s *scenario.Script) bool { return !s.For(release, "amqp") })
		if shared != nil {
			scripts = runRestarting(t, scripts, on, shared)
		}
		takes := func(s *scenario.Script) time.Duration { return s.Takes(release) }
		slices.SortStableFunc(scripts, func(a, b *scenario.Script) int { return cmp.Compare(takes(b), takes(a)) }) // the longest begin first
		for _, s := range scripts {
			t.Run(s.Name, func(t *testing.T) {
				if *longest > 0 && takes(s) > *longest {
					t.Skipf("it takes %v, more than -longest", takes(s))
				}
				done := make(chan result, 1)
				go func() {
					slots <- true
					r := runOn(s, on)
					for n := 1; n < on.tries && (!*strict || s.Timed() || r.frames != "") && !r.settled(); n++ {
						before := append(r.before, r.difference())
						r = runOn(s, on)
						r.before = before
					}
					done <- r
					<-slots
				}()
				t.Parallel() // so that none waits for the one before it
				(<-done).report(t)
			})
		}
	})
}

// runRestarting runs the scenarios that restart the broker, while nobody else uses it, and returns the others.
func runRestarting(t *testing.T, scripts []*scenario.Script, on side, shared *Broker) (others []*scenario.Script) {
	var restarting []*scenario.Script
	for _, s := range scripts {
		if s.Restarts() == "" {
			others = append(others, s)
		} else if matchesRun(t, s) {
			restarting = append(restarting, s)
		}
	}
	if shared.restarts == nil {
		for _, s := range restarting {
			t.Run(s.Name, func(t *testing.T) {
				t.Skip("it restarts the broker: set LEVERET_CONFORMANCE_RESTART and LEVERET_CONFORMANCE_KILL")
			})
		}
		return others
	}
	var mu sync.Mutex
	results := map[*scenario.Script]result{}
	for left, n := slices.Clone(restarting), 0; len(left) > 0 && n < restartTries; n++ {
		shared.Together(left, func(s *scenario.Script) {
			r := runOn(s, on)
			mu.Lock()
			defer mu.Unlock()
			if n > 0 {
				r.before = append(results[s].before, results[s].difference())
			}
			results[s] = r
		})
		for _, s := range left {
			if !results[s].settled() {
				t.Logf("%s, try %d:\n%s", s.Name, n+1, results[s].difference())
			}
		}
		left = slices.DeleteFunc(left, func(s *scenario.Script) bool { return results[s].settled() })
	}
	for _, s := range restarting {
		t.Run(s.Name, func(t *testing.T) { results[s].report(t) })
	}
	return others
}

// restartTries is how often a scenario that restarts the broker is run before it counts as different: each time takes long.
const restartTries = 3

// matchesRun reports whether the flag -run chooses a scenario's subtest, as far as that can be known: its last element.
func matchesRun(t *testing.T, s *scenario.Script) bool {
	chosen := strings.Split(flag.Lookup("test.run").Value.String(), "/")
	name := append(strings.Split(t.Name(), "/"), strings.Split(s.Name, "/")...)
	for i := range min(len(chosen), len(name)) {
		if ok, err := regexp.MatchString(chosen[i], name[i]); err != nil || !ok {
			return false
		}
	}
	return true
}

const parallel = 10

var strict = flag.Bool("strict", false, "a scenario that does not wait shows the same at once: leveret serve has no chance in it")

var longest = flag.Duration("longest", 0, "leave out scenarios that let more time pass; 0: none")

// A result is what one scenario showed.
type result struct {
	log    *scenario.Log
	frames string // how the frames differ from those of leveret's listener
	err    error
	before []string // what the tries before this one showed
}

func runOn(s *scenario.Script, on side) result {
	driver, err := on.open()
	if err != nil {
		return result{err: err}
	}
	r := result{}
	r.log, err = scenario.Run(s, driver)
	if r.err = errors.Join(err, driver.Close()); r.err == nil && r.log.Diff() == "" && on.listener != nil {
		r.frames, r.err = compareFrames(s, r.log, on.listener)
	}
	return r
}

// settled reports whether another try would show nothing else: the scenario showed what it expects, or the broker's console
// cannot do what it asks for.
func (r result) settled() bool {
	return errors.Is(r.err, errors.ErrUnsupported) || r.err == nil && r.difference() == ""
}

// difference is what the scenario showed and its text does not, or leveret's listener does not.
func (r result) difference() string {
	if r.err != nil {
		return r.err.Error()
	}
	return r.log.Diff() + r.frames
}

func (r result) report(t *testing.T) {
	for i, diff := range r.before {
		t.Logf("try %d:\n%s", i+1, diff)
	}
	if errors.Is(r.err, errors.ErrUnsupported) {
		t.Skip(r.err)
	}
	if r.err != nil {
		t.Fatal(r.err)
	}
	if diff := r.difference(); diff != "" {
		t.Error("\n" + diff)
	}
}

// removeUsers deletes the users that scenarios made, which, unlike everything else, outlive a virtual host; unless
// another run, which has virtual hosts of the same kind, still needs them.
func (b *Broker) removeUsers(t *testing.T) {
	c := b.console("")
	vhosts, err := c.vhosts()
	if err != nil {
		t.Log(err)
		return
	}
	if slices.ContainsFunc(vhosts, scenarioVHost.MatchString) {
		return
	}
	for _, user := range []string{"ada", "u.x", "lv-impersonator", "lv-limited", "pat", "l.u"} {
		if err := c.DeleteUser(user); err != nil {
			t.Log(err)
		}
	}
}

var scenarioVHost = regexp.MustCompile(`^s\d{9}$`)
