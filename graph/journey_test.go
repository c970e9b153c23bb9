package graph_test

import (
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/graph"
	"github.com/leveretmq/leveret/internal/golden"
	"github.com/leveretmq/leveret/leverettest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestJourney draws a message that is rejected twice, waits, and is at last lost: the waits end at an exchange without
// a binding for its key.
func TestJourney(t *testing.T) {
	clock := leveret.NewManualClock(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))
	b := builder{t, leverettest.New(t, leveret.WithClock(clock))}
	rec := leverettest.Record(t, b.Broker)
	b.exchange("orders", leveret.Topic, nil)
	b.exchange("again", leveret.Direct, nil)
	b.queue("work", leveret.Table{leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "wait"})
	b.queue("audit", nil)
	b.queue("wait", leveret.Table{leveret.ArgMessageTTL: 10 * time.Second, leveret.ArgDeadLetterExchange: "again",
		leveret.ArgDeadLetterRoutingKey: "work"})
	b.bind("work", "orders", "order.*")
	b.bind("audit", "orders", "#")
	b.bind("work", "again", "work")
	b.publish("orders", "order.new", 1)
	b.get("audit").Ack()
	b.get("work").Reject(true)
	b.get("work").Reject(false)
	clock.Advance(10 * time.Second)
	b.get("work").Reject(false)
	require.NoError(t, b.UnbindQueue("work", "again", "work", nil))
	clock.Advance(10 * time.Second)
	g := graph.OfEvents(rec.Journey().Events)
	golden.Equal(t, "journey.svg", g.SVG())
	golden.Equal(t, "journey.mmd", g.Mermaid())
	golden.Equal(t, "journey.dot", g.DOT())
}

func (b builder) get(queue string) *leveret.Delivery {
	q, err := b.Queue(queue)
	require.NoError(b.t, err)
	d, ok, err := q.Get()
	require.NoError(b.t, err)
	require.True(b.t, ok)
	return d
}

// TestRefused has journeys that end, or go on, where a full queue refuses a message.
func TestRefused(t *testing.T) {
	b := build(t)
	rec := leverettest.Record(t, b.Broker)
	b.queue("full", leveret.Table{leveret.ArgMaxLength: 0, leveret.ArgOverflow: leveret.OverflowRejectPublish})
	b.queue("passes on", leveret.Table{leveret.ArgMaxLength: 0, leveret.ArgOverflow: leveret.OverflowRejectPublishDLX,
		leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "dead"})
	b.queue("dead", nil)
	for _, key := range []string{"full", "passes on", "no such queue"} {
		b.publish("", key, 1)
	}
	var ends []graph.Node
	for _, j := range rec.Journeys() {
		g := graph.OfEvents(j.Events)
		require.Len(t, g.Edges, len(g.Nodes)-1)
		ends = append(ends, g.Nodes[len(g.Nodes)-1])
	}
	assert.Equal(t, []graph.Node{
		{Kind: graph.Lost, Name: "lost", Details: []string{"0s refused by full"}},
		{Kind: graph.Queue, Name: "dead", Details: []string{"0s enqueued"}},
		{Kind: graph.Lost, Name: "lost", Details: []string{"0s unroutable"}},
	}, ends)
}

// TestOtherEvents shows that events of other messages and of other types change nothing.
func TestOtherEvents(t *testing.T) {
	assert.Empty(t, graph.OfEvents(nil).Nodes)
	at := time.Unix(0, 0)
	message := func(n uint64) leveret.EventMessage { return leveret.EventMessage{Message: n, Time: at} }
	g := graph.OfEvents([]any{
		leveret.EnqueuedEvent{EventMessage: message(1), Queue: "too early", Copy: 1},
		leveret.PublishedEvent{EventMessage: message(1)},
		leveret.PublishedEvent{EventMessage: message(2)},
		leveret.EnqueuedEvent{EventMessage: message(2), Queue: "another's", Copy: 2},
		leveret.QueueEvent{Queue: "q"},
		leveret.AckedEvent{EventMessage: message(1), EventDelivery: leveret.EventDelivery{Copy: 7}},
	})
	assert.Len(t, g.Nodes, 1)
	assert.Empty(t, g.Edges)
}
