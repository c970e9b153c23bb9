package leveret_test

import (
	"testing"
	"time"

	. "github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The configuration's timeout holds where neither a queue nor a consumer says another: for channels of 3.10, and for quorum
// queues of 4.3.
// Rules: D-35, D-36.
func TestConsumerTimeoutOfTheConfiguration(t *testing.T) {
	for _, c := range []struct {
		profile Profile
		queue   QueueConfig
		late    bool
	}{
		{RabbitMQ310, QueueConfig{Durable: true}, true},
		{RabbitMQ43, QueueConfig{Durable: true, Arguments: Table{ArgQueueType: QueueTypeQuorum}}, true},
		{RabbitMQ43, QueueConfig{Durable: true}, false},
		{RabbitMQ43, QueueConfig{Durable: true, Arguments: Table{ArgQueueType: QueueTypeQuorum, "x-consumer-timeout": 600_000}}, false},
	} {
		clock := NewManualClock(time.Unix(1, 0))
		var why string
		told := Events{ChannelClosed: func(e ChannelEvent) {
			if e.Err != nil {
				why = e.Err.Error()
			}
		}}
		b := New(WithProfile(c.profile), WithClock(clock), WithConsumerTimeout(20*time.Second), WithEvents(told))
		conn, err := b.Connect("guest", "guest", "/")
		require.NoError(t, err)
		ch, err := conn.Channel()
		require.NoError(t, err)
		_, err = ch.DeclareQueue("q", c.queue)
		require.NoError(t, err)
		_, err = ch.Publish("", "q", Message{})
		require.NoError(t, err)
		_, ok, err := ch.Get("q", GetConfig{})
		require.NoError(t, err)
		require.True(t, ok)
		use := func() error { return ch.Qos(QosConfig{PrefetchCount: 1}) }
		clock.Advance(19 * time.Second)
		assert.NoError(t, use())
		clock.Advance(30 * time.Second)
		if err = use(); c.late {
			assert.ErrorIs(t, err, ErrClosed)
		} else {
			assert.NoError(t, err)
		}
		if c.late && c.profile == RabbitMQ310 {
			assert.Contains(t, why, "Timeout value used: 20000 ms")
		}
		assert.NoError(t, b.Close())
	}
}
