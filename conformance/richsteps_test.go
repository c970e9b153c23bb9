package conformance

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
)

// newRichProgram makes the program of a seed whose client waits after each operation, on two connections, with several exchanges,
// dead letters that go round, and mistakes of all kinds.
func newRichProgram(seed uint64) burstProgram {
	r := rand.New(rand.NewPCG(seed, 5))
	w := &richWriter{&burstWriter{oddWriter: &oddWriter{Rand: r}, modes: map[uint16]string{}}}
	w.p.two, w.p.late = w.chance(0.7), w.chance(0.3)
	w.exchanges()
	for i := range 2 + w.IntN(3) {
		w.p.queues = append(w.p.queues, w.richQueue(i))
	}
	w.live = w.p.queues
	w.p.queues = append(w.p.queues[:len(w.p.queues):len(w.p.queues)], burstQueue{name: "d0"})
	for range w.IntN(5) {
		m := w.richMessage()
		m.exchange, m.key, m.flags = "", w.queueName(), 0
		w.p.before = append(w.p.before, m)
	}
	channels := []uint16{1, 2}
	if w.p.two {
		channels = append(channels, 3, 4)
	}
	w.begin(channels...)
	for range 10 + w.IntN(15) {
		w.first, w.earlier, w.published, w.consumed = len(w.tags) == 0, len(w.tags), false, false
		ch := channels[w.IntN(len(channels))]
		switch {
		case w.chance(0.2):
			w.add(w.rich(ch)...)
		case w.modes[ch] == "tx" && w.chance(0.25):
			w.add(w.tx(ch)...)
		case w.chance(0.3):
			for range 1 + w.IntN(3) {
				w.add(publishOp(ch, w.richMessage()))
			}
		case w.chance(0.5 / float64(1+len(w.tags))):
			w.add(w.consume(ch)...)
		case w.chance(0.5):
			w.add(w.settle(ch)...)
		default:
			w.add(w.ops(ch)...)
		}
	}
	return w.p
}

// A richWriter writes the programs of newRichProgram.
type richWriter struct{ *burstWriter }

func (w *richWriter) exchanges() {
	for i, kind := range []string{"fanout", "direct", "headers"} {
		e := burstExchange{name: fmt.Sprintf("e%d", i), kind: kind, internal: w.chance(0.1)}
		if w.chance(0.3) {
			e.args = []burstArg{{"alternate-exchange", oneOf(w.oddWriter, "x", "e0", "e2", "nope")}}
		}
		if w.chance(0.4) {
			e.to, e.key = oneOf(w.oddWriter, "x", fmt.Sprintf("e%d", w.IntN(i+1))), oneOf(w.oddWriter, "a", "b", "", "#")
		}
		w.p.exchanges = append(w.p.exchanges, e)
	}
}

func (w *richWriter) key() string {
	return oneOf(w.oddWriter, "a", "b", "a", "b", "nowhere", "q0", "q1")
}

func (w *richWriter) richQueue(i int) burstQueue {
	q := w.queueSpec(i)
	for j, a := range q.args {
		switch a.name {
		case "x-dead-letter-exchange":
			q.args[j].value = oneOf(w.oddWriter, "", "", "x", "e0", "e1", "e2", "nope")
		case "x-dead-letter-routing-key":
			q.args[j].value = oneOf(w.oddWriter, "d0", "d0", "q0", "q1", "a", "b")
		}
	}
	if w.chance(0.2) {
		q.args = slices.DeleteFunc(q.args, func(a burstArg) bool { return a.name == "x-dead-letter-routing-key" })
	}
	for range w.IntN(3) {
		b := burstBinding{exchange: oneOf(w.oddWriter, "e0", "e1", "e2"), key: oneOf(w.oddWriter, "a", "b", "")}
		if b.exchange == "e2" {
			b.args = []burstArg{{"x-match", oneOf(w.oddWriter, "any", "all", "any-with-x", "all-with-x")}}
			for _, name := range []string{"h1", "h2", "x-h", "x-first-death-reason"} {
				if w.chance(0.4) {
					b.args = append(b.args, burstArg{name, oneOf(w.oddWriter, "v", "w", "rejected", "maxlen")})
				}
			}
		}
		q.bound = append(q.bound, b)
	}
	return q
}

func (w *richWriter) richMessage() burstPublish {
	m := w.message()
	if w.chance(0.5) {
		m.exchange, m.key = oneOf(w.oddWriter, "e0", "e1", "e2", "x"), w.key()
	}
	if w.chance(0.2) {
		m.headers = append(m.headers, burstArg{oneOf(w.oddWriter, "CC", "CC", "BCC"), oneOf(w.oddWriter, []string{"q0"}, []string{"a", "q1"}, []string{"b", "b"})})
	}
	for _, name := range []string{"h1", "h2", "x-h", "x-death", "x-first-death-queue"} {
		if w.chance(0.15) && (name[0] == 'h' || w.chance(0.3)) {
			m.headers = append(m.headers, burstArg{name, oneOf[any](w.oddWriter, "v", "w", 1, true)})
		}
	}
	return m
}

// rich makes an operation that most clients never send.
func (w *richWriter) rich(ch uint16) []burstOp {
	return oneOf(w.oddWriter, w.settlesAll, w.asksWrongly, w.consumesOddly, w.changesTopology, w.changesTopology, w.changesMode)(ch)
}

// settlesAll settles everything, or what the client does not hold.
func (w *richWriter) settlesAll(ch uint16) []burstOp {
	zero, unknown := make([]byte, 8), binary.BigEndian.AppendUint64(nil, 99)
	ops := []struct {
		text  string
		id    uint32
		tag   []byte
		flags byte
		all   bool
	}{
		{"ack all", basicAck, zero, 1, true}, {"ack 0", basicAck, zero, 0, false}, {"nack all", basicNack, zero, 1, true},
		{"nack all requeue", basicNack, zero, 3, true}, {"ack 99 multiple", basicAck, unknown, 1, false}, {"ack 99", basicAck, unknown, 0, false},
		{"reject 99 requeue", 60<<16 | 90, unknown, 1, false}, {"recover", 60<<16 | 110, nil, 1, true},
		{"recover-async", 60<<16 | 100, nil, 1, true}, {"recover without requeue", 60<<16 | 110, nil, 0, false},
	}
	op := ops[w.IntN(len(ops))]
	return []burstOp{{ch, op.text, func(_ *burstClient, at *burstChannel) []byte {
		if op.all {
			at.held = nil
		}
		return oddMethod(ch, op.id, op.tag, []byte{op.flags})
	}}}
}

// asksWrongly sends what ends the channel or the connection.
func (w *richWriter) asksWrongly(ch uint16) []burstOp {
	immediate := w.message()
	immediate.flags = 2
	return oneOf(w.oddWriter,
		[]burstOp{simpleOp(ch, "qos size", 60<<16|10, []byte{0, 0, 0, 9, 0, 2, 0})},
		[]burstOp{simpleOp(ch, "flow off", 20<<16|20, []byte{0})},
		[]burstOp{publishOp(ch, immediate)}, w.missing(ch), w.end(ch))
}

func (w *richWriter) consumesOddly(ch uint16) []burstOp {
	queue := w.queueName()
	consume := func(tag string, flags byte) burstOp {
		return namedOp(ch, fmt.Sprintf("consume %s %s flags=%d", queue, tag, flags), basicConsume, func(c *burstClient) []byte {
			return slices.Concat(oddShort(c.name(queue)), oddShort(tag), []byte{flags}, oddLong(""))
		})
	}
	return []burstOp{oneOf(w.oddWriter, consume("c0", 0), consume("exclusive", 4),
		simpleOp(ch, "cancel unknown", basicCancel, oddShort("unknown"), []byte{0}),
		simpleOp(ch, "qos global 2", 60<<16|10, []byte{0, 0, 0, 0, 0, 2, 1}))}
}

// changesTopology declares again, deletes, binds or unbinds.
func (w *richWriter) changesTopology(ch uint16) []burstOp {
	exchange, to, queue := oneOf(w.oddWriter, "e0", "e1", "e2", "x"), oneOf(w.oddWriter, "x", "e0", "e1", "nope"), w.queueName()
	kind, key := oneOf(w.oddWriter, "topic", "fanout", "direct", "headers"), oneOf(w.oddWriter, "a", "#", "")
	flags := oneOf[byte](w.oddWriter, 0, 0, 1, 2, 3)
	routes := func(c *burstClient) []byte {
		return slices.Concat(oddShort(c.name(to)), oddShort(c.name(exchange)), oddShort(key), make([]byte, 5))
	}
	declared := func(flags byte) func(*burstClient) []byte {
		return func(c *burstClient) []byte { return append(oddShort(c.name(queue)), flags, 0, 0, 0, 0) }
	}
	return []burstOp{oneOf(w.oddWriter,
		namedOp(ch, fmt.Sprintf("delete exchange %s if-unused=%d", exchange, flags&1), 40<<16|20, func(c *burstClient) []byte {
			return append(oddShort(c.name(exchange)), flags&1)
		}),
		namedOp(ch, fmt.Sprintf("delete queue %s flags=%d", queue, flags), 50<<16|40, func(c *burstClient) []byte {
			return append(oddShort(c.name(queue)), flags)
		}),
		namedOp(ch, fmt.Sprintf("bind exchange %s to %s %q", to, exchange, key), 40<<16|30, routes),
		namedOp(ch, fmt.Sprintf("unbind exchange %s from %s %q", to, exchange, key), 40<<16|40, routes),
		namedOp(ch, "declare exchange "+exchange+" "+kind, 40<<16|10, func(c *burstClient) []byte {
			return slices.Concat(oddShort(c.name(exchange)), oddShort(kind), []byte{2, 0, 0, 0, 0})
		}),
		namedOp(ch, "declare "+queue+" without arguments", queueDeclare, declared(2)),
		namedOp(ch, "declare "+queue+" exclusive", queueDeclare, declared(6)))}
}

func (w *richWriter) changesMode(ch uint16) []burstOp {
	return []burstOp{oneOf(w.oddWriter, simpleOp(ch, "tx.select", 90<<16|10), simpleOp(ch, "tx.commit", 90<<16|20),
		simpleOp(ch, "confirm.select", confirmSelect, []byte{0}))}
}

// namedOp is an operation whose arguments name things of this run, behind the two octets that AMQP reserves.
func namedOp(ch uint16, text string, id uint32, arguments func(*burstClient) []byte) burstOp {
	return burstOp{ch, text, func(c *burstClient, _ *burstChannel) []byte { return oddMethod(ch, id, []byte{0, 0}, arguments(c)) }}
}
