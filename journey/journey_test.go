package journey_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/golden"
	"github.com/leveretmq/leveret/journey"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// broken is a topology in which a message comes to every end: one copy is acknowledged, one waits, one is refused by a
// queue that is full, and one is lost when its retry leads nowhere.
func broken(t *testing.T) (*leveret.Broker, *leveret.ManualClock) {
	clock := leveret.NewManualClock(time.Unix(1e9, 0))
	b := leveret.New(leveret.WithClock(clock))
	t.Cleanup(func() {
		require.NoError(t, b.Check())
		require.NoError(t, b.Close())
	})
	_, err := b.DeclareExchange("orders", leveret.Fanout, leveret.ExchangeConfig{})
	require.NoError(t, err)
	_, err = b.DeclareExchange("retries", leveret.Direct, leveret.ExchangeConfig{})
	require.NoError(t, err)
	for _, q := range []struct {
		name string
		args leveret.Table
	}{
		{"audit", nil},
		{"full", leveret.Table{leveret.ArgMaxLength: 0, leveret.ArgOverflow: leveret.OverflowRejectPublish}},
		{"stock", nil},
		{"work", leveret.Table{leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "wait"}},
	} {
		_, err = b.DeclareQueue(q.name, leveret.QueueConfig{Arguments: q.args})
		require.NoError(t, err)
		require.NoError(t, b.BindQueue(q.name, "orders", "", nil))
	}
	_, err = b.DeclareQueue("wait", leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgMessageTTL: 1500 * time.Millisecond,
		leveret.ArgDeadLetterExchange: "retries"}})
	require.NoError(t, err)
	return b, clock
}

func take(t *testing.T, b *leveret.Broker, queue string) *leveret.Delivery {
	q, err := b.Queue(queue)
	require.NoError(t, err)
	d, ok, err := q.Get()
	require.NoError(t, err)
	require.True(t, ok)
	return d
}

func TestEveryEnd(t *testing.T) {
	b, clock := broken(t)
	rec := journey.Record(b, journey.Config{})
	_, err := b.Publish("orders", "new", leveret.Message{Body: []byte("order 17"), Properties: &leveret.Properties{MessageID: "17"}})
	require.NoError(t, err)
	require.NoError(t, take(t, b, "audit").Ack())
	require.NoError(t, take(t, b, "work").Reject(true))
	require.NoError(t, take(t, b, "work").Reject(false))
	clock.Advance(2 * time.Second)
	_, err = b.Publish("", "nowhere", leveret.Message{Mandatory: true})
	require.NoError(t, err)
	b.Settle()
	all := rec.Journeys()
	require.Len(t, all, 2)
	golden.Equal(t, "ends.txt", all[0].String()+all[1].String())
	text, err := json.MarshalIndent(all, "", "  ")
	require.NoError(t, err)
	golden.Equal(t, "ends.json", string(text)+"\n")
	assert.Equal(t, journey.Ends{Acked: 1, Waiting: 1, Lost: 1, Refused: 1}, all[0].Ends())
	assert.Equal(t, journey.Ends{Returned: 1}, all[1].Ends())
	assert.Equal(t, "1 acknowledged, 1 in a queue, 1 lost, 1 refused", all[0].Ends().String())
	for ends, well := range map[journey.Ends]bool{
		{}: true, {Acked: 1}: true, {Waiting: 1}: true, {Acked: 1, Lost: 1}: false, {Refused: 1}: false, {Returned: 1}: false,
	} {
		assert.Equal(t, well, ends.Well(), ends)
	}
	assert.Equal(t, "nothing is left", journey.Ends{}.String())
}

// TestRefusedDies has a queue that refuses a message which goes on to the dead-letter exchange: it is not refused in the
// end.
func TestRefusedDies(t *testing.T) {
	b, _ := broken(t)
	_, err := b.DeclareQueue("passes on", leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgMaxLength: 0,
		leveret.ArgOverflow: leveret.OverflowRejectPublishDLX, leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "stock"}})
	require.NoError(t, err)
	rec := journey.Record(b, journey.Config{Last: 1})
	for range 2 {
		_, err = b.Publish("", "passes on", leveret.Message{})
		require.NoError(t, err)
	}
	all := rec.Journeys()
	require.Len(t, all, 1, "the last is kept")
	assert.Equal(t, journey.Ends{Waiting: 1}, all[0].Ends())
	assert.Len(t, rec.Published(), 1)
	rec.Stop()
	take(t, b, "stock")
	assert.False(t, all[0].In()[0].Unacked)
	assert.False(t, rec.Journeys()[0].In()[0].Unacked, "what comes after Stop is not recorded")
}

// A message that is requeued again and again fills no memory, and its journey is right all the same.
func TestEndlessRedeliveries(t *testing.T) {
	b, _ := broken(t)
	rec := journey.Record(b, journey.Config{})
	_, err := b.Publish("", "stock", leveret.Message{})
	require.NoError(t, err)
	const redeliveries = 20_000
	for range redeliveries {
		require.NoError(t, take(t, b, "stock").Nack(true))
	}
	d := take(t, b, "stock")
	j := rec.Journeys()[0]
	assert.Len(t, j.Events, 10_001, "the first 10,000, and the last delivery")
	assert.Equal(t, redeliveries-4999, j.LeftOut)
	assert.True(t, j.In()[0].Unacked)
	assert.Len(t, rec.Requeued(), 10_000, "so many of each kind are kept")
	told := journey.Timeline([]*journey.Journey{j})
	require.NoError(t, d.Nack(true))
	assert.True(t, told == journey.Timeline([]*journey.Journey{j}), "what was returned does not change any more")
	require.NoError(t, take(t, b, "stock").Ack())
	j = rec.Journeys()[0]
	assert.Equal(t, journey.Ends{Acked: 1}, j.Ends())
	assert.Contains(t, j.String(), "\n              15002 more deliveries were requeued\n")
	text, err := json.Marshal(j)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"left_out":15002`)
	assert.Contains(t, journey.Timeline(rec.Journeys()), "acknowledged in stock")
}
