package mgmt_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What consumers do, and which of them is a queue's only one, is told as RabbitMQ 4.3.6 and 3.10.8 did.
func TestActivityOfConsumers(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		conn, err := b.Connect("guest", "guest", "/")
		require.NoError(t, err)
		ch, err := conn.Channel()
		require.NoError(t, err)
		consume := func(queue, tag string, c leveret.ConsumeConfig) {
			c.Tag, c.Handler = tag, func(*leveret.Delivery) {}
			_, err := ch.Consume(queue, c)
			require.NoError(t, err)
		}
		for name, arguments := range map[string]leveret.Table{"c": {}, "e": {}, "s": {leveret.ArgSingleActiveConsumer: true},
			"q":  {leveret.ArgQueueType: "quorum"},
			"sq": {leveret.ArgQueueType: "quorum", leveret.ArgSingleActiveConsumer: true}} {
			_, err := b.DeclareQueue(name, leveret.QueueConfig{Durable: true, Arguments: arguments})
			require.NoError(t, err)
			consume(name, name+"1", leveret.ConsumeConfig{Prefetch: 1, Exclusive: name == "e"})
			if name != "e" {
				consume(name, name+"2", leveret.ConsumeConfig{Prefetch: 10})
			}
			for range 4 {
				_, err = b.Publish("", name, leveret.Message{})
				require.NoError(t, err)
			}
		}
		b.Settle()
		api := direct{t, mgmt.Handler(b)}
		did := map[string]any{}
		for _, c := range api.at("consumers").([]any) {
			o := c.(map[string]any)
			did[o["consumer_tag"].(string)] = o["activity_status"]
		}
		full := "blocked"
		if profile == leveret.RabbitMQ310 {
			full = "up"
		}
		assert.Equal(t, map[string]any{"c1": full, "c2": "up", "e1": full, "q1": "up", "q2": "up", "s1": "single_active", "s2": "waiting",
			"sq1": "single_active", "sq2": "waiting"}, did, profile.Version())

		tags := func(o map[string]any) map[string]any {
			found := map[string]any{}
			for _, name := range []string{"single_active_consumer_tag", "single_active_consumer_ctag", "exclusive_consumer_tag"} {
				if tag, ok := o[name]; ok {
					found[name] = tag
				}
			}
			return found
		}
		listed := map[string]any{}
		for _, q := range api.at("queues").([]any) {
			listed[q.(map[string]any)["name"].(string)] = tags(q.(map[string]any))
		}
		type named = map[string]any
		if profile == leveret.RabbitMQ310 {
			assert.Equal(t, named{"c": named{"single_active_consumer_tag": nil, "exclusive_consumer_tag": nil},
				"e": named{"single_active_consumer_tag": nil, "exclusive_consumer_tag": "e1"},
				"s": named{"single_active_consumer_tag": "s1", "exclusive_consumer_tag": nil}, "q": named{"single_active_consumer_ctag": nil},
				"sq": named{"single_active_consumer_ctag": "sq1"}}, listed)
			assert.Equal(t, named{"single_active_consumer_ctag": "sq1"}, tags(api.at("queues/%2F/sq").(named)))
			continue
		}
		assert.Equal(t, named{"c": named{}, "e": named{"exclusive_consumer_tag": "e1"}, "s": named{"single_active_consumer_tag": "s1"}, "q": named{},
			"sq": named{"single_active_consumer_tag": "sq1"}}, listed)
		assert.Equal(t, named{"single_active_consumer_tag": "s1", "exclusive_consumer_tag": nil}, tags(api.at("queues/%2F/s").(named)))
		assert.Equal(t, named{"single_active_consumer_tag": "sq1"}, tags(api.at("queues/%2F/sq").(named)))
	}
}
