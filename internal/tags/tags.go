// Package tags numbers things and finds the outstanding ones by their numbers.
package tags

import (
	"iter"
	"slices"
)

// A Window holds values under the numbers it gave them: 1, 2, 3 and so on. Its zero value is
// empty and ready to use.
//
// Recent values lie in a ring, at the place that their tag says. When the ring is full though
// few of its values are still outstanding, these move to a sorted list and the ring starts
// anew: one value that nobody takes does not make the window grow with each that follows.
type Window[T any] struct {
	ring []slot[T] // a power of two long; the slots of tags low to last, the others are zero
	low  uint64    // no outstanding tag below it is in the ring
	last uint64
	live int // outstanding values in the ring

	old     []oldSlot[T] // ascending tags, all below low
	oldLive int
}

type slot[T any] struct {
	value T
	live  bool
}

type oldSlot[T any] struct {
	tag uint64
	slot[T]
}

const (
	minRing  = 8
	idleRing = 1024 // the longest ring that an empty window keeps
	minOld   = 32   // an old list this short is not worth compacting
)

// Len returns how many values are outstanding.
func (w *Window[T]) Len() int { return w.live + w.oldLive }

// Last returns the tag given last, 0 if none was.
func (w *Window[T]) Last() uint64 { return w.last }

// Push stores v and returns its tag.
func (w *Window[T]) Push(v T) uint64 {
	tag, p := w.Add()
	*p = v
	return tag
}

// Add stores a zero value and returns its tag and the value in place, for the caller to fill
// in before the next change of the window. Where values are large this is faster than Push.
func (w *Window[T]) Add() (uint64, *T) {
	tag := w.last + 1
	if w.live == 0 {
		w.low = tag
	}
	if tag-w.low >= uint64(len(w.ring)) {
		w.makeRoom(tag)
	}
	s := &w.ring[tag&uint64(len(w.ring)-1)]
	s.live = true
	w.last = tag
	w.live++
	return tag, &s.value
}

// Skip returns the next tag without storing anything under it.
func (w *Window[T]) Skip() uint64 {
	tag := w.last + 1
	if w.live > 0 && tag-w.low >= uint64(len(w.ring)) {
		w.makeRoom(tag)
	}
	w.last = tag
	return tag
}

// Get returns the value of an outstanding tag in place, nil if the tag is not outstanding. The
// pointer is good until the next change of the window.
func (w *Window[T]) Get(tag uint64) *T {
	if s := w.find(tag); s != nil {
		return &s.value
	}
	return nil
}

// Take removes the value of an outstanding tag and returns it.
func (w *Window[T]) Take(tag uint64) (T, bool) {
	var zero T
	s := w.find(tag)
	if s == nil {
		return zero, false
	}
	v := s.value
	w.remove(tag, s)
	return v, true
}

// Drop removes an outstanding tag, which Get has shown.
func (w *Window[T]) Drop(tag uint64) { w.remove(tag, w.find(tag)) }

func (w *Window[T]) remove(tag uint64, s *slot[T]) {
	*s = slot[T]{}
	if tag < w.low {
		w.oldLive--
		w.compact()
		return
	}
	w.live--
	if w.live == 0 {
		w.emptied()
	} else if tag == w.low {
		for w.low++; !w.ring[w.low&uint64(len(w.ring)-1)].live; w.low++ {
		}
	}
}

// All returns the outstanding values in place, in ascending order of their tags. The loop may
// take the current value.
func (w *Window[T]) All() iter.Seq2[uint64, *T] { return w.From(0) }

// From returns what All does, from a tag on.
func (w *Window[T]) From(first uint64) iter.Seq2[uint64, *T] {
	return func(yield func(uint64, *T) bool) {
		for tag := max(first, 1) - 1; ; {
			next, v := w.next(tag)
			if v == nil || !yield(next, v) {
				return
			}
			tag = next
		}
	}
}

// next returns the first outstanding tag after the given one and its value, nil if there is none.
func (w *Window[T]) next(after uint64) (uint64, *T) {
	if w.oldLive > 0 && after < w.low {
		i, _ := w.searchOld(after + 1)
		for ; i < len(w.old); i++ {
			if o := &w.old[i]; o.live {
				return o.tag, &o.value
			}
		}
	}
	if w.live > 0 {
		for tag := max(after+1, w.low); tag <= w.last; tag++ {
			if s := &w.ring[tag&uint64(len(w.ring)-1)]; s.live {
				return tag, &s.value
			}
		}
	}
	return 0, nil
}

// find returns the slot of an outstanding tag, nil if the tag is not outstanding.
func (w *Window[T]) find(tag uint64) *slot[T] {
	if tag >= w.low {
		if w.live == 0 || tag > w.last {
			return nil
		}
		if s := &w.ring[tag&uint64(len(w.ring)-1)]; s.live {
			return s
		}
		return nil
	}
	if i, ok := w.searchOld(tag); ok && w.old[i].live {
		return &w.old[i].slot
	}
	return nil
}

func (w *Window[T]) searchOld(tag uint64) (int, bool) {
	return slices.BinarySearchFunc(w.old, tag, func(o oldSlot[T], tag uint64) int {
		switch {
		case o.tag < tag:
			return -1
		case o.tag > tag:
			return 1
		}
		return 0
	})
}

// makeRoom makes the ring able to hold tag, the next one: it grows if at least a quarter of it
// is outstanding, and is emptied into the old list otherwise. Either costs one step per slot
// and happens once per that many tags.
func (w *Window[T]) makeRoom(tag uint64) {
	if len(w.ring) > 0 && w.live < len(w.ring)/4 {
		w.retire(tag)
		return
	}
	ring := make([]slot[T], max(2*len(w.ring), minRing))
	for t := w.low; t < tag && w.live > 0; t++ {
		ring[t&uint64(len(ring)-1)] = w.ring[t&uint64(len(w.ring)-1)]
	}
	w.ring = ring
}

// retire moves what is outstanding in the ring to the old list.
func (w *Window[T]) retire(tag uint64) {
	for t := w.low; t < tag; t++ {
		if s := &w.ring[t&uint64(len(w.ring)-1)]; s.live {
			w.old = append(w.old, oldSlot[T]{t, *s})
			*s = slot[T]{}
		}
	}
	w.oldLive += w.live
	w.live = 0
	w.low = tag
	if len(w.ring) > idleRing {
		w.ring = make([]slot[T], len(w.ring)/2)
	}
}

// emptied gives back the memory of a large ring in which nothing is outstanding.
func (w *Window[T]) emptied() {
	w.low = w.last + 1
	if len(w.ring) > idleRing {
		w.ring = nil
	}
}

// compact removes what is taken from the old list, once that is most of it.
func (w *Window[T]) compact() {
	if w.oldLive == 0 {
		w.old = nil
		return
	}
	if len(w.old) < minOld || w.oldLive > len(w.old)/4 {
		return
	}
	kept := make([]oldSlot[T], 0, 2*w.oldLive)
	for i := range w.old {
		if w.old[i].live {
			kept = append(kept, w.old[i])
		}
	}
	w.old = kept
}
