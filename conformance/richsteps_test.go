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
	add := func(ops []burstOp) {
		for _, op := range ops {
			w.p.bursts = append(w.p.bursts, []burstOp{op})
		}
	}
	for _, ch := range channels {
		switch w.modes[ch] = oneOf(w.oddWriter, "", "", "confirm", "tx"); w.modes[ch] {
		case "confirm":
			add([]burstOp{simpleOp(ch, "confirm.select", confirmSelect, []byte{0})})
		case "tx":
			add([]burstOp{simpleOp(ch, "tx.select", 90<<16|10)})
		}
	}
	for range 10 + w.IntN(15) {
		w.first, w.earlier, w.published, w.consumed = len(w.tags) == 0, len(w.tags), false, false
		ch := channels[w.IntN(len(channels))]
		switch {
		case w.chance(0.2):
			add(w.rich(ch))
		case w.modes[ch] == "tx" && w.chance(0.25):
			add(w.tx(ch))
		case w.chance(0.3):
			for range 1 + w.IntN(3) {
				add([]burstOp{publishOp(ch, w.richMessage())})
			}
		case w.chance(0.5 / float64(1+len(w.tags))):
			add(w.consume(ch))
		case w.chance(0.5):
			add(w.settle(ch))
		default:
			add(w.ops(ch))
		}
	}
	return w.p
}

// A richWriter writes the programs of newRichProgram.
type richWriter struct{ *burstWriter }

func (w *richWriter) exchanges() {
	for i, kind := range []string{"fanout", "direct", "headers"} {
		e := burstExchange{name: fmt.Sprintf("e%d", i), kind: kind, internal: w.chance(0.1)}
		switch {
		case w.chance(0.3):
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
	tag := func(id uint32, text string, n uint64, flags ...byte) func() []burstOp {
		return func() []burstOp {
			return []burstOp{{ch, fmt.Sprintf("%s %d %v", text, n, flags), func(_ *burstClient, at *burstChannel) []byte {
				if n == 0 && flags[0]&1 != 0 {
					at.held = nil
				}
				return oddMethod(ch, id, binary.BigEndian.AppendUint64(nil, n), flags)
			}}}
		}
	}
	named := func(text string, id uint32, arguments func(c *burstClient) []byte) []burstOp {
		return []burstOp{{ch, text, func(c *burstClient, _ *burstChannel) []byte { return oddMethod(ch, id, []byte{0, 0}, arguments(c)) }}}
	}
	exchange := oneOf(w.oddWriter, "e0", "e1", "e2", "x")
	queue := w.queueName()
	flags := oneOf[byte](w.oddWriter, 0, 0, 1, 2, 3)
	kinds := []func() []burstOp{
		tag(basicAck, "ack", 0, 1), tag(basicAck, "ack", 0, 0), tag(basicNack, "nack", 0, 1), tag(basicNack, "nack", 0, 3),
		tag(basicAck, "ack", 99, 1), tag(60<<16|90, "reject", 98, 1),
		func() []burstOp { return w.unknown(ch) },
		func() []burstOp {
			return []burstOp{simpleOp(ch, "qos global 2", 60<<16|10, []byte{0, 0, 0, 0, 0, 2, 1})}
		},
		func() []burstOp {
			return []burstOp{simpleOp(ch, "qos size", 60<<16|10, []byte{0, 0, 0, 9, 0, 2, 0})}
		},
		func() []burstOp {
			return named("consume "+queue+" tag c0 again", basicConsume, func(c *burstClient) []byte {
				return slices.Concat(oddShort(c.name(queue)), oddShort("c0"), []byte{0}, oddLong(""))
			})
		},
		func() []burstOp {
			return named("consume exclusively "+queue, basicConsume, func(c *burstClient) []byte {
				return slices.Concat(oddShort(c.name(queue)), oddShort("exclusive"), []byte{4}, oddLong(""))
			})
		},
		func() []burstOp {
			m := w.message()
			m.flags = 2
			return []burstOp{publishOp(ch, m)}
		},
		func() []burstOp { return []burstOp{simpleOp(ch, "flow off", 20<<16|20, []byte{0})} },
		func() []burstOp {
			return []burstOp{simpleOp(ch, "recover without requeue", 60<<16|110, []byte{0})}
		},
		func() []burstOp {
			return []burstOp{{ch, "recover-async requeue", func(_ *burstClient, at *burstChannel) []byte {
				at.held = nil
				return oddMethod(ch, 60<<16|100, []byte{1})
			}}}
		},
		func() []burstOp {
			return named(fmt.Sprintf("delete exchange %s if-unused=%d", exchange, flags&1), 40<<16|20, func(c *burstClient) []byte {
				return append(oddShort(c.name(exchange)), flags&1)
			})
		},
		func() []burstOp {
			return named(fmt.Sprintf("delete queue %s flags=%d", queue, flags), 50<<16|40, func(c *burstClient) []byte {
				return append(oddShort(c.name(queue)), flags)
			})
		},
		func() []burstOp {
			to, key, id, text := oneOf(w.oddWriter, "x", "e0", "e1", "nope"), oneOf(w.oddWriter, "a", "#", ""), uint32(40<<16|30), "bind"
			if flags&1 != 0 {
				id, text = 40<<16|40, "unbind"
			}
			return named(fmt.Sprintf("%s exchange %s to %s %q", text, to, exchange, key), id, func(c *burstClient) []byte {
				return slices.Concat(oddShort(c.name(to)), oddShort(c.name(exchange)), oddShort(key), make([]byte, 5))
			})
		},
		func() []burstOp {
			kind := oneOf(w.oddWriter, "topic", "fanout", "direct", "headers")
			return named("declare exchange "+exchange+" "+kind, 40<<16|10, func(c *burstClient) []byte {
				return slices.Concat(oddShort(c.name(exchange)), oddShort(kind), []byte{2}, make([]byte, 4))
			})
		},
		func() []burstOp {
			return named("declare "+queue+" without arguments", queueDeclare, func(c *burstClient) []byte {
				return slices.Concat(oddShort(c.name(queue)), []byte{2, 0, 0, 0, 0})
			})
		},
		func() []burstOp {
			return named("declare "+queue+" exclusive", queueDeclare, func(c *burstClient) []byte {
				return slices.Concat(oddShort(c.name(queue)), []byte{6, 0, 0, 0, 0})
			})
		},
		func() []burstOp { return []burstOp{simpleOp(ch, "tx.select", 90<<16|10)} },
		func() []burstOp { return []burstOp{simpleOp(ch, "confirm.select", confirmSelect, []byte{0})} },
		func() []burstOp { return []burstOp{simpleOp(ch, "tx.commit", 90<<16|20)} },
		func() []burstOp { return []burstOp{simpleOp(ch, "close", channelClose, []byte{0, 200, 0, 0, 0, 0, 0})} },
		func() []burstOp {
			return []burstOp{simpleOp(ch, "cancel unknown", basicCancel, oddShort("unknown"), []byte{0})}
		},
		func() []burstOp { return w.missing(ch) },
		func() []burstOp { return w.recover(ch) },
	}
	return oneOf(w.oddWriter, kinds...)()
}
