package mgmt_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What only the details of a queue tell: its owner, its exclusive consumer, and what waits.
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
	assert.Equal(t, "all (min: 60000ms, max: 60000ms)", retry["delayed_retry"])
	assert.Equal(t, retry["message_bytes"], retry["message_bytes_ready"], "what waits for a retry counts")
	assert.Greater(t, retry["next_delayed_at"], 1.6e12)
	assert.Equal(t, retry["next_delayed_at"], retry["last_delayed_at"])
	assert.Equal(t, []string{"mine", "retry"}, a.names("queues/detailed"))
	for _, q := range a.get("queues/detailed").([]any) {
		assert.NotContains(t, q, "owner_pid_details", "a list does not tell")
	}
}

// What lists tell of the messages of queues. A quorum queue of 4.3 tells of its priorities and its publishers, too.
func TestListedMessages(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b, api := busyBroker(t, profile)
		defer b.Close()
		conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Name: "publisher"})
		require.NoError(t, err)
		ch, err := conn.Channel()
		require.NoError(t, err)
		_, err = ch.DeclareQueue("quorum", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{leveret.ArgQueueType: leveret.QueueTypeQuorum}})
		require.NoError(t, err)
		for n := range 5 {
			m := leveret.Message{Properties: &leveret.Properties{Priority: uint8(n % 3), Present: leveret.PropPriority}}
			if n == 4 {
				m = leveret.Message{}
			}
			_, err := ch.Publish("", "quorum", m)
			require.NoError(t, err)
		}
		d, ok, err := ch.Get("quorum", leveret.GetConfig{})
		require.NoError(t, err)
		require.True(t, ok)
		require.NoError(t, d.Nack(true))

		listed := map[string]map[string]json.RawMessage{}
		var all []map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(api.body("queues/%2F"), &all))
		for _, q := range all {
			listed[string(q["name"])] = q
		}
		names := []string{"messages_persistent", "message_bytes_persistent", "head_message_timestamp"}
		assert.Equal(t, map[string]string{"messages_persistent": "1", "message_bytes_persistent": "3", "head_message_timestamp": "1700000000"},
			members(listed[`"q"`], names...))
		assert.Equal(t, "5", string(listed[`"quorum"`]["messages_persistent"]))
		assert.NotContains(t, listed[`"quorum"`], "head_message_timestamp")
		names = []string{"messages_by_priority", "messages_active_priorities", "messages_ready_returned", "publishers"}
		want := map[string]string{"messages_by_priority": `{"0":2,"1":1,"2":1}`, "messages_active_priorities": "3",
			"messages_ready_returned": "1", "publishers": "1"}
		if profile == leveret.RabbitMQ310 {
			want = map[string]string{}
		}
		assert.Equal(t, want, members(listed[`"quorum"`], names...))
		assert.Equal(t, want, members(api.raw("queues/%2F/quorum"), names...))
		assert.Equal(t, profile == leveret.RabbitMQ310, !slices.Contains(api.memberNames("queues/%2F/quorum"), "delivery_limit"))
		if profile == leveret.RabbitMQ43 {
			require.Equal(t, 201, api.send("PUT", "queues/%2F/patient", `{"durable":true,"arguments":{"x-queue-type":"quorum","x-delivery-limit":-1}}`).status)
			assert.Equal(t, `"unlimited"`, string(api.raw("queues/%2F/patient")["delivery_limit"]))
			assert.Equal(t, "-1", string(api.raw("queues/%2F/patient?disable_stats=true")["delivery_limit"]))
			require.Equal(t, 204, api.send("DELETE", "queues/%2F/patient", "").status)
		}
		// Queues whose messages do not tell stand behind those whose messages do, quorum queues before all.
		var order []string
		for _, q := range api.at("queues/%2F?sort=head_message_timestamp&columns=name").([]any) {
			order = append(order, q.(map[string]any)["name"].(string))
		}
		assert.Equal(t, []string{"quorum", "q", "busy"}, order)
	}
}

func TestDelayedRetryOfQueues(t *testing.T) {
	b, a, _ := newAPI(t)
	for _, c := range []struct {
		arguments leveret.Table
		want      string
	}{
		{leveret.Table{}, "disabled"},
		{leveret.Table{leveret.ArgDelayedRetryType: "failed"}, "disabled"},
		{leveret.Table{leveret.ArgDelayedRetryType: "bad", leveret.ArgDelayedRetryMin: 5}, "disabled"},
		{leveret.Table{leveret.ArgDelayedRetryType: "disabled", leveret.ArgDelayedRetryMin: 5}, "disabled"},
		{leveret.Table{leveret.ArgDelayedRetryType: "failed", leveret.ArgDelayedRetryMin: 0}, "disabled"},
		{leveret.Table{leveret.ArgDelayedRetryType: "returned", leveret.ArgDelayedRetryMin: 5}, "returned (min: 5ms, max: 5ms)"},
		{leveret.Table{leveret.ArgDelayedRetryType: "returned", leveret.ArgDelayedRetryMin: 5, leveret.ArgDelayedRetryMax: 0}, "returned (min: 5ms, max: 5ms)"},
		{leveret.Table{leveret.ArgDelayedRetryType: "all", leveret.ArgDelayedRetryMin: 5, leveret.ArgDelayedRetryMax: 2}, "all (min: 5ms, max: 2ms)"},
	} {
		c.arguments[leveret.ArgQueueType] = leveret.QueueTypeQuorum
		_, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: c.arguments})
		require.NoError(t, err)
		assert.Equal(t, c.want, a.object("queues/%2F/q")["delayed_retry"], c.arguments)
		_, err = b.DeleteQueue("q", leveret.DeleteConfig{})
		require.NoError(t, err)
	}
}
