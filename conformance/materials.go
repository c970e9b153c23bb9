package conformance

import (
	"fmt"
	"strings"

	"github.com/leveretmq/leveret"
)

// materials says which of the rarer things a program is made of. A program has few of them, so that those meet.
type materials struct {
	users     bool // users whose permissions change while they work
	bytes     bool // names and keys of any bytes
	twice     bool // headers with the same key twice
	replies   bool // direct reply-to
	cycles    bool // exchanges bound to each other
	noWait    bool // requests that ask for no answer
	global    bool // basic.qos for the whole channel
	retries   bool // delayed retry
	pending   bool // at-least-once dead letters together with length limits
	imports   bool // definitions imported in the middle
	arguments bool // any argument and policy key with a value of any type
	single    bool // single active consumers of several priorities
	limits    bool // limits of the virtual host
	listed    bool // consumers have arguments in any order, and are listed, for which a rabbitmqctl takes seconds
	wear      bool // messages that are returned more often than the default delivery limit allows
	episodes  bool // statements that belong together
}

func (g *generator) someMaterials() materials {
	some := func() bool { return g.one(5) }
	// After how long an idle channel of RabbitMQ forgets permissions is left to chance, except for the first time: of
	// 30 channels that were idle for the fourth time, 9 had forgotten after 0.6 s and 14 after 1.3 s (4.3), 8 and 14
	// (3.10).
	return materials{users: some() && !g.timed, bytes: some(), twice: some(), replies: some(), cycles: some(), noWait: some(),
		global: some(), retries: some() && g.profile == leveret.RabbitMQ43,
		pending: some(), imports: g.one(8), arguments: some(), wear: g.one(10), single: some(), limits: g.one(8), listed: g.one(8) && !g.timed,
		episodes: g.one(3)}
}

// moreActions are those that the materials of the program add.
func (g *generator) moreActions() []choice {
	var a []choice
	if g.wants.users {
		a = append(a, choice{6, g.permit}, choice{3, g.permitTopic})
	}
	if g.wants.replies {
		a = append(a, choice{5, g.awaitReplies}, choice{9, g.reply})
	}
	if g.wants.imports {
		a = append(a, choice{6, g.importDefinitions})
	}
	if g.wants.arguments {
		a = append(a, choice{10, g.argument}, choice{2, g.policyKey})
	}
	if g.wants.limits {
		a = append(a, choice{3, g.limit})
	}
	if g.wants.listed {
		a = append(a, choice{3, g.listConsumers})
	}
	if g.wants.episodes {
		a = append(a, choice{8, g.episode})
	}
	if g.wants.wear {
		a = append(a, choice{2, g.wear})
	}
	return a
}

// oddNames are names of queues and exchanges, oddKeys routing keys as scripts have them, of which brokers must not lose
// a byte.
var (
	oddNames = []string{"q é", "q\x00", "amqp", strings.Repeat("n", 255)}
	oddKeys  = []string{`"\x00"`, `"k.\x01"`, `".k."`, `"k..a"`, `"é.k"`, `"` + strings.Repeat("k", 255) + `"`, `" k"`}
)

// actor is pick among channels; in a program with users one of theirs is often taken instead.
func (g *generator) actor(list ...string) string {
	if g.wants.users && g.one(3) {
		return g.pick("pat.u", "lou.v")
	}
	return g.pick(list...)
}

func (g *generator) noWait() string {
	if g.wants.noWait && g.one(3) {
		return " nowait"
	}
	return ""
}

// scope makes some of the program's basic.qos hold for the whole channel.
func (g *generator) scope() string {
	if g.wants.global && g.one(2) {
		return " global"
	}
	return ""
}

// twice returns headers of which the same key is there twice.
func (g *generator) twice() []string {
	switch g.IntN(3) {
	case 0:
		return []string{"CC=[" + g.keys() + "]", "CC=[" + g.keys() + "]"}
	case 1:
		return []string{"BCC=[" + g.keys() + "]", "BCC=[" + g.keys() + "]"}
	}
	return []string{"h=" + g.pick("1", "2"), "h=" + g.pick("1", "x")}
}

// retry returns arguments of a quorum queue that holds returned messages back.
func (g *generator) retry() string {
	if !g.wants.retries {
		return ""
	}
	least := "5000000"
	if g.timed {
		least = "1000"
	}
	args := " x-delayed-retry-type=" + g.pick("all", "failed", "returned", "disabled") + " x-delayed-retry-min=" + least
	if g.one(2) {
		args += " x-delayed-retry-max=" + g.pick(least, "9000000")
	}
	return args
}

// Users.

// userNames are those of the users of the connections pat and lou.
var userNames = map[string]string{"pat": "pat", "lou": "l.u"}

var userConnections = []string{"pat", "lou"}

func (g *generator) newUsers() {
	for _, conn := range userConnections {
		u := userNames[conn]
		g.add("user %s", u)
		g.add("permit %s configure=.* write=.* read=.*", u)
		g.add("connect %s user=%s", conn, u)
	}
}

// permit changes what a user may do. A channel remembers what it was allowed, and forgets it after an idle second: what
// remembers too much is closed, after it has shown that it remembers.
func (g *generator) permit() {
	conn := g.pick(userConnections...)
	u, actor := userNames[conn], conn+"."+connections[conn]
	probe := g.pick("publish "+g.target()+" "+g.body(), "get "+g.queue()+" no-ack", "declare queue "+g.queue()+" passive")
	g.do(actor, probe)
	if g.one(12) {
		g.add("forbid %s", u)
	} else {
		some := func() string { return g.pick(".*", ".*", "^[abx]$", "^(?!a)", `""`, "amq", "c|d|own|w") }
		g.add("permit %s configure=%s write=%s read=%s", u, some(), some(), some())
	}
	g.do(actor, probe)
	if _, ok := g.add("@%s close", actor); ok {
		g.forget(actor, false)
	}
	if g.one(4) {
		if _, ok := g.add("disconnect %s", conn); ok {
			g.forget(actor, true)
		}
	}
}

func (g *generator) permitTopic() {
	if len(g.exchangeNames) == 0 {
		return
	}
	conn := g.pick(userConnections...)
	some := func() string {
		return g.pick(".*", "^k", "a$", `""`, `"^{username}$"`, `"^{username}"`, `"^k\\..$"`, `"("`)
	}
	exchange := g.pick(g.exchange(), g.exchange(), g.exchange(), "nox")
	g.add("permit-topic %s %s write=%s read=%s", userNames[conn], exchange, some(), some())
	actor := conn + "." + connections[conn]
	if _, ok := g.add("@%s close", actor); ok {
		g.forget(actor, false)
	}
	g.do(actor, "publish "+g.exchange()+"/"+g.pick("pat", "l.u", "lxu", "k.a")+" "+g.body())
}

// limit has the virtual host take few queues, or any number, and lists its limits. A negative limit is none, but is listed.
func (g *generator) limit() {
	queues := g.pick("", " max-queues=0", " max-queues=1", " max-queues=3", " max-queues=-1", " max-queues=-1", " max-queues=-2",
		" max-queues=99999999999")
	g.add("limit-vhost%s%s", queues, g.pick("", "", "", " max-connections=-1", " max-connections=-7", " max-connections=1000"))
	g.add("limits")
	g.do("three.e", "declare queue e"+g.pick("", " x-max-length=-1", " quorum auto-delete", " x-queue-type=nonsense"))
	g.do("three.e", "delete queue e")
}

// consumerArguments are those of a consumer: in any order, and some twice.
func (g *generator) consumerArguments() string {
	if !g.wants.listed {
		return ""
	}
	args := ""
	for n := g.IntN(4); n > 0; n-- {
		args += " " + g.pick("z=1", "z=2", "a=x", "a=3", "m=true", "x-priority=1", "x-priority=2")
	}
	return args
}

func (g *generator) listConsumers() { g.add("consumers %s", g.queue()) }

// Direct reply-to.

func (g *generator) awaitReplies() {
	actor := g.actor("k1", "k2", "p")
	g.replyTags++ // their own: another consumer may have the tag of one, which leveret refuses
	g.do(actor, fmt.Sprintf("consume amq.rabbitmq.reply-to %s_r%d", channelOf(actor), g.replyTags)+g.pick(" no-ack", " no-ack", " no-ack", ""))
}

// reply answers the message that was received last, or sends and asks for names that nobody has.
func (g *generator) reply() {
	switch g.IntN(8) {
	case 0:
		g.do(g.actor("p", "g1"), "publish amq.rabbitmq.reply-to"+g.pick("", ".x", ".")+" "+g.body()+g.pick("", " mandatory=true"))
	case 1:
		g.do("three.e", "declare queue amq.rabbitmq.reply-to"+g.pick("", "", ".x")+g.pick("", " passive"))
	case 2:
		g.do("three.e", "declare queue $reply-to passive")
	default:
		g.do(g.actor("p", "g1", "k1", "k2"), "publish $reply-to "+g.body()+g.pick("", "", " mandatory=true", " reply-to=r"))
	}
}

// wear takes a message and returns it again and again.
func (g *generator) wear() {
	const actor = "w"
	queue, how := g.queue(), g.pick("reject", "nack")
	for n := 20 + g.IntN(4); n >= 0; n-- {
		if seen, ok := g.do(actor, "get "+queue); !ok || len(seen) == 0 || !strings.HasPrefix(seen[0], "m") {
			return
		}
		b := g.book(actor)
		m := b.held[len(b.held)-1]
		b.held = b.held[:len(b.held)-1]
		if _, ok := g.do(actor, how+" "+m+" requeue"); !ok {
			return
		}
	}
}

// importDefinitions imports queues, exchanges, bindings and policies over those that are there.
func (g *generator) importDefinitions() {
	queue := g.pick("a", "b", "c", "d")
	args := g.pick("{}", "{}", `{"x-max-length":1}`, `{"x-queue-type":"quorum"}`, `{"x-message-ttl":5000000}`)
	definitions := []string{
		fmt.Sprintf(`"queues":[{"name":%q,"durable":true,"auto_delete":false,"arguments":%s}]`, queue, args),
		fmt.Sprintf(`"exchanges":[{"name":%q,"type":%q,"durable":true,"auto_delete":false,"internal":false,"arguments":{}}]`,
			g.pick("x", "y", "z", "w"), g.pick("direct", "fanout", "topic", "headers")),
		fmt.Sprintf(`"bindings":[{"source":%q,"destination":%q,"destination_type":"queue","routing_key":%q,"arguments":{}}]`,
			g.pick("x", "y", "amq.fanout"), queue, g.pick("k", "k.a", "#")),
	}
	g.Shuffle(len(definitions), func(i, j int) { definitions[i], definitions[j] = definitions[j], definitions[i] })
	g.add("import `{%s}`", strings.Join(definitions[:1+g.IntN(3)], ","))
}

// Arguments.

// values are of every type that a table can hold, at the bounds of what arguments take.
var values = []string{"0", "1", "-1", "2", "255", "256", "2147483647", "-2147483648", "byte(-1)", "byte(5)", "ubyte(255)",
	"short(-3)", "ushort(7)", "uint(4294967295)", "long(5)", "long(4294967296)", "long(315360000000)",
	"long(315360000001)", "long(9223372036854775807)", "long(-9223372036854775808)", "float(1.5)", "1.5", "double(2)",
	"dec(2 314)", "true", "false", "void", "time(1000000000)", `bin("ab")`, `""`, "abc", "quorum", "classic", "drop-head",
	"reject-publish", "reject-publish-dlx", "at-least-once", "at-most-once", "all", "disabled", "lazy", "default",
	"[1 2]", "{a=1}", "[]", "{}", `"é"`}

var queueArguments = []string{"x-expires", "x-message-ttl", "x-dead-letter-exchange", "x-dead-letter-routing-key",
	"x-max-length", "x-max-length-bytes", "x-max-priority", "x-overflow", "x-queue-mode", "x-queue-version",
	"x-single-active-consumer", "x-queue-type", "x-dead-letter-strategy", "x-delivery-limit", "x-max-in-memory-length",
	"x-quorum-initial-group-size", "x-consumer-timeout", "x-delayed-retry-type", "x-delayed-retry-min",
	"x-delayed-retry-max", "x-max-age", "x-queue-leader-locator", "x-unknown"}

// queueArgumentsOfAll are those that all types of queues have.
var queueArgumentsOfAll = []string{"x-expires", "x-message-ttl", "x-dead-letter-exchange", "x-dead-letter-routing-key",
	"x-max-length", "x-max-length-bytes", "x-overflow", "x-single-active-consumer"}

// likelyValues are values of arguments that few values suit.
var likelyValues = map[string][]string{
	"x-queue-type":           {`""`, "undefined", "classic", "quorum", "nonsense"},
	"x-queue-version":        {"1", "2", "3"},
	"x-queue-mode":           {"lazy", "default"},
	"x-overflow":             {"drop-head", "reject-publish", "reject-publish-dlx"},
	"x-max-priority":         {"0", "1", "255", "256", "-1"},
	"x-queue-leader-locator": {"balanced", "client-local", "min-masters"},
	"x-delayed-retry-type":   {"all", "failed", "returned", "disabled"},
}

// argument tries one or two arguments of a queue, an exchange or a consumer on a queue and a channel of their own.
func (g *generator) argument() {
	const actor = "three.e"
	switch g.IntN(6) {
	case 0:
		g.do(actor, "declare exchange e "+g.pick("direct", "headers")+" alternate-exchange="+g.pick(values...))
		g.do(actor, "delete exchange e")
		return
	case 1:
		g.consumers++
		tag := fmt.Sprintf("e_%d", g.consumers)
		g.do(actor, "consume "+g.queue()+" "+tag+" "+g.pick("x-priority", "x-consumer-timeout", "x-cancel-on-ha-failover",
			"x-stream-offset", "x-unknown")+"="+g.pick(values...))
		g.do(actor, "close")
		return
	case 2:
		g.do(actor, "bind "+g.queue()+" amq.headers/k x-match="+g.pick(append(values, "any", "all-with-x")...)+" h="+g.pick(values...))
		g.do(actor, "publish amq.headers/k "+g.body()+" headers={h="+g.pick(values...)+"}")
		return
	}
	kind := g.pick("", "", " quorum", " exclusive", " transient")
	args := ""
	n := 1 + g.IntN(2)
	if g.profile == leveret.RabbitMQ310 {
		n = 1 // which of two that do not fit 3.10 names depends on their order, and amqp091-go sends a table in any
	}
	from := queueArguments
	for ; n > 0; n-- {
		key := g.pick(from...)
		from = queueArgumentsOfAll // of two that a type does not have the one is named that comes first
		twice := strings.Contains(args, key) || kind == " quorum" && key == "x-queue-type"
		if twice {
			continue
		}
		v := g.pick(values...)
		if likely := likelyValues[key]; likely != nil && g.one(2) {
			v = g.pick(likely...)
		}
		args += " " + key + "=" + v
	}
	if _, ok := g.do(actor, "declare queue e"+kind+args); ok {
		g.do(actor, "delete queue e")
	}
}

// policyKeys are without max-age and ha-mode: RabbitMQ's management API answers a bad one with status 500 and no
// reason.
var policyKeys = []string{"message-ttl", "expires", "max-length", "max-length-bytes", "dead-letter-exchange",
	"dead-letter-routing-key", "dead-letter-strategy", "overflow", "delivery-limit", "alternate-exchange", "queue-mode",
	"queue-version", "max-in-memory-length", "queue-leader-locator", "delayed-retry-type", "delayed-retry-min",
	"consumer-timeout", "unknown"}

// policyKey tries one key of a policy that applies to nothing.
func (g *generator) policyKey() {
	jsonValues := []string{"0", "1", "-1", "1.5", "2147483648", "315360000001", "true", `""`, "abc", "quorum", "drop-head",
		"reject-publish", "at-least-once", "all", "lazy", "[1 2]", "{a=1}", "[]", "{}"}
	g.priority++
	kind := g.pick("policy", "policy", "operator-policy")
	seen, ok := g.add("%s p%d ^nothing$ {%s=%s} priority=%d", kind, g.priority, g.pick(policyKeys...), g.pick(jsonValues...), g.priority)
	if ok && len(seen) == 0 {
		g.policyNames = append(g.policyNames, fmt.Sprintf("%s p%d", kind, g.priority))
	}
}
