package graph

import "image"

// The legend explains the boxes and arrows that occur in a picture.

// A legendEntry is a sample and what it means.
type legendEntry struct {
	text string
	node NodeKind // of a box; empty: an arrow
	edge EdgeKind
	back bool
}

const sampleWidth = 30

func (e legendEntry) width() int { return sampleWidth + 8 + textWidth(e.text, detailSize) + 20 }

var topologyLegend = []legendEntry{
	{text: "exchange", node: Exchange},
	{text: "queue", node: Queue},
	{text: "does not exist: messages are lost", node: Missing},
	{text: "binding, with its key", edge: Binding},
	{text: "dead letters, with their new key", edge: DeadLetter},
	{text: "dead letters that return", edge: DeadLetter, back: true},
	{text: "what no binding takes", edge: Alternate},
}

var journeyLegend = []legendEntry{
	{text: "published", node: Publisher},
	{text: "a copy in a queue", node: Queue},
	{text: "routed", edge: Binding},
	{text: "died, and was dead-lettered", edge: DeadLetter},
	{text: "lost", node: Lost},
}

// legend returns the entries that occur in the graph.
func (g *Graph) legend() []legendEntry {
	nodes, edges := map[NodeKind]bool{}, map[legendEntry]bool{}
	for _, n := range g.Nodes {
		nodes[n.Kind] = true
	}
	for i, back := range g.back() {
		edges[legendEntry{edge: g.Edges[i].Kind, back: back}] = true
	}
	all := topologyLegend
	if nodes[Publisher] {
		all = journeyLegend
	}
	var entries []legendEntry
	for _, e := range all {
		if nodes[e.node] || edges[legendEntry{edge: e.edge, back: e.back}] {
			entries = append(entries, e)
		}
	}
	return entries
}

// legendRows breaks the legend into rows.
func legendRows(entries []legendEntry, width int) [][]legendEntry {
	var rows [][]legendEntry
	x := 0
	for _, e := range entries {
		if len(rows) == 0 || x+e.width() > width {
			rows, x = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		x += e.width()
	}
	return rows
}

func (d *drawing) drawLegend(rows [][]legendEntry, y int) {
	for _, row := range rows {
		x := margin
		y += legendLine
		for _, e := range row {
			d.sample(e, x, y)
			d.text(e.text, label{x: x + sampleWidth + 8, y: y, size: detailSize, class: "detail"})
			x += e.width()
		}
	}
}

func (d *drawing) sample(e legendEntry, x, y int) {
	if e.node != "" {
		d.add(`<g class="%s">`, nodeClass(e.node))
		d.box(e.node, image.Rect(x, y-8, x+sampleWidth, y+8))
		d.add("</g>")
		return
	}
	class := edgeClass(e.edge)
	if e.back {
		class += " back"
	}
	d.add(`<g class="%s"><path class="line" d="M%d %dH%d"/>`, class, x, y, x+sampleWidth-headLength+1)
	d.add(`<path class="head" d="M%d %dl-%d -4v8z"/></g>`, x+sampleWidth, y, headLength)
}
