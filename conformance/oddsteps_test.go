package conformance

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
)

// The steps of TestOddFrames.

// An oddStep is what is sent at once.
type oddStep []oddFrame

type oddFrame struct {
	kind    byte
	channel uint16
	payload []byte
}

func (f oddFrame) octets() []byte {
	b := binary.BigEndian.AppendUint16([]byte{f.kind}, f.channel)
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.payload)))
	return append(append(b, f.payload...), 0xce)
}

func (s oddStep) octets() (b []byte) {
	for _, f := range s {
		b = append(b, f.octets()...)
	}
	return b
}

func (s oddStep) String() string {
	var texts []string
	for _, f := range s {
		texts = append(texts, oddText(f.kind, f.channel, f.payload))
	}
	return strings.Join(texts, ", ")
}

// oddMethod is a method frame.
func oddMethod(channel uint16, id uint32, arguments ...[]byte) []byte {
	payload := binary.BigEndian.AppendUint32(nil, id)
	for _, a := range arguments {
		payload = append(payload, a...)
	}
	return oddFrame{frameMethod, channel, payload}.octets()
}

func oddShort(s string) []byte { return append([]byte{byte(len(s))}, s...) }
func oddLong(s string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...)
}

const (
	connectionTuneOk = 10<<16 | 31
	connectionOpen   = 10<<16 | 40
)

// oddPreparation opens channel 1 and makes a classic queue, a quorum queue and a topic exchange. Each element is
// answered by a frame.
func oddPreparation(uri amqp.URI, vhost string) [][]byte {
	quorum := append(append(oddShort("x-queue-type"), 'S'), oddLong("quorum")...)
	bind := func(queue, key string) []byte {
		return oddMethod(1, 50<<16|20, []byte{0, 0}, oddShort(queue), oddShort("x"), oddShort(key), make([]byte, 5))
	}
	return [][]byte{
		[]byte("AMQP\x00\x00\x09\x01"),
		oddMethod(0, connectionStartOk, make([]byte, 4), oddShort("PLAIN"),
			oddLong("\x00"+uri.Username+"\x00"+uri.Password), oddShort("en_US")),
		append(oddMethod(0, connectionTuneOk, []byte{7, 255, 0, 2, 0, 0, 0, 0}),
			oddMethod(0, connectionOpen, oddShort(vhost), []byte{0, 0})...),
		oddMethod(1, channelOpen, []byte{0}),
		oddMethod(1, queueDeclare, []byte{0, 0}, oddShort("q"), make([]byte, 5)),
		oddMethod(1, queueDeclare, []byte{0, 0}, oddShort("qq"), []byte{2}, oddLong(string(quorum))),
		oddMethod(1, 40<<16|10, []byte{0, 0}, oddShort("x"), oddShort("topic"), make([]byte, 5)),
		bind("q", "a.#"), bind("qq", "#"),
	}
}

// oddSteps makes a sequence.
func oddSteps(r *rand.Rand) []oddStep {
	steps := make([]oddStep, 14)
	for i := range steps {
		steps[i] = (&oddWriter{Rand: r}).step()
	}
	return steps
}

// An oddWriter writes arguments: those that mean something mostly, the others sometimes.
type oddWriter struct {
	*rand.Rand
	b []byte
}

func oneOf[T any](w *oddWriter, all ...T) T { return all[w.IntN(len(all))] }

func (w *oddWriter) chance(p float64) bool { return w.Float64() < p }

func (w *oddWriter) u16(n uint16)   { w.b = binary.BigEndian.AppendUint16(w.b, n) }
func (w *oddWriter) u32(n uint32)   { w.b = binary.BigEndian.AppendUint32(w.b, n) }
func (w *oddWriter) u64(n uint64)   { w.b = binary.BigEndian.AppendUint64(w.b, n) }
func (w *oddWriter) short(s string) { w.b = append(w.b, oddShort(s)...) }

func (w *oddWriter) queue() {
	if w.chance(0.7) {
		w.short(oneOf(w, "q", "qq", "new"))
		return
	}
	w.short(oneOf(w, "", "nope", "amq.x", "amq.rabbitmq.reply-to", "amq.rabbitmq.reply-to.x", "a\nb", "\u00e9",
		"amq.rabbitmq.reply-to.g1h2AAAA.abc==", "amq.rabbitmq.reply-tox"))
}

func (w *oddWriter) exchange() {
	w.short(oneOf(w, "", "x", "x", "amq.direct", "amq.fanout", "amq.topic", "amq.headers", "nope", "new",
		"amq.rabbitmq.trace", "amq.default"))
}

func (w *oddWriter) key() {
	w.short(oneOf(w, "", "q", "qq", "k", "a.b", "#", "*.b", "amq.rabbitmq.reply-to.x"))
}
func (w *oddWriter) tag() { w.short(oneOf(w, "t", "u", "", "amq.ctag-x")) }

// bits are some of n flags, mostly none.
func (w *oddWriter) bits(n int) {
	flags := byte(0)
	if w.chance(0.4) {
		flags = byte(w.IntN(1 << n))
	}
	w.b = append(w.b, flags)
}

// table is mostly empty.
func (w *oddWriter) table(depth int) {
	in := &oddWriter{Rand: w.Rand}
	if w.chance(0.35) {
		for range 1 + w.IntN(3) {
			in.short(oneOf(w, "x-max-length", "x-message-ttl", "x-expires", "x-overflow", "x-dead-letter-exchange",
				"x-dead-letter-routing-key", "x-max-priority", "x-queue-type", "x-single-active-consumer", "x-priority",
				"x-match", "alternate-exchange", "x-delivery-limit", "x-queue-mode", "k", "CC", "BCC", "x-death",
				"x-delivery-count", "x-consumer-timeout", "x-max-length-bytes", "x-queue-version", "x-unknown"))
			in.value(depth)
		}
	}
	w.b = append(w.b, oddLong(string(in.b))...)
}

func (w *oddWriter) value(depth int) {
	kind := oneOf(w, []byte("SStIilLbBsuTDVxFAfd")...)
	if depth > 1 && (kind == 'F' || kind == 'A') {
		kind = 'V'
	}
	w.b = append(w.b, kind)
	switch kind {
	case 'S':
		w.b = append(w.b, oddLong(oneOf(w, "", "abc", "classic", "quorum", "reject-publish", "drop-head", "q", "x"))...)
	case 'x':
		w.b = append(w.b, oddLong(oneOf(w, "", "\xff\x00a"))...)
	case 'F':
		w.table(depth + 1)
	case 'A':
		in := &oddWriter{Rand: w.Rand}
		for range w.IntN(3) {
			in.value(depth + 1)
		}
		w.b = append(w.b, oddLong(string(in.b))...)
	default:
		w.scalar(kind)
	}
}

// scalar is a value of one size.
func (w *oddWriter) scalar(kind byte) {
	switch kind {
	case 't', 'b', 'B':
		w.b = append(w.b, oneOf[byte](w, 0, 1, 2, 255))
	case 's', 'u':
		w.u16(oneOf[uint16](w, 0, 1, 65535))
	case 'I', 'i':
		w.u32(oneOf[uint32](w, 0, 1, 2, 100000, 1<<31-1, 1<<32-1))
	case 'f':
		w.u32(oneOf[uint32](w, 0x3fc00000, 0x80000000)) // 1.5, -0
	case 'd':
		w.u64(oneOf[uint64](w, 0x3ff8000000000000, 0x3fb999999999999a)) // 1.5, 0.1
	case 'D':
		w.b = append(w.b, 2)
		w.u32(oneOf[uint32](w, 1, 1<<32-1))
	case 'l', 'L', 'T':
		w.u64(oneOf[uint64](w, 0, 5, 1000000000000, 1<<63))
	}
}

// properties are a content header's flags and values.
func (w *oddWriter) properties() []byte {
	p := &oddWriter{Rand: w.Rand}
	flags := uint16(0)
	for _, x := range []struct {
		bit   uint16
		often float64
		write func()
	}{
		{1 << 15, 0.2, func() { p.short("type") }}, {1 << 14, 0.1, func() { p.short("") }},
		{1 << 13, 0.5, func() { p.table(0) }}, {1 << 12, 0.3, func() { p.b = append(p.b, oneOf[byte](w, 1, 2, 2, 0, 3)) }},
		{1 << 11, 0.2, func() { p.b = append(p.b, oneOf[byte](w, 0, 1, 5, 255)) }}, {1 << 10, 0.1, func() { p.short("c") }},
		{1 << 9, 0.1, func() { p.short(oneOf(w, "r", "amq.rabbitmq.reply-to")) }},
		{1 << 8, 0.15, func() { p.short(oneOf(w, "1000000", "0", "abc", "-1", "007000000", " 1", "+5000000")) }},
		{1 << 7, 0.1, func() { p.short("\xff") }}, {1 << 6, 0.1, func() { p.u64(oneOf[uint64](w, 0, 1, 1<<63+1)) }},
		{1 << 5, 0.1, func() { p.short("t") }}, {1 << 4, 0.1, func() { p.short(oneOf(w, "guest", "other")) }},
		{1 << 3, 0.1, func() { p.short("a") }}, {1 << 2, 0.1, func() { p.short("c") }}, {1 << 1, 0.05, func() {}},
	} {
		if w.chance(x.often) {
			flags |= x.bit
			x.write()
		}
	}
	return append(binary.BigEndian.AppendUint16(nil, flags), p.b...)
}

// publish is a basic.publish with its content, of which something is missing sometimes.
func (w *oddWriter) publish(channel uint16) oddStep {
	body := oneOf(w, "", "m", "hello")
	w.u32(basicPublish)
	w.u16(0)
	w.exchange()
	w.key()
	w.bits(2)
	header := append(binary.BigEndian.AppendUint64([]byte{0, 60, 0, 0}, uint64(len(body))), w.properties()...)
	step := oddStep{{frameMethod, channel, w.b}, {frameHeader, channel, header}}
	if body != "" {
		step = append(step, oddFrame{3, channel, []byte(body)})
	}
	if w.chance(0.03) {
		step = append(step[:w.IntN(len(step))], oddFrame{frameMethod, channel, []byte{0, 60, 0, 110, 1}})
	}
	return step
}

// step is a method and what belongs to it.
func (w *oddWriter) step() oddStep {
	channel := uint16(1)
	if w.chance(0.1) {
		channel = oneOf[uint16](w, 1, 1, 1, 2, 2, 3, 0)
	}
	if w.chance(0.18) {
		return w.publish(channel)
	}
	if w.chance(0.02) {
		header := "\x00\x3c" + strings.Repeat("\x00", 12)
		return oddStep{{oneOf[byte](w, 2, 3, 4, 8), channel, []byte(oneOf(w, "", "abc", header))}}
	}
	m := oneOf(w, oddMethods...)
	w.u32(m.id)
	m.write(w)
	if w.chance(0.02) {
		w.b = w.b[:4+w.IntN(len(w.b)-3)]
	}
	return oddStep{{frameMethod, channel, w.b}}
}

// oddMethods are what a client may send, and sometimes what it may not.
var oddMethods = []struct {
	id    uint32
	write func(*oddWriter)
}{
	{channelOpen, func(w *oddWriter) { w.short("") }},
	{channelClose, func(w *oddWriter) { w.u16(200); w.short(""); w.u32(0) }},
	{20<<16 | 20, func(w *oddWriter) { w.b = append(w.b, oneOf[byte](w, 1, 1, 0)) }},
	{40<<16 | 10, (*oddWriter).declareExchange}, {40<<16 | 10, (*oddWriter).declareExchange},
	{40<<16 | 20, func(w *oddWriter) { w.u16(0); w.exchange(); w.bits(2) }},
	{40<<16 | 30, func(w *oddWriter) {
		w.u16(0)
		w.exchange()
		w.exchange()
		w.key()
		w.bits(1)
		w.table(0)
	}},
	{40<<16 | 40, func(w *oddWriter) {
		w.u16(0)
		w.exchange()
		w.exchange()
		w.key()
		w.bits(1)
		w.table(0)
	}},
	{queueDeclare, (*oddWriter).declareQueue}, {queueDeclare, (*oddWriter).declareQueue},
	{queueDeclare, (*oddWriter).declareQueue}, {queueDeclare, (*oddWriter).declareQueue},
	{50<<16 | 20, func(w *oddWriter) {
		w.u16(0)
		w.queue()
		w.exchange()
		w.key()
		w.bits(1)
		w.table(0)
	}},
	{50<<16 | 50, func(w *oddWriter) { w.u16(0); w.queue(); w.exchange(); w.key(); w.table(0) }},
	{50<<16 | 30, func(w *oddWriter) { w.u16(0); w.queue(); w.bits(1) }},
	{50<<16 | 40, func(w *oddWriter) { w.u16(0); w.queue(); w.bits(3) }},
	{60<<16 | 10, func(w *oddWriter) { w.u32(oneOf[uint32](w, 0, 0, 0, 1)); w.u16(uint16(w.IntN(3))); w.bits(1) }},
	{basicConsume, func(w *oddWriter) { w.u16(0); w.queue(); w.tag(); w.bits(4); w.table(0) }},
	{basicConsume, func(w *oddWriter) { w.u16(0); w.queue(); w.tag(); w.bits(4); w.table(0) }},
	{basicCancel, func(w *oddWriter) { w.tag(); w.bits(1) }},
	{basicGet, func(w *oddWriter) { w.u16(0); w.queue(); w.bits(1) }},
	{basicGet, func(w *oddWriter) { w.u16(0); w.queue(); w.bits(1) }},
	{basicAck, (*oddWriter).settle}, {60<<16 | 90, (*oddWriter).settle}, {basicNack, (*oddWriter).settle},
	{60<<16 | 100, func(w *oddWriter) { w.b = append(w.b, 1) }},
	{60<<16 | 110, func(w *oddWriter) { w.b = append(w.b, oneOf[byte](w, 1, 1, 0)) }},
	{85<<16 | 10, func(w *oddWriter) { w.bits(1) }},
	{90<<16 | 10, func(*oddWriter) {}}, {90<<16 | 20, func(*oddWriter) {}}, {90<<16 | 30, func(*oddWriter) {}},
	{30<<16 | 10, func(w *oddWriter) { w.short("/d"); w.bits(5) }},
}

func (w *oddWriter) declareExchange() {
	w.u16(0)
	w.exchange()
	w.short(oneOf(w, "direct", "fanout", "topic", "headers", "ok", "nosuch", "x-modulus-hash"))
	w.bits(5)
	w.table(0)
}

func (w *oddWriter) declareQueue() {
	w.u16(0)
	w.queue()
	w.b = append(w.b, oneOf[byte](w, 0, 0, 2, 4, 8, 1, 16, 6, 12))
	w.table(0)
}

func (w *oddWriter) settle() {
	w.u64(oneOf[uint64](w, 1, 1, 2, 3, 0, 99))
	w.bits(2)
}
