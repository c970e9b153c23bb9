package bench_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/leveretmq/leveret"
)

// BenchmarkPipe has a producer and a consumer in goroutines of their own.
func BenchmarkPipe(b *testing.B) {
	b.Run("impl=chan", func(b *testing.B) { chanPipe(b.N) })
	b.Run("impl=ring", func(b *testing.B) { ringPipe(b.N) })
	b.Run("impl=leveret", func(b *testing.B) {
		br := open(b)
		q := bound(b, br, "q")[0]
		b.ReportAllocs()
		b.ResetTimer()
		consumerPipe(b, br, "q", q, b.N)
	})
	b.Run("impl=leveret-get", func(b *testing.B) {
		br := open(b)
		q := bound(b, br, "q")[0]
		b.ReportAllocs()
		b.ResetTimer()
		getPipe(b, br, q, b.N)
	})
}

// BenchmarkPairs has eight producers and consumers on eight queues: in one virtual host, and
// in eight.
func BenchmarkPairs(b *testing.B) {
	const pairs = 8
	each := func(b *testing.B, f func(i, n int)) {
		b.ResetTimer()
		var wg sync.WaitGroup
		for i := range pairs {
			wg.Go(func() { f(i, (b.N+pairs-1)/pairs) })
		}
		wg.Wait()
	}
	b.Run("impl=chan", func(b *testing.B) { each(b, func(_, n int) { chanPipe(n) }) })
	b.Run("impl=ring", func(b *testing.B) { each(b, func(_, n int) { ringPipe(n) }) })
	b.Run("impl=leveret", func(b *testing.B) {
		br := open(b)
		qs := bound(b, br, benchQueueNames(pairs)...)
		b.ReportAllocs()
		each(b, func(i, n int) { consumerPipe(b, br, "queue-0", qs[i], n) })
	})
	b.Run("impl=leveret-vhosts", func(b *testing.B) {
		br := open(b)
		vs := make([]*leveret.VHost, pairs)
		qs := make([]*leveret.Queue, pairs)
		for i, name := range benchQueueNames(pairs) {
			var err error
			vs[i], err = br.CreateVHost(name)
			must(b, err)
			qs[i], err = vs[i].DeclareQueue("q", leveret.QueueConfig{})
			must(b, err)
		}
		b.ReportAllocs()
		each(b, func(i, n int) { vhostPipe(b, vs[i], qs[i], n) })
	})
}

// pipe runs a producer and a consumer with at most window messages between them. Credits come
// back in batches, to keep the harness cheap.
func pipe(n int, produce func(), consume func(n int, done func())) {
	const batch = 32
	credits := make(chan struct{}, window/batch)
	for range window / batch {
		credits <- struct{}{}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		i := 0
		consume(n, func() {
			if i++; i%batch == 0 {
				credits <- struct{}{}
			}
		})
	}()
	for i := range n {
		if i%batch == 0 {
			<-credits
		}
		produce()
	}
	<-ended
}

func chanPipe(n int) {
	c, m := make(chan *note, 1024), new(note)
	pipe(n, func() { c <- m }, func(n int, done func()) {
		for range n {
			<-c
			done()
		}
	})
}

func ringPipe(n int) {
	r := new(ring)
	pipe(n, func() { r.put(&note{key: "q", body: body100}) }, func(n int, done func()) {
		for range n {
			for r.take() == nil {
				runtime.Gosched()
			}
			done()
		}
	})
}

// consumerPipe moves n messages through a queue with a consumer.
func consumerPipe(b *testing.B, br *leveret.Broker, exchange string, q *leveret.Queue, n int) {
	c, err := q.Consume(leveret.ConsumeConfig{})
	must(b, err)
	pipe(n, func() { publish(b, br, exchange, q.Name()) }, func(n int, done func()) {
		for d := range c.Deliveries(context.Background()) {
			if err := d.Ack(); err != nil {
				b.Error(err)
			}
			done()
			if n--; n == 0 {
				break
			}
		}
	})
	must(b, c.Cancel())
}

// getPipe moves n messages through a queue that is polled.
func getPipe(b *testing.B, br *leveret.Broker, q *leveret.Queue, n int) {
	pipe(n, func() { publish(b, br, q.Name(), q.Name()) }, func(n int, done func()) {
		for n > 0 {
			d, ok, _ := q.Get()
			if !ok {
				runtime.Gosched()
				continue
			}
			if err := d.Ack(); err != nil {
				b.Error(err)
			}
			done()
			n--
		}
	})
}

func vhostPipe(b *testing.B, v *leveret.VHost, q *leveret.Queue, n int) {
	c, err := q.Consume(leveret.ConsumeConfig{})
	must(b, err)
	pipe(n, func() {
		if _, err := v.Publish("", q.Name(), leveret.Message{Body: body100}); err != nil {
			b.Error(err)
		}
	}, func(n int, done func()) {
		for d := range c.Deliveries(context.Background()) {
			if err := d.Ack(); err != nil {
				b.Error(err)
			}
			done()
			if n--; n == 0 {
				break
			}
		}
	})
	must(b, c.Cancel())
}
