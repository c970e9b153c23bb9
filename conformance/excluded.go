package conformance

import (
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

// How the exclusions are recognized that are about windows, users and definitions.

func (g *program) twoQueuesOneWindow() bool {
	if !slices.ContainsFunc(g.driver.Broker.Connections(), hasWindow) {
		return false
	}
	if g.reachesOneChannelTwice() {
		return true
	}
	for actor, served := range g.effects.served {
		if g.mixed(actor) {
			return true
		}
		for _, c := range g.driver.Broker.Consumers() {
			waits := g.ready[c.Queue] > 0 || g.readyNow(c.Queue) > 0
			if actorOf(c.Tag) == actor && !slices.Contains(served, c.Queue) && waits {
				return true
			}
		}
	}
	return false
}

// goOnTogether reports whether several consumers without acknowledgements of one quorum queue were sent messages, and
// one of them more than its prefetch: it has gone on.
func (g *program) goOnTogether() bool {
	got := map[string]int{} // by tag
	for _, d := range g.effects.messages {
		got[d.tag]++
	}
	several, goneOn := map[string]int{}, map[string]bool{} // by queue
	for _, c := range g.driver.Broker.Consumers() {
		if n := got[c.Tag]; n > 0 && !c.AckRequired && c.Prefetch > 0 && g.types[c.Queue] == "quorum" {
			several[c.Queue]++
			goneOn[c.Queue] = goneOn[c.Queue] || n > c.Prefetch
		}
	}
	for queue, n := range several {
		if n > 1 && goneOn[queue] {
			return true
		}
	}
	return false
}

// goesOnBehind reports whether a consumer without acknowledgements of a quorum queue was sent as much as its prefetch, or more, of
// what was sent together.
func (g *program) goesOnBehind() bool {
	if !strings.HasSuffix(g.statements[len(g.statements)-1], " together") {
		return false
	}
	got := map[string]int{} // by tag
	for _, d := range g.effects.messages {
		got[d.tag]++
	}
	return slices.ContainsFunc(g.driver.Broker.Consumers(), func(c leveret.ConsumerInfo) bool {
		return !c.AckRequired && c.Prefetch > 0 && got[c.Tag] >= c.Prefetch && g.types[c.Queue] == "quorum"
	})
}

// zeroTogether reports whether some of what was sent together expired at once in a quorum queue that has a limit.
func (g *program) zeroTogether() bool {
	return strings.HasSuffix(g.statements[len(g.statements)-1], " together") && slices.ContainsFunc(g.effects.deaths, func(d death) bool {
		return d.reason == leveret.Expired && g.types[d.queue] == "quorum" && g.limited(d.queue)
	})
}

// reachesOneChannelTwice reports whether messages arrived in two queues that have consumers on one channel.
func (g *program) reachesOneChannelTwice() bool {
	reached := map[string]string{} // the queue, by channel
	for _, c := range g.driver.Broker.Consumers() {
		if !slices.ContainsFunc(g.effects.arrivals, func(a arrival) bool { return a.queue == c.Queue }) {
			continue
		}
		actor := actorOf(c.Tag)
		if other, there := reached[actor]; there && other != c.Queue {
			return true
		}
		reached[actor] = c.Queue
	}
	return false
}

// deathOpensWindow reports whether a dead letter reached a queue with consumers of a channel that has a window, and it matters whether
// the window had room already: another channel could get the letter, a limit drops what is ready, or the letter has a priority.
func (g *program) deathOpensWindow() bool {
	if !slices.ContainsFunc(g.driver.Broker.Connections(), hasWindow) {
		return false
	}
	for _, a := range g.effects.arrivals {
		consumers := map[string]bool{} // by channel
		for _, c := range g.driver.Broker.Consumers() {
			if a.origin != "" && c.Queue == a.queue {
				consumers[actorOf(c.Tag)] = true
			}
		}
		if len(consumers) > 1 || len(consumers) == 1 && (g.limited(a.queue) || g.prioritized(a.queue)) {
			return true
		}
	}
	return false
}

func (g *program) requeuesIntoWindow() bool {
	if len(g.effects.messages) == 0 || !slices.ContainsFunc(g.driver.Broker.Connections(), hasWindow) {
		return false
	}
	last := g.stage.Script.Steps[len(g.stage.Script.Steps)-1]
	requeues := slices.ContainsFunc(last.Args, func(a scenario.Arg) bool { return a.Text == "requeue" })
	return last.Verb == "recover" || requeues && (len(g.effects.messages) > 1 || g.consumersWait())
}

// consumersWait reports whether messages are ready in a queue that has a consumer.
func (g *program) consumersWait() bool {
	return slices.ContainsFunc(g.driver.Broker.Consumers(), func(c leveret.ConsumerInfo) bool { return g.readyNow(c.Queue) > 0 })
}

func hasWindow(c leveret.ConnInfo) bool {
	return slices.ContainsFunc(c.Channels, func(ch leveret.ChannelInfo) bool { return ch.GlobalPrefetch > 0 })
}

func (g *program) readyNow(queue string) int {
	q, err := g.driver.Broker.Queue(queue)
	if err != nil {
		return 0
	}
	return q.Info().Ready
}

func (g *program) consumersNow(queue string) int {
	q, err := g.driver.Broker.Queue(queue)
	if err != nil {
		return 0
	}
	return q.Info().Consumers
}

func (g *program) limited(queue string) bool {
	return g.setting(queue, "max-length") != nil || g.setting(queue, "max-length-bytes") != nil
}

func (g *program) quorumExpires() bool {
	return slices.ContainsFunc(g.effects.expired, func(q string) bool { return g.types[q] == "quorum" })
}

func (g *program) retriesExceedLimit() bool {
	return slices.ContainsFunc(g.queues(), func(info leveret.QueueInfo) bool {
		q, err := g.driver.Broker.Queue(info.Name)
		if rejects := g.setting(info.Name, "overflow") == leveret.OverflowRejectPublish; err != nil || info.Type != "quorum" || rejects {
			return false
		}
		var waiting, bytes int64
		for _, m := range q.Waiting() {
			if m.DeadLetter == "" {
				waiting, bytes = waiting+1, bytes+int64(len(m.Body))
			}
		}
		most, limited := g.setting(info.Name, "max-length").(int64)
		mostBytes, bytesLimited := g.setting(info.Name, "max-length-bytes").(int64)
		return waiting > 0 && (limited && waiting > most || bytesLimited && bytes+propertiesAtMost*waiting > mostBytes)
	})
}

// propertiesAtMost is what the properties of a random message count for in a quorum queue, at most.
const propertiesAtMost = 400

// listsGetters reports whether the last statement lists the consumers of a quorum queue of which somebody holds messages of
// basic.get: those count among its consumers.
func (g *program) listsGetters() bool {
	last := g.stage.Script.Steps[len(g.stage.Script.Steps)-1]
	if last.Verb != "consumers" {
		return false
	}
	q, err := g.driver.Broker.Queue(last.Args[0].Text)
	return err == nil && q.Info().Consumers > len(last.Want(scenario.Releases[g.profile]))
}

func (g *program) importRefused() bool { return g.refused("import") }

func (g *program) strangeUser() bool {
	last := g.stage.Script.Steps[len(g.stage.Script.Steps)-1]
	return slices.ContainsFunc(last.Want("4.3"), func(s string) bool { return strings.HasPrefix(s, "refused: user '") })
}

// refused reports whether the last statement's verb begins so, and the operator saw an error.
func (g *program) refused(verb string) bool {
	last := g.stage.Script.Steps[len(g.stage.Script.Steps)-1]
	return strings.HasPrefix(last.Verb, verb) && len(last.Want("4.3")) > 0
}

// setting is what a queue's arguments and policies say of a key; nil: nothing.
func (g *program) setting(queue, key string) any {
	q, err := g.driver.Broker.Queue(queue)
	if err != nil {
		return nil
	}
	s, _ := q.Effective().Get(key)
	return s.Value
}
