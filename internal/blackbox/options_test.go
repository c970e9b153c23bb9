package blackbox_test

import (
	"math"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An option that makes no sense is a mistake of the program: New says which it is.
func TestOptionsOutOfRange(t *testing.T) {
	for want, opts := range map[string][]leveret.Option{
		"leveret: New: option 1 is nil":                                                                             {leveret.WithSeed(1), nil},
		"leveret: WithClock(nil): a clock is wanted":                                                                {leveret.WithClock(nil)},
		"leveret: WithProfile(7): RabbitMQ43 or RabbitMQ310 is wanted":                                              {leveret.WithProfile(7)},
		"leveret: WithMaxMessageSize(-1): 1 to 536870912 bytes are wanted, or 0 for the release's own limit":        {leveret.WithMaxMessageSize(-1)},
		"leveret: WithMaxMessageSize(536870913): 1 to 536870912 bytes are wanted, or 0 for the release's own limit": {leveret.WithMaxMessageSize(512<<20 + 1)},
		"leveret: WithClock: 0001-01-01 00:00:00 is not a time from 1970-01-01 to 2262-04-11":                       {leveret.WithClock(stopped{})},
	} {
		assert.PanicsWithValue(t, want, func() { leveret.New(opts...) })
	}
	assert.PanicsWithValue(t, "leveret: WithClock: 0001-01-01 00:00:00 is not a time from 1970-01-01 to 2262-04-11",
		func() { leveret.New(leveret.WithClock(new(leveret.ManualClock))) }, "a clock that NewManualClock has not made")
	for bytes, want := range map[int]int{0: 16 << 20, 1: 1, 512 << 20: 512 << 20} {
		b := leveret.New(leveret.WithMaxMessageSize(bytes))
		assert.Equal(t, want, b.MaxMessageSize())
		require.NoError(t, b.Close())
	}
}

// Global has no effect: each consumer has the prefetch of the last basic.qos, and a quorum queue takes consumers. A RabbitMQ 4.3.6 whose
// configuration denies global_qos did the same. // D-27
func TestGlobalQosThatIsDenied(t *testing.T) {
	b := leveret.New(leveret.WithGlobalQos(false))
	defer b.Close()
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	require.NoError(t, ch.Qos(leveret.QosConfig{PrefetchCount: 1}))
	require.NoError(t, ch.Qos(leveret.QosConfig{PrefetchCount: 2, Global: true}))
	for _, name := range []string{leveret.QueueTypeClassic, leveret.QueueTypeQuorum} {
		_, err := ch.DeclareQueue(name, leveret.QueueConfig{Durable: true, Arguments: leveret.Table{leveret.ArgQueueType: name}})
		require.NoError(t, err)
		for range 5 {
			_, err = ch.Publish("", name, leveret.Message{})
			require.NoError(t, err)
		}
		for range 2 {
			_, err = ch.Consume(name, leveret.ConsumeConfig{})
			require.NoError(t, err)
		}
		q, err := b.Queue(name)
		require.NoError(t, err)
		assert.Equal(t, 4, q.Info().Unacked, name)
	}
}

// stopped is a clock that somebody forgot to set.
type stopped struct{}

func (stopped) Now() time.Time                                { return time.Time{} }
func (stopped) AfterFunc(time.Duration, func()) leveret.Timer { return time.NewTimer(time.Hour) }

// Times that a number of nanoseconds since 1970 cannot say are refused, instead of timers that never come to an end.
func TestClocksShowTimesFrom1970To2262(t *testing.T) {
	first, last := time.Unix(0, 0), time.Unix(0, math.MaxInt64)
	for _, at := range []time.Time{{}, first.Add(-1), last.Add(1), time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)} {
		assert.Panics(t, func() { leveret.NewManualClock(at) }, "%v", at)
	}
	for _, at := range []time.Time{first, last.Add(-time.Hour)} {
		clk := leveret.NewManualClock(at)
		b := leveret.New(leveret.WithClock(clk))
		q := mustDeclare(t, b, "q", leveret.Table{"x-message-ttl": 1000})
		mustPublish(t, b, "q", "m", "")
		clk.Advance(time.Second)
		assert.Zero(t, q.Info().Ready)
		mustPublish(t, b, "q", "m", "")
		assert.PanicsWithValue(t, "leveret: ManualClock.Advance: "+clk.Now().Add(math.MaxInt64).UTC().Format(time.DateTime)+
			" is not a time from 1970-01-01 to 2262-04-11", func() { clk.Advance(math.MaxInt64) })
		assert.Equal(t, 1, q.Info().Ready, "nothing has happened")
		clk.Advance(time.Second)
		assert.Zero(t, q.Info().Ready)
		require.NoError(t, b.Check())
		require.NoError(t, b.Close())
	}
}

func TestChannelMaxOutOfRange(t *testing.T) {
	b, _ := newTestBroker(t)
	for _, n := range []int{-1, 65536} {
		_, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", ChannelMax: n})
		require.ErrorIs(t, err, leveret.ErrSyntax)
	}
	for _, n := range []int{65535, leveret.NoLimit} {
		c, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", ChannelMax: n})
		require.NoError(t, err)
		require.Equal(t, max(n, 0), b.Connections()[0].ChannelMax)
		for n := range 65535 {
			_, err := c.OpenChannel(uint16(n + 1))
			require.NoError(t, err)
		}
		_, err = c.Channel() // used to look for a free number for ever
		require.ErrorIs(t, err, leveret.ErrNotAllowed)
	}
}

// RabbitMQ's first virtual host comes with a description, which an import of leveret's definitions must not take away.
func TestTheDefaultVirtualHostIsDescribed(t *testing.T) {
	b, _ := newTestBroker(t)
	assert.Equal(t, "Default virtual host", b.VHosts()[0].Description)
	_, err := b.CreateVHost("other")
	require.NoError(t, err)
	assert.Empty(t, b.VHosts()[1].Description)
}
