package conformance

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	"github.com/leveretmq/leveret/internal/scenario"
	amqp "github.com/rabbitmq/amqp091-go"
)

var (
	bursts     = flag.Int("bursts", 0, "how many programs of bursts to send to a real broker")
	steps      = flag.Int("steps", 0, "how many programs of single frames to send to a real broker")
	richSteps  = flag.Int("richsteps", 0, "how many programs of single frames of all kinds to send to a real broker")
	burstOrder = flag.Bool("burstorder", false, "compare the order of frames, too, of which RabbitMQ leaves much to chance")
)

// TestBursts sends a real broker and leveret's listener programs of a client that does not wait: several frames in one
// write, on one or two channels. What each consumer gets, how each channel's requests are answered and what is in the
// queues in the end must be what it may be on the real broker: a program that differs is played there burstTries times,
// and each part of leveret's outcome must be among the real ones. What still differs is smaller then, and to be judged: RabbitMQ leaves much to
// chance here (docs/differences.md, "Order and time").
func TestBursts(t *testing.T) {
	if *bursts == 0 {
		t.Skip("most of what differs is RabbitMQ's chance: say -bursts 100, and judge")
	}
	compareBursts(t, "-bursts", *bursts, *burstOrder, newBurstProgram)
}

// TestSteps is TestBursts with a client that waits after each operation, so that little is left to chance: tags, counts and the order of
// frames are compared, too. Mostly the client answers channel.close late.
func TestSteps(t *testing.T) {
	if *steps == 0 {
		t.Skip("say -steps 100")
	}
	compareBursts(t, "-steps", *steps, true, newStepProgram)
}

// TestRichSteps is TestSteps on two connections, with what most clients never send.
func TestRichSteps(t *testing.T) {
	if *richSteps == 0 {
		t.Skip("say -richsteps 100")
	}
	compareBursts(t, "-richsteps", *richSteps, true, newRichProgram)
}

// compareBursts plays n programs on both sides. The flag name asks for them.
func compareBursts(t *testing.T, name string, n int, order bool, program func(seed uint64) burstProgram) {
	broker, first := oddSeeds(t, n)
	real, err := broker.Driver()
	if err != nil {
		t.Fatal(err)
	}
	defer real.Close()
	s := &burstSide{broker: broker, vhost: real.VHost(), slots: make(chan bool, 2**workers), order: order}
	var again atomic.Int64
	forBursts(first, n, func(seed uint64) {
		p := program(seed)
		parts, differ, err := s.judge(p, 1, burstQuiet)
		if err == nil && len(parts) > 0 {
			again.Add(1)
			parts, differ, err = s.judge(p, burstTries, burstLongQuiet)
		}
		if err == nil && len(parts) > 0 && !*whole {
			p, differ, err = s.shrink(p, parts)
		}
		if err != nil || len(parts) > 0 {
			t.Errorf("-seed %d %s 1: %v\n%s%s", seed, name, err, p, differ)
		}
	})
	t.Logf("%d of %d programs were played again", again.Load(), n)
}

// TestBurstsOfOneBroker plays such programs on leveret twice, where nothing is left to chance: the outcomes are the same, and the
// broker's invariants hold. A busy machine may part what is read together, so a program that differs is played again, with more time.
func TestBurstsOfOneBroker(t *testing.T) {
	first := *seed
	if first == 0 {
		first = rand.Uint64N(1 << 40)
	}
	t.Logf("seeds %d to %d", first, first+burstsOfOne-1)
	for profile, release := range scenario.Releases {
		t.Run(release, func(t *testing.T) {
			forBursts(first, burstsOfOne, func(seed uint64) {
				if err := burstTwice(newBurstProgram(seed), profile); err != nil {
					t.Errorf("-seed %d: %v", seed, err)
				}
			})
		})
	}
}

// burstsOfOne is how many programs are played without a real broker.
const burstsOfOne = 40

// burstTwice plays a program until two outcomes that follow each other are the same.
func burstTwice(p burstProgram, profile leveret.Profile) error {
	var before burstOutcome
	var differ string
	for n := range time.Duration(oddTries) {
		out, err := p.own(profile, (n+1)*burstQuiet)
		if err != nil {
			return fmt.Errorf("%w\n%s", err, p)
		}
		if n > 0 {
			parts := out.differs([]burstOutcome{before}, false)
			if len(parts) == 0 {
				return nil
			}
			differ = burstDiff(parts, out, []burstOutcome{before})
		}
		before = out
	}
	return fmt.Errorf("played again it is another one\n%s%s", p, differ)
}

// forBursts calls f for seeds from first on, for some at once.
func forBursts(first uint64, n int, f func(seed uint64)) {
	var wg sync.WaitGroup
	slots := make(chan bool, *workers)
	for i := range uint64(n) {
		slots <- true
		wg.Go(func() {
			defer func() { <-slots }()
			f(first + i)
		})
	}
	wg.Wait()
}

const (
	burstTries     = 20
	shrinkTries    = 5
	burstQuiet     = 150 * time.Millisecond
	burstLongQuiet = 400 * time.Millisecond
)

// A burstSide is the real broker.
type burstSide struct {
	broker *Broker
	vhost  string
	slots  chan bool
	order  bool // compare what is left to chance if the client does not wait, too
	runs   atomic.Int64
}

// judge plays a program on leveret once and on the real broker until each part of leveret's outcome has been seen, n
// times at most. It returns the parts that have not, and how they differ.
func (s *burstSide) judge(p burstProgram, n int, quiet time.Duration) (parts []string, differ string, err error) {
	own, err := p.own(s.broker.profile, quiet)
	if err != nil {
		return nil, "", fmt.Errorf("leveret: %w\n%s", err, p)
	}
	var others []burstOutcome
	for len(others) < n {
		outs, err := s.real(p, min(5, n-len(others)), quiet)
		if err != nil {
			return nil, "", fmt.Errorf("RabbitMQ: %w\n%s", err, p)
		}
		others = append(others, outs...)
		if parts = own.differs(others, !s.order); len(parts) == 0 {
			return nil, "", nil
		}
	}
	return parts, burstDiff(parts, own, others), nil
}

// own plays a program on a leveret of its own, which needs less time.
func (p burstProgram) own(profile leveret.Profile, quiet time.Duration) (burstOutcome, error) {
	l, err := newBurstListener(profile)
	if err != nil {
		return nil, err
	}
	out, err := p.play(l.uri, listenerVHost, "-000000", quiet/2)
	return out, errors.Join(err, l.close())
}

// real plays a program on the real broker n times at once.
func (s *burstSide) real(p burstProgram, n int, quiet time.Duration) ([]burstOutcome, error) {
	outs, errs := make([]burstOutcome, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		s.slots <- true
		wg.Go(func() {
			defer func() { <-s.slots }()
			outs[i], errs[i] = p.play(s.broker.uri, s.vhost, fmt.Sprintf("-%06d", s.runs.Add(1)), quiet)
		})
	}
	wg.Wait()
	return outs, errors.Join(errs...)
}

// shrink takes out of a program what the difference does not need, and returns what is left, and how it differs.
func (s *burstSide) shrink(p burstProgram, parts []string) (burstProgram, string, error) {
	for again := true; again; {
		again = false
		for _, c := range p.smaller() {
			if left, _, err := s.judge(c, shrinkTries, burstLongQuiet); err == nil && alike(left, parts) {
				p, again = c, true
				break
			}
		}
	}
	_, differ, err := s.judge(p, 2*burstTries, burstLongQuiet)
	return p, differ, err
}

// alike reports whether two differences have a kind of part in common.
func alike(a, b []string) bool {
	kind := func(part string) string {
		for _, k := range []string{"answers", "consumer", "confirms", "state", "content", "connection"} {
			if strings.Contains(part, k) {
				return k
			}
		}
		return part
	}
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return kind(x) == kind(y) })
	})
}

// burstDiff shows parts on both sides.
func burstDiff(parts []string, own burstOutcome, others []burstOutcome) string {
	var b strings.Builder
	for _, k := range parts {
		fmt.Fprintf(&b, "%s\n  leveret:\n%s", k, indented(own[k]))
		times := map[string]int{}
		for _, o := range others {
			times[o[k]]++
		}
		for text, n := range times {
			fmt.Fprintf(&b, "  RabbitMQ, %d of %d:\n%s", n, len(others), indented(text))
		}
	}
	return b.String()
}

func indented(text string) string {
	if text == "" {
		return "    (nothing)\n"
	}
	return "    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n"
}

// A burstListener is a leveret with real time behind its listener.
type burstListener struct {
	broker *leveret.Broker
	server *amqpd.Server
	uri    amqp.URI
}

func newBurstListener(p leveret.Profile) (*burstListener, error) {
	b := leveret.New(leveret.WithProfile(p), leveret.WithSeed(1))
	if err := scenario.NewOperator(b, listenerVHost).CreateVHost(); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &amqpd.Server{Broker: b}
	go s.Serve(l)
	return &burstListener{b, s, amqp.URI{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, Username: "guest", Password: "guest"}}, nil
}

func (l *burstListener) close() error {
	return errors.Join(l.server.Close(), l.broker.Check(), l.broker.Close())
}
