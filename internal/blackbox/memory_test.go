package blackbox_test

import (
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// Dead letters that a purge leaves on their way are memory that the alarm knows, until they have gone.
func TestPurgedDeadLettersAreMemory(t *testing.T) {
	b, _ := newTestBroker(t)
	q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum", "x-overflow": "reject-publish",
		"x-dead-letter-strategy": "at-least-once", "x-dead-letter-exchange": "amq.fanout"})
	purged := func() {
		mustPublish(t, b, "q", strings.Repeat("m", 1000), "")
		d, _, err := q.Get()
		require.NoError(t, err)
		require.NoError(t, d.Reject(false))
		n, err := q.Purge()
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.NoError(t, b.Check())
	}
	for i := range 100 {
		purged()
		require.GreaterOrEqual(t, b.Memory().Used, int64(1000*(i+1)))
	}
	_, err := q.Delete(leveret.DeleteConfig{})
	require.NoError(t, err)
	require.Zero(t, b.Memory().Used)
}

// Queues that are gone leave nothing behind in what outlives them: the channel that published
// to them, the queue their dead letters went to.
func TestDeletedQueuesAreForgotten(t *testing.T) {
	b, _ := newTestBroker(t)
	mustDeclare(t, b, "dead", leveret.Table{"x-queue-type": "quorum"})
	round := func() {
		for range 2000 {
			q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum", "x-delivery-limit": 0,
				"x-overflow": "reject-publish", "x-max-length": 1000,
				"x-dead-letter-strategy": "at-least-once", "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
			mustPublish(t, b, "q", "m", "")
			d, _, err := q.Get()
			require.NoError(t, err)
			require.NoError(t, d.Reject(true))
			_, err = q.Delete(leveret.DeleteConfig{})
			require.NoError(t, err)
		}
		n, err := b.PurgeQueue("dead")
		require.NoError(t, err)
		require.Equal(t, 2000, n)
	}
	round()
	before := heapInUse()
	round()
	require.Less(t, heapInUse(), before+500<<10)
}
