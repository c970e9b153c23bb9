package blackbox_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/turns"
	"github.com/stretchr/testify/require"
)

// largestStep runs an operation in short turns and returns by how much a figure changed at most while nobody got in.
func largestStep(t *testing.T, figure func() int, operation func()) int {
	t.Helper()
	shortTurns(t)
	last, largest := figure(), 0
	look := func() {
		now := figure()
		largest, last = max(largest, now-last, last-now), now
	}
	inside := false
	turns.SetBetween(func() {
		if !inside { // a figure that is a list lets others in, too
			inside = true
			look()
			inside = false
		}
	})
	operation()
	turns.SetBetween(nil)
	look()
	return largest
}

const manySteps = 300 // far more than a turn has in these tests

// Messages that have come back to a quorum queue too often do not die in one go.
func TestDeathsOfTheDeliveryLimitLetOthersIn(t *testing.T) {
	for _, p := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		t.Run(p.String(), func(t *testing.T) {
			b, _ := newTestBroker(t, leveret.WithProfile(p))
			q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum", "x-delivery-limit": 0})
			ch := mustChannel(t, b)
			for range manySteps {
				mustPublish(t, b, "q", "m", "")
			}
			hold(t, ch, manySteps)
			dead := func() int { return int(q.Counters().Dropped.NoDeadLetterExchange) }
			step := largestStep(t, dead, func() { require.NoError(t, ch.Close()) })
			require.Equal(t, manySteps, dead())
			require.LessOrEqual(t, step, 60, "messages that died while nobody got in")
		})
	}
}

// Nor do those that have waited for their retry come in one go.
func TestDelayedRetriesLetOthersIn(t *testing.T) {
	b, clk := newTestBroker(t)
	q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum"})
	require.NoError(t, b.SetPolicy(leveret.Policy{Name: "retry", Pattern: "q", Definition: leveret.Table{
		"delayed-retry-type": "all", "delayed-retry-min": 1000}}))
	ch := mustChannel(t, b)
	for range manySteps {
		mustPublish(t, b, "q", "m", "")
	}
	hold(t, ch, manySteps)
	require.NoError(t, ch.Nack(0, true, true))
	step := largestStep(t, func() int { return q.Info().Ready }, func() { clk.Advance(time.Minute) })
	require.LessOrEqual(t, step, 60, "messages that became ready while nobody got in")
}

// A message that arrives while many are due does not have them all expire in one go: RabbitMQ 3.10.
func TestArrivalExpiresFewAtOnce(t *testing.T) {
	b, clk := newTestBroker(t, leveret.WithProfile(leveret.RabbitMQ310))
	q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum"})
	require.NoError(t, b.SetPolicy(leveret.Policy{Name: "ttl", Pattern: "q", Definition: leveret.Table{"message-ttl": 1000}}))
	for range manySteps {
		mustPublish(t, b, "q", "m", "")
	}
	published := false
	ready := func() int {
		if n := q.Info().Ready; published || n == manySteps {
			return n
		}
		published = true // some are gone, and the others are due
		mustPublish(t, b, "q", "m", "")
		return q.Info().Ready
	}
	step := largestStep(t, ready, func() { clk.Advance(time.Minute) })
	require.True(t, published)
	require.LessOrEqual(t, step, 140, "messages that expired while nobody got in, before the arrival and with it")
}

// A list of many messages lets others in while the messages are described. The list shows them as they were.
func TestListsOfMessagesLetOthersIn(t *testing.T) {
	b, _ := newTestBroker(t)
	q := mustDeclare(t, b, "q", nil)
	for range manySteps {
		mustPublish(t, b, "q", "m", "")
	}
	var list []leveret.MessageInfo
	times := 0
	largestStep(t, func() int {
		if times++; times == 3 {
			_, err := q.Purge()
			require.NoError(t, err)
		}
		return 0
	}, func() { list = q.Messages() })
	require.Len(t, list, manySteps)
	require.Zero(t, q.Info().Ready)
}

// The end of a channel removes few of many auto-delete queues in one go.
func TestRemovedQueuesLetOthersIn(t *testing.T) {
	b, _ := newTestBroker(t)
	ch := mustChannel(t, b)
	for i := range manySteps {
		name := strconv.Itoa(i)
		_, err := ch.DeclareQueue(name, leveret.QueueConfig{AutoDelete: true})
		require.NoError(t, err)
		_, err = ch.Consume(name, leveret.ConsumeConfig{})
		require.NoError(t, err)
	}
	step := largestStep(t, func() int { return len(b.Queues()) }, func() { require.NoError(t, ch.Close()) })
	require.Empty(t, b.Queues())
	require.LessOrEqual(t, step, 60, "queues that were removed while nobody got in")
}

// What a listener says of a client has values that AMQP has, as every other table: a listing would fail with others, and one that
// contains itself ends the process.
func TestClientPropertiesAreCanonical(t *testing.T) {
	b, _ := newTestBroker(t)
	open := func(v any) error {
		_, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", ClientProperties: leveret.Table{"k": v}})
		return err
	}
	self := leveret.Table{}
	self["self"] = self
	for _, v := range []any{1i, make(chan int), self} {
		require.ErrorIs(t, open(v), leveret.ErrSyntax)
	}
	require.Empty(t, b.Connections())
	require.NoError(t, open(uint64(7)))
	require.Equal(t, leveret.Table{"k": int64(7)}, b.Connections()[0].ClientProperties)
}

// Consumers that leave a queue together because their channel ends let others in.
func TestConsumersThatLeaveLetOthersIn(t *testing.T) {
	for _, single := range []bool{false, true} {
		t.Run(fmt.Sprintf("single=%t", single), func(t *testing.T) {
			b, _ := newTestBroker(t)
			q := mustDeclare(t, b, "q", leveret.Table{"x-single-active-consumer": single})
			ch := mustChannel(t, b)
			for range manySteps {
				_, err := ch.Consume("q", leveret.ConsumeConfig{})
				require.NoError(t, err)
			}
			consumers := func() int { return q.Info().Consumers }
			require.Equal(t, manySteps, consumers())
			step := largestStep(t, consumers, func() { require.NoError(t, ch.Close()) })
			require.Zero(t, consumers())
			require.LessOrEqual(t, step, 60, "consumers that left while nobody got in")
		})
	}
}
