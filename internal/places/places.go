// Package places has a table of where in a log each copy of a message stands.
//
// Copies are numbered. Most numbers come and go in ascending order, and any of them may stay for long. A chunk has the
// places of 256 numbers that follow each other. Blocks of 64 chunks stand in a list, in ascending order.
//
// A chunk that is in use has room for all its numbers. When the table goes on to another chunk, the one before is packed
// if few of its numbers are there. So a chunk that is filled and emptied in order is never packed.
package places

import (
	"iter"
	"math/bits"
	"slices"
)

// A Place is a segment of the log and how many octets of it a copy keeps alive.
type Place struct{ Segment, Octets uint32 }

// A Table has the place of each copy. Its zero value is empty and ready to use. It must not be copied once it has been used.
type Table struct {
	blocks []*block // ascending; none is empty
	n      int
	set    cursor  // of the last Set; alone its chunk may be empty
	take   cursor  // of the last Take
	spare  []Place // a wide chunk's, for the next one
}

// A cursor remembers the chunk that was used last. Its zero value remembers none.
type cursor struct {
	key uint64
	c   *chunk
}

const (
	chunkBits = 8
	width     = 1 << chunkBits // how many numbers a chunk has
	blockBits = 6
	few       = width / 4 // so many places and fewer are packed
)

// A block is 64 chunks that follow each other. The key of a chunk is that of its block, then its index in the block.
type block struct {
	key    uint64
	used   uint64 // which chunks are there
	chunks [1 << blockBits]*chunk
}

// A chunk has places by the low octet of their numbers. It is wide: each number has its own room, or it is packed: only the
// numbers that are there have.
type chunk struct {
	there  [width / 64]uint64 // a bit for each number
	n      int
	places []Place // n of them, or width
}

// Len returns how many copies have a place.
func (t *Table) Len() int { return t.n }

// Clear removes all copies.
func (t *Table) Clear() { *t = Table{} }

// Set gives a copy its place, instead of the one that it has.
func (t *Table) Set(copy uint64, p Place) {
	if key := copy >> chunkBits; t.set.c == nil || t.set.key != key {
		t.leave(&t.set, &t.take)
		t.set = cursor{key, t.chunk(key)}
	}
	c, low := t.set.c, uint8(copy)
	i, there := c.index(low)
	if !there {
		t.n++
		c.insert(i, low)
	}
	c.places[i] = p
}

// Get returns the place of a copy, and whether it has one.
func (t *Table) Get(copy uint64) (Place, bool) {
	c := t.find(copy >> chunkBits)
	if c == nil {
		return Place{}, false
	}
	i, there := c.index(uint8(copy))
	if !there {
		return Place{}, false
	}
	return c.places[i], true
}

// Take removes a copy and returns the place it had, and whether it had one.
func (t *Table) Take(copy uint64) (Place, bool) {
	key := copy >> chunkBits
	if t.take.c == nil || t.take.key != key {
		c := t.find(key)
		if c == nil {
			return Place{}, false
		}
		t.leave(&t.take, &t.set)
		t.take = cursor{key, c}
	}
	c, low := t.take.c, uint8(copy)
	i, there := c.index(low)
	if !there {
		return Place{}, false
	}
	p := c.places[i]
	c.remove(i, low)
	t.n--
	if c.n == 0 && c != t.set.c { // the chunk of the next Set stays
		t.drop(&t.take)
	}
	return p, true
}

// From yields the copies from a number on, in ascending order. While it does, the table may be changed by Set of the number
// that it has just yielded.
func (t *Table) From(copy uint64) iter.Seq2[uint64, Place] {
	return func(yield func(uint64, Place) bool) {
		key, low := copy>>chunkBits, int(copy%width)
		for {
			at, c := t.ceiling(key)
			if c == nil {
				return
			}
			if at != key {
				key, low = at, 0
			}
			for low = c.next(low); low < width; low = c.next(low + 1) {
				i, _ := c.index(uint8(low))
				if !yield(key<<chunkBits|uint64(low), c.places[i]) {
					return
				}
			}
			key, low = key+1, 0 // the last chunk of all has a key far below the largest number
		}
	}
}

// position is the index of a block in the list, or where it would be.
func (t *Table) position(key uint64) (int, bool) {
	if n := len(t.blocks); n > 0 && t.blocks[n-1].key == key { // the newest
		return n - 1, true
	}
	return slices.BinarySearchFunc(t.blocks, key, func(b *block, key uint64) int {
		switch {
		case b.key < key:
			return -1
		case b.key > key:
			return 1
		}
		return 0
	})
}

// find returns a chunk, nil if it is not there.
func (t *Table) find(key uint64) *chunk {
	for _, last := range [...]*cursor{&t.take, &t.set} {
		if last.c != nil && last.key == key {
			return last.c
		}
	}
	if i, there := t.position(key >> blockBits); there {
		return t.blocks[i].chunks[key%(1<<blockBits)]
	}
	return nil
}

// ceiling returns the first chunk from a key on, nil if there is none.
func (t *Table) ceiling(key uint64) (uint64, *chunk) {
	i, there := t.position(key >> blockBits)
	if there {
		b := t.blocks[i]
		if later := b.used >> (key % (1 << blockBits)); later != 0 {
			key += uint64(bits.TrailingZeros64(later))
			return key, b.chunks[key%(1<<blockBits)]
		}
		i++
	}
	if i == len(t.blocks) {
		return 0, nil
	}
	b := t.blocks[i]
	first := bits.TrailingZeros64(b.used)
	return b.key<<blockBits | uint64(first), b.chunks[first]
}

// chunk returns a chunk, a new one if it is not there.
func (t *Table) chunk(key uint64) *chunk {
	if c := t.find(key); c != nil {
		return c
	}
	i, there := t.position(key >> blockBits)
	if !there {
		t.blocks = slices.Insert(t.blocks, i, &block{key: key >> blockBits})
	}
	b, at := t.blocks[i], key%(1<<blockBits)
	c := &chunk{places: t.spare}
	if t.spare = nil; c.places == nil {
		c.places = make([]Place, width)
	}
	b.chunks[at] = c
	b.used |= 1 << at
	return c
}

// leave packs the chunk of a cursor that goes on to another one, unless the other cursor is there.
func (t *Table) leave(last, other *cursor) {
	c := last.c
	switch {
	case c == nil:
		return
	case c.n == 0 && last == &t.set:
		t.drop(last)
		return
	case c == other.c:
		return
	}
	if wide := c.places; c.pack() && len(wide) == width {
		t.spare = wide
	}
}

// drop removes the empty chunk of a cursor.
func (t *Table) drop(last *cursor) {
	key, c := last.key, last.c
	if len(c.places) == width {
		t.spare = c.places
	}
	for _, cur := range [...]*cursor{&t.take, &t.set} {
		if cur.c == c {
			*cur = cursor{}
		}
	}
	i, _ := t.position(key >> blockBits)
	b, at := t.blocks[i], key%(1<<blockBits)
	b.chunks[at] = nil
	if b.used &^= 1 << at; b.used != 0 {
		return
	}
	t.blocks = slices.Delete(t.blocks, i, i+1)
	if cap(t.blocks) > few && len(t.blocks) < cap(t.blocks)/4 {
		t.blocks = slices.Clone(t.blocks)
	}
}

// index is where in places a number is or would be, and whether it is there.
func (c *chunk) index(low uint8) (int, bool) {
	word, bit := low/64, low%64
	there := c.there[word]>>bit&1 == 1
	if len(c.places) == width {
		return int(low), there
	}
	i := bits.OnesCount64(c.there[word] & (1<<bit - 1))
	for _, before := range c.there[:word] {
		i += bits.OnesCount64(before)
	}
	return i, there
}

// next is the first number from low on that is there, width if there is none.
func (c *chunk) next(low int) int {
	for word := low / 64; word < len(c.there); word++ {
		if later := c.there[word] >> (low % 64); later != 0 {
			return low + bits.TrailingZeros64(later)
		}
		low = (word + 1) * 64
	}
	return width
}

// insert makes room at i for a number that is not there. A packed chunk that has all numbers is a wide one.
func (c *chunk) insert(i int, low uint8) {
	if len(c.places) < width {
		c.places = slices.Insert(c.places, i, Place{})
	}
	c.there[low/64] |= 1 << (low % 64)
	c.n++
}

// remove removes the number with the index i.
func (c *chunk) remove(i int, low uint8) {
	if len(c.places) < width {
		c.places = slices.Delete(c.places, i, i+1)
	}
	c.there[low/64] &^= 1 << (low % 64)
	c.n--
}

// pack gives back room if half of it and more is not in use, of a wide chunk three quarters. It reports whether it did.
func (c *chunk) pack() bool {
	if c.n > few || cap(c.places) < 2*c.n {
		return false
	}
	packed := make([]Place, 0, c.n)
	for low := c.next(0); low < width; low = c.next(low + 1) {
		i, _ := c.index(uint8(low))
		packed = append(packed, c.places[i])
	}
	c.places = packed
	return true
}
