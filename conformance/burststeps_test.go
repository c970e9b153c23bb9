package conformance

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// The programs of TestBursts.

// A burstProgram is what a client does: it makes queues, fills them, and then sends bursts, each in one write.
type burstProgram struct {
	queues    []burstQueue
	exchanges []burstExchange
	before    []burstPublish
	bursts    [][]burstOp
	late      bool // the client answers channel.close when it uses the channel next
	two       bool // a second connection has the channels 3 and 4
}

// A burstExchange is declared and bound to the topic exchange x, or to one before it, before the first burst.
type burstExchange struct {
	name, kind string
	internal   bool
	args       []burstArg
	to, key    string // where it leads, by which key; none: nowhere
}

// A burstQueue is declared and bound to the topic exchange x with its keys before the first burst.
type burstQueue struct {
	name   string
	quorum bool
	args   []burstArg
	keys   []string
	bound  []burstBinding // to other exchanges
}

type burstBinding struct {
	exchange, key string
	args          []burstArg
}

// A burstArg is an argument of a queue or a header; the value is a text, a number, a truth value or some texts.
type burstArg struct {
	name  string
	value any
}

// A burstPublish is a message, whose body is unlike all others'.
type burstPublish struct {
	exchange, key, body, expiration string
	priority, flags                 byte
	transient                       bool
	headers                         []burstArg
}

// A burstOp is what a client sends on one channel. Its frames may depend on what the client has been sent before the burst.
type burstOp struct {
	channel uint16
	text    string
	frames  func(*burstClient, *burstChannel) []byte
}

func (p burstProgram) String() string {
	var b strings.Builder
	for _, q := range p.queues {
		fmt.Fprintf(&b, "queue %s quorum=%t %v bound to x with %q, and %v\n", q.name, q.quorum, q.args, q.keys, q.bound)
	}
	for _, e := range p.exchanges {
		fmt.Fprintf(&b, "exchange %+v\n", e)
	}
	for _, m := range p.before {
		fmt.Fprintf(&b, "before: publish %s\n", m)
	}
	for i, burst := range p.bursts {
		fmt.Fprintf(&b, "burst %d\n", i)
		for _, op := range burst {
			fmt.Fprintf(&b, "  %d %s\n", op.channel, op.text)
		}
	}
	return b.String()
}

func (m burstPublish) String() string {
	text := fmt.Sprintf("%s to %q %q", m.body, m.exchange, m.key)
	if m.expiration != "" {
		text += " expiration " + m.expiration
	}
	if m.priority > 0 {
		text += fmt.Sprintf(" priority %d", m.priority)
	}
	if m.flags > 0 {
		text += " mandatory"
	}
	if m.transient {
		text += " transient"
	}
	if len(m.headers) > 0 {
		text += fmt.Sprintf(" %v", m.headers)
	}
	return text
}

// clone copies a program so that parts of it can be taken out.
func (p burstProgram) clone() burstProgram {
	p.queues, p.before, p.bursts = slices.Clone(p.queues), slices.Clone(p.before), slices.Clone(p.bursts)
	for i := range p.queues {
		p.queues[i].args = slices.Clone(p.queues[i].args)
		p.queues[i].keys = slices.Clone(p.queues[i].keys)
		p.queues[i].bound = slices.Clone(p.queues[i].bound)
	}
	p.exchanges = slices.Clone(p.exchanges)
	for i := range p.bursts {
		p.bursts[i] = slices.Clone(p.bursts[i])
	}
	return p
}

// smaller are the programs that lack one part of p, large parts first.
func (p burstProgram) smaller() (all []burstProgram) {
	without := func(change func(*burstProgram)) {
		c := p.clone()
		change(&c)
		all = append(all, c)
	}
	for i := range p.bursts {
		without(func(c *burstProgram) { c.bursts = slices.Delete(c.bursts, i, i+1) })
	}
	for i := range p.bursts {
		for j := range p.bursts[i] {
			without(func(c *burstProgram) { c.bursts[i] = slices.Delete(c.bursts[i], j, j+1) })
		}
	}
	for i := range p.before {
		without(func(c *burstProgram) { c.before = slices.Delete(c.before, i, i+1) })
	}
	for i, q := range p.queues {
		without(func(c *burstProgram) { c.queues = slices.Delete(c.queues, i, i+1) })
		for j := range q.args {
			without(func(c *burstProgram) { c.queues[i].args = slices.Delete(c.queues[i].args, j, j+1) })
		}
		for j := range q.keys {
			without(func(c *burstProgram) { c.queues[i].keys = slices.Delete(c.queues[i].keys, j, j+1) })
		}
		for j := range q.bound {
			without(func(c *burstProgram) { c.queues[i].bound = slices.Delete(c.queues[i].bound, j, j+1) })
		}
	}
	for i := range p.exchanges {
		without(func(c *burstProgram) { c.exchanges[i].to, c.exchanges[i].args = "", nil })
	}
	return all
}

// A burstWriter writes programs.
type burstWriter struct {
	*oddWriter
	p         burstProgram
	live      []burstQueue // those that the client uses; dead letters go to another one
	messages  int
	modes     map[uint16]string // of the channels: "", "confirm" or "tx"
	tags      []string          // of consumers, by channel and number
	first     bool              // the first burst is being made: the client has nothing to settle
	earlier   int               // consumers of earlier bursts
	published bool              // in this burst
	consumed  bool              // in this burst
}

// newBurstProgram makes the program of a seed.
func newBurstProgram(seed uint64) burstProgram {
	r := rand.New(rand.NewPCG(seed, 3))
	w := &burstWriter{oddWriter: &oddWriter{Rand: r}, modes: map[uint16]string{}}
	for i := range 2 + w.IntN(2) {
		w.p.queues = append(w.p.queues, w.queueSpec(i))
	}
	w.live = w.p.queues
	w.p.queues = append(w.p.queues[:len(w.p.queues):len(w.p.queues)], burstQueue{name: "d0"})
	for range w.IntN(5) {
		m := w.message()
		m.exchange, m.key, m.flags = "", w.queueName(), 0
		w.p.before = append(w.p.before, m)
	}
	for _, ch := range []uint16{1, 2} {
		w.modes[ch] = oneOf(w.oddWriter, "", "", "confirm", "confirm", "tx")
	}
	two := w.chance(0.1)
	for i := range 1 + w.IntN(3) {
		w.p.bursts = append(w.p.bursts, w.burst(i == 0, two))
	}
	return w.p
}

// newStepProgram makes the program of a seed whose client waits after each operation.
func newStepProgram(seed uint64) burstProgram {
	p := newBurstProgram(seed)
	r := rand.New(rand.NewPCG(seed, 4))
	w := &burstWriter{oddWriter: &oddWriter{Rand: r}, modes: map[uint16]string{}, live: p.queues[:len(p.queues)-1], messages: 100}
	p.bursts, p.late = nil, w.chance(0.7)
	w.p = p
	w.begin(1, 2)
	for range 8 + w.IntN(8) {
		w.first, w.earlier, w.published, w.consumed = len(w.tags) == 0, len(w.tags), false, false
		ch := uint16(1 + w.IntN(2))
		if w.chance(0.12) {
			w.add(oneOf(w.oddWriter, w.unknown, w.missing, w.recover)(ch)...)
		} else {
			w.add(w.ops(ch)...)
		}
	}
	return w.p
}

// add adds operations, each in a burst of its own.
func (w *burstWriter) add(ops ...burstOp) {
	for _, op := range ops {
		w.p.bursts = append(w.p.bursts, []burstOp{op})
	}
}

// begin chooses the modes of channels and has them selected.
func (w *burstWriter) begin(channels ...uint16) {
	for _, ch := range channels {
		switch w.modes[ch] = oneOf(w.oddWriter, "", "", "confirm", "tx"); w.modes[ch] {
		case "confirm":
			w.add(simpleOp(ch, "confirm.select", confirmSelect, []byte{0}))
		case "tx":
			w.add(simpleOp(ch, "tx.select", 90<<16|10))
		}
	}
}

// unknown acknowledges what the client does not hold.
func (w *burstWriter) unknown(ch uint16) []burstOp {
	return []burstOp{simpleOp(ch, "ack 99", basicAck, binary.BigEndian.AppendUint64(nil, 99), []byte{0})}
}

func (w *burstWriter) queueName() string { return w.live[w.IntN(len(w.live))].name }

// asked is a queue that answers the client itself. A quorum queue may not have heard yet of what this burst has published: see
// docs/differences.md.
func (w *burstWriter) asked() string {
	q := w.live[w.IntN(len(w.live))]
	for tries := 0; q.quorum && w.published && tries < 10; tries++ {
		q = w.live[w.IntN(len(w.live))]
	}
	if q.quorum && w.published {
		return "nope"
	}
	return q.name
}

func (w *burstWriter) queueSpec(i int) burstQueue {
	q := burstQueue{name: fmt.Sprintf("q%d", i), quorum: w.chance(0.45)}
	add := func(often float64, name string, values ...any) bool {
		if w.chance(often) {
			q.args = append(q.args, burstArg{name, values[w.IntN(len(values))]})
			return true
		}
		return false
	}
	if q.quorum {
		add(1, "x-queue-type", "quorum")
	}
	if i == 2 || w.chance(0.3) { // a plain one
		q.keys = append(q.keys, "#")
		return q
	}
	limited := add(0.5, "x-max-length", 0, 1, 1, 2, 3)
	if limited && q.quorum {
		add(0.5, "x-overflow", "reject-publish", "drop-head")
	} else if limited {
		add(0.7, "x-overflow", "reject-publish", "reject-publish-dlx", "drop-head")
	}
	add(0.2, "x-message-ttl", 0, 60000)
	if add(0.6, "x-dead-letter-exchange", "") {
		add(1, "x-dead-letter-routing-key", "d0")
		if q.quorum && slices.Contains(q.args, burstArg{"x-overflow", "reject-publish"}) {
			add(0.3, "x-dead-letter-strategy", "at-least-once")
		}
	}
	if q.quorum {
		add(0.4, "x-delivery-limit", 0, 1, 2)
	} else {
		add(0.25, "x-max-priority", 3)
	}
	add(0.2, "x-single-active-consumer", true)
	if w.chance(0.6) {
		q.keys = append(q.keys, oneOf(w.oddWriter, "a", "b"))
	}
	return q
}

func (w *burstWriter) message() burstPublish {
	w.messages++
	m := burstPublish{body: fmt.Sprintf("m%d", w.messages)}
	if w.chance(0.7) {
		m.key = w.queueName()
	} else {
		m.exchange, m.key = "x", oneOf(w.oddWriter, "a", "b")
	}
	if w.chance(0.1) {
		m.expiration = oneOf(w.oddWriter, "0", "60000")
	}
	if w.chance(0.15) {
		m.priority = byte(1 + w.IntN(3))
	}
	if w.chance(0.2) {
		m.flags = 1
		if w.chance(0.5) {
			m.exchange, m.key = "x", "nowhere"
		}
	}
	m.transient = w.chance(0.2)
	return m
}

// burst makes a burst of one or both channels. The first one begins with their modes.
func (w *burstWriter) burst(first, two bool) (ops []burstOp) {
	w.first, w.earlier, w.published, w.consumed = first, len(w.tags), false, false
	channels := []uint16{1}
	if two {
		channels = append(channels, 2)
	}
	if first {
		for _, ch := range channels {
			switch w.modes[ch] {
			case "confirm":
				ops = append(ops, simpleOp(ch, "confirm.select", confirmSelect, []byte{0}))
			case "tx":
				ops = append(ops, simpleOp(ch, "tx.select", 90<<16|10))
			}
		}
	}
	for range 2 + w.IntN(8) {
		ch := channels[w.IntN(len(channels))]
		ops = append(ops, w.ops(ch)...)
	}
	for _, ch := range channels {
		if w.modes[ch] == "tx" && w.chance(0.8) {
			ops = append(ops, simpleOp(ch, "tx.commit", 90<<16|20))
		}
	}
	return ops
}

func simpleOp(ch uint16, text string, id uint32, arguments ...[]byte) burstOp {
	return burstOp{ch, text, func(*burstClient, *burstChannel) []byte { return oddMethod(ch, id, arguments...) }}
}

// ops makes one operation of a channel, or some that belong together.
func (w *burstWriter) ops(ch uint16) []burstOp {
	kinds := []struct {
		weight int
		make   func(uint16) []burstOp
	}{
		{34, w.publishes}, {w.whenFirst(22, 12), w.consume}, {w.whenFirst(2, 5), w.cancel}, {w.whenFirst(16, 9), w.get}, {w.whenFirst(0, 24), w.settle}, {4, w.qos}, {3, w.recover},
		{3, w.purge}, {2, w.deleteQueue}, {3, w.rebind}, {3, w.declare}, {3, w.fresh}, {2, w.missing}, {1, w.end},
		{1, w.flow}, {w.often(ch, "tx", 8), w.tx},
	}
	sum := 0
	for _, k := range kinds {
		sum += k.weight
	}
	at := w.IntN(sum)
	for _, k := range kinds {
		if at -= k.weight; at < 0 {
			return k.make(ch)
		}
	}
	return nil
}

func (w *burstWriter) often(ch uint16, mode string, weight int) int {
	if w.modes[ch] == mode {
		return weight
	}
	return 0
}

func (w *burstWriter) whenFirst(first, later int) int {
	if w.first {
		return first
	}
	return later
}

func (w *burstWriter) publishes(ch uint16) (ops []burstOp) {
	w.published = true
	for range 1 + w.IntN(3) {
		ops = append(ops, publishOp(ch, w.message()))
	}
	return ops
}

func publishOp(ch uint16, m burstPublish) burstOp {
	return burstOp{ch, "publish " + m.String(), func(c *burstClient, _ *burstChannel) []byte { return c.publish(ch, m) }}
}

func (w *burstWriter) consume(ch uint16) []burstOp {
	w.consumed = true
	queue, tag := w.queueName(), fmt.Sprintf("c%d", len(w.tags))
	noAck := 0.35
	if slices.ContainsFunc(w.live, func(q burstQueue) bool { return q.name == queue && q.quorum }) {
		noAck = 0 // with a prefetch it goes on at once: see docs/differences.md
	}
	w.tags = append(w.tags, tag)
	flags := byte(0)
	text := ""
	for _, f := range []struct {
		bit   byte
		often float64
		name  string
	}{{2, noAck, " no-ack"}, {4, 0.08, " exclusive"}, {8, 0.2, " no-wait"}} {
		if w.chance(f.often) {
			flags |= f.bit
			text += f.name
		}
	}
	var args []burstArg
	if w.chance(0.1) {
		args = append(args, burstArg{"x-priority", 1})
	}
	op := burstOp{ch, fmt.Sprintf("consume %s %s%s %v", queue, tag, text, args), func(c *burstClient, _ *burstChannel) []byte {
		return oddMethod(ch, basicConsume, []byte{0, 0}, oddShort(c.name(queue)), oddShort(tag), []byte{flags}, c.table(args))
	}}
	if w.chance(0.5) {
		return append(w.qos(ch), op)
	}
	return []burstOp{op}
}

func (w *burstWriter) cancel(ch uint16) []burstOp {
	if w.earlier == 0 {
		return nil
	}
	tag := fmt.Sprintf("c%d", w.IntN(w.earlier))
	flags := oneOf[byte](w.oddWriter, 0, 0, 1)
	return []burstOp{simpleOp(ch, fmt.Sprintf("cancel %s no-wait=%d", tag, flags), basicCancel, oddShort(tag), []byte{flags})}
}

func (w *burstWriter) get(ch uint16) []burstOp {
	queue, flags := w.asked(), oneOf[byte](w.oddWriter, 0, 0, 1)
	return []burstOp{{ch, fmt.Sprintf("get %s no-ack=%d", queue, flags), func(c *burstClient, _ *burstChannel) []byte {
		return oddMethod(ch, basicGet, []byte{0, 0}, oddShort(c.name(queue)), []byte{flags})
	}}}
}

// settle settles what the client has been sent before the burst and not settled.
func (w *burstWriter) settle(ch uint16) (ops []burstOp) {
	for range 1 + w.IntN(3) {
		which, multiple := w.IntN(4), w.chance(0.1) // which tags are smaller is left to chance
		flags := byte(0)
		if multiple {
			flags = 1
		}
		id, text := uint32(basicAck), "ack"
		switch w.IntN(5) {
		case 0:
			id, text = basicNack, "nack"
		case 1:
			id, text = basicNack, "nack requeue"
			flags |= 2
		case 2:
			id, text, flags, multiple = 60<<16|90, "reject", 0, false
		case 3:
			id, text, flags, multiple = 60<<16|90, "reject requeue", 1, false
		}
		text = fmt.Sprintf("%s #%d multiple=%t", text, which, multiple)
		ops = append(ops, burstOp{ch, text, func(_ *burstClient, at *burstChannel) []byte {
			tag, ok := at.settle(which, multiple)
			if !ok {
				return nil
			}
			return oddMethod(ch, id, binary.BigEndian.AppendUint64(nil, tag), []byte{flags})
		}})
	}
	return ops
}

func (w *burstWriter) qos(ch uint16) []burstOp {
	n := byte(w.IntN(4))
	return []burstOp{simpleOp(ch, fmt.Sprintf("qos %d", n), 60<<16|10, []byte{0, 0, 0, 0, 0, n, 0})}
}

func (w *burstWriter) recover(ch uint16) []burstOp {
	if w.published || w.consumed {
		return nil // what is delivered meanwhile the channel does not know yet
	}
	return []burstOp{{ch, "recover requeue", func(_ *burstClient, at *burstChannel) []byte {
		at.held = nil
		return oddMethod(ch, 60<<16|110, []byte{1})
	}}}
}

func (w *burstWriter) purge(ch uint16) []burstOp {
	queue, flags := w.asked(), oneOf[byte](w.oddWriter, 0, 0, 1)
	return []burstOp{{ch, fmt.Sprintf("purge %s no-wait=%d", queue, flags), func(c *burstClient, _ *burstChannel) []byte {
		return oddMethod(ch, 50<<16|30, []byte{0, 0}, oddShort(c.name(queue)), []byte{flags})
	}}}
}

func (w *burstWriter) deleteQueue(ch uint16) []burstOp {
	queue, flags := w.asked(), oneOf[byte](w.oddWriter, 0, 0, 4)
	return []burstOp{{ch, fmt.Sprintf("delete %s no-wait=%d", queue, flags>>2), func(c *burstClient, _ *burstChannel) []byte {
		return oddMethod(ch, 50<<16|40, []byte{0, 0}, oddShort(c.name(queue)), []byte{flags})
	}}}
}

// rebind unbinds a queue or binds it, with a publish to the key behind it.
func (w *burstWriter) rebind(ch uint16) []burstOp {
	queue, key := w.queueName(), oneOf(w.oddWriter, "a", "b")
	text, id, noWait := "unbind", uint32(50<<16|50), []byte{}
	if w.chance(0.5) {
		text, id, noWait = "bind", 50<<16|20, []byte{oneOf[byte](w.oddWriter, 0, 1)}
	}
	op := burstOp{ch, fmt.Sprintf("%s %s %s %v", text, queue, key, noWait), func(c *burstClient, _ *burstChannel) []byte {
		return oddMethod(ch, id, []byte{0, 0}, oddShort(c.name(queue)), oddShort(c.name("x")), oddShort(key), noWait, []byte{0, 0, 0, 0})
	}}
	w.published = true
	m := w.message()
	m.exchange, m.key = "x", key
	return []burstOp{op, publishOp(ch, m)}
}

// declare asks passively for a queue.
func (w *burstWriter) declare(ch uint16) []burstOp {
	queue := w.asked()
	if w.chance(0.2) {
		queue = "nope"
	}
	return []burstOp{{ch, "declare passively " + queue, func(c *burstClient, _ *burstChannel) []byte {
		return oddMethod(ch, queueDeclare, []byte{0, 0}, oddShort(c.name(queue)), []byte{1, 0, 0, 0, 0})
	}}}
}

// fresh declares a queue of its own and publishes to it, both without waiting.
func (w *burstWriter) fresh(ch uint16) []burstOp {
	w.published, w.consumed = true, true
	queue := oneOf(w.oddWriter, "n0", "n1")
	flags := oneOf[byte](w.oddWriter, 16, 16|4, 16|8, 16|2, 0)
	op := burstOp{ch, fmt.Sprintf("declare %s flags=%05b", queue, flags), func(c *burstClient, _ *burstChannel) []byte {
		return oddMethod(ch, queueDeclare, []byte{0, 0}, oddShort(c.name(queue)), []byte{flags, 0, 0, 0, 0})
	}}
	m := w.message()
	m.exchange, m.key = "", queue
	ops := []burstOp{op, publishOp(ch, m)}
	if w.chance(0.5) {
		ops = append(ops, burstOp{ch, "consume " + queue + " n" + queue + " no-ack", func(c *burstClient, _ *burstChannel) []byte {
			return oddMethod(ch, basicConsume, []byte{0, 0}, oddShort(c.name(queue)), oddShort("n"+queue), []byte{2, 0, 0, 0, 0})
		}})
	}
	return ops
}

// missing publishes to an exchange that there is not.
func (w *burstWriter) missing(ch uint16) []burstOp {
	m := w.message()
	m.exchange = "nope"
	return []burstOp{publishOp(ch, m)}
}

func (w *burstWriter) end(ch uint16) []burstOp {
	return []burstOp{simpleOp(ch, "close", channelClose, []byte{0, 200, 0, 0, 0, 0, 0})}
}

func (w *burstWriter) flow(ch uint16) []burstOp {
	return []burstOp{simpleOp(ch, "flow", 20<<16|20, []byte{1})}
}

func (w *burstWriter) tx(ch uint16) []burstOp {
	if w.chance(0.3) {
		return []burstOp{simpleOp(ch, "tx.rollback", 90<<16|30)}
	}
	return []burstOp{simpleOp(ch, "tx.commit", 90<<16|20)}
}
