package blackbox_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// Two full queues drop their heads into each other: one publish too many and every message that
// waits dies, most of them twice, before the cycle rule ends it.
func TestMillionDeaths(t *testing.T) {
	smallStack(t)
	b, _ := newTestBroker(t)
	size := scaled(500_000)
	for name, other := range map[string]string{"a": "b", "b": "a"} {
		mustDeclare(t, b, name, leveret.Table{"x-max-length": size, "x-dead-letter-exchange": "",
			"x-dead-letter-routing-key": other})
		for range size {
			mustPublish(t, b, name, "m", "")
		}
	}
	before := heapInUse()
	watch := watchHeap()
	mustPublish(t, b, "a", "one too many", "")
	peak := watch()
	deaths := int(b.Counters().DeadLetteredAtMostOnce.MaxLength)
	t.Logf("%d deaths, %d MiB before, %d MiB peak", deaths, before>>20, peak>>20)
	require.GreaterOrEqual(t, deaths, 2*size)
	for _, q := range b.Queues() {
		require.LessOrEqual(t, q.Ready, size)
	}
	// Every message has got a history of one or two deaths: that is all that may be added.
	require.Less(t, peak, before+uint64(2*size)*500+64<<20)
}

// One publish sets off a cascade: a chain of full queues, each dropping into the next.
func TestCascadeThroughManyQueues(t *testing.T) {
	smallStack(t)
	b, _ := newTestBroker(t)
	n := scaled(5000)
	for i := range n {
		mustDeclare(t, b, fmt.Sprint("q", i), leveret.Table{"x-max-length": 0, "x-dead-letter-exchange": "",
			"x-dead-letter-routing-key": fmt.Sprint("q", i+1)})
	}
	last := mustDeclare(t, b, fmt.Sprint("q", n), nil)
	mustPublish(t, b, "q0", "m", "")
	require.Equal(t, 1, last.Info().Ready)
	require.Len(t, last.Messages()[0].Deaths, n)
}

// Queues that all dead-letter to all others send a message along every path there is: twelve of them on more than a
// billion. What is too much is lost, and says so.
func TestEveryPathThereIs(t *testing.T) {
	smallStack(t)
	lost := 0
	b, _ := newTestBroker(t, leveret.WithEvents(leveret.Events{Dropped: func(e leveret.DroppedEvent) {
		if e.Cause == leveret.CauseCycle && e.Target == "" {
			lost++
		}
	}}))
	for i := range 12 {
		mustDeclare(t, b, fmt.Sprint("q", i), leveret.Table{"x-max-length": 0, "x-dead-letter-exchange": "amq.fanout"})
		require.NoError(t, b.BindQueue(fmt.Sprint("q", i), "amq.fanout", "", nil))
	}
	end := mustDeclare(t, b, "end", nil)
	mustPublish(t, b, "q0", "m", "")
	require.Positive(t, lost)
	require.Zero(t, end.Info().Ready)
	mustPublish(t, b, "end", "goes on", "")
	require.Equal(t, 1, end.Info().Ready)
	require.NoError(t, b.Check())
}

// RabbitMQ 3.10 turns the history around with each death, so that a rejection in a history that a client made
// up hides a circle for ever.
func TestHiddenCircleEnds(t *testing.T) {
	for _, kind := range []leveret.Table{{"x-message-ttl": 0}, {"x-message-ttl": 0, "x-queue-type": "quorum",
		"x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish"}} {
		cut := 0
		b, _ := newTestBroker(t, leveret.WithProfile(leveret.RabbitMQ310), leveret.WithEvents(leveret.Events{
			Dropped: func(e leveret.DroppedEvent) {
				if e.Cause == leveret.CauseCycle && e.Target == "" {
					cut++
				}
			}}))
		for name, other := range map[string]string{"a": "b", "b": "a"} {
			args := maps.Clone(kind)
			args["x-dead-letter-exchange"], args["x-dead-letter-routing-key"] = "", other
			mustDeclare(t, b, name, args)
		}
		_, err := b.Publish("", "a", leveret.Message{Body: []byte("m"),
			Properties: &leveret.Properties{Headers: leveret.Table{
				"x-death": []any{leveret.Table{"queue": "c", "reason": "rejected", "count": int64(1)}}}}})
		require.NoError(t, err)
		require.NoError(t, b.Check())
		if _, kept := kind["x-dead-letter-strategy"]; kept { // it stays on its way
			require.Zero(t, cut)
			require.NotZero(t, b.Memory().Used)
		} else {
			require.Equal(t, 1, cut)
			require.Zero(t, b.Memory().Used)
		}
	}
}

// Messages that a cascade does not touch do not make it longer.
func TestCascadeIsNotProlongedByOthers(t *testing.T) {
	deaths := func(unrelated int) uint64 {
		b, _ := newTestBroker(t)
		for i := range 12 {
			mustDeclare(t, b, fmt.Sprint("q", i), leveret.Table{"x-max-length": 0, "x-dead-letter-exchange": "amq.fanout"})
			require.NoError(t, b.BindQueue(fmt.Sprint("q", i), "amq.fanout", "", nil))
		}
		mustDeclare(t, b, "unrelated", nil)
		for range unrelated {
			mustPublish(t, b, "unrelated", "m", "")
		}
		mustPublish(t, b, "q0", "m", "")
		return b.Counters().DeadLetteredAtMostOnce.MaxLength
	}
	require.Equal(t, deaths(0), deaths(20_000))
}
