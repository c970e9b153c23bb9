package conformance

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

// A side is a broker that random programs run on, each from an empty virtual host.
type side struct {
	name  string
	open  func() (scenario.Door, error)
	tries int         // how often a program must show a difference: a busy machine can spoil a run
	late  func() bool // the machine has been so busy that a run with time in it does not count
}

// A difference is a program for which a side shows something else than the engine.
type difference struct {
	seed   uint64
	side   string
	script *scenario.Script
	log    *scenario.Log
	err    error
}

func (d *difference) String() string {
	what := ""
	if d.err != nil {
		what = d.err.Error() + "\n"
	}
	if d.log != nil {
		what += d.log.Diff()
	}
	return fmt.Sprintf("seed %d, %s:\n%s\n%s", d.seed, d.side, d.script.Text(), what)
}

// timed matches what makes a difference to a program that runs slowly.
var timed = regexp.MustCompile(`(ttl|expires|expiration)=1[07]00\b`)

// differs runs a script and returns where the side differs, nil if at least one run was the same.
// retried tells that not the first one was.
func (s side) differs(script *scenario.Script) (d *difference, retried bool) {
	for n := 0; n < s.tries; n++ {
		if n > 0 && n == s.tries-1 {
			d = s.runAlone(script)
		} else {
			d = s.runShared(script)
		}
		if d == nil {
			return nil, n > 0
		}
	}
	if s.late != nil && timed.MatchString(script.Text()) && s.late() {
		return nil, true
	}
	return d, true
}

// others are the programs that run at the same time.
var others sync.RWMutex

func (s side) runShared(script *scenario.Script) *difference {
	others.RLock()
	defer others.RUnlock()
	return s.runOnce(script)
}

// runAlone waits until no other program runs.
func (s side) runAlone(script *scenario.Script) *difference {
	others.Lock()
	defer others.Unlock()
	return s.runOnce(script)
}

func (s side) runOnce(script *scenario.Script) *difference {
	door, err := s.open()
	if err != nil {
		return &difference{side: s.name, script: script, err: err}
	}
	l, err := scenario.Compare(script, door)
	if err = errors.Join(err, door.Close()); err != nil || l.Diff() != "" {
		return &difference{side: s.name, script: script, log: l, err: err}
	}
	return nil
}

// shrink removes statements for as long as the rest still differs, or until the time is over.
func (s side) shrink(p leveret.Profile, statements []string, limit time.Duration) *difference {
	deadline := time.Now().Add(limit)
	g := newProgram(p)
	defer func() { g.end() }()
	differs := func(list []string) *difference {
		if g.rebuild(list); len(g.statements) == 0 || g.excluded() != "" {
			return nil
		}
		if len(list) != len(g.statements) {
			return nil // smaller still: left to the next step, with the statements that apply
		}
		script := g.finish()
		d, _ := side{s.name, s.open, min(s.tries, 2), s.late}.differs(script)
		return d
	}
	best := differs(statements)
	if best == nil {
		return nil
	}
	for size := len(statements) / 2; size > 0; {
		removed := false
		for at := len(statements) - size; at > -size && time.Now().Before(deadline); at -= size {
			from := max(at, 0)
			rest := append(append([]string{}, statements[:from]...), statements[min(from+size, len(statements)):]...)
			applied := g.applicable(rest)
			if applied == nil {
				continue
			}
			if d := differs(applied); d != nil {
				best, statements, removed = d, applied, true
			}
		}
		if !removed || size > len(statements) {
			size /= 2
		}
	}
	return best
}

// applicable returns the statements that can be run one after the other; nil: one of them is excluded.
func (g *program) applicable(statements []string) []string {
	g.reset()
	for _, s := range statements {
		if _, ok := g.run(s); !ok && len(g.statements) > 0 && g.statements[len(g.statements)-1] == s && g.excluded() != "" {
			return nil
		}
	}
	return append([]string{}, g.statements...)
}

// A worker's virtual host on a real broker is used again and again: its door's Close empties it.
type reusedDoor struct {
	*door
	policies []setPolicy   // that a program has set
	started  time.Time     // when the run's first connection was opened
	advanced time.Duration // how long it has waited on purpose
	drift    time.Duration // what the rest of the last run took
}

type setPolicy struct {
	name     string
	operator bool
}

func (b *Broker) reusedDoor() (*reusedDoor, error) {
	d, err := b.Door()
	if err != nil {
		return nil, err
	}
	return &reusedDoor{door: d.(*door)}, nil
}

// Patience is short: what a program's looks wait for takes milliseconds.
func (d *reusedDoor) Patience() time.Duration { return 1500 * time.Millisecond }

func (d *reusedDoor) SetPolicy(p leveret.Policy, operator bool) error {
	d.policies = append(d.policies, setPolicy{p.Name, operator})
	return d.door.SetPolicy(p, operator)
}

func (d *reusedDoor) Connect(l scenario.Login) (scenario.Conn, error) {
	if d.started.IsZero() {
		d.started = time.Now()
	}
	return d.door.Connect(l)
}

func (d *reusedDoor) Advance(t time.Duration) {
	d.advanced += t
	d.door.Advance(t)
}

// late reports whether the statements of the last run themselves took longer than what programs allow for.
func (d *reusedDoor) late() bool { return d.drift > soon-lately+d.Patience() }

// Close removes everything that a program can have made. The queues go first: one that is deleted while it learns
// that a policy is gone can end all at-least-once dead-lettering of a RabbitMQ node.
func (d *reusedDoor) Close() error {
	d.drift = time.Since(d.started) - d.advanced
	d.advanced = 0
	defer func() { d.started = time.Time{} }()
	deadline := time.Now().Add(3 * time.Second)
	for {
		err := d.empty()
		if err == nil {
			return d.clearPolicies()
		}
		if time.Now().After(deadline) {
			return errors.Join(err, d.clearPolicies())
		}
		time.Sleep(20 * time.Millisecond) // an exclusive queue ends a little after its connection
	}
}

func (d *reusedDoor) empty() error {
	c, err := d.Connect(scenario.Login{})
	if err != nil {
		return err
	}
	defer c.Close()
	ch, err := c.Channel()
	if err != nil {
		return err
	}
	for _, q := range []string{"own", "a", "b", "c", "d"} {
		if _, err := ch.DeleteQueue(q, leveret.DeleteConfig{}); err != nil {
			return err
		}
	}
	for _, x := range []string{"x", "y", "z", "w"} {
		if err := ch.DeleteExchange(x, leveret.DeleteConfig{}); err != nil {
			return err
		}
	}
	return nil
}

func (d *reusedDoor) clearPolicies() error {
	for _, p := range d.policies {
		var refused *leveret.Error // it may be cleared already
		if err := d.console.ClearPolicy(p.name, p.operator); err != nil && !errors.As(err, &refused) {
			return err
		}
	}
	d.policies = nil
	return nil
}

// remove deletes the virtual host.
func (d *reusedDoor) remove() error { return d.door.Close() }
