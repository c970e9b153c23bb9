package blackbox_test

import (
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Messages that died alike share what Deaths returns. Who appends to it does not change it for others.
func TestDeathsAreAppendedTo(t *testing.T) {
	b, _ := newTestBroker(t)
	targets := []string{"a", "b", "c", "end"}
	for i, name := range targets {
		args := leveret.Table{}
		if i < len(targets)-1 {
			args = leveret.Table{leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: targets[i+1]}
		}
		mustDeclare(t, b, name, args)
	}
	get := func(queue string) *leveret.Delivery {
		q, err := b.Queue(queue)
		require.NoError(t, err)
		d, _, err := q.Get()
		require.NoError(t, err)
		return d
	}
	var appended [][]leveret.Death
	for i := range int64(2) {
		mustPublish(t, b, "a", "m", "")
		for _, name := range targets[:3] {
			require.NoError(t, get(name).Reject(false))
		}
		deaths := get("end").Deaths()
		require.Len(t, deaths, 3)
		appended = append(appended, append(deaths, leveret.Death{Count: i}))
	}
	assert.EqualValues(t, 0, appended[0][3].Count)
	assert.EqualValues(t, 1, appended[1][3].Count)
}

// What dies alike shares its history: here nothing of one message may show in another.
func TestDeathsAlike(t *testing.T) {
	start := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	clock := leveret.NewManualClock(start)
	b := leveret.New(leveret.WithClock(clock))
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	for name, target := range map[string]string{"a": "parked", "b": "parked", "parked": "a"} {
		_, err := b.DeclareQueue(name, leveret.QueueConfig{Arguments: leveret.Table{
			leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: target}})
		require.NoError(t, err)
	}
	require.NoError(t, b.BindQueue("a", "amq.fanout", "", nil))
	get := func(queue string) *leveret.Delivery {
		q, err := b.Queue(queue)
		require.NoError(t, err)
		d, ok, err := q.Get()
		require.NoError(t, err)
		require.True(t, ok, queue)
		return d
	}
	die := func(exchange, key, queue string, headers leveret.Table) *leveret.Delivery {
		_, err := b.Publish(exchange, key, leveret.Message{Properties: &leveret.Properties{Headers: headers}})
		require.NoError(t, err)
		require.NoError(t, get(queue).Reject(false))
		return get("parked")
	}
	death := leveret.Death{Queue: "a", Reason: leveret.Rejected, Count: 1, Time: start, RoutingKeys: []string{"a"}}

	first, second := die("", "a", "a", nil), die("", "a", "a", nil)
	assert.Equal(t, []leveret.Death{death}, first.Deaths())
	assert.Equal(t, first.WireHeaders(), second.WireHeaders())

	other := die("amq.fanout", "key", "a", nil)
	assert.Equal(t, "amq.fanout", other.Deaths()[0].Exchange)
	assert.Equal(t, []string{"key"}, other.Deaths()[0].RoutingKeys)
	assert.Equal(t, "b", die("", "b", "b", nil).Deaths()[0].Queue)
	withHeaders := die("", "a", "a", leveret.Table{"zone": "x", "a": "y"})
	assert.Len(t, withHeaders.WireHeaders(), 9)
	assert.Equal(t, "x", withHeaders.Headers["zone"])
	assert.Equal(t, "a", withHeaders.Headers["x-first-death-queue"])

	clock.Advance(time.Second)
	assert.Equal(t, start.Add(time.Second), die("", "a", "a", nil).Deaths()[0].Time)

	require.NoError(t, first.Reject(false)) // to a, a death more
	again := get("a")
	assert.Equal(t, []string{"parked", "a"}, []string{again.Deaths()[0].Queue, again.Deaths()[1].Queue})
	require.NoError(t, again.Reject(false))
	assert.Equal(t, int64(2), get("parked").Deaths()[0].Count)
	assert.Equal(t, []leveret.Death{death}, second.Deaths())
	assert.Equal(t, "a", second.Headers["x-last-death-queue"])
}

// In RabbitMQ 3.10 the history is what the header says: Deaths reads it there, entries of a client's included.
func TestDeathsFromTheHeader(t *testing.T) {
	b, _ := newTestBroker(t, leveret.WithProfile(leveret.RabbitMQ310))
	work := mustDeclare(t, b, "work", leveret.Table{leveret.ArgDeadLetterExchange: "",
		leveret.ArgDeadLetterRoutingKey: "dead"})
	dead := mustDeclare(t, b, "dead", leveret.Table{leveret.ArgDeadLetterExchange: "amq.fanout"})
	again := mustDeclare(t, b, "again", nil)
	require.NoError(t, b.BindQueue("again", "amq.fanout", "", nil))
	die := func(p leveret.Properties) []leveret.Death {
		_, err := b.Publish("", "work", leveret.Message{Properties: &p})
		require.NoError(t, err)
		for _, q := range []*leveret.Queue{work, dead} {
			d, _, err := q.Get()
			require.NoError(t, err)
			require.NoError(t, d.Reject(false))
		}
		d, ok, err := again.Get()
		require.NoError(t, err)
		require.True(t, ok)
		require.NoError(t, d.Ack())
		return d.Deaths()
	}
	at := start.UTC()
	inDead := leveret.Death{Queue: "dead", Reason: leveret.Rejected, Count: 1, Time: at, RoutingKeys: []string{"dead"}}
	inWork := leveret.Death{Queue: "work", Reason: leveret.Rejected, Count: 1, Time: at, RoutingKeys: []string{"work"},
		OriginalExpiration: "9000"}

	assert.Equal(t, []leveret.Death{inDead, inWork}, die(leveret.Properties{Expiration: "9000"}))

	claimed := leveret.Table{"queue": "work", "reason": "rejected", "count": 5, "exchange": "far", "time": "yesterday",
		"routing-keys": []any{"a", 1, "b"}}
	assert.Equal(t, []leveret.Death{inDead, {Queue: "work", Reason: leveret.Rejected, Count: 6, Exchange: "far",
		RoutingKeys: []string{"a", "b"}}},
		die(leveret.Properties{Headers: leveret.Table{"x-death": []any{claimed, "no table"}}}))
}
