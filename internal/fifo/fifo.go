// Package fifo has a first-in first-out queue of values that grows in chunks.
package fifo

import "iter"

// A Queue is a first-in first-out list. Its zero value is empty and ready to use; it must not
// be copied once it has been used.
//
// Elements lie in a chain of chunks. The first chunk is small, so that a queue of few elements
// costs little; later ones are larger, so that a long queue costs hardly more than its elements.
type Queue[T any] struct {
	front []T // head's items; beside the chain so that a push or pop touches no chunk header
	back  []T // tail's items
	first int // index of the front element in head
	end   int // index after the back element in tail
	n     int

	head, tail *chunk[T] // both nil, or ends of one chain
	spare      *chunk[T] // an emptied chunk for the next time that one is needed
}

// The sizes of chunks: each is four times as large as the one before, up to the largest.
const (
	chunk0 = 4
	chunk1 = 16
	chunk2 = 64
	chunk3 = 128
)

type chunk[T any] struct {
	next  *chunk[T]
	items []T
}

// Len returns the number of elements.
func (q *Queue[T]) Len() int { return q.n }

// PushBack adds v at the back.
func (q *Queue[T]) PushBack(v T) { *q.Push() = v }

// Push adds a zero element at the back and returns it for the caller to fill in. Where elements
// are large this is faster than PushBack, which copies a value made elsewhere.
func (q *Queue[T]) Push() *T {
	if q.end >= len(q.back) {
		q.grow()
	}
	p := &q.back[q.end]
	q.end++
	q.n++
	return p
}

// Front returns the front element in place, nil if the queue is empty. The pointer is good
// until the element is popped.
func (q *Queue[T]) Front() *T {
	if q.n == 0 {
		return nil
	}
	return &q.front[q.first]
}

// PopFront removes the front element and returns it. It panics if the queue is empty.
func (q *Queue[T]) PopFront() T {
	if q.n == 0 {
		panic("fifo: PopFront of an empty queue")
	}
	v := q.front[q.first]
	q.Drop()
	return v
}

// Drop removes the front element, which Front has shown. It panics if the queue is empty.
func (q *Queue[T]) Drop() {
	if q.n == 0 {
		panic("fifo: Drop of an empty queue")
	}
	var zero T
	q.front[q.first] = zero
	q.first++
	q.n--
	if q.n == 0 {
		q.first, q.end = 0, 0 // head is tail: an element in a later chunk would be left
	} else if q.first == len(q.front) {
		q.dropHead()
	}
}

// All returns the elements in place, front to back. The queue must not change meanwhile.
func (q *Queue[T]) All() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		first := q.first
		for c := q.head; c != nil; c = c.next {
			end := len(c.items)
			if c == q.tail {
				end = q.end
			}
			for i := first; i < end; i++ {
				if !yield(&c.items[i]) {
					return
				}
			}
			first = 0
		}
	}
}

// Clear removes all elements and releases the queue's memory.
func (q *Queue[T]) Clear() { *q = Queue[T]{} }

// grow puts an empty chunk behind the tail.
func (q *Queue[T]) grow() {
	if q.tail == nil {
		q.head = newChunk[T](0)
		q.tail = q.head
		q.front, q.back = q.head.items, q.tail.items
		return
	}
	c := q.spare
	q.spare = nil
	if c == nil || len(c.items) < len(q.tail.items) {
		c = newChunk[T](len(q.tail.items))
	}
	q.tail.next = c
	q.tail, q.back = c, c.items
	q.end = 0
}

// dropHead takes the emptied head out of the chain. It becomes the spare if it is the larger.
func (q *Queue[T]) dropHead() {
	c := q.head
	q.head, q.first = c.next, 0
	q.front = q.head.items
	c.next = nil
	if q.spare == nil || len(q.spare.items) < len(c.items) {
		q.spare = c
	}
}

// newChunk returns a chunk of the size that follows last. A chunk and its room are one
// allocation, which is why each size is a type.
func newChunk[T any](last int) *chunk[T] {
	switch {
	case last < chunk0:
		c := new(struct {
			chunk[T]
			room [chunk0]T
		})
		c.items = c.room[:]
		return &c.chunk
	case last < chunk1:
		c := new(struct {
			chunk[T]
			room [chunk1]T
		})
		c.items = c.room[:]
		return &c.chunk
	case last < chunk2:
		c := new(struct {
			chunk[T]
			room [chunk2]T
		})
		c.items = c.room[:]
		return &c.chunk
	}
	c := new(struct {
		chunk[T]
		room [chunk3]T
	})
	c.items = c.room[:]
	return &c.chunk
}
