package conformance

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

// A side is a broker that random programs run on, each from an empty virtual host.
type side struct {
	name  string
	open  func() (scenario.Driver, error)
	tries int         // how often a program must show a difference: a busy machine can spoil a run
	late  func() bool // reports whether the last run was so slow that its timing proves nothing

	without string // an exclusion that does not hold

	// listener opens leveret's own, if what a run receives is to be compared with it frame by frame.
	listener func() (scenario.Driver, error)
}

// A difference is a program for which a side shows something else than the engine.
type difference struct {
	seed   uint64
	side   string
	script *scenario.Script
	log    *scenario.Log
	frames string // how the frames differ
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
	what += d.frames
	return fmt.Sprintf("seed %d, %s:\n%s\n%s", d.seed, d.side, d.script.Text(), what)
}

// timed matches the short times in programs: a run that is too slow changes what they lead to.
var timed = regexp.MustCompile(`(ttl|expires|expiration|timeout)=1[07]00\b`)

// differs runs a script and returns where the side differs, or nil if at least one run did not.
func (s side) differs(script *scenario.Script) (d *difference) {
	for range s.tries {
		if d = s.runOnce(script); d == nil {
			return nil
		}
	}
	return d
}

// tooLate reports whether the last run of a script proves nothing, because the script has short times and the run was slow.
func (s side) tooLate(script *scenario.Script) bool {
	return s.late != nil && timedProgram(script) && s.late()
}

func timedProgram(script *scenario.Script) bool { return timed.MatchString(script.Text()) }

// logged runs a script and returns what it showed, or nil if that is not what the script expects.
func (s side) logged(script *scenario.Script) (*difference, *scenario.Log) {
	driver, err := s.open()
	if err != nil {
		return &difference{side: s.name, script: script, err: err}, nil
	}
	l, err := scenario.Compare(script, driver)
	if err = errors.Join(err, driver.Close()); err != nil || l.Diff() != "" {
		return &difference{side: s.name, script: script, log: l, err: err}, nil
	}
	return nil, l
}

func (s side) runOnce(script *scenario.Script) *difference {
	d, l := s.logged(script)
	if d != nil {
		return d
	}
	if s.listener == nil {
		return nil
	}
	if text, err := compareFrames(script, l, s.listener); err != nil || text != "" {
		return &difference{side: s.name, script: script, frames: text, err: err}
	}
	return nil
}

// compareFrames runs a script on leveret's listener, too, and tells where that sends other frames than what was logged.
func compareFrames(script *scenario.Script, l *scenario.Log, listener func() (scenario.Driver, error)) (string, error) {
	if len(script.Loose) > 0 {
		return "", nil // something of the script is not compared
	}
	driver, err := listener()
	if err != nil {
		return "", err
	}
	own, err := scenario.Run(script, driver)
	if err = errors.Join(err, driver.Close()); err != nil {
		return "", err
	}
	return differences("broker", "leveret", l.Frames, own.Frames), nil
}

// shrink removes statements for as long as the rest still differs, or until the time is over.
func (s side) shrink(p leveret.Profile, statements []string, limit time.Duration) *difference {
	deadline := time.Now().Add(limit)
	g := newProgram(p, s.without)
	defer func() { g.end() }()
	differs := func(list []string) *difference {
		if g.rebuild(list); len(g.statements) == 0 || g.excluded() != "" {
			return nil
		}
		if len(list) != len(g.statements) {
			return nil // smaller still: left to the next step, with the statements that apply
		}
		script := g.finish()
		if d := s.differs(script); d != nil && !s.tooLate(script) {
			return d
		}
		return nil
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

// A reusedDriver has a virtual host of a real broker that one worker uses for all its programs. Close empties it.
type reusedDriver struct {
	*brokerDriver
	policies []setPolicy     // that a program has set
	shared   map[string]bool // users that other programs have, too
	limited  bool            // a program has limited the virtual host
	started  time.Time       // when the run's first connection was opened
	looked   time.Time       // when it last began to wait for an effect
	advanced time.Duration   // how long it has waited on purpose
	spent    time.Duration   // what the statements of the last run took, without the waits
}

type setPolicy struct {
	name     string
	operator bool
}

func (b *Broker) reusedDriver() (*reusedDriver, error) {
	d, err := b.Driver()
	if err != nil {
		return nil, err
	}
	return &reusedDriver{brokerDriver: d.(*brokerDriver), shared: map[string]bool{}}, nil
}

// maxDelay is short: what a program's looks wait for takes milliseconds.
const maxDelay = 1500 * time.Millisecond

// MaxDelay is asked for when a wait begins.
func (d *reusedDriver) MaxDelay() time.Duration {
	d.looked = time.Now()
	return maxDelay
}

func (d *reusedDriver) SetPolicy(p leveret.Policy, operator bool) error {
	d.policies = append(d.policies, setPolicy{p.Name, operator})
	return d.brokerDriver.SetPolicy(p, operator)
}

func (d *reusedDriver) Import(definitions string) error {
	if strings.Contains(definitions, `"policies"`) {
		d.policies = append(d.policies, setPolicy{importedPolicy, false})
	}
	return d.brokerDriver.Import(definitions)
}

// importedPolicy is the name of those that programs import.
const importedPolicy = "imported"

func (d *reusedDriver) Connect(l scenario.Login) (scenario.Conn, error) {
	if d.started.IsZero() {
		d.started, d.looked = time.Now(), time.Time{}
	}
	return d.brokerDriver.Connect(l)
}

func (d *reusedDriver) Advance(t time.Duration) {
	d.advanced += t
	d.looked = time.Time{}
	d.brokerDriver.Advance(t)
}

// late reports whether the statements of the last run themselves took longer than what programs allow for.
func (d *reusedDriver) late() bool { return d.spent > statementTime }

// Close removes everything that a program can have made. The queues go first: one that is deleted while it learns
// that a policy is gone can end all at-least-once dead-lettering of a RabbitMQ node.
func (d *reusedDriver) Close() error {
	end := time.Now()
	if inVain := !d.looked.IsZero() && end.Sub(d.looked) >= maxDelay; inVain {
		end = d.looked
	}
	d.spent = end.Sub(d.started) - d.advanced
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

func (d *reusedDriver) empty() error {
	c, err := d.Connect(scenario.Login{})
	if err != nil {
		return err
	}
	defer c.Close()
	ch, err := c.Channel()
	if err != nil {
		return err
	}
	queues := append([]string{"own", "a", "b", "c", "d", "e", "f"}, oddNames...)
	if d.Profile() == leveret.RabbitMQ310 {
		queues = append(queues, "n\xed\xa0\x80") // surrogateName
	}
	for _, q := range queues {
		if _, err := ch.DeleteQueue(q, leveret.DeleteConfig{}); err != nil {
			return err
		}
	}
	for _, x := range append([]string{"x", "y", "z", "w", "e"}, oddNames...) {
		if err := ch.DeleteExchange(x, leveret.DeleteConfig{}); err != nil {
			return err
		}
	}
	return nil
}

// clearUsers takes from users what a program allowed them.
func (d *reusedDriver) clearUsers() error {
	for u := range d.shared {
		for _, clear := range []func(string) error{d.console.ClearPermissions, d.console.clearTopicPermissions} {
			var refused *leveret.Error // it may be cleared already
			if err := clear(u); err != nil && !errors.As(err, &refused) {
				return err
			}
		}
	}
	clear(d.shared)
	return nil
}

func (d *reusedDriver) AddUser(name, password string, tags []string) error {
	if !strings.Contains(name, d.vhost) {
		d.shared[name] = true
	}
	return d.brokerDriver.AddUser(name, password, tags)
}

func (d *reusedDriver) SetVHostLimits(l leveret.VHostLimits) error {
	d.limited = true
	return d.brokerDriver.SetVHostLimits(l)
}

func (d *reusedDriver) clearLimits() error {
	if !d.limited {
		return nil
	}
	d.limited = false
	return d.brokerDriver.SetVHostLimits(leveret.VHostLimits{MaxConnections: leveret.NoLimit, MaxQueues: leveret.NoLimit})
}

func (d *reusedDriver) clearPolicies() error {
	if err := errors.Join(d.clearUsers(), d.clearLimits(), d.removeOwn()); err != nil {
		return err
	}
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
func (d *reusedDriver) remove() error { return d.brokerDriver.Close() }
