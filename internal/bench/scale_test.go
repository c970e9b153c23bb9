package bench_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
)

// Benchmarks of what a cycle costs as a broker fills up, and of what it holds then.

// BenchmarkBacklog is a cycle on a queue that holds many messages already.
func BenchmarkBacklog(b *testing.B) {
	for _, n := range []int{0, 1_000, 1_000_000} {
		b.Run(fmt.Sprintf("queued=%d", n), func(b *testing.B) {
			br := open(b)
			q := bound(b, br, "q")[0]
			for range n {
				publish(b, br, "q", "q")
			}
			b.ReportAllocs()
			for b.Loop() {
				publish(b, br, "q", "q")
				getAck(b, q)
			}
		})
	}
}

// BenchmarkQueues is a cycle on one of many queues, in random order; the anchor is a map of
// Go channels.
func BenchmarkQueues(b *testing.B) {
	for _, n := range []int{1, 1_000, 100_000} {
		names := benchQueueNames(n)
		order := make([]int, 1<<16)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range order {
			order[i] = r.IntN(n)
		}
		b.Run(fmt.Sprintf("n=%d/impl=chan", n), func(b *testing.B) {
			cs, m := map[string]chan *note{}, new(note)
			for _, name := range names {
				cs[name] = make(chan *note, 4)
			}
			i := 0
			for b.Loop() {
				c := cs[names[order[i%len(order)]]]
				c <- m
				<-c
				i++
			}
		})
		b.Run(fmt.Sprintf("n=%d/impl=leveret", n), func(b *testing.B) {
			br := open(b)
			qs := make([]*leveret.Queue, n)
			for i, name := range names {
				qs[i] = declare(b, br, name, nil)
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				k := order[i%len(order)]
				publish(b, br, "", names[k])
				getAck(b, qs[k])
				i++
			}
		})
	}
}

// heap returns the bytes that live objects and goroutines hold.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// BenchmarkMemory reports the bytes held for each of many things that fill makes, and how long
// a full garbage collection over them takes. One op makes them all.
func BenchmarkMemory(b *testing.B) {
	const n = 200_000
	hold := func(what string, fill func(b *testing.B) (each float64, keep any)) {
		b.Run(what, func(b *testing.B) {
			for b.Loop() {
				before := heap()
				count, keep := fill(b)
				b.ReportMetric(float64(heap()-before)/count, "B/each")
				t := time.Now()
				runtime.GC()
				b.ReportMetric(float64(time.Since(t).Microseconds())/1000, "gc-ms")
				runtime.KeepAlive(keep)
			}
		})
	}
	message := func() leveret.Message { return leveret.Message{Body: append([]byte(nil), body100...)} }
	hold("message/impl=ring", func(*testing.B) (float64, any) {
		r := new(ring)
		for range n {
			r.put(&note{body: append([]byte(nil), body100...)})
		}
		return n, r
	})
	hold("message/impl=leveret", func(b *testing.B) (float64, any) {
		br := leveret.New()
		q := bound(b, br, "q")[0]
		for range n {
			_, err := br.Publish("q", "q", message())
			must(b, err)
		}
		return n, q
	})
	hold("message/impl=leveret-unacked", func(b *testing.B) (float64, any) {
		br := leveret.New()
		q := bound(b, br, "q")[0]
		for range n {
			_, err := br.Publish("q", "q", message())
			must(b, err)
			get(b, q)
		}
		return n, q
	})
	hold("fan-out-10/impl=leveret", func(b *testing.B) (float64, any) {
		br := leveret.New()
		_, err := br.DeclareExchange("x", leveret.Fanout, leveret.ExchangeConfig{})
		must(b, err)
		for _, name := range benchQueueNames(10) {
			declare(b, br, name, nil)
			must(b, br.BindQueue(name, "x", "", nil))
		}
		for range n / 10 {
			_, err := br.Publish("x", "", message())
			must(b, err)
		}
		return n / 10, br
	})
	names := benchQueueNames(n / 4)
	idle := func(args leveret.Table) func(b *testing.B) (float64, any) {
		return func(b *testing.B) (float64, any) {
			br := leveret.New()
			for _, name := range names {
				declare(b, br, name, args)
			}
			return float64(len(names)), br
		}
	}
	hold("idle-queue/impl=leveret", idle(nil))
	hold("idle-queue-ttl-dlx/impl=leveret", idle(leveret.Table{leveret.ArgMessageTTL: 1000,
		leveret.ArgDeadLetterExchange: "dlx"}))
	hold("queue-and-consumer/impl=leveret", func(b *testing.B) (float64, any) {
		br, before := leveret.New(), runtime.NumGoroutine()
		for _, name := range names {
			_, err := declare(b, br, name, nil).Consume(leveret.ConsumeConfig{})
			must(b, err)
		}
		b.ReportMetric(float64(runtime.NumGoroutine()-before)/float64(len(names)), "goroutines/each")
		return float64(len(names)), br
	})
}

// BenchmarkStart goes from nothing to the first message acknowledged.
func BenchmarkStart(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		br := leveret.New()
		q := declare(b, br, "q", nil)
		publish(b, br, "", "q")
		getAck(b, q)
		br.Close()
	}
}
