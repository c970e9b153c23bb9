package graph_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/graph"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the pictures in testdata anew")

// TestPictures compares pictures of three topologies with those in testdata. A change of them is looked at, and then
// written with -update.
func TestPictures(t *testing.T) {
	for name, topology := range map[string]func(*testing.T) *leveret.VHost{
		"retries": retries, "forty": forty, "alternates": alternates,
	} {
		t.Run(name, func(t *testing.T) {
			g := graph.Of(topology(t))
			golden(t, name+".svg", g.SVG())
			golden(t, name+".dot", g.DOT())
			golden(t, name+".mmd", g.Mermaid())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}
