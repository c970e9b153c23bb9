package leveret_test

import (
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// Cases that the model test found, kept.

func newTestBroker(t *testing.T, opts ...leveret.Option) (*leveret.Broker, *leveret.ManualClock) {
	t.Helper()
	clk := leveret.NewManualClock(machineStart)
	b := leveret.New(append([]leveret.Option{leveret.WithClock(clk), leveret.WithSeed(1)}, opts...)...)
	t.Cleanup(func() {
		require.NoError(t, b.Check())
		require.NoError(t, b.Close())
	})
	return b, clk
}

func mustDeclare(t *testing.T, b *leveret.Broker, name string, args leveret.Table) *leveret.Queue {
	t.Helper()
	q, err := b.DeclareQueue(name, leveret.QueueConfig{Durable: true, Arguments: args})
	require.NoError(t, err)
	return q
}

func casePublish(t *testing.T, b *leveret.Broker, queue, body, expiration string) {
	t.Helper()
	out, err := b.Publish("", queue, leveret.Message{Body: []byte(body), Properties: &leveret.Properties{Expiration: expiration}})
	require.NoError(t, err)
	require.Equal(t, 1, out.Queues)
}

func bodies(q *leveret.Queue) (s []string) {
	for _, m := range q.Messages() {
		s = append(s, string(m.Body))
	}
	return s
}

func bothTypes(t *testing.T, f func(t *testing.T, kind string)) {
	for _, kind := range []string{"classic", "quorum"} {
		t.Run(kind, func(t *testing.T) { f(t, kind) })
	}
}

func TestZeroTTLBehindALivingMessageWaits(t *testing.T) {
	bothTypes(t, func(t *testing.T, kind string) {
		b, _ := newTestBroker(t)
		q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": kind})
		casePublish(t, b, "q", "living", "")
		casePublish(t, b, "q", "zero", "0")
		require.Equal(t, []string{"living", "zero"}, bodies(q))
		d, _, err := q.Get()
		require.NoError(t, err)
		require.NoError(t, d.Ack())
		require.Empty(t, bodies(q), "at the head it expires within the operation that made it the head")
	})
}

func TestZeroTTLIsTrimmedBeforeItExpires(t *testing.T) {
	bothTypes(t, func(t *testing.T, kind string) {
		b, _ := newTestBroker(t)
		dead := mustDeclare(t, b, "dead", nil)
		mustDeclare(t, b, "q", leveret.Table{"x-queue-type": kind, "x-max-length": 0, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
		casePublish(t, b, "q", "zero", "0")
		require.Equal(t, leveret.MaxLength, dead.Messages()[0].Deaths[0].Reason)
		mustDeclare(t, b, "one", leveret.Table{"x-queue-type": kind, "x-max-length": 1, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
		casePublish(t, b, "one", "living", "")
		casePublish(t, b, "one", "zero", "0")
		require.Equal(t, []string{"zero", "living", "zero"}, bodies(dead))
		require.Equal(t, leveret.MaxLength, dead.Messages()[1].Deaths[0].Reason)
		require.Equal(t, leveret.Expired, dead.Messages()[2].Deaths[0].Reason)
	})
}

func TestGetCountsWhatRemains(t *testing.T) {
	want := map[string]int{"classic": 1, "quorum": 3} // a classic queue lets the new heads expire first
	bothTypes(t, func(t *testing.T, kind string) {
		b, clk := newTestBroker(t)
		q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": kind})
		for _, expiration := range []string{"", "100", "100", ""} {
			casePublish(t, b, "q", "m", expiration)
		}
		clk.Advance(time.Second)
		d, _, err := q.Get()
		require.NoError(t, err)
		require.Equal(t, want[kind], d.MessageCount)
		require.Equal(t, 1, q.Info().Ready)
	})
}

func TestTrimmingByPolicyWatchesTheNewHead(t *testing.T) {
	bothTypes(t, func(t *testing.T, kind string) {
		b, clk := newTestBroker(t)
		q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": kind})
		casePublish(t, b, "q", "living", "")
		casePublish(t, b, "q", "mortal", "450")
		require.NoError(t, b.SetPolicy(leveret.Policy{Name: "p", Definition: leveret.Table{"max-length": 1}}))
		require.Equal(t, []string{"mortal"}, bodies(q))
		clk.Advance(450 * time.Millisecond)
		require.Empty(t, bodies(q))
	})
}

func TestDeletedQueueTimesNothingOut(t *testing.T) {
	b, clk := newTestBroker(t)
	mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum"})
	conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/"}) // a client that cannot be told of a cancelled consumer
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	c, err := ch.Consume("q", leveret.ConsumeConfig{})
	require.NoError(t, err)
	casePublish(t, b, "q", "m", "")
	d, err := c.Receive(t.Context())
	require.NoError(t, err)
	_, err = b.DeleteQueue("q", leveret.DeleteConfig{})
	require.NoError(t, err)
	_, ok := b.NextDeadline()
	require.False(t, ok)
	clk.Advance(time.Hour)
	require.NoError(t, d.Ack(), "the channel is still open")
}

// next tells which consumer gets each message when all are given back again and again.
func redeliveries(t *testing.T, kind string, prefetch int) (tags []string) {
	b, _ := newTestBroker(t)
	mustDeclare(t, b, "q", leveret.Table{"x-queue-type": kind})
	inbox := leveret.NewInbox(leveret.InboxConfig{})
	conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: inbox})
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.Consume("q", leveret.ConsumeConfig{Tag: "early", Prefetch: prefetch})
	require.NoError(t, err)
	casePublish(t, b, "q", "m", "")
	_, err = ch.Consume("q", leveret.ConsumeConfig{Tag: "late", Prefetch: prefetch})
	require.NoError(t, err)
	for range 4 {
		got := inbox.Take(nil)
		require.Len(t, got, 1)
		tags = append(tags, got[0].ConsumerTag)
		require.NoError(t, ch.Recover(true))
	}
	return tags
}

// A quorum queue takes a consumer whose window is full out of the line at once, a classic
// queue only when it is the consumer's turn. (Asked RabbitMQ 4.3.)
func TestPlaceInLineOfAFullConsumer(t *testing.T) {
	require.Equal(t, []string{"early", "late", "early", "late"}, redeliveries(t, "quorum", 1))
	require.Equal(t, []string{"early", "early", "late", "early"}, redeliveries(t, "quorum", 0))
	require.Equal(t, []string{"early", "early", "late", "early"}, redeliveries(t, "classic", 1))
	require.Equal(t, []string{"early", "early", "late", "early"}, redeliveries(t, "classic", 0))
}

// An active consumer that makes way for a better one gets nothing more until it holds
// nothing, even when the better one has left meanwhile. (Asked RabbitMQ 4.3.)
func TestQuorumSingleActiveKeepsYielding(t *testing.T) {
	b, _ := newTestBroker(t)
	q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum", "x-single-active-consumer": true})
	low, err := q.Consume(leveret.ConsumeConfig{Tag: "low"})
	require.NoError(t, err)
	casePublish(t, b, "q", "one", "")
	d, err := low.Receive(t.Context())
	require.NoError(t, err)
	high, err := q.Consume(leveret.ConsumeConfig{Tag: "high", Arguments: leveret.Table{"x-priority": 1}})
	require.NoError(t, err)
	require.NoError(t, high.Cancel())
	casePublish(t, b, "q", "two", "")
	require.Equal(t, []string{"two"}, bodies(q))
	require.NoError(t, d.Ack())
	d, err = low.Receive(t.Context())
	require.NoError(t, err)
	require.Equal(t, "two", string(d.Body))
	require.NoError(t, d.Ack())
}

// A classic queue lets expired messages go with each one it takes; so it does not look for a
// consumer for them, and the one whose window was filled by the last message keeps its place.
// (Asked RabbitMQ 4.3.)
func TestExpiredMessagesCostNoConsumerItsPlace(t *testing.T) {
	b, _ := newTestBroker(t)
	mustDeclare(t, b, "q", nil)
	casePublish(t, b, "q", "living", "")
	casePublish(t, b, "q", "mortal", "0")
	inbox := leveret.NewInbox(leveret.InboxConfig{})
	conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: inbox})
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	for _, tag := range []string{"early", "late"} {
		_, err = ch.Consume("q", leveret.ConsumeConfig{Tag: tag, Prefetch: 1})
		require.NoError(t, err)
	}
	require.NoError(t, ch.Recover(true))
	got := inbox.Take(nil)
	require.Len(t, got, 2)
	require.Equal(t, "early", got[1].ConsumerTag)
}
