package blackbox_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Whatever is done to a broker, its events add up: each copy of a message ends with one event, each delivery is settled
// by whoever had it, and what events tell is what the counters and the queues say.
func TestEventsAddUp(t *testing.T) {
	for _, p := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		t.Run(p.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { runLedger(t, p) })
		})
	}
}

func runLedger(t *rapid.T, p leveret.Profile) {
	clk := leveret.NewManualClock(start)
	l := newLedger(t)
	b := leveret.New(leveret.WithClock(clk), leveret.WithSeed(1), leveret.WithProfile(p), leveret.WithEvents(l.events()))
	defer b.Close()
	s := &stress{b: b, r: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))}
	for range rapid.IntRange(10, 300).Draw(t, "steps") {
		s.step()
		if s.r.IntN(8) == 0 {
			l.advance(clk, s.r.IntN(5))
		}
		l.compare(b)
		if l.endless() {
			break
		}
	}
	dropped := b.Counters().Dropped
	require.NoError(t, b.DeleteVHost("/"))
	for n, c := range l.copies {
		if !c.ended && !c.refused {
			t.Fatalf("copy %d in %s has not ended", n, c.queue)
		}
	}
	require.Zero(t, b.Memory().Used)
	require.Equal(t, l.dropped, b.Counters().Dropped.Total())
	require.LessOrEqual(t, dropped.Total(), l.dropped)
}

// A ledger keeps account of every copy.
type ledger struct {
	t         require.TestingT
	published map[uint64]bool
	copies    map[uint64]*copyState
	queues    map[string]*leveret.QueueCounters // of the queues that exist, as events tell them
	dropped   uint64
}

func newLedger(t require.TestingT) *ledger {
	return &ledger{t: t, copies: map[uint64]*copyState{}, published: map[uint64]bool{}, queues: map[string]*leveret.QueueCounters{}}
}

// copyState is what is known of a copy.
type copyState struct {
	message  uint64
	queue    string
	refused  bool
	rejected bool
	ended    bool
	holder   *leveret.EventDelivery // nil: nobody has it
}

// endless reports whether dead letters go round without end. With each round there may be several times as many.
func (l *ledger) endless() bool { return len(l.copies) > 5000 }

// advance moves the clock by n ms, or until dead letters go round without end.
func (l *ledger) advance(clk *leveret.ManualClock, n int) {
	for ; n > 0 && !l.endless(); n-- {
		clk.Advance(time.Millisecond)
	}
}

// compare compares what events have told with what the broker shows.
func (l *ledger) compare(b *leveret.Broker) {
	l.compareMessages(b)
	for _, i := range b.Queues() {
		q, err := b.Queue(i.Name)
		require.NoError(l.t, err)
		got := q.Counters()
		got.Died = leveret.DeathCounters{}
		// No event tells whether a delivery needs an acknowledgement, or of a get that finds nothing: TestCounters.
		got.Got, got.GotNoAck, got.DeliveredNoAck, got.GetEmpty = got.Got+got.GotNoAck, 0, 0, 0
		require.Equal(l.t, *l.queues[i.Name], got, "counters of %s", i.Name)
	}
}

// compareMessages compares the messages that events have told of with those that the broker shows, and losses with the
// counter.
func (l *ledger) compareMessages(b *leveret.Broker) {
	open := map[string]int{}
	for _, c := range l.copies {
		if !c.ended && !c.refused {
			open[c.queue]++
		}
	}
	for _, i := range b.Queues() {
		if i.Arguments["x-dead-letter-strategy"] == nil { // a purge leaves pending dead letters that the queue does not count
			require.Equal(l.t, i.Messages, open[i.Name], "messages in %s", i.Name)
		}
	}
	require.Equal(l.t, l.dropped, b.Counters().Dropped.Total())
	require.EqualValues(l.t, len(l.published), b.Counters().Published)
}

func (l *ledger) end(n uint64) *copyState {
	c := l.copies[n]
	require.NotNil(l.t, c, "copy %d", n)
	require.False(l.t, c.ended, "copy %d has ended twice", n)
	c.ended = true
	return c
}

// settled returns the copy that the holder had, who has it no more.
func (l *ledger) settled(d leveret.EventDelivery) *copyState {
	c := l.copies[d.Copy]
	require.NotNil(l.t, c)
	require.NotNil(l.t, c.holder, "copy %d has no holder", d.Copy)
	require.Equal(l.t, *c.holder, d)
	c.holder = nil
	return c
}

func (l *ledger) arrived(m leveret.EventMessage, queue string, n, parent uint64) *copyState {
	require.True(l.t, l.published[m.Message])
	require.Nil(l.t, l.copies[n], "copy %d is there twice", n)
	if parent != 0 {
		require.Equal(l.t, l.copies[parent].message, m.Message)
	}
	l.copies[n] = &copyState{message: m.Message, queue: queue}
	return l.copies[n]
}

// count counts a copy that reached a queue; parent is the copy that died, 0 for a publish.
func (l *ledger) count(queue string, parent uint64) {
	if parent == 0 {
		l.queues[queue].Published++
	}
}

func (l *ledger) events() leveret.Events {
	return leveret.Events{
		Published: func(e leveret.PublishedEvent) {
			require.NotZero(l.t, e.Message)
			require.False(l.t, l.published[e.Message])
			l.published[e.Message] = true
		},
		Enqueued: func(e leveret.EnqueuedEvent) {
			l.arrived(e.EventMessage, e.Queue, e.Copy, e.Parent)
			l.queues[e.Queue].Enqueued++
			l.count(e.Queue, e.Parent)
		},
		Refused: func(e leveret.RefusedEvent) {
			l.arrived(e.EventMessage, e.Queue, e.Copy, e.Parent).refused = true
			l.queues[e.Queue].Refused++
			l.count(e.Queue, e.Parent)
		},
		Delivered: func(e leveret.DeliveredEvent) {
			c := l.copies[e.Copy]
			require.NotNil(l.t, c)
			require.Nil(l.t, c.holder)
			require.False(l.t, c.ended)
			require.NotZero(l.t, e.DeliveryTag)
			require.NotZero(l.t, e.Conn)
			c.holder = &e.EventDelivery
			q := l.queues[e.Queue]
			q.Delivered++
			if e.ConsumerTag == "" {
				q.Got++
			}
			if e.Redelivered {
				q.Redelivered++
			}
		},
		Acked: func(e leveret.AckedEvent) {
			l.settled(e.EventDelivery)
			l.end(e.Copy)
			l.queues[e.Queue].Acknowledged++
		},
		Requeued: func(e leveret.RequeuedEvent) {
			l.settled(e.EventDelivery)
			l.queues[e.Queue].Requeued++
		},
		Rejected: func(e leveret.RejectedEvent) {
			l.settled(e.EventDelivery).rejected = true
			l.queues[e.Queue].Rejected++
		},
		DeadLettered: func(e leveret.DeadLetteredEvent) {
			c := l.end(e.Copy)
			require.Equal(l.t, c.message, e.Message)
			require.Equal(l.t, c.rejected, e.Reason == leveret.Rejected)
			require.Nil(l.t, c.holder)
		},
		Dropped: l.drop,
		QueueDeclared: func(e leveret.QueueEvent) {
			require.Empty(l.t, e.Cause)
			l.queues[e.Queue] = &leveret.QueueCounters{}
		},
		QueueDeleted: func(e leveret.QueueEvent) { require.NotEmpty(l.t, e.Cause) },
	}
}

func (l *ledger) drop(e leveret.DroppedEvent) {
	require.NotEmpty(l.t, e.Cause)
	l.dropped++
	switch {
	case e.Copy != 0:
		c := l.end(e.Copy)
		require.Equal(l.t, c.message, e.Message)
		require.Equal(l.t, c.queue, e.Queue)
		require.Zero(l.t, e.Parent)
	case e.Parent != 0:
		require.True(l.t, l.copies[e.Parent].ended)
	default:
		require.Empty(l.t, e.Queue)
	}
	if e.Queue != "" {
		*figure(&l.queues[e.Queue].Dropped, e.Cause)++
	}
}

// figure is the counter of a cause.
func figure(d *leveret.DropCounters, c leveret.Cause) *uint64 {
	return map[leveret.Cause]*uint64{
		leveret.CauseUnroutable: &d.Unroutable, leveret.CauseNoReplyConsumer: &d.NoReplyConsumer,
		leveret.CauseReplyUnread:          &d.ReplyUnread,
		leveret.CauseNoDeadLetterExchange: &d.NoDeadLetterExchange, leveret.CauseExchangeMissing: &d.ExchangeMissing,
		leveret.CauseDeadLetterUnroutable: &d.DeadLetterUnroutable, leveret.CauseCycle: &d.Cycle, leveret.CauseRefused: &d.Refused,
		leveret.CauseStrategyChanged: &d.StrategyChanged, leveret.CausePurged: &d.Purged, leveret.CauseQueueDeleted: &d.QueueDeleted,
		leveret.CauseQueueExpired: &d.QueueExpired, leveret.CauseQueueUnused: &d.QueueUnused, leveret.CauseOwnerGone: &d.OwnerGone,
		leveret.CauseVHostDeleted: &d.VHostDeleted, leveret.CauseNodeDown: &d.NodeDown,
	}[c]
}

// A transaction's publish to a queue that was declared anew before the commit is lost to it, and says so.
func TestLossInATransaction(t *testing.T) {
	var lost []leveret.Cause
	b, _ := newTestBroker(t, leveret.WithEvents(leveret.Events{Dropped: func(e leveret.DroppedEvent) {
		lost = append(lost, e.Cause)
	}}))
	for _, name := range []string{"a", "b"} {
		mustDeclare(t, b, name, nil)
		require.NoError(t, b.BindQueue(name, "amq.fanout", "", nil))
	}
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	require.NoError(t, ch.Tx())
	_, err = ch.Publish("amq.fanout", "", leveret.Message{})
	require.NoError(t, err)
	_, err = b.DeleteQueue("b", leveret.DeleteConfig{})
	require.NoError(t, err)
	mustDeclare(t, b, "b", nil)
	_, err = ch.Commit()
	require.ErrorIs(t, err, leveret.ErrPreconditionFailed)
	require.Equal(t, []leveret.Cause{leveret.CauseQueueDeleted}, lost)

	ch, err = conn.Channel()
	require.NoError(t, err)
	require.NoError(t, ch.Tx())
	_, err = ch.Publish("", "b", leveret.Message{})
	require.NoError(t, err)
	_, err = b.DeleteQueue("b", leveret.DeleteConfig{})
	require.NoError(t, err)
	mustDeclare(t, b, "b", nil)
	_, err = ch.Commit()
	require.ErrorIs(t, err, leveret.ErrPreconditionFailed)
	require.EqualValues(t, 2, b.Counters().Published, "also one that none of its queues got")
}
