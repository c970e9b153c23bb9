package graph_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/graph"
	"github.com/leveretmq/leveret/internal/golden"
)

// TestPictures compares pictures of three topologies with those in testdata. A change of them is looked at, and then
// written with -update.
func TestPictures(t *testing.T) {
	for name, topology := range map[string]func(*testing.T) *leveret.VHost{
		"retries": retries, "forty": forty, "alternates": alternates,
	} {
		t.Run(name, func(t *testing.T) {
			g := graph.Of(topology(t))
			golden.Equal(t, name+".svg", g.SVG())
			golden.Equal(t, name+".dot", g.DOT())
			golden.Equal(t, name+".mmd", g.Mermaid())
		})
	}
}
