package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

// topology declares exchanges, queues and bindings.
func (g *generator) topology() {
	names := []string{"x", "y", "z", "w"}
	g.exchangeNames = append(g.exchangeNames, names[:g.IntN(4)]...)
	names = []string{"a", "b", "c", "d", "own"}
	g.queueNames = append(g.queueNames, names[:2+g.IntN(3)]...)
	if g.one(5) {
		g.queueNames = append(g.queueNames, "own")
	}
	if g.wants.bytes {
		g.queueNames = append(g.queueNames, oddNames[:1+g.IntN(len(oddNames))]...)
		g.exchangeNames = append(g.exchangeNames, oddNames[g.IntN(len(oddNames))])
	}
	if g.wants.users {
		g.newUsers()
	}
	if g.policies && g.one(2) {
		g.policy()
	}
	for _, name := range g.exchangeNames {
		g.declareExchange(name)
	}
	for _, name := range g.queueNames {
		g.declareNew(name)
	}
	for range g.exchangeNames {
		for n := 1 + g.IntN(3); n > 0; n-- {
			g.bind("bind")
		}
	}
}

func (g *generator) declareExchange(name string) {
	args := g.pick("direct", "fanout", "topic", "headers")
	if g.one(4) {
		args += " alternate-exchange=" + g.pick("x", "y", "z", "w")
	}
	if g.one(12) {
		args += " internal"
	}
	if g.one(15) {
		args += " auto-delete"
	}
	g.add("declare exchange %s %s", scenario.Quote(name), args)
}

// declareQueue declares a queue again: the same way, or, if it is gone, in a new way.
func (g *generator) declareQueue() {
	name := g.pick(g.queueNames...)
	if slices.ContainsFunc(g.queues(), func(q leveret.QueueInfo) bool { return q.Name == name }) {
		g.do(g.owner(name), g.declared[name]+g.noWait())
		return
	}
	g.declareNew(name)
}

func (g *generator) owner(queue string) string {
	if isExclusive(queue) {
		return "two.z"
	}
	return g.actor("t")
}

func (g *generator) declareNew(name string) {
	args := g.arguments()
	if isExclusive(name) {
		args = " exclusive" + args
	} else if g.one(3) {
		args = g.quorum()
	} else if g.one(15) {
		args = " auto-delete" + args
	}
	g.declared[name] = "declare queue " + scenario.Quote(name) + args
	g.do(g.owner(name), g.declared[name]+g.noWait())
}

// arguments are those of a classic queue.
func (g *generator) arguments() string {
	args := g.deadLetters()
	if g.one(3) {
		args += g.limits("drop-head", "reject-publish", "reject-publish-dlx")
	}
	if g.one(6) {
		args += " x-max-priority=" + g.pick("1", "2", "3", "4", "5", "0")
	}
	if g.one(8) || g.wants.single && g.one(2) {
		args += " x-single-active-consumer=true"
	}
	if g.timed && (g.one(12) || g.policies && g.one(3)) {
		args += " x-expires=" + g.pick("1700", "1700", "5000000")
	}
	return args + g.ttl()
}

func (g *generator) quorum() string {
	args := " quorum"
	if g.one(6) { // pending dead letters count towards limits until their confirms have come back
		if g.wants.pending && g.one(2) {
			args += fmt.Sprintf(" x-max-length=%d", 1+g.IntN(4))
		}
		return args + " x-overflow=reject-publish x-dead-letter-strategy=at-least-once" + g.deadLetters() + g.ttl()
	}
	args += g.deadLetters()
	if g.one(3) {
		args += g.limits("drop-head", "reject-publish")
	}
	if g.one(3) {
		args += " x-delivery-limit=" + g.pick("0", "1", "2", "-1")
	}
	if g.one(8) || g.wants.single && g.one(2) {
		args += " x-single-active-consumer=true"
	}
	return args + g.retry() + g.ttl()
}

func (g *generator) deadLetters() string {
	if g.wants.pending && g.one(3) {
		return ` x-dead-letter-exchange=""`
	}
	switch g.IntN(10) {
	case 0, 1, 2:
		return ` x-dead-letter-exchange="" x-dead-letter-routing-key=` + g.queue()
	case 3:
		return ` x-dead-letter-exchange=""`
	case 4, 5, 6:
		args := " x-dead-letter-exchange=" + g.pick("x", "y", "z", "w", "amq.fanout")
		if g.one(2) {
			args += " x-dead-letter-routing-key=" + g.key()
		}
		return args
	}
	return ""
}

func (g *generator) limits(overflows ...string) string {
	args := ""
	if !g.one(4) {
		args += fmt.Sprintf(" x-max-length=%d", g.IntN(4))
	}
	if args == "" || g.one(8) {
		args += " x-max-length-bytes=" + g.pick("0", "5", "12", "30")
	}
	if g.one(2) {
		args += " x-overflow=" + g.pick(overflows...)
	}
	return args
}

func (g *generator) ttl() string {
	switch {
	case g.one(25):
		return " x-message-ttl=0"
	case g.timed && g.one(2):
		return " x-message-ttl=" + g.pick("1000", "1000", "5000000")
	}
	return ""
}

func (g *generator) rebind() { g.bind(g.pick("bind", "unbind")) }

func (g *generator) bind(verb string) {
	if len(g.exchangeNames) == 0 {
		return
	}
	key := g.key()
	if g.one(3) {
		key = g.pick("#", "k.*", "*.a", "k.#", `""`, "#.k.#.#.a.#", "#.#.#.#.#.#.#.#.#.#.k")
	}
	args := ""
	if g.one(2) {
		args = g.pick(" x-match=all h=1", " x-match=any h=1 h2=2", " h=x", " x-match=any-with-x h=true", " h=1",
			" h=1.0", " h=long(1)", " h=time(1000)", " h=long(1000000)", " h=void")
	}
	source := scenario.Quote(g.pick(append(slices.Clone(g.exchangeNames), "amq.fanout")...))
	if g.one(4) || g.wants.cycles && g.one(2) {
		g.do(g.actor("t"), strings.Join([]string{verb, "exchange", g.exchange(), source + "/" + key}, " ")+args+g.noWait())
		return
	}
	queue := g.queue()
	if verb == "bind" {
		args += g.noWait()
	}
	g.do(g.owner(queue), verb+" "+queue+" "+source+"/"+key+args)
}

func (g *generator) policy() {
	if len(g.policyNames) > 0 && g.one(3) {
		i := g.IntN(len(g.policyNames))
		g.add("%s", "clear-"+g.policyNames[i])
		g.policyNames = slices.Delete(g.policyNames, i, i+1)
		return
	}
	g.priority++
	kind := "policy"
	definition := g.definition()
	if g.one(4) {
		kind = "operator-policy"
		definition = g.pick("max-length=1", "max-length=2 overflow=reject-publish", "message-ttl=0", "delivery-limit=1",
			"max-length-bytes=10")
		if g.profile == leveret.RabbitMQ310 && strings.Contains(definition, "overflow") {
			definition = "max-length=2"
		}
	}
	name := fmt.Sprintf("%s p%d", kind, g.priority)
	pattern := g.pick(`""`, `""`, "a", `"[ab]"`, "c", "^(?!a)", `"^\\w$"`, `"^[[:alpha:]]$"`, `"(?i)A|B"`, `"^.$"`, `"^\\X$"`)
	applyTo := g.pick("queues", "queues", "all", "exchanges", "classic_queues", "quorum_queues")
	if seen, ok := g.add("%s %s {%s} priority=%d apply-to=%s", name, pattern, definition, g.priority, applyTo); ok && len(seen) == 0 {
		g.policyNames = append(g.policyNames, name)
	}
}

func (g *generator) definition() string {
	all := []string{
		fmt.Sprintf("max-length=%d", g.IntN(4)), "max-length-bytes=12", `dead-letter-exchange="" dead-letter-routing-key=` +
			g.queue(),
		"dead-letter-exchange=" + g.pick("x", "y", "nox"), "dead-letter-routing-key=" + g.key(), "overflow=" +
			g.pick("drop-head", "reject-publish"),
		"delivery-limit=" + g.pick("0", "1"), "alternate-exchange=" + g.pick("x", "y"),
	}
	if g.timed {
		all = append(all, "message-ttl=1000", "expires=1700", "expires=5000000")
	}
	g.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	n := 1 + g.IntN(3)
	chosen := all[:1]
	for _, d := range all[1:n] {
		name, _, _ := strings.Cut(d, "=")
		if !slices.ContainsFunc(chosen, func(c string) bool { return strings.Contains(c, name+"=") }) &&
			!strings.Contains(d, "dead-letter") {
			chosen = append(chosen, d)
		}
	}
	return strings.Join(chosen, " ")
}
