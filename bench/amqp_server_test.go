package bench

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// An amqpRun is one benchmark of a server in a process of its own, through an unmodified client.
type amqpRun struct {
	b        *testing.B
	p        *process
	pub, sub *amqp.Channel
	q        string
	body     []byte
	cpu      [2]time.Duration // of the server and of this process, while the clock ran
}

const prefetch = 100

func openRun(b *testing.B, p *process, size int) *amqpRun {
	r := &amqpRun{b: b, p: p, q: fmt.Sprintf("bench-%d", time.Now().UnixNano()), body: make([]byte, size)}
	r.pub, r.sub = r.channel(), r.channel()
	check(b, r.sub.Qos(prefetch, 0, false))
	_, err := r.pub.QueueDeclare(r.q, false, false, false, false, amqp.Table{
		"x-dead-letter-exchange": "", "x-dead-letter-routing-key": r.q + "-dead"})
	check(b, err)
	_, err = r.pub.QueueDeclare(r.q+"-dead", false, false, false, false, nil)
	check(b, err)
	b.Cleanup(func() {
		for _, q := range []string{r.q, r.q + "-dead"} {
			_, err := r.pub.QueueDelete(q, false, false, false)
			check(b, err)
		}
	})
	return r
}

func (r *amqpRun) channel() *amqp.Channel {
	c, err := r.p.dial()
	check(r.b, err)
	r.b.Cleanup(func() { c.Close() })
	ch, err := c.Channel()
	check(r.b, err)
	return ch
}

// start and stop are around what counts.
func (r *amqpRun) start() { r.count(-1); r.b.StartTimer() }
func (r *amqpRun) stop()  { r.b.StopTimer(); r.count(1) }

func (r *amqpRun) count(sign time.Duration) {
	r.cpu[0] += sign * r.p.cpu()
	r.cpu[1] += sign * (&process{pid: os.Getpid()}).cpu()
}

func (r *amqpRun) send() {
	check(r.b, r.pub.PublishWithContext(ctx, "", r.q, false, false, amqp.Publishing{Body: r.body}))
}

// sync returns when the server has dealt with everything published.
func (r *amqpRun) sync() {
	_, err := r.pub.QueueDeclarePassive(r.q, false, false, false, false, nil)
	check(r.b, err)
}

// chunks calls f with parts of b.N, so that a server never holds more than 64 MiB.
func (r *amqpRun) chunks(f func(n int)) {
	limit := max(64<<20/len(r.body), 1)
	limit = min(limit, 50_000)
	for left := r.b.N; left > 0; left -= limit {
		f(min(left, limit))
	}
}

func (r *amqpRun) publish() {
	r.chunks(func(n int) {
		r.start()
		for range n {
			r.send()
		}
		r.sync()
		r.stop()
		_, err := r.pub.QueuePurge(r.q, false)
		check(r.b, err)
	})
}

// confirms publishes with at most prefetch messages unconfirmed.
func (r *amqpRun) confirms() {
	check(r.b, r.pub.Confirm(false))
	r.chunks(func(n int) {
		r.start()
		var waiting []*amqp.DeferredConfirmation
		for range n {
			d, err := r.pub.PublishWithDeferredConfirmWithContext(ctx, "", r.q, false, false, amqp.Publishing{Body: r.body})
			check(r.b, err)
			if waiting = append(waiting, d); len(waiting) >= prefetch {
				waiting[0].Wait()
				waiting = waiting[1:]
			}
		}
		for _, d := range waiting {
			d.Wait()
		}
		r.stop()
		_, err := r.pub.QueuePurge(r.q, false)
		check(r.b, err)
	})
}

func (r *amqpRun) deliveries(ch *amqp.Channel, q string) <-chan amqp.Delivery {
	in, err := ch.Consume(q, "", false, false, false, false, nil)
	check(r.b, err)
	return in
}

// consume takes and acknowledges what was published before.
func (r *amqpRun) consume() {
	in := r.deliveries(r.sub, r.q)
	r.chunks(func(n int) {
		for range n {
			r.send()
		}
		r.sync()
		r.start()
		for range n {
			check(r.b, (<-in).Ack(false))
		}
		r.stop()
	})
}

// deadLetter rejects what was published before, and takes and acknowledges the dead letters.
func (r *amqpRun) deadLetter() {
	in := r.deliveries(r.sub, r.q)
	deadSub := r.channel()
	check(r.b, deadSub.Qos(prefetch, 0, false))
	dead := r.deliveries(deadSub, r.q+"-dead")
	r.chunks(func(n int) {
		for range n {
			r.send()
		}
		r.sync()
		r.start()
		var wg sync.WaitGroup
		wg.Go(func() {
			for range n {
				check(r.b, (<-dead).Ack(false))
			}
		})
		for range n {
			check(r.b, (<-in).Reject(false))
		}
		wg.Wait()
		r.stop()
	})
}

// BenchmarkAMQP compares servers on loopback, and in memory. impl=null is what the client can do at most, impl=keep the
// same of a server that keeps what is published until it is delivered, as a broker has to; cpu-ns is the CPU time a
// message of client and server, server-cpu-ns the server's part: they suffer less than the time does from what else the
// machine is doing.
func BenchmarkAMQP(b *testing.B) {
	for _, net := range []struct {
		name    string
		servers func(testing.TB) []*process
	}{{"tcp", servers}, {"pipe", pipes}} {
		b.Run("net="+net.name, func(b *testing.B) { benchmarkAMQP(b, net.servers(b)) })
	}
}

// warm has a server's heap grow to what the benchmarks need, because memory that comes fresh from the operating system
// costs more than all the rest, once.
func warm(b *testing.B, p *process) {
	c, err := p.dial()
	check(b, err)
	ch, err := c.Channel()
	check(b, err)
	body := make([]byte, 64<<10)
	for range 4 {
		_, err := ch.QueueDeclare("warm", false, false, false, false, nil)
		check(b, err)
		for range 1024 {
			check(b, ch.PublishWithContext(ctx, "", "warm", false, false, amqp.Publishing{Body: body}))
		}
		_, err = ch.QueueDelete("warm", false, false, false)
		check(b, err)
	}
	check(b, c.Close())
}

func benchmarkAMQP(b *testing.B, all []*process) {
	// The client makes garbage of every body and has nothing else in memory: it would collect all the time.
	room := make([]byte, ballast)
	defer runtime.KeepAlive(room)
	for _, p := range all {
		warm(b, p)
	}
	for _, m := range []struct {
		name string
		run  func(*amqpRun)
	}{{"publish", (*amqpRun).publish}, {"confirm", (*amqpRun).confirms}, {"consume", (*amqpRun).consume}, {"dead-letter", (*amqpRun).deadLetter}} {
		for _, size := range []int{100, 1 << 10, 64 << 10} {
			for _, p := range all {
				b.Run(fmt.Sprintf("mode=%s/body=%d/impl=%s", m.name, size, p.name), func(b *testing.B) {
					b.StopTimer()
					b.ResetTimer()
					r := openRun(b, p, size)
					m.run(r)
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
					b.ReportMetric(float64(r.cpu[0]+r.cpu[1])/float64(b.N), "cpu-ns")
					if p.pid != 0 {
						b.ReportMetric(float64(r.cpu[0])/float64(b.N), "server-cpu-ns")
					}
				})
			}
		}
	}
}

// BenchmarkAMQPStart goes from starting the server's process to the first connection.
func BenchmarkAMQPStart(b *testing.B) {
	startServer(b, "leveret").stop() // builds it
	for b.Loop() {
		p := startServer(b, "leveret")
		c, err := amqp.Dial(p.url)
		check(b, err)
		b.StopTimer()
		c.Close()
		p.stop()
		b.StartTimer()
	}
}

// BenchmarkAMQPConnections reports the server's memory for each of 10,000 idle connections, and
// for each of 1,000 that publish and consume. One op is all of them. It needs as many file
// descriptors in this process as in the server's. RabbitMQ gets 1,000 in both cases: more take it minutes.
func BenchmarkAMQPConnections(b *testing.B) {
	for _, kind := range []string{"leveret", "rabbit"} {
		if kind == "rabbit" && (rabbitURL == "" || (&process{pid: rabbitPID()}).resident() == 0) {
			continue
		}
		idle := 10_000
		if kind == "rabbit" {
			idle = 1_000
		}
		b.Run("state=idle/impl="+kind, func(b *testing.B) { connections(b, kind, idle, nil) })
		b.Run("state=busy/impl="+kind, func(b *testing.B) { connections(b, kind, 1_000, busy) })
	}
}

func connections(b *testing.B, kind string, n int, use func(*testing.B, *amqp.Connection)) {
	b.Setenv("GOGC", "100") // leveret serve lets more garbage gather, which is not the connections'
	for b.Loop() {
		p := &process{name: kind, url: rabbitURL, pid: rabbitPID()}
		if kind == "leveret" {
			p = startServer(b, kind)
		}
		before := p.resident()
		open := make([]*amqp.Connection, 0, n)
		for range n {
			c, err := amqp.Dial(p.url)
			if err != nil {
				b.Skipf("%d connections: %v", len(open), err)
			}
			open = append(open, c)
		}
		if use != nil {
			var wg sync.WaitGroup
			for _, c := range open {
				wg.Go(func() { use(b, c) })
			}
			wg.Wait()
		}
		b.ReportMetric(float64(p.resident()-before)/float64(n), "B/connection")
		for _, c := range open {
			c.Close()
		}
		p.stop()
	}
}

// busy moves a hundred messages through a queue of the connection's own.
func busy(b *testing.B, c *amqp.Connection) {
	ch, err := c.Channel()
	check(b, err)
	q, err := ch.QueueDeclare("", false, false, true, false, nil)
	check(b, err)
	in, err := ch.Consume(q.Name, "", false, true, false, false, nil)
	check(b, err)
	for range 100 {
		check(b, ch.PublishWithContext(ctx, "", q.Name, false, false, amqp.Publishing{Body: bodies[1024]}))
		check(b, (<-in).Ack(false))
	}
}
