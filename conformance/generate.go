package conformance

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

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
}

// books are what the generator knows of a channel.
type books struct {
	held       []string // messages in hand
	settled    []string // in a transaction that may be rolled back
	tags       []string // of consumers there have been
	confirms   bool
	transacted bool
}

// book returns the books of a channel.
func (g *generator) book(actor string) *books {
	b := g.channels[actor]
	if b == nil {
		b = &books{}
		g.channels[actor] = b
	}
	return b
}

// compose makes the program of a seed for a release.
func compose(p leveret.Profile, seed uint64) *generator {
	g := &generator{program: newProgram(p), Rand: rand.New(rand.NewPCG(seed, 0)), declared: map[string]string{},
		channels: map[string]*books{}}
	g.timed, g.policies = g.one(4), g.one(5)
	g.wants = g.someMaterials()
	g.topology()
	for n := 12 + g.IntN(25); n > 0; n-- {
		g.choose(g.actions())()
	}
	return g
}

// one is true once in n times.
func (g *generator) one(n int) bool { return g.IntN(n) == 0 }

func (g *generator) pick(list ...string) string { return list[g.IntN(len(list))] }

// A choice is something to do, and how often among all others.
type choice struct {
	weight int
	do     func()
}

func (g *generator) choose(choices []choice) func() {
	total := 0
	for _, c := range choices {
		total += c.weight
	}
	n := g.IntN(total)
	for _, c := range choices {
		if n -= c.weight; n < 0 {
			return c.do
		}
	}
	panic("the weights do not add up")
}

func (g *generator) actions() []choice {
	a := []choice{
		{40, g.publish}, {14, g.get}, {22, g.settle}, {8, g.consume}, {2, g.cancel}, {3, g.closeChannel},
		{2, g.closeConnection},
		{2, g.purge}, {2, g.deleteQueue}, {2, g.declareQueue}, {3, g.rebind}, {2, g.recover}, {1, g.qos}, {1, g.misuse},
		{3, g.transaction},
		{1, g.deleteExchange},
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

func (g *generator) publish() {
	actor := g.actor("p", "p", "p", "p", "p", "two.o0")
	if b := g.book("p"); !b.confirms && !b.transacted && g.one(6) {
		g.add("@p confirm")
		b.confirms = true
	}
	if all := g.transactions(); len(all) > 0 && g.one(2) {
		actor = g.pick(all...)
	}
	g.do(actor, "publish "+g.target()+" "+g.body()+g.properties())
}

func (g *generator) body() string {
	g.messages++
	name := fmt.Sprintf("m%d", g.messages)
	if g.one(6) {
		name += strings.Repeat("-", 8)
	}
	return name
}

func (g *generator) target() string {
	if len(g.exchangeNames) == 0 || g.one(2) {
		return g.queue()
	}
	return g.exchange() + "/" + g.key()
}

func (g *generator) key() string {
	if g.one(3) {
		return g.queue()
	}
	if g.wants.bytes && g.one(3) {
		return g.pick(oddKeys...)
	}
	return g.pick("k", "k.a", "k.b", "a.k", "k.a.b")
}

func (g *generator) properties() string {
	var p []string
	if g.one(6) {
		p = append(p, "mandatory=true")
	}
	if g.one(6) {
		p = append(p, fmt.Sprintf("priority=%d", g.IntN(8)))
	}
	if g.one(8) {
		p = append(p, "delivery-mode="+g.pick("1", "2"))
	}
	if g.one(12) {
		p = append(p, g.pick("message-id=id", "type=t", "correlation-id=c", "content-type=text/plain", "app-id=a",
			"timestamp=1000000000", "reply-to=r", "content-encoding=gzip"))
	}
	if g.wants.replies && g.one(3) {
		p = append(p, "reply-to=amq.rabbitmq.reply-to")
	}
	if g.one(7) {
		p = append(p, "expiration="+g.expiration())
	}
	if h := g.headers(); h != "" {
		p = append(p, "headers={"+h+"}")
	}
	if len(p) == 0 {
		return ""
	}
	return " " + strings.Join(p, " ")
}

func (g *generator) expiration() string {
	if g.timed {
		return g.pick("1000", "1000", "1000", "5000000", "0")
	}
	return g.pick("5000000", "5000000", "0")
}

func (g *generator) headers() string {
	var h []string
	if g.one(6) {
		h = append(h, "h="+g.pick("1", "2", "x", "true", "long(1)", `bin("\x00\xff")`, `"\xfe\x00"`))
	}
	if g.one(10) {
		h = append(h, "CC=["+g.keys()+"]")
	}
	if g.one(12) {
		h = append(h, "BCC=["+g.keys()+"]")
	}
	if g.wants.twice && g.one(2) {
		h = append(h, g.twice()...)
	}
	if g.one(25) {
		h = append(h, "x-death="+g.clientDeath())
	}
	return strings.Join(h, " ")
}

func (g *generator) keys() string {
	keys := g.key()
	for g.one(2) {
		keys += " " + g.key()
	}
	return keys
}

func (g *generator) clientDeath() string {
	if g.one(8) {
		return g.pick("5", "[]", "[1]", "abc")
	}
	var entries []string
	for n := 1 + g.IntN(2); n > 0; n-- {
		entries = append(entries, fmt.Sprintf(`{count=long(%d) reason=%s queue=%s time=time(1000000000) exchange="" routing-keys=[%s]}`,
			1+g.IntN(4), g.pick("rejected", "expired", "maxlen"), g.queue(), g.key()))
	}
	return "[" + strings.Join(entries, " ") + "]"
}

// do runs a statement on a channel and keeps the books: what it received, and that an error lost all.
func (g *generator) do(actor, statement string) (seen []string, ok bool) {
	if seen, ok = g.add("@%s %s", actor, statement); !ok {
		return seen, false
	}
	for _, s := range seen {
		if strings.Contains(s, "closed:") {
			g.forget(actor, strings.HasPrefix(s, "connection"))
		}
	}
	for _, s := range seen {
		if word, _, _ := strings.Cut(s, " "); strings.HasPrefix(word, "m") {
			g.book(actor).held = append(g.book(actor).held, word)
		}
	}
	return seen, true
}

// forget drops the books of a channel that has ended, or of all channels of its connection.
func (g *generator) forget(actor string, connection bool) {
	for a := range g.channels {
		if a == actor || connection && connectionOf(a) == connectionOf(actor) {
			delete(g.channels, a)
		}
	}
}

// connectionOf returns the connection of a channel; empty: the first one.
func connectionOf(actor string) string {
	conn, _, ok := strings.Cut(actor, ".")
	if !ok {
		return ""
	}
	return conn
}

func (g *generator) get() {
	flags := ""
	if g.one(5) {
		flags = " no-ack"
	}
	if g.one(4) {
		flags += " left"
	}
	g.do(g.actor("g1", "g1", "g2", "k1", "k2"), "get "+g.queue()+flags)
}

// holder returns a channel with messages in hand; empty: there is none.
func (g *generator) holder() string {
	var actors []string
	for _, a := range slices.Sorted(maps.Keys(g.channels)) {
		if len(g.channels[a].held) > 0 {
			actors = append(actors, a)
		}
	}
	if len(actors) == 0 {
		return ""
	}
	return g.pick(actors...)
}

func (g *generator) settle() {
	actor := g.holder()
	if actor == "" {
		g.publish()
		return
	}
	b := g.book(actor)
	i := g.IntN(len(b.held))
	m, rest := b.held[i], slices.Delete(slices.Clone(b.held), i, i+1)
	how := g.pick("ack", "ack", "nack", "nack", "reject", "reject", "reject")
	switch {
	case how == "ack" && g.one(4), how == "nack" && g.one(3):
		rest = b.held[i+1:]
		if m += " multiple"; g.one(4) {
			m, rest = "#0 multiple", nil
		}
	}
	if how != "ack" {
		m += " " + g.pick("requeue", "discard", "discard")
	}
	if b.transacted {
		b.settled = append(b.settled, b.held...) // those that are still in hand are there twice: settling twice is an error
	}
	b.held = slices.Clone(rest)
	g.do(actor, how+" "+m)
}

func (g *generator) consume() {
	actor := g.actor("k1", "k1", "k2", "k2", "k3", "two.o1")
	if g.one(2) {
		g.do(actor, "qos "+g.pick("1", "1", "2", "3")+g.scope())
	}
	flags := ""
	if g.one(6) {
		flags += " no-ack"
	}
	if g.one(12) {
		flags += " exclusive"
	}
	if g.one(5) {
		flags += " x-priority=" + g.pick("1", "2", "-1")
	}
	g.do(actor, "consume "+g.queue()+" "+g.tag(actor)+flags+g.noWait())
}

// tag returns a tag for a new consumer: one of its own, or one that a consumer of the channel had before.
func (g *generator) tag(actor string) string {
	b := g.book(actor)
	inUse := func(tag string) bool { _, there := g.subscribed[tag]; return there }
	if old := slices.DeleteFunc(slices.Clone(b.tags), inUse); len(old) > 0 && g.one(2) {
		return g.pick(old...)
	}
	if len(b.tags) > 0 && g.one(40) {
		return g.pick(b.tags...) // in use: this ends the connection
	}
	g.consumers++
	tag := fmt.Sprintf("%s_%d", channelOf(actor), g.consumers)
	b.tags = append(b.tags, tag)
	return tag
}

// channelOf returns a channel's name on its connection.
func channelOf(actor string) string {
	if _, name, ok := strings.Cut(actor, "."); ok {
		return name
	}
	return actor
}

func (g *generator) cancel() {
	if all := g.driver.Broker.Consumers(); len(all) > 0 {
		tag := all[g.IntN(len(all))].Tag
		g.do(actorOf(tag), "cancel "+tag+g.noWait())
	}
}

func (g *generator) closeChannel() {
	actor := g.actor("g1", "g2", "k1", "k2", "k3", "two.o1")
	if _, ok := g.add("@%s close", actor); ok {
		g.forget(actor, false)
	}
}

func (g *generator) closeConnection() {
	conn := connectionOf(g.actor("two.o1"))
	if _, ok := g.add("%s %s", g.pick("disconnect", "kill"), conn); ok {
		g.forget(conn+".", true)
	}
}

func (g *generator) purge() { g.do(g.actor("t"), "purge "+g.queue()) }

func (g *generator) deleteQueue() {
	g.do(g.actor("t"), "delete queue "+g.queue()+g.pick("", "", "", " if-empty", " if-unused")+g.noWait())
}

func (g *generator) deleteExchange() {
	if len(g.exchangeNames) > 0 {
		g.do(g.actor("t"), "delete exchange "+g.exchange()+g.pick("", "", " if-unused")+g.noWait())
	}
}

func (g *generator) recover() {
	if actor := g.holder(); actor != "" {
		g.book(actor).held = nil
		g.do(actor, "recover")
	}
}

func (g *generator) qos() {
	g.do(g.pick("k1", "k2", "k3"), "qos "+g.pick("0", "1", "2", "3"))
}

// misuse does what a broker refuses.
func (g *generator) misuse() {
	actor := g.pick("g1", "g2", "k1", "t")
	switch g.IntN(6) {
	case 0:
		g.do(actor, "publish nox/k "+g.body())
	case 1:
		g.do(actor, "ack #99")
	case 2:
		g.do(actor, "get noq")
	case 3:
		g.do(actor, "bind noq "+g.target())
	case 4:
		g.do(actor, "publish "+g.queue()+" "+g.body()+" expiration=x")
	case 5:
		g.do(actor, "declare queue "+g.queue()+" x-max-length=77")
	}
}

// transactions returns the channels that have transactions.
func (g *generator) transactions() []string {
	var out []string
	for _, a := range slices.Sorted(maps.Keys(g.channels)) {
		if g.channels[a].transacted {
			out = append(out, a)
		}
	}
	return out
}

func (g *generator) transaction() {
	if g.one(3) {
		actor := g.actor("p", "g1", "k1")
		if b := g.book(actor); !b.confirms {
			b.transacted = true
			g.do(actor, "tx select")
		}
		return
	}
	all := g.transactions()
	if len(all) == 0 {
		return
	}
	actor := g.pick(all...)
	b := g.book(actor)
	if g.one(3) {
		b.held = append(b.held, b.settled...)
		g.do(actor, "tx rollback")
	} else {
		g.do(actor, "tx commit")
	}
	b.settled = nil
}

func (g *generator) advance() { g.add("advance %s", g.pick("1300ms", "1300ms", "2500ms")) }
