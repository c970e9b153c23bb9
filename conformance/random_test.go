package conformance

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

var (
	programs = flag.Int("programs", 0, "how many random programs to run; 0: 60, or 300 on a real broker")
	seed     = flag.Uint64("seed", 0, "the first random program; 0: chosen at random")
	seedFile = flag.String("seeds", "", "a file with the seeds of the random programs to run, one a line")
	duration = flag.Duration("duration", 0, "run random programs for so long, however many that are")
	workers  = flag.Int("workers", 16, "how many random programs to run at once")
	learn    = flag.Bool("learn", false, "choose random programs that lead the engine to what it has executed least")
	keep     = flag.Bool("keep", false, "write random programs that differ to testdata/scenarios/found")
	write    = flag.String("write", "", "only write the random programs into this directory, for TestPrograms of package leveret")
	without  = flag.String("without", "", "the name of an exclusion (see exclusions.go): only programs are run that it would have changed")
	written  = flag.String("written", "", "a directory of random programs, for TestPrograms")
	whole    = flag.Bool("whole", false, "do not shrink random programs that differ")
)

// TestRandomPrograms runs random programs on the engine's Go API, through the client on leveret's listener and, if
// LEVERET_CONFORMANCE_AMQP and LEVERET_CONFORMANCE_ADMIN name one, on a real broker. All must show the same.
func TestRandomPrograms(t *testing.T) {
	broker := fromEnvironment(t)
	if *learn && (*seed != 0 || *seedFile != "" || *write != "" || *without != "") {
		t.Fatal("-learn chooses the seeds: it does not go together with -seed, -seeds, -write and -without")
	}
	if *without != "" && !slices.ContainsFunc(exclusions, func(x exclusion) bool { return x.name == *without }) {
		t.Fatalf("no exclusion is named %s", *without)
	}
	if broker == nil {
		for profile := range scenario.Releases {
			(&campaign{profile: profile, count: 60}).run(t)
		}
		return
	}
	(&campaign{profile: broker.profile, broker: broker, count: 300}).run(t)
}

// TestPrograms runs random programs that were written to a directory on the listener (see internal/mutate), until one
// shows something else than it says.
func TestPrograms(t *testing.T) {
	if *written == "" {
		t.Skip("no random programs: go run ./internal/mutate -fixes -programs 300")
	}
	scripts, err := scenario.Load(os.DirFS(*written))
	if err != nil {
		t.Fatal(err)
	}
	for profile, release := range scenario.Releases {
		listener := side{open: func() (scenario.Driver, error) { return Listener(profile) }}
		count := 0
		for _, s := range scripts {
			if s.Profile != release {
				continue
			}
			if count++; count > framed {
				break
			}
			if listener.runOnce(s) != nil || listener.framesDiffer(t, s) {
				t.Fatalf("program %d of %s, %s, notices", count, release, s.Name)
			}
		}
	}
}

// framed is for how many of the written programs the frames are written, too. The listener is slow.
const framed = 2000

// writeFrames writes what the listener sends for a program.
func (c *campaign) writeFrames(t *testing.T, name string, script *scenario.Script, listener side) {
	_, l := listener.logged(script)
	if l == nil {
		t.Errorf("%s does not run", name)
		return
	}
	if err := os.WriteFile(name, []byte(strings.Join(l.Frames, "\n")), 0o644); err != nil {
		t.Error(err)
	}
}

// framesDiffer reports whether the listener sends other frames for a written program than those that were written.
func (s side) framesDiffer(t *testing.T, script *scenario.Script) bool {
	was, err := os.ReadFile(filepath.Join(*written, script.Name+".frames"))
	if err != nil {
		t.Fatal(err)
	}
	_, l := s.logged(script)
	return l == nil || strings.Join(l.Frames, "\n") != string(was)
}

// A campaign runs random programs of consecutive seeds.
type campaign struct {
	profile leveret.Profile
	broker  *Broker // nil: only leveret
	count   int

	seen    *coverage
	steered *steered // chooses the programs; nil: the seeds are consecutive

	mu                    sync.Mutex
	listed                []uint64 // the seeds, if a file names them
	next, end             uint64   // otherwise
	first                 uint64
	start, until          time.Time
	off                   []*trial // programs that have differed, to be tried again
	unjudged              int      // how many have differed and are not judged yet
	done, retried, differ int
	longer                int // of those retried, with longer times: alone, too, they took longer than their short ones
}

func (c *campaign) run(t *testing.T) {
	if *programs > 0 {
		c.count = *programs
	}
	first := *seed
	if first == 0 {
		first = rand.Uint64N(1 << 40)
	}
	c.next, c.end = first, first+uint64(c.count)
	if *duration > 0 {
		c.until, c.end = time.Now().Add(*duration), 1<<63
	}
	if *seedFile != "" {
		c.listed = readSeeds(t, *seedFile)
		c.next, c.end, first = 0, uint64(len(c.listed)), c.listed[0]
	}
	c.seen = newCoverage(*without)
	if *learn {
		c.steered = steer(t, c.profile, first)
	}
	c.first, c.start = first, time.Now()
	var wg sync.WaitGroup
	for range *workers {
		wg.Go(func() { c.work(t) })
	}
	wg.Wait()
	c.tryAgain(t)
	c.report(t)
	t.Log(c.seen.report())
	t.Log(c.seen.exclusions())
	c.endSteering(t)
}

// endSteering tells what no program reached.
func (c *campaign) endSteering(t *testing.T) {
	if c.steered == nil {
		return
	}
	report, err := c.steered.end()
	if err != nil {
		t.Error(err)
	}
	t.Log(report)
}

func (c *campaign) report(t *testing.T) {
	elapsed := time.Since(c.start)
	on := "leveret alone, " + scenario.Releases[c.profile]
	if c.broker != nil {
		on = "programs on RabbitMQ " + c.broker.Version
	}
	seeds := fmt.Sprintf("seeds %d to %d", c.first, c.next-1)
	switch {
	case c.steered != nil:
		seeds = fmt.Sprintf("seeds chosen from %d on", c.first)
	case c.listed != nil:
		seeds = fmt.Sprintf("%d of the seeds in %s", c.next, *seedFile)
	}
	unjudged := "" // real differences are among these programs: a run that is broken off shows nothing
	if c.unjudged > 0 {
		unjudged = fmt.Sprintf(", %d not judged yet", c.unjudged)
	}
	t.Logf("%s: generator %s, %s, %d programs in %s (%.1f/s): %d differ, %d the same only when run again, %d of these with longer times%s",
		on, generatorDigest(t), seeds, c.done, elapsed.Round(time.Second),
		float64(c.done)/elapsed.Seconds(), c.differ, c.retried, c.longer, unjudged)
}

// generatorFiles are the sources that decide which programs are made.
//
//go:embed actions.go books.go coverage.go effects.go endings.go episodes.go excluded.go exclusions.go generate.go materials.go numbering.go
//go:embed program.go topology.go
var generatorFiles embed.FS

// generatorDigest names the generator that programs are from: two with the same digest make the same programs of the same seeds.
func generatorDigest(t *testing.T) string {
	files, err := generatorFiles.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	for _, file := range files {
		text, err := generatorFiles.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:4])
}

func readSeeds(t *testing.T, file string) (seeds []uint64) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for word := range strings.FieldsSeq(string(text)) {
		n, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		seeds = append(seeds, n)
	}
	if len(seeds) == 0 {
		t.Fatalf("%s: no seeds", file)
	}
	return seeds
}

// seed takes the next program's.
func (c *campaign) seed(t *testing.T) (s uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next >= c.end || !c.until.IsZero() && time.Now().After(c.until) {
		return 0, false
	}
	c.next++
	switch {
	case c.listed != nil:
		return c.listed[c.next-1], true
	case c.steered == nil:
		return c.next - 1, true
	}
	s, err := c.steered.next()
	if err != nil {
		t.Error(err)
	}
	return s, err == nil
}

// A trial is a random program that is compared.
type trial struct {
	seed       uint64
	statements []string
	script     *scenario.Script
	putOff     bool // it has differed
}

// compose makes the next program; nil: there are no more.
func (c *campaign) compose(t *testing.T) *trial {
	for {
		seed, ok := c.seed(t)
		if !ok {
			return nil
		}
		g := compose(c.profile, seed, c.seen)
		if !g.concerned() {
			g.end()
			continue
		}
		statements := append([]string{}, g.statements...)
		made := &trial{seed: seed, statements: statements, script: g.finish()}
		g.end()
		if *write == "" {
			return made
		}
		name := fmt.Sprintf("%s/seed-%s-%d", *write, scenario.Releases[c.profile], seed)
		c.write(t, name+".txt", made.script.Text())
		if seed-c.first < framed {
			c.writeFrames(t, name+".frames", made.script, c.listener())
		}
	}
}

func (c *campaign) listener() side {
	return side{name: "listener", open: func() (scenario.Driver, error) { return Listener(c.profile) }, tries: 1, without: *without}
}

// work compares programs with leveret's listener and, if there is a broker, runs them there once, beside many others. A
// program that differs on the broker is put off.
func (c *campaign) work(t *testing.T) {
	listener := c.listener()
	broker, letGo := c.brokerSide(t)
	defer letGo()
	for made := c.compose(t); made != nil; made = c.compose(t) {
		d := listener.differs(made.script)
		switch {
		case d != nil:
			c.judge(t, listener, made, d)
		case c.broker != nil && broker.differs(made.script) != nil:
			c.putOff(made)
		default:
			c.judge(t, broker, made, nil)
		}
	}
}

// fewer is how many programs run at once in each round in which those that differed are tried again. Programs with longer times run
// beside as many as in the first round.
var fewer = [...]int{64, 16, 4}

// workAgain tries programs again that differed on the broker: a busy machine may have spoilt their runs.
func (c *campaign) workAgain(t *testing.T, programs <-chan *trial) {
	broker, letGo := c.brokerSide(t)
	defer letGo()
	broker.tries = 2
	for again := range programs {
		if broker.differs(again.script) != nil {
			c.putOff(again)
			continue
		}
		c.oneMore(&c.retried)
		c.judge(t, broker, again, nil)
	}
}

// tryAgain tries again what was put off: beside few others, fewer each time, and then alone.
func (c *campaign) tryAgain(t *testing.T) {
	var wg sync.WaitGroup
	for _, few := range fewer {
		programs := make(chan *trial, len(c.off))
		for _, again := range c.off {
			programs <- again
		}
		close(programs)
		c.off = nil
		for range min(few, len(programs)) {
			wg.Go(func() { c.workAgain(t, programs) })
		}
		wg.Wait()
	}
	if len(c.off) == 0 {
		return
	}
	late := make(chan *trial, len(c.off))
	c.tryAlone(t, late)
	close(late)
	for range min(fewer[0], len(late)) {
		wg.Go(func() { c.tryLonger(t, late) })
	}
	wg.Wait()
}

// tryAlone tries programs again alone. Those that a real broker takes too long for are late.
func (c *campaign) tryAlone(t *testing.T, late chan<- *trial) {
	broker, letGo := c.brokerSide(t)
	defer letGo()
	broker.tries = 2
	for _, again := range c.off {
		d := broker.differs(again.script)
		switch {
		case d == nil:
			c.oneMore(&c.retried)
		case broker.tooLate(again.script):
			late <- again
			continue
		}
		c.judge(t, broker, again, d)
	}
}

// tryLonger tries programs with longer times.
func (c *campaign) tryLonger(t *testing.T, programs <-chan *trial) {
	broker, letGo := c.brokerSide(t)
	defer letGo()
	broker.tries = 2
	for again := range programs {
		script, err := stretched(again.script)
		if err != nil {
			t.Error(again.seed, err)
			continue
		}
		d := broker.differs(script)
		if d == nil {
			c.oneMore(&c.retried)
			c.oneMore(&c.longer)
		}
		c.judge(t, broker, again, d)
	}
}

// hostsAtOnce holds as many tokens as virtual hosts are being made or removed.
var hostsAtOnce = make(chan bool, 4)

// hostTries is how often a virtual host is made, or removed, before the test fails.
const hostTries = 3

// patiently makes or removes a virtual host. RabbitMQ's management API breaks off when hundreds ask at once.
func patiently(act func() error) (err error) {
	hostsAtOnce <- true
	defer func() { <-hostsAtOnce }()
	for range hostTries {
		if err = act(); err == nil {
			return nil
		}
	}
	return err
}

// brokerSide is the broker with a virtual host of its own, until the side is let go; no broker if there is none.
func (c *campaign) brokerSide(t *testing.T) (s side, letGo func()) {
	if c.broker == nil {
		return side{}, func() {}
	}
	var d *reusedDriver
	if err := patiently(func() (err error) { d, err = c.broker.reusedDriver(); return err }); err != nil {
		t.Fatal(err)
	}
	open := func() (scenario.Driver, error) { return d, nil }
	return side{"RabbitMQ " + c.broker.Version, open, 1, d.late, *without, c.listener().open}, func() {
		if err := patiently(d.remove); err != nil {
			t.Log("a virtual host may be left:", err)
		}
	}
}

// putOff keeps a program that differed, to be tried again.
func (c *campaign) putOff(made *trial) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off = append(c.off, made)
	if !made.putOff {
		made.putOff = true
		c.unjudged++
	}
}

// oneMore counts one program more.
func (c *campaign) oneMore(n *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n++
}

// judge counts a program, and tells of its difference, if there is one.
func (c *campaign) judge(t *testing.T, s side, made *trial, d *difference) {
	if d != nil {
		if small := c.smaller(s, made.statements); small != nil {
			d = small
		}
		d.seed = made.seed
		t.Error(d)
		if *keep {
			c.keep(t, d)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	if made.putOff {
		c.unjudged--
	}
	if d != nil {
		c.differ++
	}
	if c.done%1000 == 0 {
		c.report(t)
	}
}

// keep makes a scenario of a program that differed. It expects what leveret's Go API shows, so that the scenarios fail
// on the listener or the broker until the difference is settled.
func (c *campaign) keep(t *testing.T, d *difference) {
	name := fmt.Sprintf("../testdata/scenarios/found/seed-%s-%d.txt", scenario.Releases[c.profile], d.seed)
	c.write(t, name, fmt.Sprintf("# A random program that differed on %s; this is what leveret showed.\n%s", d.side, d.script.Text()))
}

func (c *campaign) write(t *testing.T, name, text string) {
	head := "profile: " + scenario.Releases[c.profile] + "\n\n"
	if err := os.WriteFile(name, []byte(head+text), 0o644); err != nil {
		t.Error(err)
	}
}

func (c *campaign) smaller(s side, statements []string) *difference {
	if *whole {
		return nil
	}
	return s.shrink(c.profile, statements, time.Minute)
}
