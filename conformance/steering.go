package conformance

import (
	"cmp"
	"errors"
	"slices"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/executed"
	"github.com/leveretmq/leveret/internal/scenario"
)

// A Steering chooses the random programs that are worth a run on a broker: those that lead the engine to what the programs
// chosen before have led it to least. To make a program takes milliseconds, because it runs on the engine alone; to run
// one on a broker takes a second or two. So the steering makes several programs for each one that it chooses. It chooses
// seeds: a seed makes the same program without a steering.
//
// What counts is which blocks of the engine's code a program executes, and which operations follow each other on one
// queue. Blocks are known when the process was built to count them (see package executed). Without that the pairs of
// operations steer alone.
type Steering struct {
	profile leveret.Profile
	seed    uint64 // of the next program to be made
	made    int    // programs for each that is chosen
	pool    []*candidate

	ground   *ground // nil: blocks are not counted
	blocks   []int   // by block: how many of the chosen programs execute it
	pairs    map[operations]int
	verbs    map[string]bool // that touch queues, of all programs made
	executed []bool          // by block: a chosen program does, here or on the listener
	chosen   int
}

// UsuallyMade is how many programs are made for each one that is chosen, if nothing else is asked for. 500 programs that are
// chosen so reach about as much as 2,000 that are not.
const UsuallyMade = 8

// poolSize is how many programs that were not chosen are kept. They may be worth more than those made later.
const poolSize = 64

// A candidate is a program that may be chosen.
type candidate struct {
	seed       uint64
	statements []string
	blocks     []int
	pairs      []operations
	worth      float64 // when the last program was chosen
}

// operations are two verbs: the first touched a queue, and the next one that touched the queue was the second.
type operations struct{ first, second string }

// NewSteering begins a choice among the programs of the seeds from the first on. So many programs are made for each that
// is chosen; with 1, each program is chosen. The root is the module's directory, for the comments that name rules.
func NewSteering(p leveret.Profile, first uint64, made int, root string) (*Steering, error) {
	s := &Steering{profile: p, seed: first, made: max(1, made), pairs: map[operations]int{}, verbs: map[string]bool{}}
	g, err := openGround(root)
	if errors.Is(err, executed.ErrUncovered) {
		return s, nil
	} else if err != nil {
		return nil, err
	}
	s.ground, s.blocks, s.executed = g, make([]int, g.total), make([]bool, g.total)
	return s, nil
}

// Next chooses a program and returns its seed.
func (s *Steering) Next() (seed uint64, err error) {
	for range s.made {
		c, err := s.make()
		if err != nil {
			return 0, err
		}
		s.pool = append(s.pool, c)
	}
	for _, c := range s.pool {
		c.worth = s.worth(c)
	}
	slices.SortStableFunc(s.pool, func(a, b *candidate) int { return cmp.Compare(b.worth, a.worth) })
	best := s.pool[0]
	s.pool = s.pool[1:min(len(s.pool), 1+poolSize)]
	return best.seed, s.choose(best)
}

// make makes the next program and finds what it leads to. The program is run twice: when it is made, statements are tried
// that are then taken back.
func (s *Steering) make() (*candidate, error) {
	g := compose(s.profile, s.seed, newCoverage(""))
	c := &candidate{seed: s.seed, statements: slices.Clone(g.statements)}
	g.end()
	s.seed++
	var err error
	c.blocks, err = s.ground.during(func() error {
		c.pairs = operationsOf(s.profile, c.statements)
		return nil
	})
	for _, pair := range c.pairs {
		s.verbs[pair.first], s.verbs[pair.second] = true, true
	}
	return c, err
}

// operationsOf runs a program and returns the pairs of operations on one queue, each once. What has no effect on a queue is
// no operation on it, such as a purge of an empty one.
func operationsOf(p leveret.Profile, statements []string) []operations {
	g := newProgram(p, "")
	defer func() { g.end() }()
	last := map[string]string{} // verbs, by queue
	var out []operations
	for _, st := range statements {
		if _, ok := g.run(st); !ok {
			continue
		}
		verb := g.verb()
		for _, queue := range g.effects.touched {
			pair := operations{last[queue], verb}
			if pair.first != "" && !slices.Contains(out, pair) {
				out = append(out, pair)
			}
			last[queue] = verb
		}
	}
	return out
}

// worth is high for a short program that leads to what few programs led to. A statement takes a broker about the same
// time in each program, and the frame around the statements that of twenty.
func (s *Steering) worth(c *candidate) float64 {
	sum := 0.0
	for _, b := range c.blocks {
		if s.ground.engine[b] {
			sum += 1 / float64(1+s.blocks[b])
		}
	}
	for _, pair := range c.pairs {
		sum += 1 / float64(1+s.pairs[pair])
	}
	return sum / float64(len(c.statements)+20)
}

// choose counts what a program leads to that will be run, here and on the listener.
func (s *Steering) choose(c *candidate) error {
	s.chosen++
	for _, b := range c.blocks {
		s.blocks[b]++
	}
	for _, pair := range c.pairs {
		s.pairs[pair]++
	}
	if s.ground == nil {
		return nil
	}
	blocks, err := s.ground.during(func() error { return s.listen(c.statements) })
	for _, b := range blocks {
		s.executed[b] = true
	}
	return err
}

// listen runs a program as its comparison will run it. What goes wrong is left to the comparison.
func (s *Steering) listen(statements []string) error {
	g := newProgram(s.profile, "")
	g.rebuild(statements)
	script := g.finish()
	g.end()
	listener, err := Listener(s.profile)
	if err != nil {
		return err
	}
	_, _ = scenario.Compare(script, listener)
	_ = listener.Close()
	return nil
}
