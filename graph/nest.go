package graph

import (
	"cmp"
	"slices"
)

// Edges that return to the same node lie in each other, as pairs of brackets do, so that their turns do not cross.

// nest lets returning edges change lanes: of two that leave one column for one node, on one side of both, the one that
// leaves nearer to the lanes takes the inner.
func (l *layout) nest() {
	const rounds = 8
	for range rounds {
		changed := false
		for n := range l.routes {
			for m := range l.routes[:n] {
				changed = l.nestPair(&l.routes[m], &l.routes[n]) || changed
			}
		}
		if !changed {
			return
		}
	}
}

// nestPair reports whether two routes have changed lanes.
func (l *layout) nestPair(r, s *route) bool {
	if r.turn == 0 || s.turn == 0 || len(r.items) != len(s.items) || r.last.b != s.last.b {
		return false
	}
	if r.items[1].pos > s.items[1].pos {
		r, s = s, r
	}
	top, bottom := r.items[1].pos, s.items[1].pos
	first, second := r.items[r.turn].pos, s.items[s.turn].pos
	between := max(first, second) > top && min(first, second) < bottom
	if first > second || between {
		return false
	}
	for n := r.turn; n < len(r.items)-1; n++ {
		l.exchange(r.items[n], s.items[n])
	}
	return true
}

// exchange lets two items of one column change places.
func (l *layout) exchange(a, b *item) {
	column := l.columns[a.column]
	column[a.pos], column[b.pos] = b, a
	a.pos, b.pos = b.pos, a.pos
}

// sortPorts orders the links that come to a node from the left: from lanes above it, from the column before it, and from
// lanes below it. The outer lane comes to the inner port.
func sortPorts(links []*link) {
	side := func(k *link) (side, pos int) {
		if !k.a.turn {
			return 0, k.a.pos
		}
		lane := k.a.right[0].b
		if lane.pos < k.b.pos {
			return -1, -lane.pos
		}
		return 1, -lane.pos
	}
	slices.SortStableFunc(links, func(a, b *link) int {
		sideA, posA := side(a)
		sideB, posB := side(b)
		return cmp.Or(cmp.Compare(sideA, sideB), cmp.Compare(posA, posB))
	})
}
