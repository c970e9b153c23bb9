package blackbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/race"
	"github.com/stretchr/testify/require"
)

// A whole backlog dies at one blow, by a policy, into a queue that drops it on.
func TestWholeBacklogDiesAtOnce(t *testing.T) {
	smallStack(t)
	b, _ := newTestBroker(t)
	n := scaled(1_000_000)
	a := mustDeclare(t, b, "a", leveret.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "b"})
	end := mustDeclare(t, b, "b", leveret.Table{"x-max-length": 10})
	for range n {
		_, err := b.Publish("", "a", leveret.Message{Body: []byte("m")})
		require.NoError(t, err)
	}
	before := heapInUse()
	require.NoError(t, b.SetPolicy(leveret.Policy{Name: "p", Pattern: "^a$", Definition: leveret.Table{"max-length": 0}}))
	require.Zero(t, a.Info().Ready)
	require.Equal(t, 10, end.Info().Ready)
	require.Less(t, heapInUse(), before+16<<20)
}

// The deaths of an expiry are settled as they happen: the memory for them does not grow with
// the backlog.
func TestMillionExpire(t *testing.T) {
	smallStack(t)
	b, clk := newTestBroker(t)
	n := scaled(1_000_000)
	a := mustDeclare(t, b, "a", leveret.Table{"x-message-ttl": 1000, "x-dead-letter-exchange": "",
		"x-dead-letter-routing-key": "b"})
	end := mustDeclare(t, b, "b", leveret.Table{"x-max-length": 10})
	before := heapInUse()
	for range n {
		_, err := b.Publish("", "a", leveret.Message{Body: []byte("m")})
		require.NoError(t, err)
	}
	full := heapInUse()
	if !race.Enabled && n >= 1_000_000 {
		require.Less(t, (full-before)/uint64(n), uint64(400), "bytes for a queued message")
	}
	clk.Advance(time.Second)
	require.Zero(t, a.Info().Ready)
	require.Equal(t, 10, end.Info().Ready)
	require.Less(t, heapInUse(), before+32<<20)
}

func TestManyQueuesWithTTL(t *testing.T) {
	b, clk := newTestBroker(t)
	n := scaled(100_000)
	for i := range n {
		name := fmt.Sprint("q", i)
		mustDeclare(t, b, name, leveret.Table{"x-message-ttl": 1000 + i%1000, "x-expires": 5000})
		mustPublish(t, b, name, "m", "")
	}
	at, ok := b.NextDeadline()
	require.True(t, ok)
	require.Equal(t, start.Add(time.Second).UnixMilli(), at.UnixMilli())
	clk.Advance(1500 * time.Millisecond)
	ready := 0
	for _, q := range b.Queues() {
		ready += q.Ready
	}
	require.Equal(t, n-n/1000*501-min(n%1000, 501), ready)
	clk.Advance(time.Minute)
	require.Empty(t, b.Queues())
	_, ok = b.NextDeadline()
	require.False(t, ok)
	require.Zero(t, b.Memory().Used)
}
