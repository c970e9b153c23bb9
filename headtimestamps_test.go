package leveret_test

import (
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a queue tells of the times of its messages at each step is what RabbitMQ 4.3 and 3.10 tell.
func TestHeadTimestamps(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	publish := func(queue string, second int64, priority uint8) {
		p := &leveret.Properties{DeliveryMode: 2, Priority: priority}
		if second != 0 {
			p.Timestamp = time.Unix(second, 0)
		}
		_, err := b.Publish("", queue, leveret.Message{Body: []byte("x"), Properties: p})
		require.NoError(t, err)
	}
	for name, c := range map[string]leveret.QueueConfig{
		"priorities": {Durable: true, Arguments: leveret.Table{leveret.ArgMaxPriority: 5}},
		"plain":      {Durable: true},
		"untold":     {Durable: true},
		"transient":  {},
		"empty":      {},
		"quorum":     {Durable: true, Arguments: leveret.Table{leveret.ArgQueueType: leveret.QueueTypeQuorum}},
	} {
		_, err := b.DeclareQueue(name, c)
		require.NoError(t, err)
	}
	for n, priority := range []uint8{0, 3, 5} {
		publish("priorities", int64(n)+1, priority)
	}
	for n := range int64(4) {
		publish("plain", 10+n, 0)
		publish("transient", 50+n, 0)
		publish("quorum", 70+n, 0)
	}
	publish("untold", 0, 0)
	publish("untold", 20, 0)
	get := func(queue string) *leveret.Delivery {
		q, err := b.Queue(queue)
		require.NoError(t, err)
		d, ok, err := q.Get()
		require.NoError(t, err)
		require.True(t, ok)
		return d
	}
	is := func(step string, want map[string]int64) {
		t.Helper()
		got := map[string]int64{}
		for queue, at := range b.HeadTimestamps() {
			got[queue] = at.Unix()
		}
		assert.Equal(t, want, got, step)
	}
	is("all are ready", map[string]int64{"priorities": 3, "plain": 10, "transient": 50})

	high, first, untold := get("priorities"), get("plain"), get("untold")
	is("one of each is out", map[string]int64{"priorities": 3, "plain": 10, "untold": 20, "transient": 50})

	middle, second := get("priorities"), get("plain")
	require.NoError(t, untold.Ack())
	is("two are out", map[string]int64{"priorities": 3, "plain": 10, "untold": 20, "transient": 50})

	require.NoError(t, high.Ack())
	require.NoError(t, first.Ack())
	is("the first is settled", map[string]int64{"priorities": 2, "plain": 11, "untold": 20, "transient": 50})

	require.NoError(t, second.Nack(true))
	get("priorities")
	is("one is back", map[string]int64{"priorities": 2, "plain": 11, "untold": 20, "transient": 50})

	require.NoError(t, middle.Ack())
	is("the lowest priority is left", map[string]int64{"priorities": 1, "plain": 11, "untold": 20, "transient": 50})
}

// Of two heads that tell when they were made the older one counts, wherever it stands.
func TestOlderHeadIsTold(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	q, err := b.DeclareQueue("q", leveret.QueueConfig{})
	require.NoError(t, err)
	for _, second := range []int64{9, 5} {
		_, err := b.Publish("", "q", leveret.Message{Properties: &leveret.Properties{Timestamp: time.Unix(second, 0)}})
		require.NoError(t, err)
	}
	assert.Equal(t, time.Unix(9, 0), b.HeadTimestamps()["q"])
	_, _, err = q.Get()
	require.NoError(t, err)
	assert.Equal(t, time.Unix(5, 0), b.HeadTimestamps()["q"])
}

// Of ten messages every other one is persistent. RabbitMQ counts those of a durable classic queue, and all of a quorum queue.
func TestPersistentMessages(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	for name, c := range map[string]struct {
		config leveret.QueueConfig
		counts [4]int // with five out; when those are settled; when others have expired; after a purge
	}{
		"durable":   {leveret.QueueConfig{Durable: true}, [4]int{5, 3, 2, 0}},
		"transient": {leveret.QueueConfig{}, [4]int{}},
		"quorum":    {leveret.QueueConfig{Durable: true, Arguments: leveret.Table{leveret.ArgQueueType: leveret.QueueTypeQuorum}}, [4]int{10, 5, 3, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := b.DeclareQueue(name, c.config)
			require.NoError(t, err)
			for n := range 10 {
				p := &leveret.Properties{DeliveryMode: uint8(1 + n%2)}
				if n == 0 {
					p = nil
				}
				_, err := b.Publish("", name, leveret.Message{Body: []byte("abc"), Properties: p})
				require.NoError(t, err)
			}
			got := make([]leveret.Delivery, 6)
			_, err = q.GetMany(got)
			require.NoError(t, err)
			require.NoError(t, got[5].Nack(true))
			assert.Equal(t, c.counts[0], q.Info().Persistent)
			if c.counts[0] == 5 {
				assert.EqualValues(t, 15, q.Info().BytesPersistent)
			}
			for i := range got[:5] {
				require.NoError(t, got[i].Ack())
			}
			assert.Equal(t, c.counts[1], q.Info().Persistent)
			require.NoError(t, b.SetPolicy(leveret.Policy{Name: "short", Pattern: ".*", Definition: leveret.Table{"max-length": 3}}))
			assert.Equal(t, c.counts[2], q.Info().Persistent)
			require.NoError(t, b.Check())
			_, err = q.Purge()
			require.NoError(t, err)
			assert.Equal(t, c.counts[3], q.Info().Persistent)
			assert.Zero(t, q.Info().BytesPersistent)
			require.NoError(t, b.ClearPolicy("short"))
		})
	}
}
