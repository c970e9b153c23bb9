package record

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrMalformed says that octets are not what this package has written.
var ErrMalformed = errors.New("record: malformed")

// A coder goes through the fields of an item, and writes each of them or reads it. Each method takes a pointer to a field.
type coder struct {
	reading bool
	buf     []byte   // reading: what is left
	bad     bool     // what was read cannot have been written
	reader  *Reader  // nil: nothing is used again
	names   []string // writing: those of the tables that are being written
}

// fail gives up reading. What follows reads as nothing.
func (c *coder) fail() { c.buf, c.bad = nil, true }

// take reads n octets, nil if there are not so many.
func (c *coder) take(n uint64) []byte {
	if n > uint64(len(c.buf)) {
		c.fail()
		return nil
	}
	b := c.buf[:n:n]
	c.buf = c.buf[n:]
	return b
}

func (c *coder) octet(x *uint8) {
	if !c.reading {
		c.buf = append(c.buf, *x)
	} else if b := c.take(1); b != nil {
		*x = b[0]
	}
}

// flag is a truth value. Only 0 and 1 are good, so that there is one way to write each item.
func (c *coder) flag(x *bool) {
	var b uint8
	if *x {
		b = 1
	}
	c.octet(&b)
	if c.reading {
		if b > 1 {
			c.fail()
		}
		*x = b == 1
	}
}

func (c *coder) uint64(x *uint64) {
	if !c.reading {
		c.buf = binary.AppendUvarint(c.buf, *x)
		return
	}
	n, size := binary.Uvarint(c.buf)
	if size <= 0 || size > 1 && c.buf[size-1] == 0 { // cut off, too large, or longer than it has to be
		c.fail()
		return
	}
	*x, c.buf = n, c.buf[size:]
}

func (c *coder) int64(x *int64) {
	n := uint64(*x)<<1 ^ uint64(*x>>63)
	c.uint64(&n)
	if c.reading {
		*x = int64(n>>1) ^ -int64(n&1)
	}
}

// unsigned is a number of a narrower type. One that does not fit was not written.
func unsigned[N ~uint8 | ~uint16 | ~uint32](c *coder, x *N) {
	n := uint64(*x)
	c.uint64(&n)
	if c.reading {
		if *x = N(n); uint64(*x) != n {
			c.fail()
		}
	}
}

// signed is unsigned for numbers that may be negative.
func signed[N ~int8 | ~int16 | ~int32 | ~int](c *coder, x *N) {
	n := int64(*x)
	c.int64(&n)
	if c.reading {
		if *x = N(n); int64(*x) != n {
			c.fail()
		}
	}
}

// float keeps every bit, those of a NaN, too.
func (c *coder) float(x *float64) {
	if !c.reading {
		c.buf = binary.LittleEndian.AppendUint64(c.buf, math.Float64bits(*x))
	} else if b := c.take(8); b != nil {
		*x = math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
}

func (c *coder) float32(x *float32) {
	if !c.reading {
		c.buf = binary.LittleEndian.AppendUint32(c.buf, math.Float32bits(*x))
	} else if b := c.take(4); b != nil {
		*x = math.Float32frombits(binary.LittleEndian.Uint32(b))
	}
}

func (c *coder) text(x *string) {
	n := uint64(len(*x))
	c.uint64(&n)
	if c.reading {
		*x = string(c.take(n))
	} else {
		c.buf = append(c.buf, *x...)
	}
}

// octets may be nil, which is not the same as none.
func (c *coder) octets(x *[]byte) {
	n, some := c.length(len(*x), *x != nil)
	switch {
	case !c.reading:
		c.buf = append(c.buf, *x...)
	case some:
		*x = append(make([]byte, 0, min(n, len(c.buf))), c.take(uint64(n))...)
	}
}

// optionalText is nil or a text.
func (c *coder) optionalText(x **string) { optional(c, x, (*coder).text) }

// length is that of a list, or that there is none. No list is longer than what is left: an element takes an octet at least.
func (c *coder) length(n int, some bool) (int, bool) {
	var plus1 uint64
	if some {
		plus1 = uint64(n) + 1
	}
	c.uint64(&plus1)
	if !c.reading {
		return n, some
	}
	if plus1 > uint64(len(c.buf))+1 {
		c.fail()
		return 0, false
	}
	return int(plus1) - 1, plus1 > 0
}

// list is a list of which element codes each element.
func list[S ~[]E, E any](c *coder, x *S, element func(*coder, *E)) {
	n, some := c.length(len(*x), *x != nil)
	if !c.reading {
		for i := range *x {
			element(c, &(*x)[i])
		}
		return
	}
	if !some {
		return
	}
	*x = make(S, 0, min(n, cautious))
	for range n {
		var e E
		element(c, &e)
		if c.bad {
			return
		}
		*x = append(*x, e)
	}
}

// cautious is for how many elements there is room before the first is read. A length that was made up costs no more.
const cautious = 64

// optional is a pointer that may be nil.
func optional[E any](c *coder, x **E, element func(*coder, *E)) {
	some := *x != nil
	c.flag(&some)
	if some && c.reading {
		*x = new(E)
	}
	if some {
		element(c, *x)
	}
}

func (c *coder) texts(x *[]string) { list(c, x, (*coder).text) }
