package leveret_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// Hard cases: what a broker under stress must survive, each made once and kept.

// scaled is n, or less of it when the tests have to be quick.
// noLeaks fails if a goroutine is left over. The clock of the backtracking pattern matcher, which stops by itself, is
// not the broker's.
func noLeaks(t *testing.T) {
	goleak.VerifyNone(t, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2.runClock"))
}

func scaled(n int) int {
	if testing.Short() || raceEnabled {
		return n / 50
	}
	return n
}

func heapInUse() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// smallStack makes recursion that grows with the number of messages fail at once.
func smallStack(t *testing.T) {
	old := debug.SetMaxStack(1 << 20)
	t.Cleanup(func() { debug.SetMaxStack(old) })
}

// Two full queues drop their heads into each other: one publish too many and every message that
// waits dies, most of them twice, before the cycle rule ends it.
func TestMillionDeaths(t *testing.T) {
	smallStack(t)
	b, _ := newTestBroker(t)
	size := scaled(500_000)
	for name, other := range map[string]string{"a": "b", "b": "a"} {
		mustDeclare(t, b, name, leveret.Table{"x-max-length": size, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": other})
		for range size {
			casePublish(t, b, name, "m", "")
		}
	}
	before := heapInUse()
	watch := watchHeap()
	casePublish(t, b, "a", "one too many", "")
	peak := watch()
	deaths := int(b.Counters().DeadLetteredOnce.MaxLength)
	t.Logf("%d deaths, %d MiB before, %d MiB peak", deaths, before>>20, peak>>20)
	require.GreaterOrEqual(t, deaths, 2*size)
	for _, q := range b.Queues() {
		require.LessOrEqual(t, q.Ready, size)
	}
	// Every message has got a history of one or two deaths: that is all that may be added.
	require.Less(t, peak, before+uint64(2*size)*500+64<<20)
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

// One publish sets off a cascade: a chain of full queues, each dropping into the next.
func TestCascadeThroughManyQueues(t *testing.T) {
	smallStack(t)
	b, _ := newTestBroker(t)
	n := scaled(5000)
	for i := range n {
		mustDeclare(t, b, fmt.Sprint("q", i), leveret.Table{"x-max-length": 0, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": fmt.Sprint("q", i+1)})
	}
	last := mustDeclare(t, b, fmt.Sprint("q", n), nil)
	casePublish(t, b, "q0", "m", "")
	require.Equal(t, 1, last.Info().Ready)
	require.Len(t, last.Messages()[0].Deaths, n)
}

// Queues that all dead-letter to all others send a message along every path there is: twelve of them on more than a
// billion. What is too much is lost, and says so.
func TestEveryPathThereIs(t *testing.T) {
	smallStack(t)
	lost := 0
	b, _ := newTestBroker(t, leveret.WithEvents(&leveret.Events{Dropped: func(e leveret.DroppedEvent) {
		if e.Cause == leveret.CauseCycle && e.Target == "" {
			lost++
		}
	}}))
	for i := range 12 {
		mustDeclare(t, b, fmt.Sprint("q", i), leveret.Table{"x-max-length": 0, "x-dead-letter-exchange": "amq.fanout"})
		require.NoError(t, b.BindQueue(fmt.Sprint("q", i), "amq.fanout", "", nil))
	}
	end := mustDeclare(t, b, "end", nil)
	casePublish(t, b, "q0", "m", "")
	require.Positive(t, lost)
	require.Zero(t, end.Info().Ready)
	casePublish(t, b, "end", "goes on", "")
	require.Equal(t, 1, end.Info().Ready)
	require.NoError(t, b.Check())
}

// RabbitMQ 3.10 turns the history around with each death, so that a rejection in a history that a client made up hides a
// circle for ever.
func TestHiddenCircleEnds(t *testing.T) {
	for _, kind := range []leveret.Table{{"x-message-ttl": 0}, {"x-message-ttl": 0, "x-queue-type": "quorum",
		"x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish"}} {
		cut := 0
		b, _ := newTestBroker(t, leveret.WithProfile(leveret.RabbitMQ310), leveret.WithEvents(&leveret.Events{
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
		_, err := b.Publish("", "a", leveret.Message{Body: []byte("m"), Properties: &leveret.Properties{Headers: leveret.Table{
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
	a := mustDeclare(t, b, "a", leveret.Table{"x-message-ttl": 1000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "b"})
	end := mustDeclare(t, b, "b", leveret.Table{"x-max-length": 10})
	before := heapInUse()
	for range n {
		_, err := b.Publish("", "a", leveret.Message{Body: []byte("m")})
		require.NoError(t, err)
	}
	full := heapInUse()
	if !raceEnabled && n >= 1_000_000 {
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
		casePublish(t, b, name, "m", "")
	}
	at, ok := b.NextDeadline()
	require.True(t, ok)
	require.Equal(t, machineStart.Add(time.Second).UnixMilli(), at.UnixMilli())
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

// Whoever asks when something will happen does not change what happens: a classic queue looks at a head that came in front
// of others when it would have looked at one that has gone.
func TestAskingForTheDeadlineChangesNothing(t *testing.T) {
	for _, ask := range []bool{false, true} {
		for _, behind := range []string{"", "5000"} {
			b, clk := newTestBroker(t)
			deadline := func(want time.Duration) {
				if !ask {
					return
				}
				at, ok := b.NextDeadline()
				require.Equal(t, want != 0, ok)
				if ok {
					require.Equal(t, want, at.Sub(machineStart))
				}
			}
			q := mustDeclare(t, b, "q", leveret.Table{"x-max-priority": 1})
			publish := func(body, expiration string, priority uint8) {
				_, err := b.Publish("", "q", leveret.Message{Body: []byte(body),
					Properties: &leveret.Properties{Expiration: expiration, Priority: priority}})
				require.NoError(t, err)
			}
			publish("first", "1000", 1)
			deadline(time.Second)
			publish("behind", behind, 0)
			_, ok, err := q.Get()
			require.NoError(t, err)
			require.True(t, ok)
			if behind == "" {
				deadline(0)
			} else {
				deadline(5 * time.Second)
			}
			clk.Advance(100 * time.Millisecond)
			publish("over", "1000", 1)
			deadline(time.Second)
			clk.Advance(900 * time.Millisecond)
			require.Equal(t, 2, q.Info().Ready)
			deadline(1100 * time.Millisecond)
			clk.Advance(100 * time.Millisecond)
			require.Equal(t, 1, q.Info().Ready, "asked: %v, behind: %v", ask, behind)
		}
	}
}

// Eight goroutines do everything to one broker at once.
func TestEverythingAtOnce(t *testing.T) {
	defer noLeaks(t)
	var events atomic.Int64
	b := leveret.New(leveret.WithEvents(countingEvents(&events)))
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 1))
			s := &stress{b: b, r: r}
			for range max(scaled(5000), 500) {
				s.step()
			}
		})
	}
	wg.Wait()
	b.Settle()
	require.NoError(t, b.Check())
	require.NotZero(t, events.Load())
	require.NoError(t, b.Close())
	require.NoError(t, b.Check())
	require.Zero(t, b.Memory().Used)
}

func countingEvents(n *atomic.Int64) *leveret.Events {
	return &leveret.Events{
		Published: func(leveret.PublishedEvent) { n.Add(1) }, Enqueued: func(leveret.EnqueuedEvent) { n.Add(1) },
		Delivered: func(leveret.DeliveredEvent) { n.Add(1) }, Acked: func(leveret.AckedEvent) { n.Add(1) },
		Requeued: func(leveret.RequeuedEvent) { n.Add(1) }, DeadLettered: func(leveret.DeadLetteredEvent) { n.Add(1) },
		Dropped: func(leveret.DroppedEvent) { n.Add(1) }, QueueDeleted: func(leveret.QueueEvent) { n.Add(1) },
	}
}

// stress is one client that does whatever comes to its mind.
type stress struct {
	b    *leveret.Broker
	r    *rand.Rand
	conn *leveret.Conn
	ch   *leveret.Channel
	held []*leveret.Delivery
	cons []*leveret.Consumer
}

func (s *stress) queue() string { return fmt.Sprint("q", s.r.IntN(5)) }

func (s *stress) args() leveret.Table {
	args := leveret.Table{"x-dead-letter-exchange": [...]string{"", "amq.fanout", "amq.topic", "missing"}[s.r.IntN(4)], "x-dead-letter-routing-key": s.queue()}
	if s.r.IntN(2) == 0 {
		args["x-queue-type"] = "quorum"
		args["x-delivery-limit"] = s.r.IntN(3)
	}
	if s.r.IntN(2) == 0 {
		args["x-message-ttl"] = s.r.IntN(3)
	}
	if s.r.IntN(2) == 0 {
		args["x-max-length"] = s.r.IntN(5)
		args["x-overflow"] = [...]string{"drop-head", "reject-publish", "reject-publish-dlx"}[s.r.IntN(3)]
	}
	if s.r.IntN(4) == 0 {
		args["x-single-active-consumer"] = true
	}
	return args
}

func (s *stress) step() {
	if s.conn == nil || s.conn.Err() != nil {
		s.conn, _ = s.b.Connect("guest", "guest", "/")
		s.ch, s.held, s.cons = nil, nil, nil
	}
	if s.ch == nil || s.r.IntN(100) == 0 {
		if s.ch != nil {
			s.ch.Close()
		}
		s.ch, _ = s.conn.Channel()
		s.held, s.cons = nil, nil
		return
	}
	switch s.r.IntN(22) {
	case 0:
		s.b.DeclareQueue(s.queue(), leveret.QueueConfig{Durable: true, Arguments: s.args()})
	case 1:
		s.b.DeclareQueue(s.queue(), leveret.QueueConfig{Durable: true, AutoDelete: true})
	case 2:
		if s.r.IntN(4) == 0 {
			s.b.DeleteQueue(s.queue(), leveret.DeleteConfig{})
		}
	case 3:
		s.b.BindQueue(s.queue(), "amq.topic", "#", nil)
		s.b.BindQueue(s.queue(), "amq.fanout", "", nil)
	case 4:
		s.b.UnbindQueue(s.queue(), "amq.fanout", "", nil)
	case 5:
		s.b.SetPolicy(leveret.Policy{Name: "p", Pattern: s.queue(), Definition: leveret.Table{"max-length": s.r.IntN(5)}})
	case 6:
		s.b.ClearPolicy("p")
	case 7, 8, 9, 10, 11:
		s.ch.Publish([...]string{"", "amq.fanout", "amq.topic"}[s.r.IntN(3)], s.queue(), leveret.Message{Body: []byte("body"),
			Properties: &leveret.Properties{Headers: leveret.Table{"CC": []string{s.queue()}}}})
	case 12, 13:
		if d, ok, _ := s.ch.Get(s.queue(), leveret.GetConfig{}); ok {
			s.held = append(s.held, d)
		}
	case 14:
		if c, err := s.ch.Consume(s.queue(), leveret.ConsumeConfig{Prefetch: s.r.IntN(4)}); err == nil {
			s.cons = append(s.cons, c)
		}
	case 15, 16, 17:
		s.receive()
	case 18, 19, 20:
		s.settle()
	case 21:
		s.look()
	}
	if s.ch != nil && s.ch.Qos(leveret.QosConfig{}) != nil { // an error closed it
		s.ch, s.held, s.cons = nil, nil, nil
	}
}

func (s *stress) receive() {
	ctx, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	for _, c := range s.cons {
		if d, err := c.Receive(ctx); err == nil {
			s.held = append(s.held, d)
		}
	}
}

func (s *stress) settle() {
	for _, d := range s.held {
		switch s.r.IntN(5) {
		case 0:
			d.Ack()
		case 1:
			d.Nack(true)
		case 2:
			d.Nack(false)
		case 3:
			d.Reject(true)
		case 4:
			d.Reject(false)
		}
	}
	s.held = nil
}

func (s *stress) look() {
	s.b.Queues()
	s.b.Consumers()
	s.b.Connections()
	s.b.Counters()
	s.b.NextDeadline()
	if q, err := s.b.Queue(s.queue()); err == nil {
		q.Messages()
		q.Effective()
		q.Purge()
	}
	if s.r.IntN(20) == 0 {
		s.conn.Close()
		s.ch = nil
	}
}

// Events and handlers that call the broker themselves.
func TestHooksThatPublish(t *testing.T) {
	var b *leveret.Broker
	echoed := 0
	clk := leveret.NewManualClock(machineStart)
	b = leveret.New(leveret.WithClock(clk), leveret.WithEvents(&leveret.Events{
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
	casePublish(t, b, "in", "m", "")
	b.Settle()
	require.Equal(t, 1001, len(order))
	require.NoError(t, c.Cancel())
	casePublish(t, b, "in", "x", "")
	clk.Advance(time.Second)
	b.Settle()
	lost, err := b.Queue("lost")
	require.NoError(t, err)
	require.Equal(t, []string{"x"}, bodies(lost))
	require.NoError(t, b.Check())
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

func TestPanickingHookLeavesTheBrokerUsable(t *testing.T) {
	bad := true
	var seen []string
	b := leveret.New(leveret.WithClock(leveret.NewManualClock(machineStart)), leveret.WithEvents(&leveret.Events{
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
	casePublish(t, b, "q", "two", "")
	b.Settle()
	require.Equal(t, []string{"one", "two"}, bodies(q))
	require.Contains(t, seen, "two")
	require.NoError(t, b.Check())
	require.NoError(t, b.Close())
}

// Close comes while eight goroutines publish, wait and settle.
func TestCloseInFlight(t *testing.T) {
	defer noLeaks(t)
	for round := range max(scaled(50), 5) {
		b := leveret.New()
		q := mustDeclare(t, b, "q", leveret.Table{"x-message-ttl": 1, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "q2"})
		mustDeclare(t, b, "q2", nil)
		conn, err := b.Connect("guest", "guest", "/")
		require.NoError(t, err)
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for g := range errs {
			ch, err := conn.Channel()
			require.NoError(t, err)
			c, err := ch.Consume("q2", leveret.ConsumeConfig{Prefetch: 2})
			require.NoError(t, err)
			wg.Go(func() {
				for errs[g] == nil {
					if g%2 == 0 {
						_, errs[g] = ch.Publish("", "q", leveret.Message{Body: []byte("m")})
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
		time.Sleep(time.Duration(round%5) * time.Millisecond)
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
	require.ErrorIs(t, b.SetPolicy(leveret.Policy{Name: "p", Definition: leveret.Table{"max-length": 1}}), leveret.ErrClosed)
	require.ErrorIs(t, b.ClearPolicy("p"), leveret.ErrClosed)
	require.ErrorIs(t, b.BindQueue("q", "amq.fanout", "", nil), leveret.ErrClosed)
	require.NoError(t, conn.Close())
	require.NoError(t, ch.Close())
	_, ok := b.NextDeadline()
	require.False(t, ok)
	require.Empty(t, b.Queues())
}

// The real clock inside a bubble: time passes when everybody waits, and nobody is left behind.
func TestInsideSynctest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leveret.New()
		start := time.Now()
		mustDeclare(t, b, "work", leveret.Table{"x-message-ttl": 5 * time.Second, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
		dead := mustDeclare(t, b, "dead", nil)
		casePublish(t, b, "work", "m", "")
		c, err := dead.Consume(leveret.ConsumeConfig{})
		require.NoError(t, err)
		d, err := c.Receive(t.Context()) // blocks for five seconds of the bubble's time
		require.NoError(t, err)
		require.Equal(t, 5*time.Second, time.Since(start))
		require.Equal(t, leveret.Expired, d.Deaths()[0].Reason)
		require.NoError(t, d.Ack())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = c.Receive(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		casePublish(t, b, "work", "forgotten", "")
		done := make(chan error)
		go func() {
			_, err := c.Receive(context.Background())
			done <- err
		}()
		synctest.Wait()
		require.NoError(t, b.Check())
		require.NoError(t, b.Close())
		require.ErrorIs(t, <-done, leveret.ErrClosed)
	})
}

// The real clock outside of one: waits are for what happens, never for a guess.
func TestRealClockExpires(t *testing.T) {
	defer noLeaks(t)
	b := leveret.New()
	defer b.Close()
	mustDeclare(t, b, "work", leveret.Table{"x-message-ttl": 20, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
	dead := mustDeclare(t, b, "dead", nil)
	c, err := dead.Consume(leveret.ConsumeConfig{NoAck: true})
	require.NoError(t, err)
	start := time.Now()
	for range 10 {
		casePublish(t, b, "work", "m", "")
	}
	for range 10 {
		_, err := c.Receive(t.Context())
		require.NoError(t, err)
	}
	require.GreaterOrEqual(t, time.Since(start), 20*time.Millisecond)
	require.NoError(t, b.Check())
}

func TestConsumerTimeoutTakesYoungerDeliveriesToo(t *testing.T) {
	b, clk := newTestBroker(t)
	q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum"})
	inbox := leveret.NewInbox(leveret.InboxConfig{})
	conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", CancelNotify: true, Inbox: inbox})
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.Consume("q", leveret.ConsumeConfig{Tag: "slow"})
	require.NoError(t, err)
	casePublish(t, b, "q", "old", "")
	clk.Advance(10 * time.Minute)
	casePublish(t, b, "q", "young", "")
	clk.Advance(20 * time.Minute)
	require.Equal(t, 1, q.Info().Unacked)
	require.Equal(t, 1, q.Info().Consumers)
	clk.Advance(10 * time.Minute)
	require.Equal(t, 0, q.Info().Unacked)
	require.Equal(t, 2, q.Info().Ready)
	require.Equal(t, 1, q.Info().Consumers)
	require.NoError(t, ch.Close())
	require.Equal(t, 0, q.Info().Consumers)
}

func TestConsumerTimeout(t *testing.T) {
	b, clk := newTestBroker(t)
	q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum"})
	inbox := leveret.NewInbox(leveret.InboxConfig{})
	conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", CancelNotify: true, Inbox: inbox})
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.Consume("q", leveret.ConsumeConfig{Tag: "slow"})
	require.NoError(t, err)
	casePublish(t, b, "q", "m", "")
	at, ok := b.NextDeadline()
	require.True(t, ok)
	require.Equal(t, 30*time.Minute, at.Sub(clk.Now()))
	clk.Advance(30*time.Minute - time.Millisecond)
	require.Equal(t, 1, q.Info().Unacked)
	clk.Advance(time.Millisecond)
	require.Equal(t, 0, q.Info().Unacked)
	require.Equal(t, 1, q.Info().Ready)
	require.Equal(t, 1, q.Info().Consumers, "RabbitMQ goes on counting it")
	got := inbox.Take(nil)
	require.Len(t, got, 2)
	require.Equal(t, leveret.ConsumerCancelled, got[1].Kind)
	require.NoError(t, ch.Ack(got[0].Delivery.DeliveryTag, false), "a late ack is accepted")
	require.Equal(t, 1, q.Info().Ready, "and has no effect")
	d, ok, err := ch.Get("q", leveret.GetConfig{})
	require.NoError(t, err)
	require.True(t, ok)
	v, _ := d.HeaderFields().Get("x-acquired-count")
	require.Equal(t, int64(1), v)
	_, ok = d.HeaderFields().Get("x-delivery-count")
	require.False(t, ok, "a timeout is no failed delivery")
	clk.Advance(30 * time.Minute)
	err = ch.Ack(d.DeliveryTag, false)
	require.ErrorIs(t, err, leveret.ErrClosed)
	var e *leveret.Error
	require.True(t, errors.As(err, &e))
	require.True(t, strings.HasPrefix(e.Text(), "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: -1 ms."), e.Text())
	require.Equal(t, 1, q.Info().Ready)
}

// A shared inbox at its limit stalls its consumers; taking resumes them, and nothing is lost.
func TestInboxLimitStallsAndResumes(t *testing.T) {
	bothTypes(t, func(t *testing.T, kind string) {
		b, _ := newTestBroker(t)
		q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": kind})
		inbox := leveret.NewInbox(leveret.InboxConfig{MaxDeliveries: 3})
		conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: inbox})
		require.NoError(t, err)
		for range 2 {
			ch, err := conn.Channel()
			require.NoError(t, err)
			_, err = ch.Consume("q", leveret.ConsumeConfig{NoAck: true})
			require.NoError(t, err)
		}
		for i := range 10 {
			casePublish(t, b, "q", fmt.Sprint(i), "")
		}
		var got []string
		for range 4 {
			taken := inbox.Take(nil)
			require.LessOrEqual(t, len(taken), 3)
			for _, n := range taken {
				got = append(got, string(n.Delivery.Body))
			}
			require.NoError(t, b.Check())
		}
		require.Equal(t, strings.Split("0123456789", ""), got)
		require.Zero(t, q.Info().Messages)
	})
}

// An inbox that is held tells nobody, until it is taken or released; then it tells of what is there, and of what comes.
func TestHeldInbox(t *testing.T) {
	b, _ := newTestBroker(t)
	mustDeclare(t, b, "q", nil)
	inbox := leveret.NewInbox(leveret.InboxConfig{})
	inbox.Hold()
	inbox.Release() // no connection has it yet
	conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: inbox})
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.Consume("q", leveret.ConsumeConfig{NoAck: true})
	require.NoError(t, err)
	told := func() bool {
		select {
		case <-inbox.Ready():
			return true
		default:
			return false
		}
	}
	inbox.Hold()
	casePublish(t, b, "q", "1", "")
	require.False(t, told())
	inbox.Release()
	require.True(t, told())
	require.False(t, told())
	inbox.Release()
	require.False(t, told(), "it was not held")
	casePublish(t, b, "q", "2", "")
	require.True(t, told())

	inbox.Hold()
	casePublish(t, b, "q", "3", "")
	require.Len(t, inbox.Take(nil), 3)
	require.False(t, told())
	casePublish(t, b, "q", "4", "")
	require.True(t, told())
	require.Len(t, inbox.Take(nil), 1)
	inbox.Hold()
	inbox.Release()
	require.False(t, told(), "nothing is there")
}

// Dead letters that a purge leaves on their way are memory that the alarm knows, until they have gone.
func TestPurgedDeadLettersAreMemory(t *testing.T) {
	b, _ := newTestBroker(t)
	q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum", "x-overflow": "reject-publish",
		"x-dead-letter-strategy": "at-least-once", "x-dead-letter-exchange": "amq.fanout"})
	purged := func() {
		casePublish(t, b, "q", strings.Repeat("m", 1000), "")
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
			q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum", "x-delivery-limit": 0, "x-overflow": "reject-publish", "x-max-length": 1000,
				"x-dead-letter-strategy": "at-least-once", "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
			casePublish(t, b, "q", "m", "")
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

// RabbitMQ answers a declare of a quorum queue with the single active consumer only, and lists all.
func TestSingleActiveConsumersAreListed(t *testing.T) {
	b, _ := newTestBroker(t)
	args := leveret.Table{"x-queue-type": "quorum", "x-single-active-consumer": true}
	q := mustDeclare(t, b, "q", args)
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	for _, tag := range []string{"first", "second"} {
		_, err := ch.Consume("q", leveret.ConsumeConfig{Tag: tag})
		require.NoError(t, err)
	}
	state, err := ch.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: args})
	require.NoError(t, err)
	require.Equal(t, 1, state.Consumers)
	require.Equal(t, 2, q.Info().Consumers)
}
