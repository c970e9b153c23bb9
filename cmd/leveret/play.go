package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/conformance"
	"github.com/leveretmq/leveret/internal/ctl"
	"github.com/leveretmq/leveret/internal/scenario"
)

// leveret play runs scenario scripts: on leveret in this process, or on a broker elsewhere.

const playUsage = `usage: leveret play [flags] FILE…
FILE is a script of what clients do and of what they must see, which docs/scenarios.md tells about; - is standard input.
It is played on leveret in this process, on virtual time, as each release of RabbitMQ; with --amqp on the broker there.
The exit code is 1 if something differs from what a script expects, and 2 if a script cannot be played.
`

// playSettings are what leveret play is told.
type playSettings struct {
	files         []string
	amqp, admin   string // empty: leveret in this process
	profile       string // empty: each release
	quiet, record bool
}

func playScripts(args []string, std ctl.Streams) int {
	s, err := parsePlaySettings(args, std.Out)
	if err != nil {
		return refuseArguments("play", playUsage, err, std)
	}
	differ, err := s.run(std)
	switch {
	case err != nil:
		fmt.Fprintf(std.Err, "leveret play: %v\n", err)
		return exitUsage
	case differ:
		return exitFound
	}
	return 0
}

// parsePlaySettings reads flags before, between and after the files.
func parsePlaySettings(args []string, help io.Writer) (playSettings, error) {
	var s playSettings
	f := flag.NewFlagSet("leveret play", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&s.amqp, "amqp", "", "`URL` of a broker to play on, such as amqp://guest:guest@localhost:5672/; needs --admin")
	f.StringVar(&s.admin, "admin", "", "`URL` of its management API, such as http://guest:guest@localhost:15672, or the command line of its rabbitmqctl")
	f.StringVar(&s.profile, "profile", "", "`release` that leveret is to behave as: 4.3 or 3.10; empty: one after the other")
	f.BoolVar(&s.quiet, "quiet", false, "print only what differs")
	f.BoolVar(&s.record, "record", false, "write what is shown into the files, as what they expect")
	var err error
	if s.files, err = parseFiles(f, playUsage, args, help); err != nil {
		return s, err
	}
	return s, s.check()
}

// check says what is missing, and what does not go together.
func (s playSettings) check() error {
	_, known := profiles[s.profile]
	switch {
	case len(s.files) == 0:
		return errors.New("a file is expected")
	case (s.amqp == "") != (s.admin == ""):
		return errors.New("--amqp and --admin are expected together")
	case s.profile != "" && s.amqp != "":
		return errors.New("--profile is for leveret in this process: a broker tells its release")
	case s.profile != "" && !known:
		return fmt.Errorf("--profile is %q, not 4.3 or 3.10", s.profile)
	case s.record && slices.Contains(s.files, "-"):
		return errors.New("--record cannot write to standard input")
	}
	return nil
}

// run plays all files on all stages, and reports whether something differed.
func (s playSettings) run(std ctl.Streams) (differ bool, err error) {
	scripts, err := s.scripts(std.In)
	if err != nil {
		return false, err
	}
	stages, err := s.stages()
	if err != nil {
		return false, err
	}
	p := player{out: std.Out, settings: s}
	defer p.stopAtInterrupt(std.Err)()
	for _, script := range scripts {
		for _, on := range stages {
			if err := p.play(script, on); err != nil {
				return false, err
			}
		}
	}
	if p.played == 0 {
		return false, errors.New("nothing was played")
	}
	return p.differ > 0, nil
}

// scripts reads all files before any is played.
func (s playSettings) scripts(stdin io.Reader) (all []*scenario.Script, err error) {
	for _, name := range s.files {
		text, err := readFile(name, stdin)
		if err != nil {
			return nil, err
		}
		script, err := scenario.Parse(name, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, script)
	}
	return all, nil
}

// A stage is what a script is played on.
type stage struct {
	name    string
	release string
	shared  bool // others use the broker
	driver  func(*scenario.Script) (scenario.Driver, error)
}

// stages are the broker that the settings name, or leveret as each release.
func (s playSettings) stages() ([]stage, error) {
	if s.amqp != "" {
		b, err := conformance.Open(s.amqp, s.admin)
		var malformed *url.Error
		switch {
		case errors.As(err, &malformed) && malformed.Op == "parse": // the error itself has the password
			return nil, fmt.Errorf("--amqp or --admin is no URL: %w", malformed.Err)
		case err != nil:
			return nil, fmt.Errorf("the broker cannot be reached: %w", err)
		}
		where, _ := url.Parse(s.amqp) // Open has read it
		return []stage{{name: fmt.Sprintf("RabbitMQ %s at %s", b.Version, where.Host), release: b.Release(), shared: true,
			driver: func(*scenario.Script) (scenario.Driver, error) { return b.Driver() }}}, nil
	}
	var all []stage
	for _, release := range slices.Backward(slices.Sorted(maps.Keys(profiles))) {
		if s.profile == "" || s.profile == release {
			p := profiles[release]
			all = append(all, stage{name: "leveret " + release, release: release,
				driver: func(script *scenario.Script) (scenario.Driver, error) { return inProcess(script, p) }})
		}
	}
	return all, nil
}

// inProcess returns a driver to a leveret of its own: to the Go API, or to the listener if the script is for that only.
func inProcess(s *scenario.Script, p leveret.Profile) (scenario.Driver, error) {
	if s.Driver == "amqp" {
		return conformance.Listener(p)
	}
	return checked{scenario.NewDirect(p)}, nil
}

// checked looks at the broker's invariants before it closes it.
type checked struct{ *scenario.Direct }

func (c checked) Close() error { return errors.Join(c.Broker.Check(), c.Direct.Close()) }

// A player plays scripts one after the other and prints what they show.
type player struct {
	out            io.Writer
	settings       playSettings
	interrupts     chan os.Signal
	played, differ int // runs
}

var errInterrupted = errors.New("interrupted")

// stopAtInterrupt has the player stop after the statement that runs when an interrupt comes, so that what was made on
// the broker is deleted. A second interrupt ends the program at once.
func (p *player) stopAtInterrupt(errs io.Writer) (stop func()) {
	signals := make(chan os.Signal, 1)
	p.interrupts = make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	go func() {
		for s := range signals {
			signal.Stop(signals)
			fmt.Fprintln(errs, "leveret play: the statement that runs is the last")
			p.interrupts <- s
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}

// play runs a script on a stage.
func (p *player) play(s *scenario.Script, on stage) error {
	title := fmt.Sprintf("%s on %s", s.Name, on.name)
	if s.Profile != "" && s.Profile != on.release {
		fmt.Fprintf(p.out, "%s: not played, it is for %s\n", title, s.Profile)
		return nil
	}
	if on.shared && s.Driver == "go" {
		fmt.Fprintf(p.out, "%s: not played, it is for leveret's Go API\n", title)
		return nil
	}
	if on.shared {
		if err := checkUsers(s); err != nil {
			return err
		}
	}
	if !p.settings.quiet {
		fmt.Fprintf(p.out, "%s\n", title)
	}
	log, differ, err := p.perform(s, on)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "%s: %s\n", title, verdict(log, differ))
	p.played++
	if differ > 0 {
		p.differ++
	}
	if !p.settings.record {
		return nil
	}
	s.Record(log)
	return os.WriteFile(s.Name, []byte(s.Text()), 0o644)
}

// perform prints each statement when it has been played, and returns how many differ.
func (p *player) perform(s *scenario.Script, on stage) (log *scenario.Log, differ int, err error) {
	driver, err := on.driver(s)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, driver.Close()) }()
	if p.settings.record {
		s = s.Unanswered()
	}
	interrupted := false
	log, err = scenario.Play(s, driver, func(l *scenario.Log, e scenario.Entry) bool {
		if l.Differs(e) {
			differ++
		}
		if !p.settings.quiet || l.Differs(e) {
			fmt.Fprint(p.out, l.Report(e))
		}
		select {
		case <-p.interrupts:
			interrupted = true
		default:
		}
		return !interrupted
	})
	if interrupted {
		err = errors.Join(err, errInterrupted)
	}
	return log, differ, err
}

func verdict(l *scenario.Log, differ int) string {
	switch total := statements(len(l.Entries)); {
	case !l.Script.Expects():
		return total
	case differ == 0:
		return total + ", as expected"
	default:
		return fmt.Sprintf("%d of %s not as expected", differ, total)
	}
}

func statements(n int) string {
	if n == 1 {
		return "1 statement"
	}
	return fmt.Sprintf("%d statements", n)
}

// checkUsers refuses to touch users of a broker that others use. A user whose name has a slash is made for the run only.
func checkUsers(s *scenario.Script) error {
	for _, step := range s.Steps {
		switch step.Verb {
		case "user", "delete-user", "limit-user":
			if len(step.Args) > 0 && !strings.Contains(step.Args[0].Text, "/") {
				return fmt.Errorf("%s:%d: user %s: on a broker that is not leveret's own the name of a user has a slash, such as %[3]s/, for which the run has a user of its own",
					s.Name, step.Line, step.Args[0].Text)
			}
		}
	}
	return nil
}
