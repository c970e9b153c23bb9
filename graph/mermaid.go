package graph

import (
	"fmt"
	"strings"
)

// Mermaid writes the graph as a flowchart of Mermaid, which many hosts of Markdown draw in a block of code with that
// name.
func (g *Graph) Mermaid() string {
	var out strings.Builder
	out.WriteString("flowchart LR\n")
	for i, n := range g.Nodes {
		name, details := nodeLines(n)
		open, shut := mermaidShape(n.Kind)
		fmt.Fprintf(&out, "  n%d%s%s%s:::%s\n", i, open, mermaidText(append([]string{name}, details...)), shut, nodeClass(n.Kind))
	}
	for _, e := range g.Edges {
		arrow := mermaidArrow(e.Kind)
		if lines := edgeLines(e); len(lines) > 0 {
			arrow += "|" + mermaidText(lines) + "|"
		}
		fmt.Fprintf(&out, "  n%d %s n%d\n", e.From, arrow, e.To)
	}
	g.mermaidStyle(&out)
	return out.String()
}

func mermaidShape(k NodeKind) (open, shut string) {
	if k == Exchange || k == Publisher {
		return "([", "])"
	}
	return "[", "]"
}

func mermaidArrow(k EdgeKind) string {
	switch k {
	case DeadLetter, Alternate, Loss:
		return "-.->"
	}
	return "-->"
}

// mermaidStyle colours nodes, and each edge by its number; the returning ones are thick.
func (g *Graph) mermaidStyle(out *strings.Builder) {
	for i, back := range g.back() {
		colour := map[EdgeKind]string{DeadLetter: "#dc2626", Loss: "#dc2626", Alternate: "#7c3aed"}[g.Edges[i].Kind]
		if colour == "" {
			continue
		}
		width := "1.5px"
		if back {
			width = "3px"
		}
		fmt.Fprintf(out, "  linkStyle %d stroke:%s,stroke-width:%s\n", i, colour, width)
	}
	out.WriteString("  classDef exchange fill:#dbeafe,stroke:#2563eb,color:#1f2933\n" +
		"  classDef publisher fill:#dbeafe,stroke:#2563eb,color:#1f2933\n" +
		"  classDef queue fill:#fef3c7,stroke:#b45309,color:#1f2933\n" +
		"  classDef missing fill:#ffffff,stroke:#b91c1c,color:#1f2933,stroke-dasharray:3\n" +
		"  classDef lost fill:#fee2e2,stroke:#b91c1c,color:#1f2933\n")
}

// mermaidText quotes lines. All that might be markup to Mermaid, Markdown or HTML is written as a character reference.
func mermaidText(lines []string) string {
	var out strings.Builder
	out.WriteByte('"')
	for i, line := range lines {
		if i > 0 {
			out.WriteString("<br/>")
		}
		for _, r := range printable(line) {
			if harmless(r) {
				out.WriteRune(r)
			} else {
				fmt.Fprintf(&out, "#%d;", r)
			}
		}
	}
	out.WriteByte('"')
	return out.String()
}

func harmless(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r > 127:
		return true
	}
	return strings.ContainsRune(" ._-/:,()", r)
}
