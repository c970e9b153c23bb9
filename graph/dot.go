package graph

import (
	"fmt"
	"strings"
)

// DOT writes the graph for Graphviz.
func (g *Graph) DOT() string {
	var out strings.Builder
	fmt.Fprintf(&out, "digraph {\n  label=%s\n  labelloc=t\n  rankdir=LR\n", dotText(g.Title))
	out.WriteString("  node [fontname=\"sans-serif\" fontsize=11 style=filled]\n  edge [fontname=\"sans-serif\" fontsize=9]\n")
	for i, n := range g.Nodes {
		name, details := nodeLines(n)
		fmt.Fprintf(&out, "  n%d [label=%s %s]\n", i, dotText(append([]string{name}, details...)...), dotNode(n.Kind))
	}
	for i, back := range g.back() {
		e := g.Edges[i]
		fmt.Fprintf(&out, "  n%d -> n%d [label=%s %s", e.From, e.To, dotText(edgeLines(e)...), dotEdge(e.Kind))
		if back {
			out.WriteString(" penwidth=3 constraint=false")
		}
		out.WriteString("]\n")
	}
	out.WriteString("}\n")
	return out.String()
}

// dotText quotes lines. Every backslash and quotation mark of theirs is escaped, so that none of Graphviz's own escapes
// is in them.
func dotText(lines ...string) string {
	escaped := make([]string, len(lines))
	for i, line := range lines {
		escaped[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;").Replace(printable(line))
	}
	return `"` + strings.Join(escaped, `\n`) + `"`
}

func dotNode(k NodeKind) string {
	switch k {
	case Exchange, Publisher:
		return `shape=box style="filled,rounded" fillcolor="#dbeafe" color="#2563eb"`
	case Missing:
		return `shape=box style=dashed color="#b91c1c"`
	case Lost:
		return `shape=box fillcolor="#fee2e2" color="#b91c1c"`
	}
	return `shape=box fillcolor="#fef3c7" color="#b45309"`
}

func dotEdge(k EdgeKind) string {
	switch k {
	case DeadLetter, Loss:
		return `color="#dc2626" fontcolor="#b91c1c" style=dashed`
	case Alternate:
		return `color="#7c3aed" fontcolor="#6d28d9" style=dotted`
	}
	return `color="#64748b"`
}
