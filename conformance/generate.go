package conformance

import (
	"math/rand/v2"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

// A generator makes a random program: a topology, then what clients do to it. It knows the state of the engine as it
// goes, so that most statements have something to work on.
type generator struct {
	*program
	*rand.Rand
	timed    bool // the program lets time pass
	policies bool // the program sets policies, which is slow on a real broker

	queueNames, exchangeNames []string
	declared                  map[string]string // how a queue was declared
	messages, consumers       int
	replyTags                 int
	priority                  int // of the policy set last: ties are decided by chance
	policyNames               []string
	channels                  map[string]*books // by actor
	wants                     materials
	seen                      *coverage
	factors                   []int // by action: how much more often than usual this program does it
}

// compose makes the program of a seed for a release, and counts in seen what the program does.
func compose(p leveret.Profile, seed uint64, seen *coverage) *generator {
	g := &generator{program: newProgram(p, seen.without), seen: seen, Rand: rand.New(rand.NewPCG(seed, 0)),
		declared: map[string]string{}, channels: map[string]*books{}}
	g.timed, g.policies = g.one(4), g.one(4)
	g.wants = g.someMaterials()
	g.topology()
	for n := 12 + g.IntN(25); n > 0; n-- {
		g.choose(g.actions()).do()
	}
	return g
}

// one is true once in n times.
func (g *generator) one(n int) bool { return g.IntN(n) == 0 }

func (g *generator) pick(list ...string) string { return list[g.IntN(len(list))] }

// add is program.add, counts the statement, and notes in the books what consumers received.
func (g *generator) add(format string, args ...any) (seen []string, ok bool) {
	if seen, ok = g.program.add(format, args...); ok {
		g.seen.note(g.program)
		for _, d := range g.effects.messages {
			if g.subscribed[d.tag].AckRequired {
				g.book(actorOf(d.tag)).receive(d.body)
			}
		}
	} else if g.fell != "" {
		g.seen.exclude(g.fell)
	}
	return seen, ok
}

// A choice is something to do, and how often among all others.
type choice struct {
	weight int
	do     func()
}

func (g *generator) choose(choices []choice) choice {
	total := 0
	for i := range choices {
		choices[i].weight = g.weight(i, choices[i])
		total += choices[i].weight
	}
	n := g.IntN(total)
	for _, c := range choices {
		if n -= c.weight; n < 0 {
			return c
		}
	}
	panic("the weights do not add up")
}

// weight changes the usual weight of an action: every program does a few things much more often than others do, and some
// never, so that what is usually rare meets itself.
func (g *generator) weight(i int, c choice) int {
	for len(g.factors) <= i {
		g.factors = append(g.factors, []int{0, 1, 2, 2, 2, 2, 2, 12}[g.IntN(8)])
	}
	factor := g.factors[i]
	if i == 0 {
		factor = 2 // without messages there is nothing to see
	}
	return factor * c.weight
}

// actions are always in the same order.
func (g *generator) actions() []choice {
	a := []choice{
		{40, g.publish}, {14, g.get}, {22, g.settle}, {8, g.consume},
		{3, g.cancel}, {3, g.closeChannel}, {2, g.closeConnection},
		{2, g.purge}, {2, g.deleteQueue}, {2, g.declareQueue}, {3, g.rebind},
		{2, g.recover}, {1, g.qos}, {2, g.misuse}, {3, g.transaction}, {1, g.deleteExchange},
	}
	if g.timed {
		a = append(a, choice{7, g.advance})
	}
	if g.policies {
		a = append(a, choice{8, g.policy})
	}
	return append(a, g.moreActions()...)
}

// queue returns a queue's name as a script has it.
func (g *generator) queue() string { return scenario.Quote(g.pick(g.queueNames...)) }

func (g *generator) exchange() string { return scenario.Quote(g.pick(g.exchangeNames...)) }
