package leveret_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/journal"
	"github.com/leveretmq/leveret/internal/journal/crashfs"
	"github.com/leveretmq/leveret/internal/race"
	"github.com/stretchr/testify/require"
)

var (
	crashSeed     = flag.Uint64("crash-seed", 0, "the seed of TestCrashAtEveryCall; 0: a new one")
	crashPrograms = flag.Int("crash-programs", 3, "how many programs TestCrashAtEveryCall has")
)

// A crashProgram is a list of operations that a seed makes. They depend on nothing but the seed and what the operations before have
// shown, so brokers with and without a directory do the same.
type crashProgram struct {
	profile leveret.Profile
	seed    uint64
	length  int
}

// A crashRun is a program that runs on a broker.
type crashRun struct {
	crashProgram
	rng    *rand.Rand
	b      *leveret.Broker
	clock  *leveret.ManualClock
	conn   *leveret.Conn
	ch     *leveret.Channel // with deliveries to settle
	tx     *leveret.Channel
	held   []uint64
	sure   int      // operations that are on the disk
	states []string // behind each operation; nil: not known
}

var crashStart = time.Unix(1_800_000_000, 0)

func (p crashProgram) begin(b *leveret.Broker, clock *leveret.ManualClock) *crashRun {
	return &crashRun{crashProgram: p, rng: rand.New(rand.NewPCG(p.seed, 1)), b: b, clock: clock}
}

// run runs n operations, or those up to the first that fails because of the disk. It returns how many have begun.
func (r *crashRun) run(n int) int {
	for i := range n {
		waited, err := r.step(i)
		if failedDisk(err) {
			return i + 1
		}
		if waited && err == nil && (r.states == nil || adds(r.states[i], r.states[i+1])) { // who only takes away waits for nothing
			r.sure = i + 1
		}
	}
	return n
}

func failedDisk(err error) bool {
	return err != nil && strings.Contains(err.Error(), "message store has failed")
}

var crashQueues = []string{"a", "b", "c", "d"}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// step does one operation. It reports whether what it did is sure when it returns.
func (r *crashRun) step(i int) (waited bool, err error) {
	defer func() {
		if err != nil && r.conn != nil { // it may have ended the channel
			_ = r.conn.Close()
			r.conn = nil
		}
	}()
	if r.conn == nil {
		if r.conn, err = r.b.Connect("guest", "guest", "/"); err != nil {
			return false, err
		}
		r.ch, _ = r.conn.Channel()
		r.tx, _ = r.conn.Channel()
		_ = r.tx.Tx()
		r.held = nil
	}
	rng, queue := r.rng, pick(r.rng, crashQueues...)
	what := rng.IntN(30)
	if i < 3 {
		what = 0
	}
	switch {
	case what < 3:
		_, err = r.b.DeclareQueue(queue, leveret.QueueConfig{Durable: rng.IntN(5) > 0, Arguments: r.arguments()})
		return true, err
	case what < 9:
		_, err = r.b.Publish(pick(rng, "", "", "amq.fanout"), queue, r.message(i))
		return true, err
	case what < 10:
		_, err = r.ch.Publish("", queue, r.message(i)) // nobody is told
		return false, err
	case what < 14:
		d, ok, err := r.ch.Get(queue, leveret.GetConfig{NoAck: rng.IntN(5) == 0})
		if ok && d.DeliveryTag > 0 {
			r.held = append(r.held, d.DeliveryTag)
		}
		return false, err
	case what < 18 && len(r.held) > 0:
		n := rng.IntN(len(r.held))
		tag := r.held[n]
		r.held = slices.Delete(r.held, n, n+1)
		switch rng.IntN(4) {
		case 0:
			err = r.ch.Ack(tag, false)
		case 1:
			err = r.ch.Nack(tag, false, true)
		case 2:
			err = r.ch.Reject(tag, rng.IntN(2) == 0)
		default:
			err = r.ch.Ack(tag, true)
			r.held = slices.DeleteFunc(r.held, func(t uint64) bool { return t < tag })
		}
		return false, err
	case what < 20: // a step of a transaction
		switch rng.IntN(4) {
		case 0:
			d, ok, err := r.tx.Get(queue, leveret.GetConfig{})
			if ok {
				err = r.tx.Ack(d.DeliveryTag, false)
			}
			return false, err
		case 1:
			_, err = r.tx.Commit()
			return true, err
		}
		_, err = r.tx.Publish("", queue, r.message(i))
		return false, err
	case what < 21:
		_, err = r.b.PurgeQueue(queue)
		return false, err
	case what < 22:
		_, err = r.b.DeleteQueue(queue, leveret.DeleteConfig{})
		return true, err
	case what < 24:
		err = r.b.BindQueue(queue, "amq.fanout", "", nil)
		return true, err
	case what < 25:
		err = r.b.SetPolicy(leveret.Policy{Name: "p", Pattern: pick(rng, "a", "b", "."), Definition: leveret.Table{
			pick(rng, "max-length", "message-ttl"): int64(1 + rng.IntN(4)),
		}})
		return false, err
	case what < 26:
		_ = r.conn.Close()
		r.conn = nil
		return false, nil
	case what < 27 && r.held != nil:
		err = r.ch.Recover()
		r.held = nil
		return false, err
	case what < 28:
		to := r.clock.Now().Add(time.Duration(rng.IntN(5)) * time.Second)
		if next, ok := r.b.NextDeadline(); ok && next.Before(to) { // what is due at different times is not one operation
			to = next
		}
		r.clock.AdvanceTo(to)
		return false, nil
	}
	_, err = r.ch.Consume(queue, leveret.ConsumeConfig{Prefetch: 1 + rng.IntN(3), NoAck: rng.IntN(4) == 0, Handler: func(*leveret.Delivery) {}})
	return false, err
}

func (r *crashRun) arguments() leveret.Table {
	rng, args := r.rng, leveret.Table{}
	quorum := rng.IntN(2) == 0
	if quorum {
		args[leveret.ArgQueueType] = "quorum"
	}
	some := func(name string, v any) {
		if rng.IntN(3) == 0 {
			args[name] = v
		}
	}
	some(leveret.ArgMessageTTL, int64(pick(rng, 1, 1000, 3000)))
	some(leveret.ArgMaxLength, int64(1+rng.IntN(3)))
	if rng.IntN(2) == 0 {
		args[leveret.ArgDeadLetterExchange] = ""
		args[leveret.ArgDeadLetterRoutingKey] = pick(rng, crashQueues...)
	}
	if !quorum {
		some(leveret.ArgMaxPriority, int64(3))
		some(leveret.ArgOverflow, pick(rng, "reject-publish", "reject-publish-dlx"))
		return args
	}
	some(leveret.ArgDeliveryLimit, int64(rng.IntN(3)))
	if args[leveret.ArgDeadLetterExchange] != nil && rng.IntN(2) == 0 {
		args["x-dead-letter-strategy"], args[leveret.ArgOverflow] = "at-least-once", "reject-publish"
	}
	if r.profile == leveret.RabbitMQ43 && rng.IntN(3) == 0 {
		args["x-delayed-retry-type"], args["x-delayed-retry-min"] = "all", int64(1000)
	}
	return args
}

func (r *crashRun) message(i int) leveret.Message {
	rng := r.rng
	p := &leveret.Properties{DeliveryMode: uint8(1 + min(rng.IntN(4), 1)), Priority: uint8(rng.IntN(5))}
	if rng.IntN(4) == 0 {
		p.Expiration = pick(rng, "1", "2000")
	}
	if rng.IntN(3) == 0 {
		p.Headers = leveret.Table{"n": int64(i), "CC": []any{pick(rng, crashQueues...)}}
	}
	return leveret.Message{Properties: p, Body: fmt.Appendf(nil, "%d %s", i, strings.Repeat("x", rng.IntN(2)*rng.IntN(300)))}
}

func (p crashProgram) clock() *leveret.ManualClock { return leveret.NewManualClock(crashStart) }

func (p crashProgram) options(clock leveret.Clock) []leveret.Option {
	return []leveret.Option{leveret.WithClock(clock), leveret.WithProfile(p.profile), leveret.WithSeed(1)}
}

// after is the state of a broker whose file system is sound, and whose node was killed behind n operations, and the time then.
func (p crashProgram) after(t *testing.T, n int) string {
	clock := p.clock()
	b, err := leveret.OpenFS(&crashfs.FS{}, journal.Options{Growing: true}, p.options(clock)...) // with numbers of queues
	require.NoError(t, err)
	defer b.Close()
	p.begin(b, clock).run(n)
	require.NoError(t, b.Stop(leveret.KilledNode))
	return timeless(b.State())
}

// timeless leaves out when retries end: what somebody held begins to wait when the node has gone, and of that time the log knows
// nothing.
func timeless(state string) string {
	return regexp.MustCompile(` until \d+`).ReplaceAllString(state, "")
}

// TestCrashAtEveryCall runs random programs on a broker with a directory whose file system crashes at each call in turn, and forgets
// what was not synced. What is found afterwards is what a broker that is not hit has after some number of the operations, at least of those
// that were told to be on the disk.
func TestCrashAtEveryCall(t *testing.T) {
	seed := *crashSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-crash-seed %d", seed)
	programs := *crashPrograms
	if race.Enabled || testing.Short() {
		programs = 1
	}
	for n := range programs {
		for profile := range scenarioProfiles {
			t.Run(fmt.Sprintf("%d/%v", n, profile), func(t *testing.T) {
				t.Parallel()
				crashProgram{profile: profile, seed: seed + uint64(n), length: 60}.crashEverywhere(t)
			})
		}
	}
}

var scenarioProfiles = map[leveret.Profile]bool{leveret.RabbitMQ43: true, leveret.RabbitMQ310: true}

func (p crashProgram) crashEverywhere(t *testing.T) {
	states := make([]string, p.length+1)
	for n := range states {
		states[n] = p.after(t, n)
	}
	for at := 1; ; at++ {
		fs := &crashfs.FS{CrashAt: at}
		clock := p.clock()
		begun, sure, ended := 0, 0, false
		b, err := leveret.OpenFS(fs, smallSegments, p.options(clock)...)
		if err == nil {
			r := p.begin(b, clock)
			r.states = states
			begun = r.run(p.length)
			sure = r.sure
			intact := fs.Calls() < at
			if intact {
				require.NoError(t, b.Check())
				require.NoError(t, b.LogState())
			}
			closed := b.Close()
			if intact && closed == nil {
				return // the program has ended before the crash
			}
			ended = intact
		}
		rng := rand.New(rand.NewPCG(p.seed, uint64(at)))
		left := fs.Crash(rng)
		again, err := leveret.OpenDown(left, smallSegments, p.options(clock)...)
		require.NoError(t, err, "crash at call %d", at)
		found := timeless(again.State())
		if !ended && !slices.Contains(states[sure:begun+1], found) { // what Close does is not one operation
			var all strings.Builder
			for n := sure; n <= begun; n++ {
				fmt.Fprintf(&all, "what is found, and what was behind operation %d:\n%s", n, difference(found, states[n]))
			}
			t.Fatalf("crash at call %d, in operation %d, %d are sure: the state is none that was; of all that of %d\n%s", at, begun, sure,
				slices.Index(states, found), all.String())
		}
		require.NoError(t, again.LogState())
		require.NoError(t, again.Start())
		require.NoError(t, again.Check())
		require.NoError(t, again.LogState())
		require.NoError(t, again.Close())
	}
}

// adds reports whether a state has something that the one before has not.
func adds(before, state string) bool { return strings.Contains(difference(state, before), "- ") }

// difference shows the lines that only one of two texts has.
func difference(a, b string) string {
	var out strings.Builder
	inA, inB := strings.Split(a, "\n"), strings.Split(b, "\n")
	for _, l := range inA {
		if !slices.Contains(inB, l) {
			fmt.Fprintf(&out, "- %s\n", l)
		}
	}
	for _, l := range inB {
		if !slices.Contains(inA, l) {
			fmt.Fprintf(&out, "+ %s\n", l)
		}
	}
	return out.String()
}
