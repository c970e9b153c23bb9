package blackbox_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// Close comes while eight goroutines publish, wait and settle.
func TestCloseInFlight(t *testing.T) {
	defer noLeaks(t)
	for round := range max(scaled(50), 5) {
		b := leveret.New()
		q := mustDeclare(t, b, "q", leveret.Table{"x-message-ttl": 1, "x-dead-letter-exchange": "",
			"x-dead-letter-routing-key": "q2"})
		mustDeclare(t, b, "q2", nil)
		conn, err := b.Connect("guest", "guest", "/")
		require.NoError(t, err)
		var wg sync.WaitGroup
		errs := make([]error, 8)
		busy := newMoment(1 + round%5*100)
		for g := range errs {
			ch, err := conn.Channel()
			require.NoError(t, err)
			c, err := ch.Consume("q2", leveret.ConsumeConfig{Prefetch: 2})
			require.NoError(t, err)
			wg.Go(func() {
				for errs[g] == nil {
					if g%2 == 0 {
						_, errs[g] = ch.Publish("", "q", leveret.Message{Body: []byte("m")})
						busy.count()
						continue
					}
					var d *leveret.Delivery
					if d, errs[g] = c.Receive(context.Background()); errs[g] == nil {
						d.Nack(false)
						q.Get()
					}
				}
			})
		}
		busy.wait()
		require.NoError(t, b.Close())
		wg.Wait()
		for g, err := range errs {
			require.ErrorIs(t, err, leveret.ErrClosed, "goroutine %d", g)
		}
		<-conn.Done()
		require.ErrorIs(t, conn.Err(), leveret.ErrClosed)
		require.NoError(t, b.Close())
		require.Zero(t, b.Memory().Used)
	}
}

// Every operation on a closed broker says so.
func TestClosedBroker(t *testing.T) {
	b := leveret.New()
	q := mustDeclare(t, b, "q", nil)
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	c, err := q.Consume(leveret.ConsumeConfig{})
	require.NoError(t, err)
	require.NoError(t, b.Close())
	_, err = b.Publish("", "q", leveret.Message{})
	require.ErrorIs(t, err, leveret.ErrClosed)
	_, err = ch.Publish("", "q", leveret.Message{})
	require.ErrorIs(t, err, leveret.ErrClosed)
	_, err = b.DeclareQueue("r", leveret.QueueConfig{})
	require.ErrorIs(t, err, leveret.ErrClosed)
	_, err = b.DeclareExchange("x", leveret.Direct, leveret.ExchangeConfig{})
	require.ErrorIs(t, err, leveret.ErrClosed)
	_, _, err = q.Get()
	require.ErrorIs(t, err, leveret.ErrClosed)
	_, err = q.Consume(leveret.ConsumeConfig{})
	require.ErrorIs(t, err, leveret.ErrClosed)
	_, err = q.Purge()
	require.ErrorIs(t, err, leveret.ErrClosed)
	_, err = q.Delete(leveret.DeleteConfig{})
	require.ErrorIs(t, err, leveret.ErrClosed)
	_, err = c.Receive(t.Context())
	require.ErrorIs(t, err, leveret.ErrClosed)
	_, err = conn.Channel()
	require.ErrorIs(t, err, leveret.ErrClosed)
	_, err = b.Connect("guest", "guest", "/")
	require.ErrorIs(t, err, leveret.ErrClosed)
	_, err = b.CreateVHost("v")
	require.ErrorIs(t, err, leveret.ErrClosed)
	require.ErrorIs(t, b.SetPolicy(leveret.Policy{Name: "p", Definition: leveret.Table{"max-length": 1}}),
		leveret.ErrClosed)
	require.ErrorIs(t, b.ClearPolicy("p"), leveret.ErrClosed)
	require.ErrorIs(t, b.BindQueue("q", "amq.fanout", "", nil), leveret.ErrClosed)
	require.NoError(t, conn.Close())
	require.NoError(t, ch.Close())
	_, ok := b.NextDeadline()
	require.False(t, ok)
	require.Empty(t, b.Queues())
}

// A moment has come when something has been counted n times.
type moment struct {
	n       int64
	counted atomic.Int64
	come    chan struct{}
}

func newMoment(n int) *moment { return &moment{n: int64(n), come: make(chan struct{})} }

func (m *moment) count() {
	if m.counted.Add(1) == m.n {
		close(m.come)
	}
}

func (m *moment) wait() { <-m.come }

// Protection from deletion is the virtual host's until it is lifted or the broker is reset. A broker that is down says so first.
func TestProtectedVHost(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	require.NoError(t, b.SetProtected(true))
	require.ErrorIs(t, b.DeleteVHost("/"), leveret.ErrPreconditionFailed)
	require.NoError(t, b.Restart(leveret.KilledNode))
	require.ErrorIs(t, b.DeleteVHost("/"), leveret.ErrPreconditionFailed)
	require.NoError(t, b.Stop(leveret.StoppedNode))
	require.ErrorIs(t, b.DeleteVHost("/"), leveret.ErrClosed)
	require.NoError(t, b.Reset())
	require.NoError(t, b.Start())
	require.False(t, b.VHosts()[0].HasProtection)
	require.NoError(t, b.DeleteVHost("/"))
}
