package blackbox_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// Events and handlers that call the broker themselves.
func TestHooksThatPublish(t *testing.T) {
	var b *leveret.Broker
	echoed := 0
	clk := leveret.NewManualClock(start)
	b = leveret.New(leveret.WithClock(clk), leveret.WithEvents(leveret.Events{
		Dropped: func(e leveret.DroppedEvent) {
			if e.Queue == "in" {
				_, err := b.Publish("", "lost", leveret.Message{Body: e.Body})
				require.NoError(t, err)
			}
		},
		Acked: func(e leveret.AckedEvent) {
			if e.Queue == "in" && echoed < 1000 {
				echoed++
				_, err := b.Publish("", "in", leveret.Message{Body: e.Body})
				require.NoError(t, err)
			}
		},
	}))
	defer b.Close()
	mustDeclare(t, b, "lost", nil)
	in := mustDeclare(t, b, "in", leveret.Table{"x-message-ttl": 10})
	var order []string
	c, err := in.Consume(leveret.ConsumeConfig{Handler: func(d *leveret.Delivery) {
		order = append(order, string(d.Body))
		require.NoError(t, d.Ack())
	}})
	require.NoError(t, err)
	mustPublish(t, b, "in", "m", "")
	b.Settle()
	require.Equal(t, 1001, len(order))
	require.NoError(t, c.Cancel())
	mustPublish(t, b, "in", "x", "")
	clk.Advance(time.Second)
	b.Settle()
	lost, err := b.Queue("lost")
	require.NoError(t, err)
	require.Equal(t, []string{"x"}, bodies(lost))
	require.NoError(t, b.Check())
}

func TestPanickingHookLeavesTheBrokerUsable(t *testing.T) {
	bad := true
	var seen []string
	b := leveret.New(leveret.WithClock(leveret.NewManualClock(start)), leveret.WithEvents(leveret.Events{
		Enqueued: func(e leveret.EnqueuedEvent) {
			if bad {
				panic("hook")
			}
			seen = append(seen, string(e.Body))
		},
	}))
	q := mustDeclare(t, b, "q", nil)
	require.PanicsWithValue(t, "hook", func() { b.Publish("", "q", leveret.Message{Body: []byte("one")}) })
	bad = false
	mustPublish(t, b, "q", "two", "")
	b.Settle()
	require.Equal(t, []string{"one", "two"}, bodies(q))
	require.Contains(t, seen, "two")
	require.NoError(t, b.Check())
	require.NoError(t, b.Close())
}

// A handler's deliveries come one at a time and in order, whoever causes them.
func TestHandlerKeepsOrderUnderConcurrency(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	q := mustDeclare(t, b, "q", nil)
	var tags []uint64
	var inside atomic.Int32
	_, err := q.Consume(leveret.ConsumeConfig{NoAck: true, Handler: func(d *leveret.Delivery) {
		if inside.Add(1) != 1 {
			t.Error("two deliveries at once")
		}
		tags = append(tags, d.DeliveryTag)
		inside.Add(-1)
	}})
	require.NoError(t, err)
	var wg sync.WaitGroup
	n := scaled(50_000)
	for range 4 {
		wg.Go(func() {
			for range n {
				b.Publish("", "q", leveret.Message{Body: []byte("m")})
			}
		})
	}
	wg.Wait()
	b.Settle()
	require.Len(t, tags, 4*n)
	for i, tag := range tags {
		if tag != uint64(i+1) {
			t.Fatalf("delivery %d has the tag %d", i, tag)
		}
	}
}
