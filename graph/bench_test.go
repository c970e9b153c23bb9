package graph_test

import (
	"fmt"
	"testing"

	"github.com/leveretmq/leveret/graph"
)

// BenchmarkSVG draws shops of several sizes.
func BenchmarkSVG(b *testing.B) {
	for _, size := range []int{40, 200, 1000} {
		g := shop(size)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for b.Loop() {
				g.SVG()
			}
		})
	}
}

// shop is a graph of some queues that retry, ten at an exchange.
func shop(queues int) *graph.Graph {
	g := &graph.Graph{Nodes: []graph.Node{{Kind: graph.Exchange, Name: "shop"}, {Kind: graph.Exchange, Name: "retry"}}}
	for n := range queues {
		if n%10 == 0 {
			g.Nodes = append(g.Nodes, graph.Node{Kind: graph.Exchange, Name: fmt.Sprint("area", n)})
			g.Edges = append(g.Edges, graph.Edge{From: 0, To: len(g.Nodes) - 1, Labels: []string{fmt.Sprint(n)}})
		}
		g.Nodes = append(g.Nodes, graph.Node{Kind: graph.Queue, Name: fmt.Sprint("queue", n)})
		q := len(g.Nodes) - 1
		g.Edges = append(g.Edges, graph.Edge{From: q - 1 - n%10, To: q, Kind: graph.Binding, Labels: []string{"key"}},
			graph.Edge{From: q, To: n * 7 % 13 % 2, Kind: graph.DeadLetter})
	}
	return g
}
