package blackbox_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// RabbitMQ answers a declare of a quorum queue with the single active consumer only, and lists all.
func TestSingleActiveConsumersAreListed(t *testing.T) {
	b, _ := newTestBroker(t)
	args := leveret.Table{"x-queue-type": "quorum", "x-single-active-consumer": true}
	q := mustDeclare(t, b, "q", args)
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	for _, tag := range []string{"first", "second"} {
		_, err := ch.Consume("q", leveret.ConsumeConfig{Tag: tag})
		require.NoError(t, err)
	}
	state, err := ch.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: args})
	require.NoError(t, err)
	require.Equal(t, 1, state.Consumers)
	require.Equal(t, 2, q.Info().Consumers)
}
