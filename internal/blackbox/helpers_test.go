package blackbox_test

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/race"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// start is the instant at which virtual time begins.
var start = time.Unix(1_700_000_000, 0)

// newTestBroker returns a broker on virtual time, which is checked and closed when the test ends.
func newTestBroker(t *testing.T, opts ...leveret.Option) (*leveret.Broker, *leveret.ManualClock) {
	t.Helper()
	clk := leveret.NewManualClock(start)
	b := leveret.New(append([]leveret.Option{leveret.WithClock(clk), leveret.WithSeed(1)}, opts...)...)
	t.Cleanup(func() {
		require.NoError(t, b.Check())
		require.NoError(t, b.Close())
	})
	return b, clk
}

// mustDeclare declares a durable queue.
func mustDeclare(t *testing.T, b *leveret.Broker, name string, args leveret.Table) *leveret.Queue {
	t.Helper()
	q, err := b.DeclareQueue(name, leveret.QueueConfig{Durable: true, Arguments: args})
	require.NoError(t, err)
	return q
}

// mustPublish publishes to one queue through the default exchange; expiration may be empty.
func mustPublish(t *testing.T, b *leveret.Broker, queue, body, expiration string) {
	t.Helper()
	out, err := b.Publish("", queue, leveret.Message{Body: []byte(body),
		Properties: &leveret.Properties{Expiration: expiration}})
	require.NoError(t, err)
	require.Equal(t, 1, out.Queues)
}

// bodies lists what is ready in a queue.
func bodies(q *leveret.Queue) (s []string) {
	for _, m := range q.Messages() {
		s = append(s, string(m.Body))
	}
	return s
}

// bothTypes runs a test for classic and for quorum queues.
func bothTypes(t *testing.T, f func(t *testing.T, kind string)) {
	for _, kind := range []string{"classic", "quorum"} {
		t.Run(kind, func(t *testing.T) { f(t, kind) })
	}
}

// noLeaks fails if a goroutine is left over.
func noLeaks(t *testing.T) { goleak.VerifyNone(t) }

// scaled is n, or less of it when the tests have to be quick.
func scaled(n int) int {
	if testing.Short() || race.Enabled {
		return n / 50
	}
	return n
}

// heapInUse is the size of live objects, in bytes.
func heapInUse() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// watchHeap samples the heap until the function it returns is called, which tells the peak.
func watchHeap() func() uint64 {
	stop, done := make(chan struct{}), make(chan struct{})
	var peak uint64
	go func() {
		defer close(done)
		for {
			var s runtime.MemStats
			runtime.ReadMemStats(&s)
			peak = max(peak, s.HeapAlloc)
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	return func() uint64 {
		close(stop)
		<-done
		return peak
	}
}

// smallStack makes recursion that grows with the number of messages fail at once.
func smallStack(t *testing.T) {
	old := debug.SetMaxStack(1 << 20)
	t.Cleanup(func() { debug.SetMaxStack(old) })
}

// mustChannel opens a channel of a connection of its own, as guest.
func mustChannel(t *testing.T, b *leveret.Broker) *leveret.Channel {
	t.Helper()
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	return ch
}

func mustQueue(t *testing.T, b *leveret.Broker, name string) *leveret.Queue {
	t.Helper()
	q, err := b.Queue(name)
	require.NoError(t, err)
	return q
}
