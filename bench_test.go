package leveret_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/leveretmq/leveret"
)

// Benchmarks of what a message costs. Only ratios carry over to other machines, so each group
// measures its anchors in the same run: impl=chan sends a ready pointer over a buffered
// channel, impl=ring is a mutex around a ring buffer of freshly allocated messages. One op is
// one published message unless the benchmark says otherwise.

var body100 = make([]byte, 100)

const window = 256 // messages in flight between a producer and a consumer

// open returns a broker that is checked and closed at the end of the benchmark.
func open(b *testing.B, opts ...leveret.Option) *leveret.Broker {
	b.Helper()
	br := leveret.New(opts...)
	b.Cleanup(func() {
		if err := br.Check(); err != nil {
			b.Error(err)
		}
		br.Close()
	})
	return br
}

func must(b *testing.B, err error) {
	if err != nil {
		b.Helper()
		b.Fatal(err)
	}
}

func declare(b *testing.B, br *leveret.Broker, name string, args leveret.Table) *leveret.Queue {
	q, err := br.DeclareQueue(name, leveret.QueueConfig{Arguments: args})
	must(b, err)
	return q
}

// bound declares queues that a direct exchange named as the first reaches by their names.
func bound(b *testing.B, br *leveret.Broker, names ...string) []*leveret.Queue {
	_, err := br.DeclareExchange(names[0], leveret.Direct, leveret.ExchangeConfig{})
	must(b, err)
	qs := make([]*leveret.Queue, len(names))
	for i, n := range names {
		qs[i] = declare(b, br, n, nil)
		must(b, br.BindQueue(n, names[0], n, nil))
	}
	return qs
}

func publish(b *testing.B, br *leveret.Broker, exchange, key string) {
	out, err := br.Publish(exchange, key, leveret.Message{Body: body100})
	if err != nil || out.Queues == 0 || out.Rejected {
		b.Fatal(out, err)
	}
}

func get(b *testing.B, q *leveret.Queue) *leveret.Delivery {
	d, ok, err := q.Get()
	if !ok {
		b.Fatal("empty queue", err)
	}
	return d
}

func getAck(b *testing.B, q *leveret.Queue) { must(b, get(b, q).Ack()) }

func benchQueueNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "queue-" + strconv.Itoa(i)
	}
	return names
}

// A note is the message of the anchors, as large as the engine's.
type note struct {
	_, key string
	body   []byte
	_      *leveret.Properties
}

// A ring is the anchor: a mutex around a ring buffer.
type ring struct {
	mu         sync.Mutex
	buf        []*note
	head, tail int
}

func (r *ring) put(m *note) {
	r.mu.Lock()
	if r.tail-r.head == len(r.buf) {
		wider := make([]*note, max(64, 2*len(r.buf)))
		for i := r.head; i < r.tail; i++ {
			wider[i&(len(wider)-1)] = r.buf[i&(len(r.buf)-1)]
		}
		r.buf = wider
	}
	r.buf[r.tail&(len(r.buf)-1)] = m
	r.tail++
	r.mu.Unlock()
}

// take returns nil if the ring is empty.
func (r *ring) take() (m *note) {
	r.mu.Lock()
	if r.head < r.tail {
		p := &r.buf[r.head&(len(r.buf)-1)]
		m, *p = *p, nil
		r.head++
	}
	r.mu.Unlock()
	return m
}

// BenchmarkCycle publishes, gets and acknowledges, in one goroutine.
func BenchmarkCycle(b *testing.B) {
	b.Run("impl=chan", func(b *testing.B) {
		c, m := make(chan *note, window), new(note)
		b.ReportAllocs()
		for b.Loop() {
			c <- m
			<-c
		}
	})
	b.Run("impl=ring", func(b *testing.B) {
		r := new(ring)
		b.ReportAllocs()
		for b.Loop() {
			r.put(&note{key: "q", body: body100})
			r.take()
		}
	})
	b.Run("impl=leveret", func(b *testing.B) {
		br := open(b)
		q := bound(b, br, "q")[0]
		b.ReportAllocs()
		for b.Loop() {
			publish(b, br, "q", "q")
			getAck(b, q)
		}
	})
	b.Run("impl=leveret-channel", func(b *testing.B) { // a client's channel, permissions asked for
		br := open(b)
		bound(b, br, "q")
		ch := guestChannel(b, br)
		b.ReportAllocs()
		for b.Loop() {
			_, err := ch.Publish("q", "q", leveret.Message{Body: body100})
			must(b, err)
			d, ok, err := ch.Get("q", leveret.GetConfig{})
			if !ok {
				b.Fatal(err)
			}
			must(b, d.Ack())
		}
	})
	b.Run("impl=leveret-copy", func(b *testing.B) { // each message a body of its own
		br := open(b)
		q := bound(b, br, "q")[0]
		b.ReportAllocs()
		for b.Loop() {
			_, err := br.Publish("q", "q", leveret.Message{Body: append([]byte(nil), body100...)})
			must(b, err)
			getAck(b, q)
		}
	})
}

func guestChannel(b *testing.B, br *leveret.Broker) *leveret.Channel {
	c, err := br.Connect("guest", "guest", "/")
	must(b, err)
	ch, err := c.Channel()
	must(b, err)
	return ch
}

// BenchmarkConsumer publishes to a queue with a consumer, which acknowledges, in one goroutine.
func BenchmarkConsumer(b *testing.B) {
	b.Run("impl=handler", func(b *testing.B) {
		br := open(b)
		q := bound(b, br, "q")[0]
		n := 0
		_, err := q.Consume(leveret.ConsumeConfig{Handler: func(d *leveret.Delivery) { must(b, d.Ack()); n++ }})
		must(b, err)
		b.ReportAllocs()
		published := 0
		for b.Loop() {
			publish(b, br, "q", "q")
			published++
		}
		if n != published {
			b.Fatal(n, published)
		}
	})
	b.Run("impl=deliveries", func(b *testing.B) {
		br := open(b)
		c, err := bound(b, br, "q")[0].Consume(leveret.ConsumeConfig{})
		must(b, err)
		b.ReportAllocs()
		publish(b, br, "q", "q")
		for d := range c.Deliveries(context.Background()) {
			must(b, d.Ack())
			if !b.Loop() {
				break
			}
			publish(b, br, "q", "q")
		}
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

// BenchmarkFanout publishes one message to ten queues and takes all ten.
func BenchmarkFanout(b *testing.B) {
	const queues = 10
	b.Run("impl=chan", func(b *testing.B) {
		var cs [queues]chan *note
		for i := range cs {
			cs[i] = make(chan *note, window)
		}
		m := new(note)
		for b.Loop() {
			for _, c := range cs {
				c <- m
			}
			for _, c := range cs {
				<-c
			}
		}
	})
	b.Run("impl=leveret", func(b *testing.B) {
		br := open(b)
		_, err := br.DeclareExchange("x", leveret.Fanout, leveret.ExchangeConfig{})
		must(b, err)
		var qs [queues]*leveret.Queue
		for i, name := range benchQueueNames(queues) {
			qs[i] = declare(b, br, name, nil)
			must(b, br.BindQueue(name, "x", "", nil))
		}
		b.ReportAllocs()
		for b.Loop() {
			publish(b, br, "x", "")
			for _, q := range qs {
				getAck(b, q)
			}
		}
	})
}

// BenchmarkTopic publishes by keys that each match one of many bindings, all to one queue.
func BenchmarkTopic(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("bindings=%d", n), func(b *testing.B) {
			br := open(b)
			_, err := br.DeclareExchange("x", leveret.Topic, leveret.ExchangeConfig{})
			must(b, err)
			q := declare(b, br, "q", nil)
			for i := range n {
				pattern, _ := topicPair(i)
				must(b, br.BindQueue("q", "x", pattern, nil))
			}
			r := rand.New(rand.NewPCG(1, 2))
			keys := make([]string, 8192)
			for i := range keys {
				_, keys[i] = topicPair(r.IntN(n))
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				publish(b, br, "x", keys[i%len(keys)])
				getAck(b, q)
				i++
			}
		})
	}
}

// topicPair returns a binding key and a routing key that matches it and no other.
func topicPair(i int) (pattern, key string) {
	k := "k" + strconv.Itoa(i)
	switch i % 4 {
	case 0:
		return k + ".x.y", k + ".x.y"
	case 1:
		return k + ".*.y", k + ".z.y"
	case 2:
		return k + ".#", k + ".a.b.c"
	}
	return "*." + k + ".y", "q." + k + ".y"
}
