package move

import (
	"slices"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The router foretells what the broker does, whatever leads to its queues.
func TestRouter(t *testing.T) {
	b := leverettest.New(t)
	for _, q := range []string{"a", "b", "c"} {
		declare(t, b, q, nil)
	}
	exchange := func(name string, kind leveret.ExchangeType, args leveret.Table) {
		_, err := b.DeclareExchange(name, kind, leveret.ExchangeConfig{Durable: true, Arguments: args})
		require.NoError(t, err)
	}
	exchange("direct", leveret.Direct, leveret.Table{"alternate-exchange": "fanout"})
	exchange("fanout", leveret.Fanout, nil)
	exchange("headers", leveret.Headers, nil)
	exchange("policed", leveret.Topic, nil)
	exchange("outer", leveret.Topic, nil)
	require.NoError(t, b.SetPolicy(leveret.Policy{Name: "p", Pattern: "^policed$", ApplyTo: leveret.ApplyToExchanges,
		Definition: leveret.Table{"alternate-exchange": "direct"}}))
	require.NoError(t, b.BindQueue("a", "direct", "a", nil))
	require.NoError(t, b.BindQueue("b", "fanout", "", nil))
	require.NoError(t, b.BindQueue("c", "headers", "", leveret.Table{"n": 1}))
	require.NoError(t, b.BindExchange("direct", "outer", "a.#", nil))
	require.NoError(t, b.BindExchange("headers", "outer", "#.c", nil))
	_, err := client(t, b).QueueDeclare("mine", false, false, true, false, nil)
	require.NoError(t, err)
	require.NoError(t, b.BindQueue("mine", "policed", "m", nil))

	topology, err := sideOf(t, b).topology()
	require.NoError(t, err)
	r, err := newRouter(topology)
	require.NoError(t, err)
	defer r.close()
	for _, c := range []struct {
		exchange, key string
		headers       amqp.Table
		want          []string
	}{
		{"", "a", nil, []string{"a"}},
		{"", "a", amqp.Table{"CC": []any{"b", "nowhere"}, "BCC": []any{"c"}}, []string{"a", "b", "c"}},
		{"direct", "a", nil, []string{"a"}},
		{"direct", "z", nil, []string{"b"}},
		{"direct", "a", amqp.Table{"CC": []any{"z"}}, []string{"a"}},
		{"headers", "", amqp.Table{"n": int64(1)}, []string{"c"}},
		{"headers", "", nil, nil},
		{"policed", "z", nil, []string{"b"}},
		{"policed", "m", nil, []string{"mine"}},
		{"outer", "a.c", amqp.Table{"n": int32(1)}, []string{"b", "c"}},
	} {
		got, known := r.route(Letter{Exchange: c.exchange, RoutingKey: c.key, Message: amqp.Publishing{Headers: c.headers}})
		slices.Sort(got)
		assert.True(t, known)
		assert.ElementsMatch(t, c.want, got, "%s/%s %v", c.exchange, c.key, c.headers)
	}
	_, known := r.route(Letter{Exchange: "nonesuch"})
	assert.False(t, known)
}

// An exchange of a plugin routes nobody knows where: to all that is bound.
func TestRouterForeignExchange(t *testing.T) {
	var topology topology
	topology.queues = []queueInfo{{Name: "a"}, {Name: "amq.gen-b"}}
	topology.exchanges = []listedExchange{{Name: "later", Type: "x-delayed-message"}, {Name: "amq.rabbitmq.log", Type: "topic"}}
	topology.bindings = []listedBinding{{Source: "amq.rabbitmq.log", Destination: "a", DestinationType: "queue"},
		{Source: "later", Destination: "gone", DestinationType: "queue"}, {Source: "gone", Destination: "a", DestinationType: "queue"},
		{Source: "later", Destination: "gone", DestinationType: "exchange"}}
	for _, q := range topology.queues {
		topology.bindings = append(topology.bindings, listedBinding{Source: "later", Destination: q.Name, DestinationType: "queue", RoutingKey: q.Name})
	}
	r, err := newRouter(topology)
	require.NoError(t, err)
	defer r.close()
	got, known := r.route(Letter{Exchange: "later", RoutingKey: "a"})
	assert.True(t, known)
	assert.ElementsMatch(t, []string{"a", "amq.gen-b"}, got)
}
