package blackbox_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A stream that RabbitMQ would make is refused, and the text says why. What RabbitMQ refuses is refused in its words.
func TestStreamsAreRefused(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b, _ := newTestBroker(t, leveret.WithProfile(profile))
		mustDeclare(t, b, "there", nil)
		declare := func(name string, args leveret.Table) error {
			args[leveret.ArgQueueType] = "stream"
			_, err := b.DeclareQueue(name, leveret.QueueConfig{Durable: true, Arguments: args})
			return err
		}
		err := declare("q", leveret.Table{"x-max-age": "7D"})
		require.ErrorIs(t, err, leveret.ErrNotImplemented)
		assert.EqualError(t, err, "queue.declare: NOT_IMPLEMENTED - leveret has no streams: queue 'q' in vhost '/'")
		assert.Len(t, b.Queues(), 1)
		refused := leveret.ErrPreconditionFailed
		if profile == leveret.RabbitMQ310 {
			refused = leveret.ErrInternal // no digit at its beginning crashes 3.10's channel
		}
		assert.ErrorIs(t, declare("q", leveret.Table{"x-max-age": "nonsense"}), refused)
		assert.ErrorIs(t, declare("", leveret.Table{}), leveret.ErrPreconditionFailed, "streams have no generated names")
		assert.ErrorIs(t, declare("there", leveret.Table{}), leveret.ErrPreconditionFailed, "the queue there is none")
	}
}

// A session that declares a stream ends, as with any 540.
func TestDeclaringAStreamEndsTheConnection(t *testing.T) {
	b, _ := newTestBroker(t)
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{leveret.ArgQueueType: "stream"}})
	require.ErrorIs(t, err, leveret.ErrNotImplemented)
	assert.ErrorIs(t, conn.Err(), leveret.ErrNotImplemented)
}

func TestWhatIsForStreamsOnlyIsRefused(t *testing.T) {
	b, _ := newTestBroker(t)
	for _, set := range []func(leveret.Policy) error{b.SetPolicy, b.SetOperatorPolicy} {
		err := set(leveret.Policy{Name: "p", ApplyTo: leveret.ApplyToStreams, Definition: leveret.Table{"max-length-bytes": 1}})
		require.ErrorIs(t, err, leveret.ErrNotImplemented)
		assert.ErrorContains(t, err, "leveret has no streams: policy 'p' applies to nothing else")
		err = set(leveret.Policy{Name: "p", ApplyTo: leveret.ApplyToStreams, Definition: leveret.Table{"max-length-bytes": -1}})
		assert.ErrorIs(t, err, leveret.ErrPreconditionFailed, "RabbitMQ's own refusals come first")
	}
	assert.Empty(t, b.Policies())
	assert.Empty(t, b.OperatorPolicies())
	assert.ErrorIs(t, b.SetDefaultQueueType("stream"), leveret.ErrNotImplemented)
	assert.ErrorIs(t, b.SetDefaultQueueType("heap"), leveret.ErrPreconditionFailed)
	assert.Equal(t, leveret.QueueType(leveret.QueueTypeClassic), b.VHosts()[0].DefaultQueueType)
}
