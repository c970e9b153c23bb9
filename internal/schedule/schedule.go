// Package schedule has a priority queue of points in time.
package schedule

import (
	"cmp"
	"iter"
	"slices"
)

// A Timer is something that may be set for a time. It is made to be embedded: setting it
// allocates nothing. Its zero value is not set; it must not be copied while it is.
type Timer[T any] struct {
	Value T
	at    int64
	place int // index in the heap plus one; 0: not set
}

// At returns the time that the timer is set for, false if it is not set.
func (t *Timer[T]) At() (int64, bool) { return t.at, t.place != 0 }

// A Heap orders timers by their times, and those of the same time by when they were set. Its
// zero value is empty and ready to use. A timer may be in one heap at a time.
//
// It is a heap of four children per node, whose entries hold what is compared: half as deep
// as one of two, and a node's children lie side by side.
type Heap[T any] struct {
	entries []entry[T]
	seq     uint64
}

type entry[T any] struct {
	at    int64
	seq   uint64
	timer *Timer[T]
}

const arity = 4

func (e *entry[T]) before(o *entry[T]) bool {
	return e.at < o.at || e.at == o.at && e.seq < o.seq
}

// Len returns how many timers are set.
func (h *Heap[T]) Len() int { return len(h.entries) }

// Min returns the timer that is due first and its time; ok is false if none is set.
func (h *Heap[T]) Min() (t *Timer[T], at int64, ok bool) {
	if len(h.entries) == 0 {
		return nil, 0, false
	}
	e := &h.entries[0]
	return e.timer, e.at, true
}

// All returns the timers that are set, in the order of their times.
func (h *Heap[T]) All() []*Timer[T] {
	entries := slices.Clone(h.entries)
	slices.SortFunc(entries, func(a, b entry[T]) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) })
	all := make([]*Timer[T], len(entries))
	for i := range entries {
		all[i] = entries[i].timer
	}
	return all
}

// Until returns the timers that are set for now or earlier, in no order, at the cost of a step for each. The loop may not change the heap.
func (h *Heap[T]) Until(now int64) iter.Seq[*Timer[T]] {
	return func(yield func(*Timer[T]) bool) { h.until(0, now, yield) }
}

func (h *Heap[T]) until(i int, now int64, yield func(*Timer[T]) bool) bool {
	if i >= len(h.entries) || h.entries[i].at > now {
		return true // what is below comes later still
	}
	if !yield(h.entries[i].timer) {
		return false
	}
	for child := i*arity + 1; child <= (i+1)*arity; child++ {
		if !h.until(child, now, yield) {
			return false
		}
	}
	return true
}

// Earliest returns the earliest time that real gives for the value of a timer. That time must not be before the time
// that the timer is set for; ok false means never. Earliest reports false if real gives no time at all.
func (h *Heap[T]) Earliest(real func(T) (at int64, ok bool)) (at int64, ok bool) {
	var look func(i int)
	look = func(i int) {
		if i >= len(h.entries) || ok && h.entries[i].at >= at {
			return // what is below comes later still
		}
		if t, is := real(h.entries[i].timer.Value); is && (!ok || t < at) {
			at, ok = t, true
		}
		for child := i*arity + 1; child <= (i+1)*arity; child++ {
			look(child)
		}
	}
	look(0)
	return at, ok
}

// Set sets t for the time at, or moves it there. Among timers of one time it comes last, even
// if it was set for that time before.
func (h *Heap[T]) Set(t *Timer[T], at int64) {
	h.seq++
	e := entry[T]{at, h.seq, t}
	if t.place == 0 {
		h.entries = append(h.entries, e)
		t.at = at
		h.up(len(h.entries)-1, e)
		return
	}
	i := t.place - 1
	earlier := at < t.at
	t.at = at
	if earlier {
		h.up(i, e)
	} else {
		h.down(i, e)
	}
}

// Remove unsets t. It does nothing if t is not set.
func (h *Heap[T]) Remove(t *Timer[T]) {
	if t.place == 0 {
		return
	}
	i := t.place - 1
	t.place = 0
	n := len(h.entries) - 1
	last := h.entries[n]
	h.entries[n] = entry[T]{}
	h.entries = h.entries[:n]
	if i == n {
		h.shrink()
		return
	}
	if i > 0 && last.before(&h.entries[(i-1)/arity]) {
		h.up(i, last)
	} else {
		h.down(i, last)
	}
	h.shrink()
}

// Clear unsets all timers.
func (h *Heap[T]) Clear() {
	for i := range h.entries {
		h.entries[i].timer.place = 0
	}
	h.entries = nil
}

// shrink gives memory back when a large heap has become almost empty.
func (h *Heap[T]) shrink() {
	if n := cap(h.entries); n > 1024 && len(h.entries) < n/8 {
		h.entries = append(make([]entry[T], 0, n/4), h.entries...)
	}
}

// up puts e at index i or, while its parent comes after it, further up.
func (h *Heap[T]) up(i int, e entry[T]) {
	es := h.entries
	for i > 0 {
		parent := (i - 1) / arity
		if !e.before(&es[parent]) {
			break
		}
		es[i] = es[parent]
		es[i].timer.place = i + 1
		i = parent
	}
	es[i] = e
	e.timer.place = i + 1
}

// down puts e at index i or, while a child comes before it, further down.
func (h *Heap[T]) down(i int, e entry[T]) {
	es := h.entries
	for {
		child := i*arity + 1
		if child >= len(es) {
			break
		}
		least := child
		for c := child + 1; c < min(child+arity, len(es)); c++ {
			if es[c].before(&es[least]) {
				least = c
			}
		}
		if e.before(&es[least]) {
			break
		}
		es[i] = es[least]
		es[i].timer.place = i + 1
		i = least
	}
	es[i] = e
	e.timer.place = i + 1
}
