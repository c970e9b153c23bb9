package conformance

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/leveretmq/leveret"
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
	priority                  int                 // of the policy set last: ties are decided by chance
	held                      map[string][]string // messages in hand, by channel
	policyNames               []string
	confirming, transacting   bool
}

// compose makes the program of a seed for a release.
func compose(p leveret.Profile, seed uint64) *generator {
	g := &generator{program: newProgram(p), Rand: rand.New(rand.NewPCG(seed, 0)), declared: map[string]string{},
		held: map[string][]string{}}
	g.timed, g.policies = g.one(4), g.one(5)
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
	return a
}

func (g *generator) queue() string { return g.pick(g.queueNames...) }

func (g *generator) publish() {
	actor := "p"
	if !g.confirming && !g.transacting && g.one(6) {
		g.add("@p confirm")
		g.confirming = true
	}
	if g.one(12) {
		actor = "two.o0"
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
	return g.pick(g.exchangeNames...) + "/" + g.key()
}

func (g *generator) key() string {
	if g.one(3) {
		return g.queue()
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
			"timestamp=1000000000", "reply-to=r"))
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
		h = append(h, "h="+g.pick("1", "2", "x", "true", "long(1)"))
	}
	if g.one(10) {
		h = append(h, "CC=["+g.keys()+"]")
	}
	if g.one(12) {
		h = append(h, "BCC=["+g.keys()+"]")
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
func (g *generator) do(actor, statement string) {
	seen, ok := g.add("@%s %s", actor, statement)
	if !ok {
		return
	}
	for _, s := range seen {
		if strings.Contains(s, "closed:") {
			delete(g.held, actor)
			if actor == "p" {
				g.confirming, g.transacting = false, false
			}
		}
	}
	g.books(seen, actor)
}

// books notes the messages that a statement showed.
func (g *generator) books(seen []string, actor string) {
	for _, s := range seen {
		word, _, _ := strings.Cut(s, " ")
		if strings.HasPrefix(word, "m") {
			g.held[actor] = append(g.held[actor], word)
		}
	}
}

func (g *generator) get() {
	flags := ""
	if g.one(5) {
		flags = " no-ack"
	}
	if g.one(4) {
		flags += " left"
	}
	g.do(g.pick("g1", "g2"), "get "+g.queue()+flags)
}

func (g *generator) holder() string {
	var actors []string
	for _, a := range []string{"g1", "g2", "k1", "k2", "k3", "two.o1", "p"} {
		if len(g.held[a]) > 0 {
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
	held := g.held[actor]
	i := g.IntN(len(held))
	m := held[i]
	g.held[actor] = append(append([]string{}, held[:i]...), held[i+1:]...)
	how := g.pick("ack", "ack", "nack", "nack", "reject", "reject", "reject")
	switch {
	case how == "ack" && g.one(4), how == "nack" && g.one(3):
		g.held[actor] = append([]string{}, held[i+1:]...)
		m += " multiple"
	}
	if how != "ack" {
		m += " " + g.pick("requeue", "discard", "discard")
	}
	g.do(actor, how+" "+m)
}

func (g *generator) consume() {
	actor := g.pick("k1", "k2", "k3")
	if g.one(8) {
		actor = "two.o1"
	}
	if g.one(2) {
		g.do(actor, "qos "+g.pick("1", "1", "2", "3"))
	}
	g.consumers++
	tag := fmt.Sprintf("%s_%d", strings.TrimPrefix(actor, "two."), g.consumers)
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
	g.do(actor, "consume "+g.queue()+" "+tag+flags)
}

func (g *generator) cancel() {
	if all := g.driver.Broker.Consumers(); len(all) > 0 {
		tag := all[g.IntN(len(all))].Tag
		g.do(actorOf(tag), "cancel "+tag)
	}
}

func (g *generator) closeChannel() {
	actor := g.pick("g1", "g2", "k1", "k2", "k3", "two.o1")
	if _, ok := g.add("@%s close", actor); ok {
		delete(g.held, actor)
	}
}

func (g *generator) closeConnection() {
	if _, ok := g.add("%s two", g.pick("disconnect", "kill")); ok {
		delete(g.held, "two.o1")
	}
}

func (g *generator) purge() { g.do("t", "purge "+g.queue()) }

func (g *generator) deleteQueue() {
	g.do("t", "delete queue "+g.queue()+g.pick("", "", "", " if-empty", " if-unused"))
}

func (g *generator) deleteExchange() {
	if len(g.exchangeNames) > 0 {
		g.do("t", "delete exchange "+g.pick(g.exchangeNames...)+g.pick("", "", " if-unused"))
	}
}

func (g *generator) recover() {
	if actor := g.holder(); actor != "" {
		g.do(actor, "recover")
		delete(g.held, actor)
	}
}

func (g *generator) qos() { g.do(g.pick("k1", "k2", "k3"), "qos "+g.pick("0", "1", "2", "3")) }

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

func (g *generator) transaction() {
	if g.confirming {
		return
	}
	switch {
	case !g.transacting && !g.one(3):
		return
	case !g.transacting:
		g.do("p", "tx select")
		g.transacting = true
	case g.one(3):
		g.do("p", "tx rollback")
	default:
		g.do("p", "tx commit")
	}
}

func (g *generator) advance() { g.add("advance %s", g.pick("1300ms", "1300ms", "2500ms")) }
