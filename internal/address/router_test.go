package address_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/internal/address"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newRouter makes a router that ends with the test.
func newRouter(t *testing.T, of address.Topology) *address.Router {
	r, err := address.New(of)
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

// An exchange of a plugin routes nobody knows where: to all that is bound.
func TestRouteOfForeignExchange(t *testing.T) {
	topology := address.Topology{
		Queues:    []string{"a", "amq.gen-b"},
		Exchanges: []address.Exchange{{Name: "later", Type: "x-delayed-message"}, {Name: "amq.rabbitmq.log", Type: "topic"}},
		Bindings: []address.Binding{{Source: "amq.rabbitmq.log", Destination: "a", DestinationType: "queue"},
			{Source: "later", Destination: "gone", DestinationType: "queue"}, {Source: "gone", Destination: "a", DestinationType: "queue"},
			{Source: "later", Destination: "gone", DestinationType: "exchange"}},
	}
	for _, q := range topology.Queues {
		topology.Bindings = append(topology.Bindings, address.Binding{Source: "later", Destination: q, DestinationType: "queue", RoutingKey: q})
	}
	got, known := newRouter(t, topology).Route(address.Letter{Exchange: "later", RoutingKey: "a"})
	assert.True(t, known)
	assert.ElementsMatch(t, []string{"a", "amq.gen-b"}, got)
}

// What an exchange does not route goes to its alternate exchange, which an argument or a policy names.
func TestRouteByAlternateExchange(t *testing.T) {
	alternate := definitions.Arguments{Table: leveret.Table{"alternate-exchange": "rest", "x-unknown": 1}}
	r := newRouter(t, address.Topology{
		Queues:    []string{"a", "b"},
		Exchanges: []address.Exchange{{Name: "by argument", Type: "direct", Arguments: alternate}, {Name: "by policy", Type: "direct"}, {Name: "rest", Type: "fanout"}},
		Bindings: []address.Binding{{Source: "by argument", Destination: "a", DestinationType: "queue", RoutingKey: "k"},
			{Source: "rest", Destination: "b", DestinationType: "queue"}},
		Policies: []address.Policy{{Name: "p", Pattern: "policy$", ApplyTo: "exchanges", Definition: alternate}},
	})
	for way, want := range map[[2]string][]string{
		{"by argument", "k"}: {"a"}, {"by argument", "other"}: {"b"}, {"by policy", "k"}: {"b"},
	} {
		got, known := r.Route(address.Letter{Exchange: way[0], RoutingKey: way[1]})
		assert.True(t, known)
		assert.Equal(t, want, got, way)
	}
}

// The first way that leads to the queue alone is taken, and what it changes is told.
func TestTo(t *testing.T) {
	r := newRouter(t, address.Topology{
		Queues:    []string{"a", "b", "c"},
		Exchanges: []address.Exchange{{Name: "one", Type: "direct"}, {Name: "both", Type: "fanout"}, {Name: "inside", Type: "fanout", Internal: true}},
		Bindings: []address.Binding{{Source: "one", Destination: "a", DestinationType: "queue", RoutingKey: "k"},
			{Source: "both", Destination: "a", DestinationType: "queue"}, {Source: "both", Destination: "b", DestinationType: "queue"},
			{Source: "inside", Destination: "a", DestinationType: "queue"}},
	})
	lost := func(all ...address.Loss) []address.Loss { return all }
	for name, c := range map[string]struct {
		exchange, key string
		cc            []any
		want          address.Way
	}{
		"as it was":                          {"one", "k", nil, address.Way{Exchange: "one", RoutingKey: "k"}},
		"with CC":                            {"one", "k", []any{"elsewhere"}, address.Way{Exchange: "one", RoutingKey: "k"}},
		"to more than one":                   {"both", "k", nil, address.Way{RoutingKey: "k", BCC: true, Lost: lost("exchange")}},
		"internal":                           {"inside", "k", nil, address.Way{RoutingKey: "k", BCC: true, Lost: lost("exchange")}},
		"gone":                               {"gone", "k", nil, address.Way{RoutingKey: "k", BCC: true, Lost: lost("exchange")}},
		"the key is the queue":               {"both", "a", nil, address.Way{RoutingKey: "a", Lost: lost("exchange")}},
		"CC is the queue":                    {"both", "k", []any{"a"}, address.Way{RoutingKey: "k", Lost: lost("exchange")}},
		"the key is another queue":           {"both", "b", nil, address.Way{RoutingKey: "a", Lost: lost("exchange", "routing key")}},
		"the default exchange, another key":  {"", "b", nil, address.Way{RoutingKey: "a", Lost: lost("routing key")}},
		"the default exchange, no queue":     {"", "k", nil, address.Way{RoutingKey: "k", BCC: true, Lost: lost()}},
		"CC is another queue":                {"", "a", []any{"b"}, address.Way{RoutingKey: "a", Bare: true, Lost: lost("CC")}},
		"a reply to a client that may await": {"", "amq.rabbitmq.reply-to.x", nil, address.Way{RoutingKey: "a", Lost: lost("routing key")}},
	} {
		letter := address.Letter{Exchange: c.exchange, RoutingKey: c.key, Properties: &leveret.Properties{}}
		if c.cc != nil {
			letter.Properties.Headers = leveret.Table{"CC": c.cc, "n": 1}
		}
		got := r.To("a", letter)
		assert.ElementsMatch(t, c.want.Lost, got.Lost, name)
		got.Lost, c.want.Lost = nil, nil
		assert.Equal(t, c.want, got, name)
	}
}

// What a way does to the headers, the message itself does not notice.
func TestProperties(t *testing.T) {
	given := &leveret.Properties{MessageID: "m", HeaderFields: leveret.Fields{{Name: "CC", Value: []any{"b"}}, {Name: "n", Value: 1}, {Name: "n", Value: 2}}}
	before := *given
	assert.Same(t, given, address.Way{}.Properties(given, "a"))
	assert.Equal(t, &leveret.Properties{MessageID: "m", HeaderFields: leveret.Fields{{Name: "n", Value: 1}, {Name: "n", Value: 2}}},
		address.Way{Bare: true}.Properties(given, "a"))
	assert.Equal(t, append(before.HeaderFields[:3:3], leveret.Field{Name: "BCC", Value: []any{"a"}}),
		address.Way{BCC: true}.Properties(given, "a").HeaderFields)
	assert.Equal(t, before, *given)
	assert.Equal(t, leveret.Fields{{Name: "BCC", Value: []any{"a"}}}, address.Way{BCC: true}.Properties(nil, "a").HeaderFields)
	only := &leveret.Properties{Headers: leveret.Table{"CC": []any{"b"}}, Present: leveret.PropHeaders}
	assert.Equal(t, &leveret.Properties{}, address.Way{Bare: true}.Properties(only, "a"), "no empty table of headers is left")
}
