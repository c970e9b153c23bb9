package amqpd

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/leveretmq/leveret"
)

// args reads the arguments of a method in order. What is not there sets a fault, and everything read after it is zero. What is not
// well-formed sets a fault, too, unless there is one: RabbitMQ looks at what the arguments are when all of them are there.
type args struct {
	b     []byte
	whole []byte // all arguments, for the error text
	names *names
	fault fault
}

// A fault is why arguments could not be read.
type fault uint8

const (
	noFault  fault = iota
	cutShort       // too short, or too long
	badUTF8        // a short string is not UTF-8
	badTable       // a table holds something that is no field
)

func newArgs(b []byte, n *names) args { return args{b: b, whole: b, names: n} }

// take returns the next n octets, or nil.
func (a *args) take(n int) []byte {
	if a.fault == cutShort || len(a.b) < n {
		a.fail(cutShort)
		return nil
	}
	b := a.b[:n]
	a.b = a.b[n:]
	return b
}

func (a *args) fail(f fault) {
	if a.fault == noFault || f == cutShort {
		a.fault = f
	}
}

func (a *args) u8() uint8 {
	if b := a.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (a *args) u16() uint16 {
	if b := a.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (a *args) u32() uint32 {
	if b := a.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (a *args) u64() uint64 {
	if b := a.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// bits reads an octet of flags; its users know their positions.
func (a *args) bits() bits { return bits(a.u8()) }

type bits uint8

func (b bits) has(n int) bool { return b&(1<<n) != 0 }

// short reads a short string, which must be UTF-8.
func (a *args) short() string {
	b := a.take(int(a.u8()))
	if len(b) == 0 {
		return ""
	}
	s, ok := a.names.get(b)
	if !ok {
		a.fail(badUTF8)
	}
	return s
}

// raw reads a short string that need not be UTF-8.
// Rules: E-12.
func (a *args) raw() string {
	b := a.take(int(a.u8()))
	if len(b) == 0 { // the default exchange
		return ""
	}
	if s, ok := a.names.get(b); ok {
		return s
	}
	return string(b)
}

// long reads a long string. It aliases the input.
func (a *args) long() []byte {
	n := a.u32()
	if uint64(n) > uint64(len(a.b)) {
		a.fail(cutShort)
		return nil
	}
	return a.take(int(n))
}

// table reads a table, of whose fields each has a name of its own.
func (a *args) table() leveret.Table {
	fields := a.fields()
	if fields == nil {
		return nil
	}
	return tableOf(fields)
}

// fields reads a table as it is. An empty one is nil.
func (a *args) fields() leveret.Fields {
	b := a.long()
	if len(b) == 0 {
		return nil
	}
	fields, ok := decodeFields(b)
	if !ok {
		a.fail(badTable)
		return nil
	}
	return fields
}

// done reports whether all arguments were read, and nothing but them was there.
func (a *args) done() bool {
	if len(a.b) != 0 {
		a.fail(cutShort)
	}
	return a.fault == noFault
}

// names keeps a few strings that were read before, so that the exchange, routing key or queue that
// every message of a client names is not allocated each time.
type names struct {
	slots *nameSlots
	loose bool // UTF-8 may have surrogates and numbers up to 1FFFFF
}

type nameSlots [64]string

// get returns b as a string, and whether it is valid UTF-8.
func (n *names) get(b []byte) (string, bool) {
	if n.slots == nil {
		n.slots = new(nameSlots)
	}
	slot := &n.slots[nameSlot(b)]
	if *slot == string(b) { // compares without allocating
		return *slot, true
	}
	if !utf8.Valid(b) && !(n.loose && looselyValid(b)) {
		return "", false
	}
	*slot = string(b)
	return *slot, true
}

// looselyValid reports whether b is what RabbitMQ 3.10 takes for UTF-8: surrogates may be in it, and all four octets
// can say, but no character in more octets than it needs.
// Rules: E-12.
func looselyValid(b []byte) bool {
	for len(b) > 0 {
		_, size := utf8.DecodeRune(b)
		if size == 1 && b[0] >= utf8.RuneSelf {
			if size = looseSize(b); size == 0 {
				return false
			}
		}
		b = b[size:]
	}
	return true
}

// looseSize is the size of a surrogate, or of a number above 10FFFF in four octets, at the beginning of b; 0: there is
// none.
func looseSize(b []byte) int {
	var size int
	switch {
	case b[0] == 0xed:
		size = 3
	case b[0] >= 0xf4 && b[0] <= 0xf7:
		size = 4
	}
	if len(b) < size {
		return 0
	}
	for i := 1; i < size; i++ {
		if b[i]&0xc0 != 0x80 {
			return 0
		}
	}
	return size
}

// nameSlot mixes the length with the octets in which names of one family differ: the last, and the middle one.
func nameSlot(b []byte) uint8 {
	h := uint(len(b))
	if len(b) > 0 {
		h = h*7 + uint(b[len(b)-1])
		h = h*5 + uint(b[len(b)/2])
	}
	return uint8(h % uint(len(nameSlots{})))
}
