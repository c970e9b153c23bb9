package graph

import "slices"

// The layered layout. Nodes stand in columns. Between two columns of nodes is a column of labels. An edge is an item, with
// the size of its label, in each column that it crosses: so all that is drawn in a column is an item there, and items
// that do not overlap make a picture in which nothing does.

// An item is what takes room in a column: a node, or an edge that passes, with or without its label.
type item struct {
	node        int // index; -1: an edge
	edge        int // of an item that is no node
	labels      []string
	turn        bool // stands for a turn, and takes no room
	column, pos int
	w, h, pad   int // pad is the room above, and that below
	x, y        int // the left end and the middle
	left, right []*link
}

// A link joins an item and one in the next column.
type link struct {
	a, b       *item // left, right
	aOff, bOff int   // where it is fixed, below the middle of the item
	weight     int   // how much it should be level
}

// A route is the way of an edge: from one item to another. A returning edge turns twice: right of turn, the first item of
// its lane, and at last before its target.
type route struct {
	edge        int
	items       []*item
	turn        int   // index of the first item that is passed to the left; 0: none
	first, last *link // at the nodes
}

// A layout is the picture of nodes that hang together.
type layout struct {
	g       *Graph
	back    []bool
	columns [][]*item
	routes  []route
	gaps    []gap // before each column, and after the last
	w, h    int
}

// Sizes in pixels.
const (
	nameSize   = 13
	detailSize = 11
	lineHeight = 15
	nodePad    = 8
	edgePad    = 4
	portRoom   = 8 // between the ends of arrows at a node
)

// lay makes the layout of a graph whose nodes hang together.
func lay(g *Graph) *layout {
	l := &layout{g: g, back: g.back()}
	rank := g.ranks(l.back)
	l.columns = make([][]*item, 2*(slices.Max(rank)+2))
	nodes := make([]*item, len(g.Nodes))
	for i := range g.Nodes {
		nodes[i] = l.add(&item{node: i, column: 2*rank[i] + 1, pad: nodePad})
	}
	for i, e := range g.Edges {
		if l.back[i] {
			l.returning(i, nodes[e.From], nodes[e.To])
		} else {
			l.forward(i, nodes[e.From], nodes[e.To])
		}
	}
	for i, n := range nodes {
		n.w, n.h = nodeSize(g.Nodes[i], max(len(n.left), len(n.right)))
	}
	l.arrange()
	l.nest()
	l.fixPorts()
	l.settle()
	l.spread()
	return l
}

func (l *layout) add(i *item) *item {
	l.columns[i.column] = append(l.columns[i.column], i)
	return i
}

// pass adds an edge's item to a column, with its labels if they are to stand there.
func (l *layout) pass(edge, column int, labelled bool) *item {
	i := &item{node: -1, edge: edge, column: column, pad: edgePad, h: 2}
	if labelled {
		i.labels = edgeLines(l.g.Edges[edge])
	}
	for _, line := range i.labels {
		i.w = max(i.w, textWidth(line, detailSize)+8)
	}
	i.h = max(i.h, lineHeight*len(i.labels))
	return l.add(i)
}

// The weights of links. A label stands level with the node that it belongs to, and a long line is straight.
const (
	weak   = 2
	near   = 100
	strong = 24
)

func join(a, b *item) *link {
	k := &link{a: a, b: b, weight: weak}
	if a.node < 0 && b.node < 0 {
		k.weight = strong
	}
	a.right, b.left = append(a.right, k), append(b.left, k)
	return k
}

// forward has the label of dead letters at their queue, that of others at the end.
func (l *layout) forward(edge int, from, to *item) {
	r := route{edge: edge, items: []*item{from}}
	at := to.column - 1
	atSource := l.g.Edges[edge].Kind == DeadLetter
	if atSource {
		at = from.column + 1
	}
	for c := from.column + 1; c < to.column; c++ {
		r.items = append(r.items, l.pass(edge, c, c == at))
	}
	r.items = append(r.items, to)
	for i := 1; i < len(r.items); i++ {
		r.last = join(r.items[i-1], r.items[i])
		if i == 1 {
			r.first = r.last
		}
	}
	if atSource {
		r.first.weight = near
	} else {
		r.last.weight = near
	}
	l.routes = append(l.routes, r)
}

// returning leads an edge out to the right, where its label stands, and back in a lane. The turns are items without a
// size in the columns beyond: they draw both ends together when items are arranged.
func (l *layout) returning(edge int, from, to *item) {
	last := from.column + 1
	label := l.pass(edge, last, true)
	lane := l.pass(edge, last, false)
	r := route{edge: edge, items: []*item{from, label, lane}, turn: 2, first: join(from, label)}
	r.first.weight = near
	beyond := l.turnItem(edge, last+1)
	join(label, beyond)
	join(lane, beyond)
	for c := last - 1; c >= to.column; c-- {
		next := l.pass(edge, c, false)
		join(next, lane)
		lane = next
		r.items = append(r.items, lane)
	}
	before := l.turnItem(edge, to.column-1)
	join(before, lane)
	r.last = join(before, to)
	r.items = append(r.items, to)
	l.routes = append(l.routes, r)
}

// turnItem adds the item that stands for a turn. It takes no room.
func (l *layout) turnItem(edge, column int) *item {
	for len(l.columns) <= column {
		l.columns = append(l.columns, nil)
	}
	return l.add(&item{node: -1, edge: edge, column: column, turn: true})
}

// fixPorts spreads the links of a node along its sides, in the order in which they come there.
func (l *layout) fixPorts() {
	for _, column := range l.columns {
		for _, i := range column {
			if i.node < 0 {
				continue
			}
			sortPorts(i.left)
			slices.SortStableFunc(i.right, func(a, b *link) int { return a.b.pos - b.b.pos })
			for n, k := range i.left {
				k.bOff = port(n, len(i.left), i.h)
			}
			for n, k := range i.right {
				k.aOff = port(n, len(i.right), i.h)
			}
		}
	}
}

// port is the place of the nth of some arrows at a side.
func port(n, of, height int) int {
	if of == 1 {
		return 0
	}
	room := min(portRoom*(of-1), height-12)
	return n*room/(of-1) - room/2
}

const (
	longestName   = 40
	longestDetail = 44
	mostLabels    = 4
	mostDetails   = 12
)

// nodeLines returns what is written in a node.
func nodeLines(n Node) (name string, details []string) {
	for _, d := range limit(n.Details, mostDetails) {
		details = append(details, shorten(d, longestDetail))
	}
	name = shorten(n.Name, longestName)
	if name == "" {
		name = "(no name)"
	}
	return name, details
}

// edgeLines returns what is written on an edge.
func edgeLines(e Edge) []string {
	var lines []string
	for _, line := range limit(e.Labels, mostLabels) {
		lines = append(lines, shorten(line, longestName))
	}
	return lines
}

// nodeSize is even in height, so that the middle is a whole number.
func nodeSize(n Node, ports int) (w, h int) {
	const mostForPorts = 240
	name, details := nodeLines(n)
	w = boldWidth(name)
	for _, d := range details {
		w = max(w, textWidth(d, detailSize))
	}
	h = lineHeight*(len(details)+1) + 14
	h = max(h, min(portRoom*ports+10, mostForPorts))
	return w + 26, h + h%2
}

// boldWidth is the width of a name: bold characters are wider by some 15 %.
func boldWidth(s string) int { return textWidth(s, nameSize) * 23 / 20 }
