package blackbox

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Arguments that are given as fields keep their order and duplicates; the first of a name counts.
func TestArgumentFields(t *testing.T) {
	given := leveret.Fields{
		{Name: "x-priority", Value: int32(3)}, {Name: "a", Value: leveret.Fields{{Name: "y"}, {Name: "x"}, {Name: "y"}}},
		{Name: "x-priority", Value: int32(5)},
	}
	for name, profile := range map[string]leveret.Profile{"4.3": leveret.RabbitMQ43, "3.10": leveret.RabbitMQ310} {
		t.Run(name, func(t *testing.T) {
			b := leverettest.New(t, leveret.WithProfile(profile))
			ordered := leveret.Fields{given[1], given[0], given[2], {Name: leveret.ArgQueueType, Value: "classic"}}
			if profile == leveret.RabbitMQ310 {
				ordered = given
			}
			q, err := b.DeclareQueue("q", leveret.QueueConfig{ArgumentFields: given, Arguments: leveret.Table{"ignored": true}})
			require.NoError(t, err)
			assert.Equal(t, ordered, q.Info().ArgumentFields)

			typed := append(leveret.Fields{{Name: "z"}, {Name: leveret.ArgQueueType, Value: "classic"}}, given...)
			q, err = b.DeclareQueue("typed", leveret.QueueConfig{ArgumentFields: typed})
			require.NoError(t, err)
			assert.Equal(t, typed, q.Info().ArgumentFields, "a type was given, so nothing is added")

			x, err := b.DeclareExchange("x", leveret.Direct, leveret.ExchangeConfig{ArgumentFields: given})
			require.NoError(t, err)
			assert.Equal(t, given, x.Info().ArgumentFields)

			conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/"})
			require.NoError(t, err)
			defer conn.Close()
			ch, err := conn.Channel()
			require.NoError(t, err)
			_, err = ch.Consume("q", leveret.ConsumeConfig{ArgumentFields: given})
			require.NoError(t, err)
			consumers := b.Consumers()
			require.Len(t, consumers, 1)
			assert.Equal(t, given, consumers[0].ArgumentFields)
			assert.EqualValues(t, 3, consumers[0].Priority)

			require.NoError(t, ch.Bind(leveret.Binding{Source: "x", Destination: "q", Arguments: given}))
			bindings := b.Bindings()
			assert.Equal(t, leveret.Fields{given[1], given[0], given[2]}, bindings[len(bindings)-1].ArgumentFields)
		})
	}
}
