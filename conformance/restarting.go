package conformance

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

// Random programs that restart the broker. A real node takes seconds for that, so the programs of a round share each restart: the
// seed says which round a program belongs to, and the round how often the broker is stopped or killed.

// roundSize is how many consecutive seeds a round has. It begins with a multiple of it.
const roundSize = 100

// roundsOf are the restarts of rounds, one after the other, as scenario.Script.Restarts has them.
var roundsOf = []string{"s", "k", "sk", "ks"}

// restartsOf are the restarts of a seed's program.
func restartsOf(seed uint64) string { return roundsOf[seed/roundSize%uint64(len(roundsOf))] }

// RestartingProgram is the random program of a seed that restarts the broker; nil: what it leads to is left to chance.
func RestartingProgram(p leveret.Profile, seed uint64) *scenario.Script {
	g := composeRestarting(p, seed, newCoverage(""))
	if g == nil {
		return nil
	}
	defer g.end()
	return g.finish()
}

// composeRestarting makes the program of a seed, nil if what it leads to is left to chance.
func composeRestarting(p leveret.Profile, seed uint64, seen *coverage) *generator {
	g := &generator{program: newProgram(p, seen.without), seen: seen, Rand: rand.New(rand.NewPCG(seed, 1)),
		declared: map[string]string{}, channels: map[string]*books{}}
	g.policies = g.one(4)
	g.wants = g.someMaterials()
	g.topology()
	confirms := g.one(2) || strings.Contains(restartsOf(seed), "k")
	g.work(confirms)
	for _, kind := range restartsOf(seed) {
		if !g.restart(kind == 'k') {
			g.end()
			return nil
		}
		g.work(confirms)
	}
	return g
}

// work is what clients do between restarts.
func (g *generator) work(confirms bool) {
	if confirms {
		g.add("@p confirm")
		g.book("p").confirms = true
	}
	for n := 6 + g.IntN(14); n > 0; n-- {
		actions := g.actions()
		actions[0].do = g.publishLasting
		g.choose(actions).do()
	}
}

// publishLasting publishes a message that restarts keep, mostly.
func (g *generator) publishLasting() {
	properties := g.properties()
	if !g.one(6) && !strings.Contains(properties, "delivery-mode=") {
		properties += " delivery-mode=2"
	}
	g.do("p", "publish "+g.target()+" "+g.body()+properties)
}

// restart reports false if what the restart leads to is left to chance.
func (g *generator) restart(killed bool) bool {
	statement := "restart 1s"
	if killed {
		// What nobody has confirmed a node writes a moment later.
		g.add("advance 2s")
		statement = "restart killed 1s"
	}
	if g.dueSoon() || g.returnedInAnyOrder(killed) {
		return false
	}
	// A queue where a dead letter leads may not be there yet, or be restored later.
	if _, ok := g.add("%s", statement); !ok || len(g.effects.arrivals) > 0 {
		return false
	}
	clear(g.channels)
	clear(g.numberings)
	return true
}

// dueSoon reports whether anything has a deadline that a restart may outlast.
func (g *program) dueSoon() bool {
	at, ok := g.driver.Broker.NextDeadline()
	return ok && at.Sub(g.now()) < time.Hour
}

// returnedInAnyOrder reports whether several channels give back to one queue at a restart. Of a node that is killed that shows in quorum
// queues only (R-7); of one that is stopped a consumer may get what another channel has just given back, see "a consumer that is
// ending".
func (g *generator) returnedInAnyOrder(killed bool) bool {
	holders := 0
	for _, c := range g.driver.Broker.Connections() {
		for _, ch := range c.Channels {
			if ch.Unacked > 0 {
				holders++
			}
		}
	}
	consumers := g.driver.Broker.Consumers()
	return slices.ContainsFunc(g.queues(), func(q leveret.QueueInfo) bool {
		if q.Unacked == 0 || killed && q.Type != leveret.QueueTypeQuorum {
			return false
		}
		channels, byConsumers := map[string]bool{}, 0
		for _, c := range consumers {
			if c.Queue == q.Name {
				channels[actorOf(c.Tag)] = true
				byConsumers += c.Unacked
			}
		}
		switch {
		case len(channels) == 0:
			return holders > 1 && q.Type == leveret.QueueTypeQuorum
		case killed:
			return holders > 1
		}
		return len(channels) > 1 || byConsumers < q.Unacked
	})
}
