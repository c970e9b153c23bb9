package graph

import (
	"cmp"
	"slices"
)

// The places of columns, and of the gaps between them, where lines rise, fall and turn.

// A gap is the room between two columns.
type gap struct {
	x, w        int
	left, right []*turning // those that come from the left, and from the right
}

func (g *gap) end() int { return g.x + g.w }

// A turning is the way of a returning edge from one height to another.
type turning struct {
	r     *route
	span  int
	track int // x of its upright line
}

const (
	trackRoom = 9
	turnRoom  = 14 // between the outermost turn and its column; an arrow's head has room there
)

// spread gives every column and gap its place, and each turn a track of its own.
func (l *layout) spread() {
	l.gaps = make([]gap, len(l.columns)+1)
	l.findTurns()
	x := 0
	for c := range l.gaps {
		g := &l.gaps[c]
		g.x, g.w = x, l.climb(c)
		if len(g.left) > 0 {
			g.w += turnRoom + trackRoom*len(g.left)
		}
		if len(g.right) > 0 {
			g.w += turnRoom + trackRoom*len(g.right)
		}
		g.lay()
		x += g.w
		if c < len(l.columns) {
			x = l.spreadColumn(c, x)
		}
	}
	l.w = x
}

// spreadColumn places a column and returns where it ends. Nodes are as wide as the column. A label stands beside the
// node that it belongs to.
func (l *layout) spreadColumn(c, x int) (end int) {
	width := 0
	for _, i := range l.columns[c] {
		width = max(width, i.w)
	}
	for _, i := range l.columns[c] {
		i.x = x
		switch {
		case i.node >= 0 || len(i.labels) == 0:
			i.w = width
		case l.g.Edges[i.edge].Kind != DeadLetter && !l.back[i.edge]:
			i.x = x + width - i.w
		}
	}
	return x + width
}

// findTurns notes in which gaps edges turn.
func (l *layout) findTurns() {
	for n := range l.routes {
		r := &l.routes[n]
		if r.turn == 0 {
			continue
		}
		out, lane := r.items[r.turn-1], r.items[r.turn]
		l.gaps[lane.column+1].left = append(l.gaps[lane.column+1].left, &turning{r: r, span: apart(out.y, lane.y)})
		end := r.items[len(r.items)-2]
		l.gaps[end.column].right = append(l.gaps[end.column].right, &turning{r: r, span: apart(end.y, r.last.b.y+r.last.bOff)})
	}
}

func apart(a, b int) int { return max(a-b, b-a) }

// climb is the width that lines need to rise and fall in a gap.
func (l *layout) climb(c int) int {
	if c == 0 || c == len(l.columns) {
		return 0
	}
	height, any := 0, false
	for _, i := range l.columns[c-1] {
		for _, k := range i.right {
			if !k.a.turn && !k.b.turn {
				height, any = max(height, apart(k.a.y+k.aOff, k.b.y+k.bOff)), true
			}
		}
	}
	if !any {
		return 0
	}
	return min(max(height/5, 18), 90)
}

// lay gives each turn its track. The longer is outside.
func (g *gap) lay() {
	longest := func(a, b *turning) int { return cmp.Compare(a.span, b.span) }
	slices.SortStableFunc(g.left, longest)
	slices.SortStableFunc(g.right, longest)
	for n, t := range g.left {
		t.track = g.x + turnRoom + trackRoom*n
	}
	for n, t := range g.right {
		t.track = g.x + g.w - turnRoom - trackRoom*(n+1)
	}
}

// trackOf returns where a route turns.
func trackOf(turns []*turning, r *route) int {
	i := slices.IndexFunc(turns, func(t *turning) bool { return t.r == r })
	return turns[i].track
}
