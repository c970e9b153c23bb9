package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/leveretmq/leveret/lint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const compared = linted + "diff/"

func TestDiff(t *testing.T) {
	want, err := os.ReadFile(compared + "changes.txt")
	require.NoError(t, err)
	out, stderr, status := called("", "diff", compared+"old.json", compared+"new.json")
	assert.Equal(t, string(want), out)
	assert.Empty(t, stderr)
	assert.Equal(t, 1, status)

	next, err := os.ReadFile(compared + "new.json")
	require.NoError(t, err)
	out, _, status = called(string(next), "diff", compared+"old.json", "--format", "json", "-", "--profile", "4.3")
	assert.Equal(t, 1, status)
	var c lint.Comparison
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	assert.Equal(t, strings.Count(string(want), "\n~ ")+strings.Count("\n"+string(want), "\n- ")+strings.Count(string(want), "\n+ ")+1, len(c.Changes))
	assert.Equal(t, lint.Change{How: lint.Changed, Kind: "user", Name: "app", Effects: []lint.Effect{}, Differences: []lint.Difference{
		{Key: "password", Old: "one", New: "another", AtOnce: true}, {Key: "tags", Old: "", New: "monitoring", AtOnce: true}}}, c.Changes[0])

	out, stderr, status = called("", "diff", compared+"old.json", compared+"old.json")
	assert.Zero(t, status)
	assert.Empty(t, out+stderr)
	out, _, status = called("", "diff", "--format", "json", compared+"old.json", compared+"old.json")
	assert.Zero(t, status)
	assert.Equal(t, "{\n  \"changes\": [],\n  \"not_compared\": []\n}\n", out)
}

func TestDiffRefuses(t *testing.T) {
	for _, c := range []struct{ stdin, says, args string }{
		{"", "two files are expected", "a"},
		{"", "two files are expected", "a b c"},
		{"", "only one file can be standard input", "- -"},
		{"", `--profile is "5"`, "a b --profile 5"},
		{"", `--format is "svg"`, "a b --format svg"},
		{"", "-bogus", "--bogus"},
		{"", "no such file", "none.json " + compared + "old.json"},
		{"{", "the new file: line 1, column 1", compared + "old.json -"},
		{`{"queues":[{"name":"q","vhost":"/","durable":true,"auto_delete":false,"arguments":{"x-max-length":-1}}]}`, "the old file: queue 'q': ", "- " + compared + "old.json"},
	} {
		out, stderr, status := called(c.stdin, append([]string{"diff"}, strings.Fields(c.args)...)...)
		assert.Equal(t, exitUsage, status, c.args)
		assert.Empty(t, out)
		assert.True(t, strings.HasPrefix(stderr, "leveret diff: "), stderr)
		assert.Contains(t, stderr, c.says)
	}
	out, _, status := called("", "diff", "--help")
	assert.Zero(t, status)
	assert.Contains(t, out, "-profile release")
}
