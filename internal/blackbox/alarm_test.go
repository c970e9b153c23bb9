package blackbox_test

import (
	"sync"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// alarms counts how often the memory alarm was raised and cleared.
type alarms struct{ raised, cleared int }

func watchAlarms(b *leveret.Broker) *alarms {
	var a alarms
	b.Watch(leveret.Events{
		MemoryAlarmRaised:  func(leveret.MemoryEvent) { a.raised++ },
		MemoryAlarmCleared: func(leveret.MemoryEvent) { a.cleared++ },
	})
	return &a
}

// Publishers that are as fast as consumers keep the broker at its limit. The alarm changes a few times a second all the
// same.
func TestAlarmDoesNotFlap(t *testing.T) {
	b, clk := newTestBroker(t, leveret.WithMemoryLimit(10_000))
	told := watchAlarms(b)
	q := mustDeclare(t, b, "q", nil)
	in := leveret.NewInbox(leveret.InboxConfig{})
	_, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: in})
	require.NoError(t, err)
	body := make([]byte, 1000)
	take := func(n int) {
		for range n {
			_, ok, err := q.Get(leveret.GetConfig{NoAck: true})
			require.NoError(t, err)
			require.True(t, ok)
		}
	}
	put := func(n int) {
		for range n {
			_, err := b.Publish("", "q", leveret.Message{Body: body})
			require.NoError(t, err)
		}
	}
	put(10)
	for range 2500 { // 0.4 ms each: a second
		put(2)
		take(2)
		clk.Advance(400 * time.Microsecond)
	}
	require.LessOrEqual(t, told.raised, 5)
	require.Equal(t, told.raised, told.cleared+1, "a tenth of the limit was never free")
	take(1)
	require.False(t, b.Memory().Alarm, "exactly a tenth is free")
	require.Equal(t, told.raised, told.cleared)
	require.Len(t, in.Take(nil), 1, "who does not look is told the last state only")

	put(2)
	require.True(t, b.Memory().Alarm, "it is raised at once")
	take(11)
	require.True(t, b.Memory().Alarm, "it has not been on for long enough")
	put(11)
	clk.Advance(time.Second)
	require.True(t, b.Memory().Alarm, "by now too much is used again")
	take(11)
	require.False(t, b.Memory().Alarm, "and now it has been on for long enough")
	b.SetMemoryLimit(-1)
	require.True(t, b.Memory().Alarm)
	b.SetMemoryLimit(0)
	require.False(t, b.Memory().Alarm)
}

// Whoever changes the alarm at the same time, each connection and each watcher is told its changes in turn.
func TestAlarmIsToldInOrder(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	var last, changes int
	change := func(to int) {
		if last == to {
			t.Errorf("told twice: %d", to)
		}
		last = to
		changes++
	}
	b.Watch(leveret.Events{
		MemoryAlarmRaised:  func(leveret.MemoryEvent) { change(1) },
		MemoryAlarmCleared: func(leveret.MemoryEvent) { change(0) },
	})
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	var wg sync.WaitGroup
	for _, limit := range []int64{-1, 0, -2, 1} {
		wg.Go(func() {
			for range scaled(20_000) {
				b.SetMemoryLimit(limit)
			}
		})
	}
	wg.Wait()
	b.Settle()
	require.Equal(t, b.Memory().Limit < 0, b.Memory().Alarm, "the last limit counts")
	require.Equal(t, b.Memory().Alarm, last == 1)
	require.Equal(t, b.Memory().Alarm, conn.Blocked())
	require.Positive(t, changes)
}

// A program that reports what its process uses bounds that, whatever the bodies of messages take.
func TestReportedMemory(t *testing.T) {
	b, clk := newTestBroker(t, leveret.WithMemoryLimit(1000))
	told := watchAlarms(b)
	mustDeclare(t, b, "q", nil)
	b.ReportMemory(1000)
	_, err := b.Publish("", "q", leveret.Message{Body: make([]byte, 5000)})
	require.NoError(t, err)
	require.Equal(t, leveret.MemoryInfo{Used: 1000, Bodies: 5000, Limit: 1000}, b.Memory())
	for range 3 {
		b.ReportMemory(1001)
		require.True(t, b.Memory().Alarm)
	}
	clk.Advance(time.Minute)
	b.ReportMemory(901)
	require.True(t, b.Memory().Alarm)
	b.ReportMemory(900)
	require.False(t, b.Memory().Alarm)
	b.ReportMemory(0)
	require.True(t, b.Memory().Alarm, "the bodies count again")
	require.Equal(t, alarms{2, 1}, *told)
}

// A limit that an empty broker exceeds holds from the beginning.
func TestAlarmFromTheBeginning(t *testing.T) {
	b, _ := newTestBroker(t, leveret.WithMemoryLimit(-1))
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	require.True(t, conn.Blocked())
}
