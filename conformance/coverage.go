package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/leveretmq/leveret"
)

// A coverage counts what the programs of a campaign have done to which queues: pairs of a verb and a trait that a queue
// which the statement touched has, such as "reject" and "quorum x-delivery-limit".
type coverage struct {
	without string // an exclusion that does not hold, for the experiment what it excludes

	mu       sync.Mutex
	pairs    map[pair]int
	excluded map[string]int // statements, by the name of the exclusion
}

func newCoverage(without string) *coverage {
	return &coverage{without: without, pairs: map[pair]int{}, excluded: map[string]int{}}
}

type pair struct{ verb, trait string }

// coveredVerbs are those of statements that can touch a queue.
var coveredVerbs = []string{"publish", "get", "ack", "nack", "reject", "recover", "consume", "cancel", "close", "kill", "disconnect",
	"purge", "advance", "policy", "clear-policy", "operator-policy", "tx", "delete", "declare", "import"}

// note counts a statement that the engine has run.
func (c *coverage) note(g *program) {
	c.mu.Lock()
	defer c.mu.Unlock()
	verb := g.verb()
	for _, name := range g.effects.touched {
		for _, t := range g.traits(name) {
			c.pairs[pair{verb, t}]++
		}
	}
}

// exclude counts a statement that fell under an exclusion.
func (c *coverage) exclude(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.excluded[name]++
}

// exclusions tells how many statements fell under which exclusion.
func (c *coverage) exclusions() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	b.WriteString("statements that were taken back:")
	for _, x := range exclusions {
		fmt.Fprintf(&b, "\n  %d: %s (%s)", c.excluded[x.name], x.name, x.experiment)
	}
	return b.String()
}

// verb returns that of the last statement of the program.
func (g *program) verb() string {
	words := strings.Fields(g.statements[len(g.statements)-1])
	if strings.HasPrefix(words[0], "@") {
		words = words[1:]
	}
	return words[0]
}

// traits are what sets a queue apart: its type together with each of its arguments and of the states that it is in.
func (g *program) traits(name string) []string {
	q, err := g.driver.Broker.Queue(name)
	if err != nil {
		return nil
	}
	i := q.Info()
	kind := string(i.Type)
	out := []string{kind}
	for key := range i.Arguments {
		if key != leveret.ArgQueueType {
			out = append(out, kind+" "+key)
		}
	}
	for key := range i.EffectivePolicy {
		out = append(out, kind+" policy "+key)
	}
	for state, in := range map[string]bool{"ready": i.Ready > 1, "unacked": i.Unacked > 1, "consumers": i.Consumers > 1,
		"ready, unacked, consumers": i.Ready > 0 && i.Unacked > 0 && i.Consumers > 0, "exclusive": i.Exclusive} {
		if in {
			out = append(out, kind+" "+state)
		}
	}
	return out
}

// report tells the pairs that no program reached, verb by verb, of the traits that there were.
func (c *coverage) report() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	traits := map[string]bool{}
	for p := range c.pairs {
		traits[p.trait] = true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d pairs of a verb and a trait of a queue reached; not reached:", len(c.pairs), len(traits)*len(coveredVerbs))
	for _, v := range coveredVerbs {
		var missing []string
		for _, t := range slices.Sorted(maps.Keys(traits)) {
			if c.pairs[pair{v, t}] == 0 {
				missing = append(missing, t)
			}
		}
		if len(missing) > 0 {
			fmt.Fprintf(&b, "\n  %s: %s", v, strings.Join(missing, "; "))
		}
	}
	return b.String()
}
