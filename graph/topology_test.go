package graph_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/graph"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// describe writes a graph line by line.
func describe(g *graph.Graph) string {
	var out strings.Builder
	for _, n := range g.Nodes {
		fmt.Fprintf(&out, "%s %s: %s\n", n.Kind, n.Name, strings.Join(n.Details, " | "))
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&out, "%s → %s, %s: %s\n", g.Nodes[e.From].Name, g.Nodes[e.To].Name, e.Kind, strings.Join(e.Labels, " | "))
	}
	return out.String()
}

// TestOfPolicies has what policies set: they count as arguments do.
func TestOfPolicies(t *testing.T) {
	b := build(t)
	b.exchange("in", leveret.Topic, nil)
	b.queue("q", leveret.Table{leveret.ArgMaxLength: 7})
	require.NoError(t, b.SetPolicy(leveret.Policy{Name: "p", Pattern: "q", Definition: leveret.Table{
		"message-ttl": 90_000, "max-length": 5, "dead-letter-exchange": "gone", "expires": 7_200_000}}))
	require.NoError(t, b.SetOperatorPolicy(leveret.Policy{Name: "o", Pattern: "q", Definition: leveret.Table{"max-length-bytes": 1 << 20}}))
	require.NoError(t, b.SetPolicy(leveret.Policy{Name: "x", Pattern: "in", Definition: leveret.Table{"alternate-exchange": "strays"}}))
	assert.Equal(t, `exchange in: topic
queue q: expires 2h · max 5 | max 1048576 bytes · TTL 1m30s
missing strays: no such exchange
missing gone: no such exchange
in → strays, alternate exchange: unrouted
q → gone, dead letters: after 1m30s
`, describe(graph.Of(b.root())))
}

// TestOfContents has messages and consumers in a queue, and a queue of a connection.
func TestOfContents(t *testing.T) {
	b := build(t)
	b.queue("q", nil)
	b.queue("empty", nil)
	b.publish("", "q", 3)
	b.get("q")
	empty, err := b.Queue("empty")
	require.NoError(t, err)
	_, err = empty.Consume(leveret.ConsumeConfig{})
	require.NoError(t, err)
	_, err = b.DeclareQueue("mine", leveret.QueueConfig{Exclusive: true})
	require.NoError(t, err)
	assert.Equal(t, `queue empty: 1 consumer
queue mine: exclusive
queue q: 2 ready · 1 unacked
`, describe(graph.Of(b.root())))
}

// TestOfDefaultExchange has dead letters by the default exchange: to a queue by its name, to one that does not exist,
// and without a key of their own.
func TestOfDefaultExchange(t *testing.T) {
	b := build(t)
	dead := func(key any) leveret.Table {
		args := leveret.Table{leveret.ArgDeadLetterExchange: ""}
		if key != nil {
			args[leveret.ArgDeadLetterRoutingKey] = key
		}
		return args
	}
	b.queue("a", dead("b"))
	b.queue("b", dead("nobody"))
	b.queue("c", dead(nil))
	assert.Equal(t, `exchange (default exchange): to the queue named as the key
queue a: 
queue b: 
queue c: 
missing nobody: no such queue
a → b, dead letters: 
b → nobody, dead letters: 
c → (default exchange), dead letters: 
`, describe(graph.Of(b.root())))
}

// TestOfBindings has several bindings between two ends, which are one arrow, and what each type of exchange looks at.
func TestOfBindings(t *testing.T) {
	b := build(t)
	b.queue("q", nil)
	b.exchange("d", leveret.Direct, nil)
	b.exchange("f", leveret.Fanout, nil)
	b.exchange("h", leveret.Headers, nil)
	b.exchange("inner", leveret.Direct, nil)
	b.bind("q", "d", "one", "two", "")
	b.bind("q", "f", "ignored", "as well")
	b.bind("q", "h", "")
	b.bind("q", "amq.topic", "#")
	require.NoError(t, b.BindQueue("q", "h", "", leveret.Table{"x-match": "any", "a": 1, "b": true}))
	require.NoError(t, b.BindExchange("inner", "d", "in", nil))
	assert.Equal(t, `exchange amq.topic: topic
exchange d: direct
exchange f: fanout
exchange h: headers
exchange inner: direct
queue q: 
amq.topic → q, binding: #
d → q, binding: one | two | (empty key)
d → inner, binding: in
f → q, binding: 
h → q, binding: (no headers) | a=1, b=true, x-match=any
`, describe(graph.Of(b.root())))
}

// TestReturning demands that in a retry circle the queue in which messages wait is the one that returns, whatever the
// names are.
func TestReturning(t *testing.T) {
	for _, names := range [][2]string{{"a", "z"}, {"z", "a"}} {
		b := build(t)
		work, wait := names[0], names[1]
		b.queue(work, leveret.Table{leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: wait})
		b.queue(wait, leveret.Table{leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: work,
			leveret.ArgMessageTTL: time.Second})
		svg := graph.Of(b.root()).SVG()
		read(t, svg).verify(t, svg)
		assert.Less(t, strings.Index(svg, "queue "+work+"<"), strings.Index(svg, "queue "+wait+"<"), "drawn from left to right")
		assert.Contains(t, svg, "dead letters that return")
	}
}
