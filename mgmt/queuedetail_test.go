package mgmt_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What only the details of a queue tell: its owner, its exclusive consumer, its persistent messages, and what waits.
func TestQueueInDetail(t *testing.T) {
	b, a, amqpURL := newAPI(t)
	ch := dial(t, amqpURL, "/", "owner")
	_, err := ch.QueueDeclare("mine", false, false, true, false, nil)
	require.NoError(t, err)
	_, err = ch.Consume("mine", "only", false, true, false, false, nil)
	require.NoError(t, err)
	_, err = b.DeclareQueue("retry", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{
		leveret.ArgQueueType: leveret.QueueTypeQuorum, leveret.ArgDelayedRetryType: leveret.DelayedRetryAll, leveret.ArgDelayedRetryMin: 60000}})
	require.NoError(t, err)
	for mode := range uint8(3) {
		_, err = b.Publish("", "retry", leveret.Message{Properties: &leveret.Properties{DeliveryMode: mode}, Body: []byte("four")})
		require.NoError(t, err)
	}
	q, err := b.Queue("retry")
	require.NoError(t, err)
	d, ok, err := q.Get()
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, d.Nack(true))

	mine := a.object("queues/%2F/mine")
	assert.Equal(t, "only", mine["exclusive_consumer_tag"])
	assert.Equal(t, true, mine["exclusive"])
	owner, ok := mine["owner_pid_details"].(map[string]any)
	require.True(t, ok)
	assert.Equal(t, a.names("connections"), []string{owner["name"].(string)})
	consumers := mine["consumer_details"].([]any)
	require.Len(t, consumers, 1)
	assert.Equal(t, "only", consumers[0].(map[string]any)["consumer_tag"])

	retry := a.object("queues/%2F/retry")
	assert.Equal(t, 3.0, retry["messages"])
	assert.Equal(t, 2.0, retry["messages_ready"])
	assert.Equal(t, 1.0, retry["messages_delayed"])
	assert.Equal(t, 0.0, retry["messages_dlx"])
	assert.Equal(t, 3.0, retry["messages_persistent"], "a quorum queue keeps all messages")
	assert.Equal(t, retry["message_bytes"], retry["message_bytes_persistent"])
	assert.Equal(t, 0.0, retry["messages_ram"])
	assert.Equal(t, 0.0, retry["message_bytes_dlx"])
	assert.Equal(t, "all", retry["delayed_retry"])
	assert.Equal(t, []string{"mine", "retry"}, a.names("queues/detailed"))
}
