package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leveretmq/leveret/internal/ctl"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// callGraph runs leveret graph in this process.
func callGraph(stdin string, args ...string) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	status = run(append([]string{"graph"}, args...), ctl.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs})
	return out.String(), errs.String(), status
}

// TestGraphOfTheReadme draws the picture of the README again.
func TestGraphOfTheReadme(t *testing.T) {
	want, err := os.ReadFile("../../docs/topology.svg")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "topology.svg")
	_, stderr, status := callGraph("", "../../docs/topology.json", "-o", file)
	require.Equal(t, 0, status, stderr)
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
	stdout, _, _ := callGraph("", "../../docs/topology.json")
	assert.Equal(t, string(want), stdout)
}

func TestGraphFormats(t *testing.T) {
	dir := t.TempDir()
	for ending, begin := range map[string]string{"dot": "digraph", "gv": "digraph", "mmd": "flowchart", "SVG": "<svg"} {
		file := filepath.Join(dir, "picture."+ending)
		_, stderr, status := callGraph("", "-o", file, "../../docs/topology.json", "--profile", "3.10")
		require.Equal(t, 0, status, stderr)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(string(text), begin), ending)
		assert.Contains(t, string(text), "orders.parked")
	}
}

// TestGraphOfOneVHost has files of several virtual hosts, of one of several, and what leveret does not have.
func TestGraphOfOneVHost(t *testing.T) {
	const two = `{"vhosts":[{"name":"a"},{"name":"b"}],"queues":[{"name":"in a","vhost":"a"},{"name":"in b","vhost":"b"}]}`
	out, _, status := callGraph(two, "-", "--vhost", "b")
	assert.Equal(t, 0, status)
	assert.Contains(t, out, "in b")
	assert.NotContains(t, out, "in a")
	_, stderr, status := callGraph(two, "-")
	assert.Equal(t, 2, status)
	assert.Contains(t, stderr, "choose one by --vhost: a, b")

	out, _, _ = callGraph(`{"vhosts":[{"name":"a"}],"queues":[{"name":"in a","vhost":"a"}]}`, "-")
	assert.Contains(t, out, "in a")
	out, _, _ = callGraph(`{"rabbitmq_definition_format":"single_virtual_host","queues":[{"name":"alone"}]}`, "-")
	assert.Contains(t, out, "alone")
	out, stderr, status = callGraph(`{"queues":[{"name":"s","vhost":"/","arguments":{"x-queue-type":"stream"}},{"name":"q","vhost":"/"}]}`, "-")
	assert.Equal(t, 0, status)
	assert.Contains(t, stderr, "leveret graph: left out: ")
	assert.Contains(t, out, "queue q")
}

func TestGraphRefuses(t *testing.T) {
	for _, c := range []struct {
		status int
		stderr string
		args   []string
	}{
		{exitUsage, "a file is expected", nil},
		{exitUsage, `"b.json" is not expected`, []string{"a.json", "b.json"}},
		{exitUsage, "ends in none of .dot, .gv, .mmd, .svg", []string{"a.json", "-o", "a.png"}},
		{exitUsage, `--profile is "5"`, []string{"a.json", "--profile", "5"}},
		{exitUsage, "-unknown", []string{"a.json", "-unknown"}},
		{exitUsage, "none.json", []string{"none.json"}},
		{exitUsage, "leveret graph: -: ", []string{"-"}},
		{exitUsage, "nowhere", []string{"../../docs/topology.json", "--vhost", "nowhere"}},
		{exitUsage, "no-such-dir", []string{"../../docs/topology.json", "-o", "no-such-dir/a.svg"}},
	} {
		_, stderr, status := callGraph("{", c.args...)
		assert.Equal(t, c.status, status, c.args)
		assert.Contains(t, stderr, c.stderr)
	}
	stdout, _, status := callGraph("", "--help")
	assert.Equal(t, 0, status)
	assert.Contains(t, stdout, "-vhost")
}
