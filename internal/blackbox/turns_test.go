package blackbox_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/turns"
	"github.com/stretchr/testify/require"
)

// shortTurns has every operation let others in after each few steps, until the test ends.
func shortTurns(t *testing.T) {
	long := turns.Length()
	turns.SetLength(3)
	t.Cleanup(func() { turns.SetLength(long) })
}

// With one goroutine it makes no difference that operations let others in, and the events add up.
func TestEventsAddUpInShortTurns(t *testing.T) {
	shortTurns(t)
	TestEventsAddUp(t)
}

// With many goroutines that get in between each other's operations nothing is lost, doubled or in a false place.
func TestEverythingAtOnceInShortTurns(t *testing.T) {
	shortTurns(t)
	TestEverythingAtOnce(t)
}

// Every copy that was published while others got in between ends once: it is acknowledged, dead-lettered, dropped, or
// still there.
func TestCopiesAddUpInShortTurns(t *testing.T) {
	shortTurns(t)
	for seed := range uint64(max(scaled(10), 2)) {
		copiesAddUp(t, seed)
	}
}

func copiesAddUp(t *testing.T, seed uint64) {
	// Hooks run one at a time, though in several goroutines, so that the ledger needs no lock.
	l := newLedger(t)
	clk := leveret.NewManualClock(start)
	b := leveret.New(leveret.WithSeed(1), leveret.WithClock(clk), leveret.WithEvents(l.events()))
	var wg sync.WaitGroup
	for g := range uint64(4) {
		wg.Go(func() {
			s := &stress{b: b, r: rand.New(rand.NewPCG(seed, g))}
			for range max(scaled(1000), 200) {
				s.step()
				if s.r.IntN(20) == 0 {
					clk.Advance(time.Millisecond)
				}
			}
		})
	}
	wg.Wait()
	b.Settle()
	require.NoError(t, b.Check())
	l.compareMessages(b) // counters of a queue do not have what its forerunner of the same name sent at last
	require.NoError(t, b.DeleteVHost("/"))
	for n, c := range l.copies {
		require.True(t, c.ended || c.refused, "copy %d in %s has not ended", n, c.queue)
	}
	require.Zero(t, b.Memory().Used)
}

// Others get in while an operation is not done, see every message in its place, and can do what they like. The
// operation returns when all is done.
func TestOthersGetIn(t *testing.T) {
	shortTurns(t)
	b, _ := newTestBroker(t)
	q := mustDeclare(t, b, "q", nil)
	mustDeclare(t, b, "own", nil)
	for range 100 {
		mustPublish(t, b, "q", "m", "")
	}
	dropped, halfway := 0, 0
	defer b.Watch(leveret.Events{Dropped: func(e leveret.DroppedEvent) {
		if dropped++; e.Queue != "q" {
			return
		}
		require.NoError(t, b.Check())
		if n := q.Info().Ready; n > 0 {
			halfway++
			mustPublish(t, b, "own", "m", "")
			_, ok, err := mustQueue(t, b, "own").Get(leveret.GetConfig{NoAck: true})
			require.NoError(t, err)
			require.True(t, ok)
		}
	}})()
	require.NoError(t, b.SetPolicy(leveret.Policy{Name: "p", Pattern: "^q$", Definition: leveret.Table{"max-length": 0}}))
	require.Equal(t, 100, dropped)
	require.Greater(t, halfway, 50)
	require.Zero(t, q.Info().Ready)
}

// Others get in while a channel's window opens for many queues.
// Rules: D-27.
func TestOthersGetInWhileAWindowOpens(t *testing.T) {
	shortTurns(t)
	b, _ := newTestBroker(t, leveret.WithProfile(leveret.RabbitMQ310))
	ch := mustChannel(t, b)
	require.NoError(t, ch.Qos(leveret.QosConfig{PrefetchCount: 1, Global: true}))
	queues := make([]*leveret.Queue, 100)
	for i := range queues {
		name := "queue-" + strconv.Itoa(i)
		queues[i] = mustDeclare(t, b, name, nil)
		_, err := ch.Consume(name, leveret.ConsumeConfig{})
		require.NoError(t, err)
		mustPublish(t, b, name, "m", "")
	}
	for _, q := range queues[1:90] { // they wait for the window, and have nothing when it opens
		_, err := q.Purge()
		require.NoError(t, err)
	}
	halfway := false
	defer b.Watch(leveret.Events{Acked: func(leveret.AckedEvent) {
		require.NoError(t, b.Check())
		halfway = queues[90].Info().Ready == 1
	}})()
	require.NoError(t, ch.Ack(1, false))
	require.True(t, halfway)
	require.Zero(t, queues[90].Info().Ready)
	require.Equal(t, 1, queues[91].Info().Ready)
}

// A queue that is deleted while its messages come back has lost each of them once, with an event.
func TestQueueGoesWhileMessagesComeBack(t *testing.T) {
	shortTurns(t)
	for _, p := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		for _, args := range []leveret.Table{
			{}, {"x-queue-type": "quorum", "x-delivery-limit": 100}, {"x-queue-type": "quorum", "x-delivery-limit": 1},
			{"x-queue-type": "quorum", "x-delivery-limit": 1, "x-dead-letter-strategy": "at-least-once", "x-dead-letter-exchange": "nowhere",
				"x-overflow": "reject-publish"},
		} {
			for at := range 25 {
				b, _ := newTestBroker(t, leveret.WithProfile(p))
				q := mustDeclare(t, b, "q", args)
				ch := mustChannel(t, b)
				for i := range 20 {
					mustPublish(t, b, "q", "m", "")
					d, _, err := ch.Get("q", leveret.GetConfig{})
					require.NoError(t, err)
					if i%2 == 0 { // every other one is delivered twice
						require.NoError(t, d.Reject(true))
						_, _, err = ch.Get("q", leveret.GetConfig{})
						require.NoError(t, err)
					}
				}
				_, err := mustChannel(t, b).Consume("q", leveret.ConsumeConfig{})
				require.NoError(t, err)
				told := 0
				ended := map[uint64]int{}
				again := func() {
					if told++; told == at {
						_, err := q.Delete(leveret.DeleteConfig{})
						require.NoError(t, err)
					}
				}
				b.Watch(leveret.Events{
					Requeued:  func(leveret.RequeuedEvent) { again() },
					Delivered: func(leveret.DeliveredEvent) { again() },
					Dropped:   func(e leveret.DroppedEvent) { ended[e.Copy]++ },
				})
				require.NoError(t, ch.Close())
				b.DeleteQueue("q", leveret.DeleteConfig{})
				require.Len(t, ended, 20)
				for n, times := range ended {
					require.Equal(t, 1, times, "copy %d", n)
				}
			}
		}
	}
}

// A hook that panics or ends its goroutine while others get in between ends no operation half done.
func TestHookPanicsInBetween(t *testing.T) {
	shortTurns(t)
	for name, end := range map[string]func(){"panic": func() { panic("a hook") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			b, _ := newTestBroker(t)
			mustDeclare(t, b, "q", leveret.Table{"x-max-length": 1})
			ch := mustChannel(t, b)
			require.NoError(t, ch.Tx())
			for range 50 {
				_, err := ch.Publish("", "q", leveret.Message{Body: []byte("m")})
				require.NoError(t, err)
			}
			dropped := 0
			stop := b.Watch(leveret.Events{Dropped: func(leveret.DroppedEvent) {
				if dropped++; dropped == 5 {
					end()
				}
			}})
			returned := false
			done := make(chan any)
			go func() {
				defer func() { done <- recover() }()
				_, _ = ch.Commit()
				returned = true
			}()
			cause := <-done
			require.False(t, returned, "the caller hears of it")
			require.Equal(t, name == "panic", cause == any("a hook"))
			stop()
			require.Equal(t, 49, dropped)
			require.Equal(t, uint64(50), b.Counters().Published)
			require.Equal(t, 1, mustQueue(t, b, "q").Info().Ready)
		})
	}
}

// What leaves a queue in many turns leaves it in order, whatever others do meanwhile.
func TestOrderInShortTurns(t *testing.T) {
	shortTurns(t)
	bothTypes(t, func(t *testing.T, kind string) {
		b, clk := newTestBroker(t)
		mustDeclare(t, b, "dead", nil)
		mustDeclare(t, b, "q", leveret.Table{"x-queue-type": kind, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
		publish := func(from int) {
			for i := range 100 {
				mustPublish(t, b, "q", fmt.Sprint(from+i), "")
			}
		}
		var want []string
		for i := range 400 {
			want = append(want, fmt.Sprint(i))
		}
		publish(0)
		require.NoError(t, b.SetPolicy(leveret.Policy{Name: "p", Pattern: "^q$", Definition: leveret.Table{"max-length": 0}}))
		require.NoError(t, b.ClearPolicy("p"))
		publish(100)
		ch := mustChannel(t, b)
		for range 100 {
			_, ok, err := ch.Get("q", leveret.GetConfig{})
			require.True(t, ok)
			require.NoError(t, err)
		}
		require.NoError(t, ch.Nack(0, true, false))
		for range 2 {
			publish(200)
			ch := mustChannel(t, b)
			for range 100 {
				_, _, err := ch.Get("q", leveret.GetConfig{})
				require.NoError(t, err)
			}
			require.NoError(t, ch.Close())
			require.Equal(t, want[200:300], bodies(mustQueue(t, b, "q")))
			_, err := b.PurgeQueue("q")
			require.NoError(t, err)
		}
		for i := range 200 {
			mustPublish(t, b, "q", fmt.Sprint(200+i), "1000")
		}
		clk.Advance(time.Second)
		require.Equal(t, want, bodies(mustQueue(t, b, "dead")))
	})
}

// A broker that is closed, and virtual hosts that are deleted, while operations wait for their next turns end in order.
func TestCloseInShortTurns(t *testing.T) {
	shortTurns(t)
	TestCloseInFlight(t)
	for seed := range uint64(max(scaled(20), 5)) {
		b := leveret.New()
		busy := newMoment(1 + int(seed%5)*150) // of 800 steps
		var wg sync.WaitGroup
		for g := range uint64(4) {
			wg.Go(func() {
				s := &stress{b: b, r: rand.New(rand.NewPCG(seed, g)), neverDown: seed%2 == 0}
				for range 200 {
					s.step()
					busy.count()
				}
			})
		}
		busy.wait()
		if seed%2 == 0 {
			require.NoError(t, b.DeleteVHost("/"))
		} else {
			require.NoError(t, b.Close())
		}
		wg.Wait()
		require.Zero(t, b.Memory().Used)
	}
}

// A channel that ends lets others in between its consumers. A broker that is closed there leaves nothing that the channel
// stumbles over.
func TestCloseWhileAChannelEnds(t *testing.T) {
	shortTurns(t)
	b := leveret.New(leveret.WithClock(leveret.NewManualClock(start)), leveret.WithProfile(leveret.RabbitMQ310))
	mustDeclare(t, b, "q", nil)
	ch := mustChannel(t, b)
	for range 20 {
		_, err := ch.Consume("q", leveret.ConsumeConfig{})
		require.NoError(t, err)
	}
	for range 20 {
		mustPublish(t, b, "q", "m", "")
	}
	require.NoError(t, ch.Ack(0, true)) // the timers of 3.10's consumers are still set
	var once sync.Once
	turns.SetBetween(func() { once.Do(func() { b.Close() }) })
	defer turns.SetBetween(nil)
	require.NoError(t, ch.Close())
}

// Whatever waits for its next turn when a virtual host or the broker goes ends in order, in both releases.
func TestCloseBetweenTurns(t *testing.T) {
	shortTurns(t)
	turns.SetLength(1)
	defer turns.SetBetween(nil)
	for seed := range uint64(max(scaled(1000), 40)) {
		// No timer fires beside the steps: what is counted is this goroutine's alone.
		clk := leveret.NewManualClock(start)
		b := leveret.New(leveret.WithClock(clk),
			leveret.WithProfile([]leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310}[seed%2]))
		s := &stress{b: b, r: rand.New(rand.NewPCG(seed, 7)), neverDown: seed%4 < 2}
		rests, last := 0, s.r.IntN(300)
		turns.SetBetween(func() {
			if rests++; rests != last+1 {
				return
			}
			if seed%4 < 2 {
				require.NoError(t, b.DeleteVHost("/"))
			} else {
				require.NoError(t, b.Close())
			}
		})
		for range 3000 {
			if s.step(); rests > last && s.conn == nil {
				break
			}
			clk.Advance(time.Millisecond)
		}
		require.Greater(t, rests, last, "seed %d: the broker was not closed", seed)
		require.Zero(t, b.Memory().Used, "seed %d", seed)
		require.NoError(t, b.Close())
	}
}

// A node that goes down, and comes up again or not at once, while an operation waits for its next turn loses and doubles
// nothing, in both releases: also one that goes down while it comes up.
func TestRestartBetweenTurns(t *testing.T) {
	shortTurns(t)
	turns.SetLength(1)
	defer turns.SetBetween(nil)
	for seed := range uint64(max(scaled(500), 50)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { restartBetweenTurns(t, seed) })
	}
}

func restartBetweenTurns(t *testing.T, seed uint64) {
	l := newLedger(t)
	clk := leveret.NewManualClock(start)
	b := leveret.New(leveret.WithSeed(1), leveret.WithClock(clk), leveret.WithEvents(l.events()),
		leveret.WithProfile([]leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310}[seed%2]))
	s := &stress{b: b, r: rand.New(rand.NewPCG(seed, 11)), neverDown: true} // by itself
	as := []leveret.NodeEnd{leveret.StoppedNode, leveret.KilledNode}[seed/2%2]
	const (
		restarts = 20 // each sends the dead letters anew that are pending
		most     = 2  // a node goes down, and while it comes up goes down again
	)
	rests, restarted, depth := 0, 0, 0
	every := 20 + s.r.IntN(40)
	quietly := func(look func()) { // looking lets others in, too
		was := depth
		depth = most
		look()
		depth = was
	}
	turns.SetBetween(func() {
		rests++
		comingUp := depth > 0 && rests%3 == 0
		if depth == most || restarted == restarts || rests%every != 0 && !comingUp {
			return
		}
		restarted++
		depth++
		require.NoError(t, b.Stop(as))
		if seed%5 > 0 {
			require.NoError(t, b.Start())
			quietly(func() { require.Empty(t, b.Consumers(), "seed %d: after a restart", seed) })
		}
		depth--
	})
	for range 400 {
		s.step()
		if s.r.IntN(20) == 0 {
			clk.Advance(time.Millisecond)
		}
		require.NoError(t, b.Start())
		quietly(func() {
			require.NoError(t, b.Start())
			require.NoError(t, b.Check(), "seed %d", seed)
			l.compareMessages(b)
		})
		if t.Failed() {
			t.FailNow()
		}
		if l.endless() {
			break
		}
	}
	turns.SetBetween(nil)
	require.NoError(t, b.DeleteVHost("/"))
	for n, c := range l.copies {
		require.True(t, c.ended || c.refused, "seed %d: copy %d in %s has not ended", seed, n, c.queue)
	}
	require.Zero(t, b.Memory().Used)
	require.NoError(t, b.Close())
}

// A message that was to die when the node comes up has ended, too, if its queue goes while the queues before it come up.
func TestQueueGoesWhileTheNodeComesUp(t *testing.T) {
	shortTurns(t)
	turns.SetLength(1)
	defer turns.SetBetween(nil)
	l := newLedger(t)
	b := leveret.New(leveret.WithEvents(l.events()))
	mustDeclare(t, b, "first", nil)
	mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum", "x-delivery-limit": 0})
	mustPublish(t, b, "q", "m", "")
	hold(t, mustChannel(t, b), 1)
	require.NoError(t, b.Stop(leveret.KilledNode))
	turns.SetBetween(func() {
		turns.SetBetween(nil)
		require.NoError(t, b.Check())
		_, err := b.DeleteQueue("q", leveret.DeleteConfig{})
		require.NoError(t, err)
	})
	require.NoError(t, b.Start())
	require.EqualValues(t, 1, b.Counters().Dropped.QueueDeleted)
	for _, c := range l.copies {
		require.True(t, c.ended)
	}
}

func namesOf[T any](all []T, name func(T) string) (names []string) {
	for _, t := range all {
		names = append(names, name(t))
	}
	return names
}

// A list of exchanges, or of what one exchange or queue has, lets others in, too. What they end meanwhile is missing.
func TestListsOfOneLetOthersIn(t *testing.T) {
	shortTurns(t)
	b, _ := newTestBroker(t)
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	mustDeclare(t, b, "q", nil)
	var want []string
	for i := range 50 {
		name := fmt.Sprintf("x%02d", i)
		_, err := b.DeclareExchange(name, leveret.Direct, leveret.ExchangeConfig{})
		require.NoError(t, err)
		require.NoError(t, b.BindExchange(name, "amq.fanout", "", nil))
		_, err = ch.Consume("q", leveret.ConsumeConfig{Tag: name})
		require.NoError(t, err)
		want = append(want, name)
	}
	last := want[len(want)-1]
	for name, list := range map[string]func() []string{
		"exchanges": func() []string {
			return namesOf(b.Exchanges(), func(x leveret.ExchangeInfo) string { return x.Name })
		},
		"bindings": func() []string {
			made := slices.DeleteFunc(b.Bindings(), func(i leveret.BindingInfo) bool { return i.Source == "" })
			return namesOf(made, func(i leveret.BindingInfo) string { return i.Destination })
		},
		"consumers": func() []string {
			return namesOf(b.Consumers(), func(c leveret.ConsumerInfo) string { return c.Tag })
		},
	} {
		times := 0
		turns.SetBetween(func() {
			if times++; times == 5 {
				require.NoError(t, b.DeleteExchange(last, leveret.DeleteConfig{}))
				require.NoError(t, ch.Cancel(last))
			}
		})
		got := slices.DeleteFunc(list(), func(name string) bool { return name == "" || strings.HasPrefix(name, "amq.") })
		turns.SetBetween(nil)
		require.Equal(t, want[:len(want)-1], got, name)
		require.Greater(t, times, 10, name)
		_, err := b.DeclareExchange(last, leveret.Direct, leveret.ExchangeConfig{})
		require.NoError(t, err)
		require.NoError(t, b.BindExchange(last, "amq.fanout", "", nil))
		_, err = ch.Consume("q", leveret.ConsumeConfig{Tag: last})
		require.NoError(t, err)
	}
}

// A list of many queues lets others in. It has each queue that is there all the time once, by name, and none that has gone.
func TestListsLetOthersIn(t *testing.T) {
	shortTurns(t)
	b, _ := newTestBroker(t)
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	var want []string
	for i := range 50 {
		name := fmt.Sprintf("q%02d", i)
		mustDeclare(t, b, name, nil)
		_, err := ch.Consume(name, leveret.ConsumeConfig{})
		require.NoError(t, err)
		want = append(want, name)
	}
	for name, list := range map[string]func() []string{
		"queues": func() []string {
			return namesOf(b.Queues(), func(q leveret.QueueInfo) string { return q.Name })
		},
		"bindings": func() []string {
			return namesOf(b.Bindings(), func(i leveret.BindingInfo) string { return i.Destination })
		},
		"consumers": func() []string {
			return namesOf(b.Consumers(), func(c leveret.ConsumerInfo) string { return c.Queue })
		},
	} {
		times := 0
		last := want[len(want)-1]
		turns.SetBetween(func() {
			switch times++; times {
			case 2:
				_, err := b.DeleteQueue(last, leveret.DeleteConfig{})
				require.NoError(t, err)
				mustDeclare(t, b, "p-new", nil)
			case 5:
				mustPublish(t, b, want[0], "m", "")
				require.NoError(t, b.Check())
			}
		})
		got := list()
		turns.SetBetween(nil)
		require.Equal(t, want[:len(want)-1], got, name)
		require.Greater(t, times, 10, name)
		want = want[:len(want)-1]
		_, err := b.DeleteQueue("p-new", leveret.DeleteConfig{})
		require.NoError(t, err)
	}
}
