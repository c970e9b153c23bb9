package bench

import (
	"container/heap"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/nats-io/nats-server/v2/server/thw"
	"github.com/nats-io/nats.go/jetstream"
)

const million = 1_000_000

// BenchmarkTTL: a million deadlines set, then all fall due. Run with -benchtime=1x; the
// figures are the metrics, a message: set-ns (adding it) and fire-ns (taking it off).
func BenchmarkTTL(b *testing.B) {
	report := func(b *testing.B, set, fire time.Duration, n int) {
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(set)/float64(n), "set-ns")
		b.ReportMetric(float64(fire)/float64(n), "fire-ns")
	}
	body := bodies[100]

	// Anchors: taking messages off a queue with no deadline at all.
	b.Run("impl=pop-ring", func(b *testing.B) {
		x := openBoxes(func() fifo { return new(ring) })(b, 1).(boxes)[0]
		t0 := time.Now()
		for range million {
			x.put(allocMsg(body))
		}
		t1 := time.Now()
		for range million {
			x.take()
		}
		report(b, t1.Sub(t0), time.Since(t1), million)
	})
	b.Run("impl=leveret-get-ack", func(b *testing.B) {
		s := openLeveret(leveretOptions{})(b, 1)
		t0 := time.Now()
		for range million {
			s.publish(0, body)
		}
		t1 := time.Now()
		for range million {
			s.getAck(0)
		}
		report(b, t1.Sub(t0), time.Since(t1), million)
	})

	// Deadline structures alone, deadlines in random order.
	r := rand.New(rand.NewPCG(1, 2))
	at := make([]int64, million)
	for i := range at {
		at[i] = r.Int64N(1e12)
	}
	b.Run("impl=container-heap", func(b *testing.B) {
		h := &int64Heap{}
		t0 := time.Now()
		for _, d := range at {
			heap.Push(h, d)
		}
		t1 := time.Now()
		for range million {
			heap.Pop(h)
		}
		report(b, t1.Sub(t0), time.Since(t1), million)
	})
	b.Run("impl=nats-hashwheel", func(b *testing.B) {
		w := thw.NewHashWheel()
		base := time.Now().UnixNano() - 2e12
		t0 := time.Now()
		for i, d := range at {
			check(b, w.Add(uint64(i), base+d))
		}
		t1 := time.Now()
		n := 0
		w.ExpireTasks(func(uint64, int64) bool { n++; return true })
		if n != million {
			b.Fatal(n)
		}
		report(b, t1.Sub(t0), time.Since(t1), million)
	})
	b.Run("impl=time-AfterFunc", func(b *testing.B) {
		var n atomic.Int64
		done := make(chan time.Time, 1)
		f := func() {
			if n.Add(1) == million {
				done <- time.Now()
			}
		}
		t0 := time.Now()
		due := t0.Add(3 * time.Second)
		for range million {
			time.AfterFunc(time.Until(due), f)
		}
		set := time.Since(t0)
		report(b, set, (<-done).Sub(due), million)
	})

	for _, c := range []struct {
		name   string
		queues int
		dlx    bool
	}{
		{"leveret-1-queue", 1, false}, {"leveret-1k-queues", 1000, false}, {"leveret-100k-queues", 100_000, false},
		{"leveret-1-queue-dlx", 1, true}, {"leveret-1k-queues-dlx", 1000, true},
	} {
		b.Run("impl="+c.name, func(b *testing.B) {
			clock := leveret.NewManualClock(time.Unix(1_700_000_000, 0))
			br := leveret.New(leveret.WithClock(clock))
			defer br.Close()
			args := leveret.Table{leveret.ArgMessageTTL: 1000}
			if c.dlx {
				args[leveret.ArgDeadLetterExchange], args[leveret.ArgDeadLetterRoutingKey] = "", "dead"
			}
			dead, err := br.DeclareQueue("dead", leveret.QueueConfig{})
			check(b, err)
			ns := names(c.queues)
			for _, n := range ns {
				_, err := br.DeclareQueue(n, leveret.QueueConfig{Arguments: args})
				check(b, err)
			}
			t0 := time.Now()
			for i := range million {
				_, err := br.Publish("", ns[i%len(ns)], leveret.Message{Body: body})
				check(b, err)
			}
			t1 := time.Now()
			clock.Advance(time.Second)
			if n := dead.Info().Ready; c.dlx && n != million {
				b.Fatal(n)
			}
			report(b, t1.Sub(t0), time.Since(t1), million)
		})
	}

	// JetStream, memory: MaxAge comes down on a full stream.
	b.Run("impl=js-maxage", func(b *testing.B) {
		s := openJS(true, false)(b, 1).(*natsJS)
		defer s.close()
		t0 := time.Now()
		for range million {
			s.publish(0, body)
		}
		<-s.pub.PublishAsyncComplete()
		t1 := time.Now()
		st, err := s.pub.UpdateStream(ctx, jetstream.StreamConfig{
			Name: s.sub[0], Subjects: []string{s.sub[0]}, Storage: jetstream.MemoryStorage,
			Retention: jetstream.WorkQueuePolicy, MaxAge: 100 * time.Millisecond, Duplicates: 100 * time.Millisecond,
		})
		check(b, err)
		set := t1.Sub(t0)
		for {
			i, err := st.Info(ctx)
			check(b, err)
			if i.State.Msgs == 0 {
				break
			}
		}
		report(b, set, time.Since(t1), million)
	})
}

type int64Heap []int64

func (h int64Heap) Len() int           { return len(h) }
func (h int64Heap) Less(i, j int) bool { return h[i] < h[j] }
func (h int64Heap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *int64Heap) Push(x any)        { *h = append(*h, x.(int64)) }
func (h *int64Heap) Pop() any {
	o := *h
	x := o[len(o)-1]
	*h = o[:len(o)-1]
	return x
}

// BenchmarkQueueTimers: 100k queues, each with one message and its own deadline.
// set-ns arms one queue, fire-ns is one expiry, B/queue what an armed queue's timer holds.
func BenchmarkQueueTimers(b *testing.B) {
	const n = 100_000
	ns := names(n)
	b.Run("impl=time-AfterFunc", func(b *testing.B) {
		h0 := heapInUse()
		var fired atomic.Int64
		done := make(chan time.Time, 1)
		ts := make([]*time.Timer, n)
		t0 := time.Now()
		due := t0.Add(2 * time.Second)
		for i := range ts {
			ts[i] = time.AfterFunc(time.Until(due), func() {
				if fired.Add(1) == n {
					done <- time.Now()
				}
			})
		}
		set := time.Since(t0)
		held := heapInUse() - h0
		fire := (<-done).Sub(due)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(set)/n, "set-ns")
		b.ReportMetric(float64(fire)/n, "fire-ns")
		b.ReportMetric(float64(held)/n, "B/queue")
		_ = ts
	})
	b.Run("impl=goroutine-each", func(b *testing.B) {
		h0 := heapInUse()
		var fired atomic.Int64
		done := make(chan time.Time, 1)
		t0 := time.Now()
		due := t0.Add(3 * time.Second)
		for range n {
			go func() {
				time.Sleep(time.Until(due))
				if fired.Add(1) == n {
					done <- time.Now()
				}
			}()
		}
		set := time.Since(t0)
		held := heapInUse() - h0
		fire := (<-done).Sub(due)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(set)/n, "set-ns")
		b.ReportMetric(float64(fire)/n, "fire-ns")
		b.ReportMetric(float64(held)/n, "B/queue")
	})
	b.Run("impl=leveret", func(b *testing.B) {
		h0 := heapInUse()
		clock := leveret.NewManualClock(time.Unix(1_700_000_000, 0))
		br := leveret.New(leveret.WithClock(clock))
		defer br.Close()
		r := rand.New(rand.NewPCG(1, 2))
		for _, q := range ns {
			_, err := br.DeclareQueue(q, leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgMessageTTL: r.IntN(1_000_000)}})
			check(b, err)
		}
		held := heapInUse() - h0
		t0 := time.Now()
		for _, q := range ns {
			_, err := br.Publish("", q, leveret.Message{Body: bodies[100]})
			check(b, err)
		}
		t1 := time.Now()
		clock.Advance(time.Hour)
		if c := br.Counters().NoDeadLetterExchange.Expired; c != n {
			b.Fatal(c)
		}
		fire := time.Since(t1)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(t1.Sub(t0))/n, "set-ns")
		b.ReportMetric(float64(fire)/n, "fire-ns")
		b.ReportMetric(float64(held)/n, "B/queue")
	})
}
