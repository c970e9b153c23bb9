package blackbox

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a listener gives as the encoded properties comes back until something changes the properties.
func TestWireProperties(t *testing.T) {
	b := leverettest.New(t, leveret.WithProfile(leveret.RabbitMQ310))
	dead, err := b.DeclareQueue("dead", leveret.QueueConfig{})
	require.NoError(t, err)
	q, err := b.DeclareQueue("q", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "dead",
	}})
	require.NoError(t, err)
	quorum, err := b.DeclareQueue("quorum", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{
		leveret.ArgQueueType: leveret.QueueTypeQuorum,
	}})
	require.NoError(t, err)
	publish := func(key string, p *leveret.Properties) {
		_, err := b.Publish("", key, leveret.Message{Properties: p, WireProperties: "as sent"})
		require.NoError(t, err)
	}
	get := func(q *leveret.Queue) *leveret.Delivery {
		d, ok, err := q.Get()
		require.NoError(t, err)
		require.True(t, ok)
		return d
	}

	publish("q", nil)
	d := get(q)
	assert.Equal(t, "as sent", d.WireProperties())
	require.NoError(t, d.Reject(true))
	d = get(q)
	assert.Equal(t, "as sent", d.WireProperties(), "requeued")
	require.NoError(t, d.Reject(false))
	assert.Empty(t, get(dead).WireProperties(), "a dead letter")

	publish("q", &leveret.Properties{HeaderFields: leveret.Fields{{Name: "CC", Value: []any{"dead"}}}})
	assert.Equal(t, "as sent", get(q).WireProperties(), "CC")
	assert.Equal(t, "as sent", get(dead).WireProperties(), "CC")
	publish("q", &leveret.Properties{HeaderFields: leveret.Fields{{Name: "BCC", Value: []any{"dead"}}}})
	assert.Empty(t, get(q).WireProperties(), "BCC has been removed")
	publish("q", &leveret.Properties{Expiration: "007000"})
	assert.Equal(t, "as sent", get(q).WireProperties(), "expiration")
	publish("quorum", nil)
	assert.Empty(t, get(quorum).WireProperties(), "a quorum queue")

	out, err := b.Publish("", "nowhere", leveret.Message{WireProperties: "as sent", Mandatory: true})
	require.NoError(t, err)
	assert.Equal(t, "as sent", out.Return.WireProperties)
}
