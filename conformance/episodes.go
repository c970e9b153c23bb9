package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

// An episode is a handful of statements that belong together, on queues and an exchange of their own: what single
// actions would hardly ever bring together. Their order and their details are left to chance.

// Episodes work on the queues e and f and on the exchange e, over the channels of the connection three.
const (
	episodeQueue  = "e"
	episodeLetter = "f" // gets the dead letters
	episodeActor  = "three.e1"
	episodeOther  = "three.e2"
	episodeSender = "three.e3" // publishes in transactions
)

// episode plays one, shows what has died and what is left in their order, and takes away what it has made.
func (g *generator) episode() {
	all := []func(){g.hands, g.hands, g.hands, g.causes, g.settlements, g.twiceBound, g.namesOfBytes, g.wholeNumbers, g.twiceImported, g.replyNames,
		g.oneChannel, g.oneChannel, g.lostVHost, g.lostUser, g.channelWindow, g.channelWindow,
		g.diesTwice, g.diesTwice}
	if g.profile == leveret.RabbitMQ310 {
		all = append(all, g.emptyHistory)
	}
	if g.timed {
		all = append(all, g.heldPastExpiry)
	}
	if g.wants.users {
		all = append(all, g.topicPermissions, g.topicPermissions, g.topicPermissions)
	}
	all[g.IntN(len(all))]()
	// A channel must not hold what is of another queue of the name: 3.10 crashes when the channel settles it.
	for _, actor := range []string{episodeActor, episodeOther, episodeSender} {
		if _, ok := g.add("@%s close", actor); ok {
			g.forget(actor, false)
		}
	}
	for _, q := range g.queues() {
		if q.Name == episodeLetter || q.Name == episodeQueue {
			g.do("z", "drain "+q.Name)
		}
	}
	g.do("t", "delete queue "+episodeQueue)
	g.do("t", "delete queue "+episodeLetter)
	g.do("t", "delete exchange "+episodeQueue)
}

// surrogateName is a queue's name, as scripts have it, that only 3.10 takes for UTF-8.
const surrogateName = `"n\xed\xa0\x80"`

// some calls one of the functions so many times.
func (g *generator) some(times int, of ...func()) {
	for range times {
		of[g.IntN(len(of))]()
	}
}

// publishTo publishes a few messages to the episode's queue.
func (g *generator) publishTo(times int, properties ...string) {
	for range times {
		g.do(episodeActor, "publish "+episodeQueue+" "+g.body()+g.pick(append(properties, "")...))
	}
}

// hands has several consumers and getters hold messages of one queue, and brings back what they hold at once. What comes
// back may then die of several causes at once: of the length, of the delivery limit, and of age.
func (g *generator) hands() {
	kind, limits := g.pick("", " quorum"), g.pick("", "", " x-max-length=1", " x-max-length=2", " x-max-length=3")
	switch {
	case kind == " quorum" && g.one(2):
		limits += g.pick(" x-delivery-limit=0", " x-delivery-limit=1", " x-delivery-limit=1", " x-delivery-limit=-1")
	case kind == "" && g.one(6):
		limits += " x-max-priority=2"
	}
	g.do("t", "declare queue "+episodeLetter)
	g.do("t", "declare queue "+episodeQueue+kind+limits+` x-dead-letter-exchange="" x-dead-letter-routing-key=`+episodeLetter)
	actor := func() string { return g.pick(episodeActor, episodeActor, episodeActor, episodeOther) }
	ages := g.timed && g.one(2)
	publish := func() {
		if ages && g.one(3) {
			g.publishTo(1, " expiration=1000")
		} else {
			g.publishTo(1+g.IntN(2), " priority=1")
		}
	}
	get := func() { g.do(actor(), "get "+episodeQueue) }
	mayReuse := kind == "" || g.profile == leveret.RabbitMQ43
	consume := func() {
		a := actor()
		tag := g.newTag(a)
		if mayReuse {
			tag = g.tag(a)
		}
		g.do(a, "qos "+g.pick("1", "2", "3"))
		g.do(a, "consume "+episodeQueue+" "+tag)
	}
	again := func() { g.replaceConsumer(mayReuse) }
	if g.one(4) {
		g.raiseTags(episodeActor)
	}
	g.some(5+g.IntN(6), publish, publish, get, get, consume, again)
	if ages {
		g.some(g.IntN(2), g.advance)
	}
	g.bringBack(actor())
	g.some(g.IntN(6), publish, get, consume, again, func() { g.bringBack(actor()) })
}

// raiseTags brings the delivery tags of a channel near to where they have one digit more: a quorum queue knows what basic.get took by
// the digits.
func (g *generator) raiseTags(actor string) {
	for range 6 + g.IntN(3) {
		g.publishTo(1)
		g.do(actor, "get "+episodeQueue+" no-ack")
	}
}

// causes fills a quorum queue behind what a consumer holds, some of it for the second time: what comes back may die of the
// delivery limit, of the length, and of age, in one step.
func (g *generator) causes() {
	g.do("t", "declare queue "+episodeLetter)
	g.do("t", "declare queue "+episodeQueue+" quorum"+g.pick(" x-max-length=1", " x-max-length=2", " x-max-length=3")+
		g.pick(" x-delivery-limit=0", " x-delivery-limit=1", " x-delivery-limit=1")+` x-dead-letter-exchange="" x-dead-letter-routing-key=`+episodeLetter)
	age := g.timed && g.one(2)
	publish := func() {
		if age {
			g.publishTo(1, " expiration=1000")
		} else {
			g.publishTo(1)
		}
	}
	tag := g.newTag(episodeActor)
	g.do(episodeActor, "consume "+episodeQueue+" "+tag)
	g.some(1+g.IntN(2), publish)
	g.bringBack(episodeActor)
	g.some(1+g.IntN(3), publish)
	g.do(episodeActor, g.pick("cancel "+tag, "cancel "+tag, "qos 1"))
	g.some(1+g.IntN(3), publish)
	if age {
		g.advance()
	}
	g.bringBack(episodeActor)
}

// replaceConsumer cancels a consumer of the episode, and may make another with its tag. RabbitMQ 3.10's channel crashes
// later when a quorum queue has seen a tag again.
func (g *generator) replaceConsumer(mayReuse bool) {
	for _, c := range g.driver.Broker.Consumers() {
		if c.Queue != episodeQueue {
			continue
		}
		actor := actorOf(c.Tag)
		g.do(actor, "cancel "+c.Tag)
		if mayReuse && g.one(2) {
			g.do(actor, "qos "+g.pick("1", "2"))
			g.do(actor, "consume "+episodeQueue+" "+c.Tag)
		}
		return
	}
}

// bringBack ends the hold of one channel on all that it has, or on most.
func (g *generator) bringBack(actor string) {
	b := g.book(actor)
	if len(b.held) == 0 {
		return
	}
	switch g.IntN(7) {
	case 0:
		b.held = nil
		g.do(actor, "recover")
	case 6: // some of them, by their numbers
		b.held = nil
		g.do(actor, fmt.Sprintf(g.pick("ack #%d multiple", "nack #%d multiple requeue", "nack #%d multiple discard"), 1+g.IntN(b.received)))
	case 1:
		if _, ok := g.add("@%s close", actor); ok {
			g.forget(actor, false)
		}
	case 2:
		b.held = nil
		g.do(actor, "nack #0 multiple discard")
	default:
		last := b.held[len(b.held)-1]
		if g.one(2) {
			last = "#0"
		}
		b.held = nil
		g.do(actor, "nack "+last+" multiple requeue")
	}
}

// settlements settles messages of one queue in a transaction, in any order and kind.
func (g *generator) settlements() {
	g.do("t", "declare queue "+episodeLetter)
	g.do("t", "declare queue "+episodeQueue+g.pick("", " quorum")+g.pick("", " x-max-length=2", " x-max-length=4")+
		` x-dead-letter-exchange="" x-dead-letter-routing-key=`+episodeLetter)
	n := 3 + g.IntN(3)
	g.publishTo(n)
	g.do(episodeOther, "tx select")
	g.book(episodeOther).transacted = true
	var held []string
	for range n {
		g.do(episodeOther, "get "+episodeQueue)
	}
	held = slices.Clone(g.book(episodeOther).held)
	g.publishTo(g.IntN(3))
	g.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
	kinds := []string{"ack %s", "reject %s discard", "reject %s requeue", "nack %s discard", "nack %s requeue"}
	kind := g.pick(kinds...)
	for _, m := range held {
		if g.one(3) {
			kind = g.pick(kinds...)
		}
		g.do(episodeOther, fmt.Sprintf(kind, m))
	}
	g.book(episodeOther).held = nil
	g.do(episodeOther, g.pick("tx commit", "tx commit", "tx commit", "tx rollback"))
}

// twiceBound binds with arguments of which a key is there twice, or whose tables differ in their order only.
func (g *generator) twiceBound() {
	g.do("t", "declare exchange e headers")
	g.do("t", "declare queue "+episodeQueue)
	g.do("t", "declare queue "+episodeLetter)
	variants := []string{" h=1", " h=1 h=1", " h=1 h=2", " h=2 h=1", " h=1 k=1", " k=1 h=1", " k=1 h=1 h=1"}
	if g.one(3) {
		variants = []string{" h={a=1 b=2}", " h={b=2 a=1}", " h=[{a=1 b=2}]", " h=[{b=2 a=1}]"}
	}
	args := func() string { return g.pick("", "", " x-match=any", " x-match=all") + g.pick(variants...) }
	bind := func() { g.do("t", "bind "+g.pick(episodeQueue, episodeLetter)+" e/k"+args()) }
	unbind := func() { g.do("t", "unbind "+g.pick(episodeQueue, episodeLetter)+" e/k"+args()) }
	publish := func() {
		g.do(episodeActor, "publish e/k "+g.body()+" headers={"+g.pick("h=1", "h=2", "h=1 h=2", "h=1 h=1", "k=1", "h=1 k=1", "h={a=1 b=2}")+"}")
	}
	bind()
	g.some(5+g.IntN(6), bind, bind, unbind, publish, publish, publish)
	publish()
}

// namesOfBytes publishes with names that are no UTF-8, and has terms with other characters than those of ASCII in error
// texts.
func (g *generator) namesOfBytes() {
	odd := func() string { return g.pick(`"\xff"`, `"nox\xfe"`, `"é"`, `"\xc3"`, `"\u0394"`, `"n\xed\xa0\x80"`) }
	g.do("t", "declare queue "+episodeQueue+" x-dead-letter-exchange="+g.pick(`"é"`, `"\u0394"`, "plain"))
	if g.profile == leveret.RabbitMQ310 {
		g.do(episodeOther, "declare queue "+surrogateName)
		g.do(episodeOther, "delete queue "+surrogateName)
	}
	g.some(2+g.IntN(3),
		func() {
			exchange := odd()
			if g.profile == leveret.RabbitMQ43 {
				exchange = g.pick(`"é"`, `"\u0394"`) // the listener writes others into texts in Latin-1, the Go API as they are
			}
			g.do(episodeOther, "publish "+exchange+"/k "+g.body())
		},
		func() { g.do(episodeOther, "publish amq.direct/"+odd()+" "+g.body()+g.pick("", " mandatory=true")) },
		func() {
			g.do(episodeOther, "declare queue "+episodeQueue+" x-dead-letter-exchange="+g.pick(`"ü"`, `"\u0395"`, "other"))
		},
		func() { g.do(episodeOther, "publish e "+g.body()+" expiration="+g.pick(`"é"`, `"5 "`, `"\u0394"`)) })
}

// wholeNumbers sets policies whose numbers are written with a fraction, or are very large.
func (g *generator) wholeNumbers() {
	g.do("t", "declare queue "+episodeQueue)
	g.priority++
	key := g.pick("max-length", "max-length-bytes", "message-ttl", "delivery-limit")
	number := g.pick("1.0", "2.0", "double(1)", "1.5", "long(9223372036854775807)", "0")
	if key == "message-ttl" && strings.HasPrefix(number, "long") {
		number = "1.0" // a classic queue of RabbitMQ crashes over a time that no timer takes
	}
	name := fmt.Sprintf("p%d", g.priority)
	kind := g.pick("policy", "policy", "operator-policy")
	seen, ok := g.add("%s %s ^e$ {%s=%s} priority=%d apply-to=queues", kind, name, key,
		number, g.priority)
	g.publishTo(2)
	if ok && len(seen) == 0 {
		g.add("clear-%s %s", kind, name)
	}
}

// twiceImported imports definitions with a key of a JSON object twice.
func (g *generator) twiceImported() {
	args := g.pick(`{"x-max-length":1,"x-max-length":5}`, `{"x-max-length":5,"x-max-length":1}`, `{"x-max-length":2}`)
	g.add("import `%s`", fmt.Sprintf(`{"queues":[{"name":"e","durable":true,"auto_delete":false,"arguments":%s}]}`, args))
	if g.one(2) {
		number := g.pick("1", "99999999999999999999", "1.0", "1e0", "-99999999999999999999")
		g.add("import `%s`", fmt.Sprintf(`{"policies":[{"name":"imported","pattern":"^e$","apply-to":"queues","priority":0,"definition":{"max-length":%s}}]}`,
			number))
		g.publishTo(3)
		g.add("clear-policy imported")
	}
	g.publishTo(3)
}

// replyNames uses names that look like those of direct reply-to.
func (g *generator) replyNames() {
	name := func() string {
		return "amq.rabbitmq.reply-to" + g.pick("", ".x", ".", "x", ".g1h2.k", ".AAAA.BBBB")
	}
	consumers := 0
	g.some(2+g.IntN(4),
		func() { g.do(episodeOther, "declare queue "+name()+g.pick("", " passive")) },
		func() {
			consumers++
			g.do(episodeOther, fmt.Sprintf("consume %s e2_n%d_%d no-ack", name(), g.messages, consumers))
		},
		func() { g.do(episodeOther, "publish "+name()+" "+g.body()+g.pick("", " mandatory=true")) },
		func() { g.do(episodeOther, g.pick(`declare queue "" passive`, `purge ""`)) })
}

// channelWindow has one window for a channel, with messages of basic.get in it and without, and changes it.
func (g *generator) channelWindow() {
	g.do("t", "declare queue "+episodeQueue)
	get := func() { g.do(episodeActor, "get "+episodeQueue) }
	publish := func() { g.publishTo(1 + g.IntN(2)) }
	window := func() { g.do(episodeActor, "qos "+g.pick("0", "1", "2", "3")+g.pick(" global", " global", "")) }
	consume := func() { g.do(episodeActor, "consume "+episodeQueue+" "+g.tag(episodeActor)) }
	settle := func() {
		if b := g.book(episodeActor); len(b.held) > 0 {
			i := g.IntN(len(b.held))
			m := b.held[i]
			b.held = slices.Delete(slices.Clone(b.held), i, i+1)
			g.do(episodeActor, g.pick("ack "+m, "ack "+m, "reject "+m+" requeue"))
		}
	}
	publish()
	window()
	g.some(7+g.IntN(7), publish, publish, get, get, window, consume, settle)
}

// diesTwice has what one queue has dead-lettered die again in the next, and perhaps come back: at least once from the first queue, in
// either way from the second.
func (g *generator) diesTwice() {
	const letters = " x-dead-letter-exchange="
	kept := " quorum x-overflow=reject-publish x-dead-letter-strategy=at-least-once"
	limits := func() string { return g.pick("", "", " x-max-length=1", " x-max-length=2", " x-delivery-limit=1") }
	ages := ""
	if g.timed {
		ages = g.pick("", " x-message-ttl=1000")
	}
	exchange := func() { g.do("t", "declare exchange e "+g.pick("direct", "fanout")) }
	bind := func() { g.do("t", "bind "+g.pick(episodeLetter, episodeLetter, episodeQueue)+" e/"+episodeQueue) }
	g.do("t", "declare queue "+episodeQueue+kept+limits()+letters+g.pick(`"" x-dead-letter-routing-key=f`, `"" x-dead-letter-routing-key=f`, "e", "z"))
	second := episodeLetter
	switch g.IntN(4) {
	case 0:
		second += g.pick("", " x-max-length=1", " x-max-length=1 x-overflow=reject-publish", " x-max-length=1 x-overflow=reject-publish-dlx")
	case 1:
		second += " quorum" + limits()
	default:
		second += kept + limits()
	}
	back := g.pick(`"" x-dead-letter-routing-key=e`, `"" x-dead-letter-routing-key=e`, `"" x-dead-letter-routing-key=f`, "e", "z")
	if _, ok := g.do("t", "declare queue "+second+ages+letters+back); !ok { // the name was that of a queue of the other type
		return
	}
	if g.one(2) {
		exchange()
		g.some(1+g.IntN(2), bind)
	}
	queue := func() string { return g.pick(episodeQueue, episodeLetter) }
	publish := func() { g.publishTo(1+g.IntN(2), " headers={CC=[f]}", " delivery-mode=2") }
	get := func() { g.do(g.pick(episodeActor, episodeOther), "get "+queue()) }
	consume := func() {
		g.do(episodeOther, "qos "+g.pick("1", "2"))
		g.do(episodeOther, "consume "+queue()+" "+g.newTag(episodeOther))
	}
	settle := func(ways ...string) {
		actor := g.pick(episodeActor, episodeOther)
		if b := g.book(actor); len(b.held) > 0 {
			m := b.held[0]
			b.held = slices.Clone(b.held[1:])
			g.do(actor, fmt.Sprintf(g.pick(ways...), m))
		}
	}
	die := func() {
		get()
		settle("reject %s discard", "nack %s discard")
	}
	giveBack := func() { settle("reject %s requeue") }
	publish()
	of := []func(){publish, publish, get, die, die, die, die, die, giveBack, consume, exchange, bind,
		func() { g.do("t", "purge "+queue()) },
		func() { g.do("t", "count "+queue()) },
		func() { g.do("t", "delete exchange e") }}
	if g.timed {
		of = append(of, g.advance, g.advance)
	}
	g.some(8+g.IntN(10), of...)
	g.do("z", "purge "+queue())
}

// emptyHistory dead-letters a message with a history that a client made up, and shows the order of the fields.
func (g *generator) emptyHistory() {
	g.do("t", "declare queue "+episodeLetter)
	g.do("t", "declare queue "+episodeQueue+g.pick("", " quorum")+` x-dead-letter-exchange="" x-dead-letter-routing-key=`+episodeLetter)
	g.add("field-order")
	g.do(episodeActor, "publish e "+g.body()+" headers={x-death="+g.pick("[]", "[]", "[{queue=e reason=rejected count=long(2)}]", "[{queue=e reason=rejected}]", "[{}]", "5")+"}")
	g.do(episodeActor, "get e")
	if b := g.book(episodeActor); len(b.held) > 0 {
		m := b.held[len(b.held)-1]
		b.held = b.held[:len(b.held)-1]
		g.do(episodeActor, "reject "+m+" discard")
	}
	g.do("z", "drain f")
}

// heldPastExpiry has a quorum queue be idle for longer than it may while a message of it is in somebody's hands.
func (g *generator) heldPastExpiry() {
	g.do("t", "declare queue e quorum x-expires=1700")
	g.publishTo(2)
	if g.one(2) {
		g.do(episodeOther, "get e")
	} else {
		tag := g.tag(episodeOther)
		g.do(episodeOther, "qos 1")
		g.do(episodeOther, "consume e "+tag)
		g.do(episodeOther, "cancel "+tag)
	}
	g.add("advance 2500ms")
	g.add("advance 6000ms")
	g.do("t", "declare queue e passive")
}

// topicPermissions changes what a user may do with the keys of a topic exchange, while a channel remembers what was
// allowed, and deletes the exchange.
func (g *generator) topicPermissions() {
	conn := g.pick(userConnections...)
	u, actor := userNames[conn], conn+"."+connections[conn]
	g.add("permit %s configure=.* write=.* read=.*", u)
	g.do("t", "declare exchange e topic")
	g.do("t", "declare queue e")
	g.do("t", "bind e e/#")
	expression := func() string { return g.pick(".*", "^k", `""`, "a$", `"("`) }
	probe := func() { g.do(actor, "publish e/"+g.pick("k", "k", "a")+" "+g.body()) }
	g.some(5+g.IntN(5), probe, probe,
		func() {
			g.add("permit-topic %s %s write=%s read=%s", u, scenario.Quote(g.pick("e", "e", "e", "nox")), expression(), g.pick(".*", ".*", `"("`))
		},
		func() {
			g.do("t", "delete exchange e")
			g.do("t", "declare exchange e topic")
			g.do("t", "bind e e/#")
		})
	if _, ok := g.add("@%s close", actor); ok {
		g.forget(actor, false)
	}
}
