package mgmt_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

func open(b *testing.B) *leveret.Broker {
	br := leveret.New()
	b.Cleanup(func() { br.Close() })
	return br
}

func declare(b *testing.B, br *leveret.Broker, name string, args leveret.Table) *leveret.Queue {
	q, err := br.DeclareQueue(name, leveret.QueueConfig{Arguments: args})
	require.NoError(b, err)
	return q
}

func publish(b *testing.B, br *leveret.Broker, exchange, key string) {
	_, err := br.Publish(exchange, key, leveret.Message{Body: make([]byte, 100)})
	require.NoError(b, err)
}

func getAck(b *testing.B, q *leveret.Queue) {
	d, ok, err := q.Get()
	require.NoError(b, err)
	require.True(b, ok, "an empty queue")
	require.NoError(b, d.Ack())
}
