package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/executed"
	"github.com/leveretmq/leveret/internal/race"
	"github.com/stretchr/testify/require"
)

// chosenSeeds returns the steering after so many choices, and what it chose.
func chosenSeeds(t *testing.T, first uint64, made, count int) (s *Steering, seeds []uint64) {
	t.Helper()
	s, err := NewSteering(leveret.RabbitMQ43, first, made, "..")
	require.NoError(t, err)
	require.Nil(t, s.ground, "a test binary cannot count its blocks")
	for range count {
		seed, err := s.Next()
		require.NoError(t, err)
		seeds = append(seeds, seed)
	}
	return s, seeds
}

// TestSteeringReachesMore compares as many programs, chosen and not chosen, by the pairs of operations that they reach.
func TestSteeringReachesMore(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine does it all, slowly")
	}
	const programs = 25
	for _, first := range []uint64{1, 5000} {
		all, seeds := chosenSeeds(t, first, 1, programs)
		require.Equal(t, first, seeds[0])
		require.Equal(t, first+programs-1, seeds[programs-1])
		steered, chosen := chosenSeeds(t, first, 4, programs)
		require.Greater(t, len(steered.pairs), len(all.pairs)*6/5, "pairs reached from seed %d", first)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(chosen))), programs, "no program is chosen twice")
		_, again := chosenSeeds(t, first, 4, programs)
		require.Equal(t, chosen, again, "the same programs are chosen again")
	}
}

func TestOperationsOfAProgram(t *testing.T) {
	got := operationsOf(leveret.RabbitMQ43, []string{
		"@t declare queue a", "@t declare queue b", "@p publish a m1", "@p publish b m2", "@g get a", "@g reject m1 requeue",
		"@g get a", "@g reject m1 requeue", "@g get nowhere", "@t purge b", "@t purge b"})
	require.Equal(t, []operations{{"publish", "get"}, {"get", "reject"}, {"reject", "get"}, {"publish", "purge"}}, got)
}

// TestSteeredCampaign starts the process that chooses programs by what they execute.
func TestSteeredCampaign(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	s := steer(t, leveret.RabbitMQ310, 7)
	seen := map[uint64]bool{}
	for range 5 {
		seed, err := s.next()
		require.NoError(t, err)
		require.GreaterOrEqual(t, seed, uint64(7))
		require.Less(t, seed, uint64(7+5*UsuallyMade))
		seen[seed] = true
	}
	require.Len(t, seen, 5)
	report, err := s.end()
	require.NoError(t, err)
	require.Regexp(t, `^5 chosen programs reached [6-9]\d\d of 1\d\d\d functions of package leveret, [12]\d\d of [34]\d\d functions of package amqpd, `+
		`2\d\d of [23]\d\d rules, \d+ of \d+ pairs of operations on one queue; not reached:\n`, report)
	require.Regexp(t, `\n  leveret/memory\.go: .*\*Broker\.SetMemoryLimit`, report)
	require.Regexp(t, `\n  leveret/amqpd/pipe\.go: .*Pipe`, report)
	require.Regexp(t, `\n  rules: .*\bJ-4\b`, report)
	require.Regexp(t, `\n  after `, report)
	require.NotContains(t, report, "*Channel.Publish,")
}

func TestRulesOfFunctions(t *testing.T) {
	const text = `package p

// f does.
// Rules: D-1, DL-2.
func f(a int) {
	g() // T-3
	// Before the statement. // L-4
	if a > 1 {
		g()
	}
	// Two lines
	// of it, Q-5.
	g()
}

// X-6 is a value's.
var x = 1

// A-7.
func g() {}
`
	blocks := []executed.Block{{Number: 0, From: 5, To: 8}, {Number: 1, From: 8, To: 10}, {Number: 2, From: 13, To: 13}, {Number: 3, From: 20, To: 20}}
	got, err := rulesOf("p.go", []byte(text), blocks)
	require.NoError(t, err)
	require.Equal(t, []place{{"D-1", "p.go", []int{0, 1, 2}}, {"DL-2", "p.go", []int{0, 1, 2}}, {"T-3", "p.go", []int{0}},
		{"L-4", "p.go", []int{1}}, {"Q-5", "p.go", []int{2}}, {"A-7", "p.go", []int{3}}}, got)
}

func TestReportOfWhatIsMissing(t *testing.T) {
	s := &Steering{chosen: 2, executed: []bool{true, false, false}, verbs: map[string]bool{"ack": true, "get": true},
		pairs: map[operations]int{{"ack", "get"}: 1, {"get", "ack"}: 3, {"get", "get"}: 1}}
	s.ground = &ground{
		functions: []place{{"one", enginePath + "/a.go", []int{0, 1}}, {"two", enginePath + "/a.go", []int{1}},
			{"three", enginePath + "/b.go", []int{2}}, {"four", listenerPath + "/c.go", []int{2}}},
		rules: []place{{"D-1", "a.go", []int{1}}, {"D-1", "b.go", []int{0}}, {"D-2", "b.go", []int{2}}, {"D-3", "b.go", nil}},
	}
	require.Equal(t, strings.Join([]string{
		"2 chosen programs reached 1 of 3 functions of package leveret, 0 of 1 functions of package amqpd, 1 of 2 rules," +
			" 3 of 4 pairs of operations on one queue; not reached:",
		"  leveret/a.go: two",
		"  leveret/b.go: three",
		"  leveret/amqpd/c.go: four",
		"  rules: D-2",
		"  after ack: ack"}, "\n"), s.Report())
}
