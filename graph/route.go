package graph

import (
	"fmt"
	"strings"
)

// The lines of edges. In a column a line is level: nothing else is there. In a gap it is a curve, or a turn.

const headLength = 8

// route draws the line of an edge and its head.
func (d *drawing) route(l *layout, r *route) {
	e := l.g.Edges[r.edge]
	class := edgeClass(e.Kind)
	if l.back[r.edge] {
		class += " back"
	}
	p := pen{l: l}
	from, to := r.items[0], r.items[len(r.items)-1]
	p.x, p.y = from.x+from.w, from.y+r.first.aOff
	p.add("M%d %d", p.x, p.y)
	for n := 1; n < len(r.items)-1; n++ {
		p.pass(r, n)
	}
	x, y := to.x-headLength+1, to.y+r.last.bOff
	if r.turn > 0 {
		end := r.items[len(r.items)-2]
		p.turn(trackOf(l.gaps[end.column].right, r), y, x)
	} else {
		p.curve(x, y)
	}
	d.add(`<g class="%s"><path class="line" d="%s"/>`, class, p.String())
	d.add(`<path class="head" d="M%d %dl-%d -4v8z"/></g>`, to.x, y, headLength)
}

// A pen draws a line.
type pen struct {
	strings.Builder
	l    *layout
	x, y int
}

func (p *pen) add(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// pass leads through the nth item of a route: to the right before the turn, to the left after it.
func (p *pen) pass(r *route, n int) {
	i := r.items[n]
	left := p.l.gaps[i.column].end()
	right := p.l.gaps[i.column+1].x
	switch {
	case r.turn == 0 && left == right:
		// Nothing stands in the column: one curve leads past it.
	case r.turn == 0 || n < r.turn:
		p.curve(left, i.y)
		p.level(right)
	case n == r.turn:
		p.turn(trackOf(p.l.gaps[i.column+1].left, r), i.y, right)
		p.level(left)
	default:
		p.curve(right, i.y)
		p.level(left)
	}
}

func (p *pen) level(x int) {
	if x != p.x {
		p.add("H%d", x)
	}
	p.x = x
}

func (p *pen) curve(x, y int) {
	if y == p.y {
		p.level(x)
		return
	}
	middle := (x + p.x) / 2
	p.add("C%d %d %d %d %d %d", middle, p.y, middle, y, x, y)
	p.x, p.y = x, y
}

// turn leads along a track to another height, and back to x.
func (p *pen) turn(track, y, x int) {
	radius, down := min(8, apart(y, p.y)/2), 1
	if y < p.y {
		down = -1
	}
	side := 1 // the track is to the right
	if track < p.x {
		side = -1
	}
	p.add("H%dQ%d %d %d %dV%dQ%d %d %d %dH%d", track-side*radius, track, p.y, track, p.y+down*radius,
		y-down*radius, track, y, track-side*radius, y, x)
	p.x, p.y = x, y
}
