package graph_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/graph"
	"github.com/leveretmq/leveret/internal/golden"
	"github.com/leveretmq/leveret/leverettest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestProjects draws topologies that are written after what public projects deploy, and measures the pictures.
func TestProjects(t *testing.T) {
	files, err := filepath.Glob("../lint/testdata/project-*.json")
	require.NoError(t, err)
	assert.Len(t, files, 10)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			g := graph.Of(imported(t, file))
			golden.Equal(t, name+".mmd", g.Mermaid())
			svg := g.SVG()
			p := read(t, svg)
			p.verify(t, svg)
			p.verifyNodes(t, g, svg)
		})
	}
}

// imported returns the virtual host of a file. OpenStack's has a policy that only 3.10 knows.
func imported(t *testing.T, file string) *leveret.VHost {
	release := leveret.RabbitMQ43
	if strings.Contains(file, "openstack") {
		release = leveret.RabbitMQ310
	}
	b := leverettest.New(t, leveret.WithProfile(release), leveret.WithClock(leveret.NewManualClock(time.Unix(0, 0))))
	document, err := os.ReadFile(file)
	require.NoError(t, err)
	_, err = definitions.ImportSupported(b, document)
	require.NoError(t, err)
	d, err := definitions.Parse(document)
	require.NoError(t, err)
	v, err := b.VHost(d.VHosts[0].Name)
	require.NoError(t, err)
	return v
}
