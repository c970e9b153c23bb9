// Package ring has a list whose elements know their places, so that each can leave at once.
package ring

import "iter"

// A List is a doubly linked list. Its zero value is empty and ready to use; it must not be copied.
type List[T any] struct {
	first *Place[T]
	n     int
}

// A Place is where a value stands in a list: at most in one at a time. The zero Place stands in none. It is kept with
// the value, so that neither entering nor leaving allocates.
type Place[T any] struct {
	Value T

	list       *List[T]
	next, prev *Place[T] // of a circle: the last is before the first
}

// In returns the list in which p stands, nil if it stands in none.
func (p *Place[T]) In() *List[T] { return p.list }

// Len returns the number of values.
func (l *List[T]) Len() int { return l.n }

// Front returns the first place, nil if the list is empty.
func (l *List[T]) Front() *Place[T] { return l.first }

// PushBack puts p, which must stand in no list, at the end.
func (l *List[T]) PushBack(p *Place[T]) {
	if p.list != nil {
		panic("ring: a place stands in two lists")
	}
	p.list = l
	l.n++
	if l.first == nil {
		l.first, p.next, p.prev = p, p, p
		return
	}
	last := l.first.prev
	p.prev, p.next = last, l.first
	last.next, l.first.prev = p, p
}

// Rotate makes the first place the last.
func (l *List[T]) Rotate() {
	if l.first != nil {
		l.first = l.first.next
	}
}

// Leave takes p out of the list in which it stands, if it stands in one.
func (p *Place[T]) Leave() {
	l := p.list
	if l == nil {
		return
	}
	l.n--
	switch {
	case l.n == 0:
		l.first = nil
	case l.first == p:
		l.first = p.next
	}
	p.prev.next, p.next.prev = p.next, p.prev
	p.list, p.next, p.prev = nil, nil, nil
}

// Replace puts p, which must stand in no list, in the place of old. It does nothing if old stands in none.
func (p *Place[T]) Replace(old *Place[T]) {
	l := old.list
	switch {
	case l == nil:
		return
	case p.list != nil:
		panic("ring: a place stands in two lists")
	}
	p.list, p.next, p.prev = l, old.next, old.prev
	if l.n == 1 {
		p.next, p.prev = p, p
	}
	p.prev.next, p.next.prev = p, p
	if l.first == old {
		l.first = p
	}
	old.list, old.next, old.prev = nil, nil, nil
}

// All yields the values in order. The list must not change meanwhile.
func (l *List[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		p := l.first
		for range l.n {
			if !yield(p.Value) {
				return
			}
			p = p.next
		}
	}
}
