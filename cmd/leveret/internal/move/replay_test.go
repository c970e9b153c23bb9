package move

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// letDie has a dead-letter queue with the messages of two queues, and one that nobody sent through a queue.
func letDie(t *testing.T, b *leveret.Broker) {
	declare(t, b, "dead", nil)
	_, err := b.DeclareExchange("orders", leveret.Topic, leveret.ExchangeConfig{Durable: true})
	require.NoError(t, err)
	for _, q := range []string{"work", "audit", "old"} {
		declare(t, b, q, leveret.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
		require.NoError(t, b.BindQueue(q, "orders", q+".#", nil))
	}
	require.NoError(t, b.BindQueue("audit", "orders", "work.both", nil))
	ch := client(t, b)
	for _, key := range []string{"work.one", "work.both", "old.one"} {
		require.NoError(t, ch.Publish("orders", key, false, false, amqp.Publishing{Body: []byte(key)}))
	}
	for _, q := range []string{"work", "work", "old"} {
		d, ok, err := ch.Get(q, false)
		require.NoError(t, err)
		require.True(t, ok)
		require.NoError(t, d.Reject(false))
	}
	require.NoError(t, ch.Publish("", "dead", false, false, amqp.Publishing{Body: []byte("alive")}))
	leverettest.Settle(t, b)
}

// replay is a job at one broker.
func replay(t *testing.T, b *leveret.Broker, r Replay) *Report {
	p := pair{t, b, b}
	j := p.job()
	j.SkipDefinitions, j.Queues, j.Pass = true, Filter{Only: []string{"dead"}}, r.Pass
	return p.run(j)
}

// Dead letters go back to the queue in which they died and to no other, as they were published there.
func TestReplay(t *testing.T) {
	b := leverettest.New(t)
	letDie(t, b)
	_, err := b.DeleteQueue("old", leveret.DeleteConfig{})
	require.NoError(t, err)
	audit := bodies(t, b, "audit")
	r := replay(t, b, Replay{})
	got := received(t, b, "work")
	require.Len(t, got, 2)
	assert.Equal(t, []string{"orders/work.one", "/work.both"}, []string{got[0].Exchange + "/" + got[0].RoutingKey, got[1].Exchange + "/" + got[1].RoutingKey})
	assert.Contains(t, got[0].Headers, "x-death")
	assert.Equal(t, audit, bodies(t, b, "audit"), "the queue had its copy")
	assert.Equal(t, []string{"old.one", "alive"}, bodies(t, b, "dead"))
	assert.Equal(t, 2, r.Moved)
	assert.False(t, r.Whole())
	assert.Equal(t, "/ on rabbitmq has no queue old", r.Queues[0].Problem)
}

func TestReplayChooses(t *testing.T) {
	b := leverettest.New(t)
	letDie(t, b)
	replay(t, b, Replay{Reason: []string{"expired"}})
	replay(t, b, Replay{DiedIn: Filter{Only: []string{"nowhere"}}})
	assert.Len(t, bodies(t, b, "dead"), 4)
	r := replay(t, b, Replay{DiedIn: Filter{Only: []string{"o*"}}, Reason: []string{"rejected"}, Forget: true})
	assert.True(t, r.Whole())
	assert.Equal(t, []string{"work.one", "work.both", "alive"}, bodies(t, b, "dead"))
	got := received(t, b, "old")
	require.Len(t, got, 1)
	assert.Empty(t, got[0].Headers)
	assert.Equal(t, "orders", got[0].Exchange)
}

// A pull copies, and leaves the messages where and in which order they are.
func TestPull(t *testing.T) {
	p := newPair(t)
	letDie(t, p.from)
	j := p.job()
	j.Copy, j.Most, j.Queues = true, 2, Filter{Only: []string{"dead"}}
	r := p.run(j)
	assert.Equal(t, 2, r.Moved)
	assert.Equal(t, []string{"work.one", "work.both"}, bodies(t, p.to, "dead"))
	assert.Equal(t, []string{"work.one", "work.both", "old.one", "alive"}, bodies(t, p.from, "dead"))
	got := received(t, p.to, "dead")
	assert.Equal(t, "work", got[0].Headers["x-death"].([]any)[0].(amqp.Table)["queue"])
}
