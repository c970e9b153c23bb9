package graph

import (
	"fmt"
	"html"
	"image"
	"strings"
)

// SVG draws the graph as a picture of its own: with a background, a legend of what occurs in it, and colours for the
// reader's light or dark scheme. It needs neither scripts nor fonts, and nothing from elsewhere. Nodes and labels that
// are shortened have the whole text as a tooltip.
func (g *Graph) SVG() string {
	parts, w, h := pack(g)
	var d drawing
	w = max(w, boldWidth(shorten(g.Title, longestName)), 320)
	rows := legendRows(g.legend(), w)
	d.frame(g, w+2*margin, h+top+len(rows)*legendLine+2*margin+legendLine/2)
	for _, p := range parts {
		p.move(margin, top+margin)
	}
	for _, p := range parts {
		for n := range p.routes {
			d.route(p, &p.routes[n])
		}
	}
	for _, p := range parts {
		for _, column := range p.columns {
			for _, i := range column {
				d.item(p.g, i)
			}
		}
	}
	d.drawLegend(rows, h+top+margin+legendLine/2)
	d.WriteString("</svg>\n")
	return d.String()
}

const (
	margin     = 20
	top        = 30 // the title
	legendLine = 26
)

// A drawing is the SVG text that is being written.
type drawing struct{ strings.Builder }

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

// xmlText escapes what is no markup.
func xmlText(s string) string { return html.EscapeString(printable(s)) }

func (d *drawing) frame(g *Graph, w, h int) {
	d.add(`<svg xmlns="http://www.w3.org/2000/svg" class="leveret" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`, w, h, w, h)
	d.add("<title>%s</title>", xmlText(g.Title))
	d.add("<style>\n%s</style>", style)
	d.add(`<rect class="paper" width="%d" height="%d" rx="6"/>`, w, h)
	d.text(shorten(g.Title, longestName), label{x: margin, y: margin + 8, size: nameSize, class: "title"})
}

// A label says where and how a line of text stands.
type label struct {
	x, y, size int // y: the middle
	class      string
	middle     bool // x is the middle, not the beginning
}

// text writes a line. One with characters of unknown width is squeezed to the width that was reckoned for it.
func (d *drawing) text(s string, l label) {
	attributes := ""
	if l.middle {
		attributes = ` text-anchor="middle"`
	}
	if !fits(s) {
		width := textWidth(s, l.size)
		if l.size == nameSize {
			width = boldWidth(s)
		}
		attributes += fmt.Sprintf(` textLength="%d" lengthAdjust="spacingAndGlyphs"`, width)
	}
	d.add(`<text class="%s" x="%d" y="%d"%s>%s</text>`, l.class, l.x, l.y+l.size*35/100, attributes, xmlText(s))
}

// item draws a node or a label. What only passes is drawn by its route.
func (d *drawing) item(g *Graph, i *item) {
	switch {
	case i.node >= 0:
		d.node(g.Nodes[i.node], i)
	case len(i.labels) > 0:
		d.label(g.Edges[i.edge], i)
	}
}

func (d *drawing) node(n Node, i *item) {
	name, details := nodeLines(n)
	d.add(`<g class="%s"><title>%s</title>`, nodeClass(n.Kind), xmlText(string(n.Kind)+" "+n.Name))
	d.box(n.Kind, image.Rect(i.x, i.y-i.h/2, i.x+i.w, i.y+i.h/2))
	y := i.y - len(details)*lineHeight/2
	d.text(name, label{i.x + i.w/2, y, nameSize, "name", true})
	for _, detail := range details {
		y += lineHeight
		d.text(detail, label{i.x + i.w/2, y, detailSize, "detail", true})
	}
	d.add("</g>")
}

// box has round ends for what routes, and corners for what keeps.
func (d *drawing) box(kind NodeKind, r image.Rectangle) {
	radius := 3
	if kind == Exchange || kind == Publisher {
		radius = min(r.Dy()/2, 16)
	}
	d.add(`<rect class="box" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, r.Min.X, r.Min.Y, r.Dx(), r.Dy(), radius)
}

func (d *drawing) label(e Edge, i *item) {
	d.add(`<g class="%s"><title>%s</title>`, edgeClass(e.Kind), xmlText(strings.Join(e.Labels, ", ")))
	d.add(`<rect class="gap" x="%d" y="%d" width="%d" height="%d"/>`, i.x, i.y-i.h/2, i.w, i.h)
	y := i.y - (len(i.labels)-1)*lineHeight/2
	for _, line := range i.labels {
		d.text(line, label{i.x + i.w/2, y, detailSize, "label", true})
		y += lineHeight
	}
	d.add("</g>")
}

// nodeClass is the class of a node. A kind that a program made up is drawn as a queue.
func nodeClass(k NodeKind) string {
	switch k {
	case Exchange, Missing, Publisher, Lost:
		return string(k)
	}
	return "queue"
}

// edgeClass is the class of an edge. A kind that a program made up is drawn as a binding.
func edgeClass(k EdgeKind) string {
	switch k {
	case DeadLetter:
		return "dead"
	case Alternate:
		return "alternate"
	case Loss:
		return "loss"
	}
	return "binding"
}
