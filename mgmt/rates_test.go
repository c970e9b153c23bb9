package mgmt_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// publishEachSecond publishes ten messages in the middle of each second.
func publishEachSecond(t *testing.T, b *leveret.Broker, seconds int) {
	for range seconds {
		time.Sleep(500 * time.Millisecond)
		for range 10 {
			_, err := b.Publish("", "q", leveret.Message{})
			require.NoError(t, err)
		}
		time.Sleep(500 * time.Millisecond)
	}
}

func TestRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leveret.New()
		defer b.Close()
		api := direct{t, mgmt.Handler(b)}
		q, err := b.DeclareQueue("q", leveret.QueueConfig{})
		require.NoError(t, err)
		assert.Equal(t, 0.0, api.at("queues/%2F/q", "messages_details", "rate"))
		publishEachSecond(t, b, 10)
		for _, path := range []string{"queues/%2F/q", "vhosts/%2F", "overview"} {
			assert.Equal(t, 10.0, api.at(path, "message_stats", "publish_details", "rate"), path)
			assert.Equal(t, 100.0, api.at(path, "message_stats", "publish"), path)
		}
		assert.Equal(t, 10.0, api.at("queues/%2F/q", "messages_details", "rate"))
		assert.Equal(t, 10.0, api.at("overview", "queue_totals", "messages_ready_details", "rate"))
		_, err = q.Purge()
		require.NoError(t, err)
		time.Sleep(6 * time.Second)
		assert.Equal(t, 0.0, api.at("queues/%2F/q", "messages_details", "rate"))
	})
}

func TestSamplesOfLengths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leveret.New()
		defer b.Close()
		api := direct{t, mgmt.Handler(b)}
		_, err := b.DeclareQueue("q", leveret.QueueConfig{})
		require.NoError(t, err)
		api.send("GET", "queues/%2F/q", "")
		started := time.Now()
		publishEachSecond(t, b, 60)
		details := api.at("queues?lengths_age=40&lengths_incr=20&columns=name,messages_details").([]any)[0].(map[string]any)["messages_details"].(map[string]any)
		at := func(seconds int, messages float64) any {
			return map[string]any{"timestamp": float64(started.Add(time.Duration(seconds) * time.Second).UnixMilli()), "sample": messages}
		}
		// RabbitMQ keeps a sample each five seconds; so do we, of what is older than ten.
		samples := details["samples"].([]any)
		require.Len(t, samples, 3)
		assert.Equal(t, at(60, 600), samples[0])
		assert.InDelta(t, 400, samples[1].(map[string]any)["sample"], 50)
		assert.InDelta(t, 10, details["avg_rate"], 1)
		assert.NotContains(t, details, "unknown")

		time.Sleep(3 * time.Minute) // nobody asks
		details = api.at("queues/%2F/q?lengths_age=60&lengths_incr=1", "messages_details").(map[string]any)
		assert.LessOrEqual(t, len(details["samples"].([]any)), 1, "nothing was sampled for nobody")
	})
}
