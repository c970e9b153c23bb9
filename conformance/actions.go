package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leveretmq/leveret/internal/scenario"
)

// What programs do: each of these functions runs a statement or two.

func (g *generator) publish() {
	actor := g.actor("p", "p", "p", "p", "p", "two.o0")
	if b := g.book("p"); !b.confirms && !b.transacted && g.one(6) {
		g.add("@p confirm")
		b.confirms = true
	}
	if all := g.transactions(); len(all) > 0 && g.one(2) {
		actor = g.pick(all...)
	} else if g.one(4) {
		g.publishTogether(actor)
		return
	}
	g.do(actor, "publish "+g.target()+" "+g.body()+g.properties())
}

// publishTogether sends several messages, and waits for their confirms when all are sent.
func (g *generator) publishTogether(actor string) {
	bodies := make([]string, 2+g.IntN(4))
	for i := range bodies {
		bodies[i] = g.body()
	}
	properties := g.properties()
	for strings.Contains(properties, "mandatory") {
		properties = g.properties()
	}
	g.do(actor, "publish "+g.target()+" "+strings.Join(bodies, " ")+properties+" together")
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
	return g.pick("5000000", "5000000", "0", `"0005000000"`)
}

func (g *generator) headers() string {
	var h []string
	if g.one(6) {
		h = append(h, "h="+g.pick("1", "2", "x", "true", "long(1)", `bin("\x00\xff")`, `"\xfe\x00"`,
			"1.0", "float(1)", "time(1000)", "long(1000)", "long(1000000)"))
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
		for _, was := range b.held {
			if !slices.Contains(rest, was) {
				b.settled = append(b.settled, was)
			}
		}
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
	if g.one(5) || g.wants.single && g.one(2) {
		flags += " x-priority=" + g.pick("1", "2", "-1")
	}
	queue := g.queue()
	g.do(actor, "consume "+queue+" "+g.tag(actor)+flags+g.consumerArguments()+g.noWait())
	if g.wants.listed && g.one(2) {
		g.add("consumers %s", queue)
	}
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
	switch g.IntN(10) {
	case 0:
		g.do(actor, "publish nox/k "+g.body()+g.pick("", " expiration=x", " user-id=x", " headers={CC=5}"))
	case 6:
		g.do(actor, "publish "+g.target()+" "+g.body()+g.pick(" user-id=x expiration=x", " headers={CC=5 BCC=x}", " delivery-mode=3",
			" expiration=x headers={CC=5}", " user-id=guest", " delivery-mode=0", " reply-to=amq.rabbitmq.reply-to headers={CC=5}"))
	case 7:
		g.do("three.e", "declare exchange e "+g.pick("nonsense", "x-local-random", "x-modulus-hash", "x-random", "direct"))
		g.do("three.e", "delete exchange e")
	case 8:
		g.do("three.e", "declare exchange "+g.pick("amq.direct fanout", "amq.new direct", `"" direct`, "amq.direct direct"))
	case 1:
		g.do(actor, "ack #99")
	case 2:
		g.do(actor, "get noq")
	case 9:
		g.do("three.e", "get "+scenario.Quote(strings.Repeat("é", 110+g.IntN(18)))) // a reply text that is too long
	case 3:
		g.do(actor, "bind noq "+g.target())
	case 4:
		g.do(actor, "publish "+g.queue()+" "+g.body()+" expiration=x")
	case 5:
		g.do(actor, "declare queue "+g.queue()+" x-max-length=77")
	}
}

func (g *generator) transaction() {
	all := g.transactions()
	if len(all) == 0 || g.one(6) {
		actor := g.actor("p", "g1", "g1", "k1", "k2")
		if b := g.book(actor); !b.confirms {
			b.transacted = true
			g.do(actor, "tx select")
		}
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
