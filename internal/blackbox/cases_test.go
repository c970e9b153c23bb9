package blackbox_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

func TestZeroTTLBehindALivingMessageWaits(t *testing.T) {
	bothTypes(t, func(t *testing.T, kind string) {
		b, _ := newTestBroker(t)
		q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": kind})
		mustPublish(t, b, "q", "living", "")
		mustPublish(t, b, "q", "zero", "0")
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
		mustPublish(t, b, "q", "zero", "0")
		require.Equal(t, leveret.MaxLength, dead.Messages()[0].Deaths[0].Reason)
		mustDeclare(t, b, "one", leveret.Table{"x-queue-type": kind, "x-max-length": 1, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
		mustPublish(t, b, "one", "living", "")
		mustPublish(t, b, "one", "zero", "0")
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
			mustPublish(t, b, "q", "m", expiration)
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
		mustPublish(t, b, "q", "living", "")
		mustPublish(t, b, "q", "mortal", "450")
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
	mustPublish(t, b, "q", "m", "")
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
	mustPublish(t, b, "q", "m", "")
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
	mustPublish(t, b, "q", "one", "")
	d, err := low.Receive(t.Context())
	require.NoError(t, err)
	high, err := q.Consume(leveret.ConsumeConfig{Tag: "high", Arguments: leveret.Table{"x-priority": 1}})
	require.NoError(t, err)
	require.NoError(t, high.Cancel())
	mustPublish(t, b, "q", "two", "")
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
	mustPublish(t, b, "q", "living", "")
	mustPublish(t, b, "q", "mortal", "0")
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

// At-least-once with one target that takes the dead letter and one that refuses it.
func TestPendingDeathWithARefusingTarget(t *testing.T) {
	setUp := func(t *testing.T) (b *leveret.Broker, clk *leveret.ManualClock, source, full, open *leveret.Queue) {
		b, clk = newTestBroker(t)
		full = mustDeclare(t, b, "full", leveret.Table{"x-max-length": 1, "x-overflow": "reject-publish"})
		open = mustDeclare(t, b, "open", nil)
		mustPublish(t, b, "full", "in the way", "")
		for _, name := range []string{"full", "open"} {
			require.NoError(t, b.BindQueue(name, "amq.fanout", "", nil))
		}
		source = mustDeclare(t, b, "source", leveret.Table{"x-queue-type": "quorum", "x-overflow": "reject-publish",
			"x-dead-letter-strategy": "at-least-once", "x-dead-letter-exchange": "amq.fanout"})
		mustPublish(t, b, "source", "m", "")
		d, _, err := source.Get()
		require.NoError(t, err)
		require.NoError(t, d.Nack(false))
		require.Equal(t, 1, source.Info().Messages)
		require.Zero(t, source.Info().Ready)
		require.Equal(t, []string{"m"}, bodies(open))
		return b, clk, source, full, open
	}
	t.Run("makes room", func(t *testing.T) {
		b, clk, source, full, open := setUp(t)
		clk.Advance(180 * time.Second)
		require.Equal(t, 1, source.Info().Messages, "still refused")
		_, err := full.Purge()
		require.NoError(t, err)
		clk.Advance(180 * time.Second)
		require.Zero(t, source.Info().Messages)
		require.Equal(t, []string{"m"}, bodies(full))
		require.Equal(t, []string{"m"}, bodies(open), "who has it does not get it again")
		require.NoError(t, b.Check())
		_, ok := b.NextDeadline()
		require.False(t, ok)
	})
	t.Run("is deleted", func(t *testing.T) {
		_, clk, source, full, open := setUp(t)
		_, err := full.Delete(leveret.DeleteConfig{})
		require.NoError(t, err)
		clk.Advance(360 * time.Second)
		require.Equal(t, 1, source.Info().Messages, "RabbitMQ keeps waiting for it")
		require.Equal(t, []string{"m"}, bodies(open))
		n, err := source.Purge()
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
	t.Run("stops being at-least-once", func(t *testing.T) {
		b, _, source, _, _ := setUp(t)
		require.NoError(t, b.SetPolicy(leveret.Policy{Name: "p", Pattern: "^source$", Definition: leveret.Table{"overflow": "drop-head"}}))
		require.Zero(t, source.Info().Messages)
		require.NoError(t, b.Check())
	})
}

// Several consumers of auto-delete queues end at once, with messages in hand that die of it.
func TestAutoDeleteWithSeveralConsumersEndingAtOnce(t *testing.T) {
	b, clk := newTestBroker(t)
	dead := mustDeclare(t, b, "dead", nil)
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	for i := range 3 {
		_, err := b.DeclareQueue("q", leveret.QueueConfig{AutoDelete: true, Arguments: leveret.Table{"x-message-ttl": 1000,
			"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"}})
		require.NoError(t, err)
		ch, err := conn.Channel()
		require.NoError(t, err)
		for range 2 {
			_, err = ch.Consume("q", leveret.ConsumeConfig{Prefetch: 1})
			require.NoError(t, err)
		}
		mustPublish(t, b, "q", string(rune('a'+i)), "")
	}
	require.NoError(t, conn.Close())
	_, err = b.Queue("q")
	require.ErrorIs(t, err, leveret.ErrNotFound)
	clk.Advance(time.Minute)
	require.Empty(t, bodies(dead), "what goes with its queue is not dead-lettered")
	require.Zero(t, b.Memory().Used)
	_, ok := b.NextDeadline()
	require.False(t, ok)
}

// A transaction outlives the queues it published to and settled for.
func TestTransactionOfDeletedQueues(t *testing.T) {
	bothTypes(t, func(t *testing.T, kind string) {
		b, _ := newTestBroker(t)
		mustDeclare(t, b, "q", leveret.Table{"x-queue-type": kind})
		mustPublish(t, b, "q", "m", "")
		conn, err := b.Connect("guest", "guest", "/")
		require.NoError(t, err)
		ch, err := conn.Channel()
		require.NoError(t, err)
		require.NoError(t, ch.Tx())
		d, _, err := ch.Get("q", leveret.GetConfig{})
		require.NoError(t, err)
		require.NoError(t, d.Ack())
		_, err = ch.Publish("", "q", leveret.Message{Body: []byte("late"), Mandatory: true})
		require.NoError(t, err)
		_, err = b.DeleteQueue("q", leveret.DeleteConfig{})
		require.NoError(t, err)
		again := mustDeclare(t, b, "q", nil)
		returns, err := ch.Commit()
		if kind == "quorum" {
			require.ErrorIs(t, err, leveret.ErrInternal, "the queue has another type now")
		} else {
			require.ErrorIs(t, err, leveret.ErrPreconditionFailed, "partial tx completion")
		}
		require.Empty(t, returns, "it had been routed")
		require.Empty(t, bodies(again), "to a queue that is gone")
		require.Zero(t, b.Memory().Used)
	})
}

// Purging takes the messages that wait for a retry, and their timer has nothing left to do.
func TestPurgeTakesDelayedRetries(t *testing.T) {
	b, clk := newTestBroker(t)
	q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum", "x-delayed-retry-type": "all", "x-delayed-retry-min": 1000, "x-max-length": 1})
	mustPublish(t, b, "q", "m", "")
	d, _, err := q.Get()
	require.NoError(t, err)
	require.NoError(t, d.Nack(true))
	require.Equal(t, 1, q.Info().Messages)
	mustPublish(t, b, "q", "dropped: the one that waits counts", "")
	require.Empty(t, bodies(q))
	n, err := q.Purge()
	require.NoError(t, err)
	require.Equal(t, 1, n)
	_, ok := b.NextDeadline()
	require.False(t, ok)
	clk.Advance(time.Minute)
	require.Zero(t, q.Info().Messages)
	require.Zero(t, b.Memory().Used)
}

// A quorum queue counts a dead letter's properties as its publisher sent them, the expiration
// that dying removed included. (Asked RabbitMQ 4.3.)
func TestQuorumQueueCountsRemovedExpiration(t *testing.T) {
	for _, c := range []struct{ limit, ready int }{{5, 0}, {6, 1}} {
		b, _ := newTestBroker(t)
		dead := mustDeclare(t, b, "dead", leveret.Table{"x-queue-type": "quorum", "x-max-length-bytes": c.limit})
		mustDeclare(t, b, "q", leveret.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
		mustPublish(t, b, "q", "ab", "0")
		require.Equal(t, c.ready, dead.Info().Ready)
	}
}

func TestConsumerTimeoutTakesYoungerDeliveriesToo(t *testing.T) {
	b, clk := newTestBroker(t)
	q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum"})
	inbox := leveret.NewInbox(leveret.InboxConfig{})
	conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", CancelNotify: true, Inbox: inbox})
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.Consume("q", leveret.ConsumeConfig{Tag: "slow"})
	require.NoError(t, err)
	mustPublish(t, b, "q", "old", "")
	clk.Advance(10 * time.Minute)
	mustPublish(t, b, "q", "young", "")
	clk.Advance(20 * time.Minute)
	require.Equal(t, 1, q.Info().Unacked)
	require.Equal(t, 1, q.Info().Consumers)
	clk.Advance(10 * time.Minute)
	require.Equal(t, 0, q.Info().Unacked)
	require.Equal(t, 2, q.Info().Ready)
	require.Equal(t, 1, q.Info().Consumers)
	require.NoError(t, ch.Close())
	require.Equal(t, 0, q.Info().Consumers)
}

func TestConsumerTimeout(t *testing.T) {
	b, clk := newTestBroker(t)
	q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum"})
	inbox := leveret.NewInbox(leveret.InboxConfig{})
	conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", CancelNotify: true, Inbox: inbox})
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.Consume("q", leveret.ConsumeConfig{Tag: "slow"})
	require.NoError(t, err)
	mustPublish(t, b, "q", "m", "")
	at, ok := b.NextDeadline()
	require.True(t, ok)
	require.Equal(t, 30*time.Minute, at.Sub(clk.Now()))
	clk.Advance(30*time.Minute - time.Millisecond)
	require.Equal(t, 1, q.Info().Unacked)
	clk.Advance(time.Millisecond)
	require.Equal(t, 0, q.Info().Unacked)
	require.Equal(t, 1, q.Info().Ready)
	require.Equal(t, 1, q.Info().Consumers, "RabbitMQ goes on counting it")
	got := inbox.Take(nil)
	require.Len(t, got, 2)
	require.Equal(t, leveret.ConsumerCancelled, got[1].Kind)
	require.NoError(t, ch.Ack(got[0].Delivery.DeliveryTag, false), "a late ack is accepted")
	require.Equal(t, 1, q.Info().Ready, "and has no effect")
	d, ok, err := ch.Get("q", leveret.GetConfig{})
	require.NoError(t, err)
	require.True(t, ok)
	v, _ := d.HeaderFields().Get("x-acquired-count")
	require.Equal(t, int64(1), v)
	_, ok = d.HeaderFields().Get("x-delivery-count")
	require.False(t, ok, "a timeout is no failed delivery")
	clk.Advance(30 * time.Minute)
	err = ch.Ack(d.DeliveryTag, false)
	require.ErrorIs(t, err, leveret.ErrClosed)
	var e *leveret.Error
	require.True(t, errors.As(err, &e))
	require.True(t, strings.HasPrefix(e.Text(), "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: -1 ms."), e.Text())
	require.Equal(t, 1, q.Info().Ready)
}

// RabbitMQ answers a declare of a quorum queue with the single active consumer only, and lists all.
func TestSingleActiveConsumersAreListed(t *testing.T) {
	b, _ := newTestBroker(t)
	args := leveret.Table{"x-queue-type": "quorum", "x-single-active-consumer": true}
	q := mustDeclare(t, b, "q", args)
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	for _, tag := range []string{"first", "second"} {
		_, err := ch.Consume("q", leveret.ConsumeConfig{Tag: tag})
		require.NoError(t, err)
	}
	state, err := ch.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: args})
	require.NoError(t, err)
	require.Equal(t, 1, state.Consumers)
	require.Equal(t, 2, q.Info().Consumers)
}
