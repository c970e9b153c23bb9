package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/leveretmq/leveret/internal/golden"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const traced = "testdata/trace/"

// traceArgs are those of an order that is rejected and does not come back, because a binding's key is misspelt.
func traceArgs(more ...string) []string {
	return append([]string{"trace", traced + "shop.json", "--exchange", "orders", "--key", "order.new"}, more...)
}

func TestTrace(t *testing.T) {
	order := []string{"--body", "order 17", "--properties", "message-id=17 headers={tenant=blue}",
		"--consumer", "audit: ack", "--consumer", "work: 2s reject, ack"}
	for format, file := range map[string]string{"text": "lost.txt", "json": "lost.json", "mermaid": "lost.mmd", "dot": "lost.dot", "svg": "lost.svg"} {
		out, stderr, status := called("", traceArgs(append(order, "--format", format)...)...)
		golden.Equal(t, "trace/"+file, out)
		assert.Empty(t, stderr)
		assert.Equal(t, exitFound, status)
	}
	fromFile, _, _ := called("", traceArgs("--body", "order 17", "--properties", "message-id=17 headers={tenant=blue}",
		"--consumers", traced+"consumers.txt")...)
	asFlags, _, _ := called("", traceArgs(order...)...)
	assert.Equal(t, asFlags, fromFile)

	var r struct {
		Journey struct {
			Published struct{ Properties map[string]any }
			Ends      map[string]int
		}
		Later  bool
		Failed []string
	}
	out, _, _ := called("", traceArgs(append(order, "--format", "json")...)...)
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Equal(t, map[string]any{"message_id": "17", "headers": map[string]any{"tenant": "blue"}}, r.Journey.Published.Properties)
	assert.Equal(t, 1, r.Journey.Ends["lost"])
	assert.NotNil(t, r.Failed)
}

func TestTraceGoesWell(t *testing.T) {
	out, stderr, status := called("", traceArgs("--consumer", "work: ack")...)
	assert.Zero(t, status, stderr)
	assert.Contains(t, out, "= 1 acknowledged, 1 in a queue\n")
	out, _, status = called("", "trace", "--key", "wait", traced+"shop.json", "--for", "10s", "--profile", "3.10")
	assert.Zero(t, status)
	assert.Contains(t, out, "= 1 in a queue\nMore is due")
	out, _, status = called("", "trace", "--key", "nobody", "--mandatory", traced+"shop.json")
	assert.Equal(t, exitFound, status)
	assert.Contains(t, out, "✗ 1 returned\n")

	const two = `{"vhosts":[{"name":"a"},{"name":"b"}],"queues":[{"name":"q","vhost":"a"},{"name":"q","vhost":"b"},
		{"name":"s","vhost":"a","arguments":{"x-queue-type":"stream"}}]}`
	out, stderr, status = called(two, "trace", "-", "--key", "q", "--vhost", "b")
	assert.Zero(t, status)
	assert.Contains(t, out, "enqueued in q")
	assert.Contains(t, stderr, "leveret trace: left out: ")
}

func TestTraceRefuses(t *testing.T) {
	for _, c := range []struct {
		says string
		args []string
	}{
		{"a file is expected", []string{"--key", "k"}},
		{"--exchange, --key or both are expected", []string{"f"}},
		{`"g" is not expected`, []string{"f", "g"}},
		{`--profile is "5"`, []string{"f", "--profile", "5"}},
		{`--format is "png", not one of dot, json, mermaid, svg, text`, []string{"f", "--format", "png"}},
		{"--for is 0s", []string{"f", "--key", "k", "--for", "0s"}},
		{"--properties: properties: what is expire=?", []string{"f", "--key", "k", "--properties", "expire=1"}},
		{`--consumer: "work" is not a queue`, []string{"f", "--key", "k", "--consumer", "work"}},
		{"none.txt", []string{"f", "--key", "k", "--consumers", "none.txt"}},
		{"shop.json:1: \"{\" is not a queue", []string{"f", "--key", "k", "--consumers", traced + "shop.json"}},
		{"-bogus", []string{"f", "--bogus"}},
		{"f: no such file", []string{"f", "--key", "k"}},
		{"-: line 1, column 1", []string{"-", "--key", "k"}},
		{"no exchange 'x' in vhost '/'", []string{traced + "shop.json", "--exchange", "x"}},
		{"no queue 'x' in vhost '/'", []string{traced + "shop.json", "--key", "k", "--consumer", "x: ack"}},
	} {
		out, stderr, status := called("{", append([]string{"trace"}, c.args...)...)
		assert.Equal(t, exitUsage, status, c.args)
		assert.Empty(t, out)
		assert.True(t, strings.HasPrefix(stderr, "leveret trace: "), stderr)
		assert.Contains(t, stderr, c.says)
	}
	out, _, status := called("", "trace", "--help")
	assert.Zero(t, status)
	assert.Contains(t, out, "-consumer consumer")
}
