package graph

import "slices"

// What does not hang together is laid out apart, and put in rows.

const (
	packWidth = 1100
	packGap   = 28
)

// pack lays out a graph and returns the parts at their places, and the size of all.
func pack(g *Graph) (parts []*layout, w, h int) {
	groups := g.components()
	for _, group := range groups {
		keep := make([]bool, len(g.Nodes))
		for _, n := range group {
			keep[n] = true
		}
		part := g.only(keep)
		parts = append(parts, lay(&part))
	}
	for _, p := range parts {
		w = max(w, p.w)
	}
	most := max(w, packWidth)
	x, y, row := 0, 0, 0
	for _, p := range parts {
		if x > 0 && x+p.w > most {
			x, y, row = 0, y+row+packGap, 0
		}
		p.move(x, y)
		x, row = x+p.w+packGap, max(row, p.h)
		w = max(w, x-packGap)
	}
	return parts, w, y + row
}

// move puts the layout at its place.
func (l *layout) move(dx, dy int) {
	for _, column := range l.columns {
		for _, i := range column {
			i.x, i.y = i.x+dx, i.y+dy
		}
	}
	for _, g := range l.gaps {
		for _, t := range slices.Concat(g.left, g.right) {
			t.track += dx
		}
	}
	for c := range l.gaps {
		l.gaps[c].x += dx
	}
}
