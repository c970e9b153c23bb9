package move

import (
	"slices"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/address"
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
	r, err := address.New(topology)
	require.NoError(t, err)
	defer r.Close()
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
		got, known := r.Route(Letter{Exchange: c.exchange, RoutingKey: c.key, Message: amqp.Publishing{Headers: c.headers}}.routed())
		slices.Sort(got)
		assert.True(t, known)
		assert.ElementsMatch(t, c.want, got, "%s/%s %v", c.exchange, c.key, c.headers)
	}
	_, known := r.Route(address.Letter{Exchange: "nonesuch"})
	assert.False(t, known)
}
