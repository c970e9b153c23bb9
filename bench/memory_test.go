package bench

import (
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"
	"github.com/nats-io/nats.go"
	amqp "github.com/rabbitmq/amqp091-go"
)

func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// BenchmarkMemory: bytes held a queued message of 100 B, each with a body of its own, and
// what one full garbage collection over them takes. Run with -benchtime=1x.
func BenchmarkMemory(b *testing.B) {
	hold := func(name string, n int, fill func(b *testing.B, n int) (keep any, done func())) {
		b.Run("impl="+name, func(b *testing.B) {
			h0 := heapInUse()
			keep, done := fill(b, n)
			h1 := heapInUse()
			t0 := time.Now()
			runtime.GC()
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(h1-h0)/float64(n), "B/msg")
			b.ReportMetric(float64(time.Since(t0).Microseconds())/1000, "gc-ms")
			runtime.KeepAlive(keep)
			if done != nil {
				done()
			}
		})
	}
	body := bodies[100]
	sys := func(open func(testing.TB, int) system) func(*testing.B, int) (any, func()) {
		return func(b *testing.B, n int) (any, func()) {
			s := open(b, 1)
			for range n {
				s.publish(0, body)
			}
			return s, s.close
		}
	}
	hold("bodies-only", million, func(b *testing.B, n int) (any, func()) {
		s := make([][]byte, n)
		for i := range s {
			s[i] = append([]byte(nil), body...)
		}
		return s, nil
	})
	hold("chan-copy", million, func(b *testing.B, n int) (any, func()) {
		c := make(chan *lmsg, n)
		for range n {
			c <- copyMsg(body)
		}
		return c, nil
	})
	boxed := func(mk func() fifo) func(*testing.B, int) (any, func()) {
		return func(b *testing.B, n int) (any, func()) {
			x := openBoxes(mk)(b, 1).(boxes)[0]
			for range n {
				x.put(copyMsg(body))
			}
			return x, nil
		}
	}
	hold("ring-copy", million, boxed(func() fifo { return new(ring) }))
	hold("list-copy", million, boxed(func() fifo { return new(linked) }))
	hold("leveret", million, sys(openLeveret(leveretOptions{copy: true})))
	hold("leveret-unacked", million, func(b *testing.B, n int) (any, func()) {
		s := openLeveret(leveretOptions{copy: true})(b, 1).(*leveretSys)
		for range n {
			s.publish(0, body)
			s.take(0)
		}
		return s, s.close
	})
	hold("leveret-fan10", million/10, func(b *testing.B, n int) (any, func()) {
		s := openLeveret(leveretOptions{copy: true})(b, 10).(*leveretSys)
		for range n {
			s.publishAll(body)
		}
		return s, s.close
	})
	hold("timer-AfterFunc", million, func(b *testing.B, n int) (any, func()) {
		ts := make([]*time.Timer, n)
		for i := range ts {
			ts[i] = time.AfterFunc(time.Hour, func() {})
		}
		return ts, func() {
			for _, t := range ts {
				t.Stop()
			}
		}
	})
	hold("js-memory", million, func(b *testing.B, n int) (any, func()) {
		s := openJS(true, false)(b, 1).(*natsJS)
		for range n {
			s.publish(0, body)
		}
		<-s.pub.PublishAsyncComplete()
		return s, s.close
	})
	hold("nats-client-pending", million, func(b *testing.B, n int) (any, func()) {
		srv, conn := natsServer(b, false)
		nc, pub := conn(), conn()
		release := make(chan struct{})
		sub, err := nc.Subscribe("q", func(*nats.Msg) { <-release })
		check(b, err)
		check(b, sub.SetPendingLimits(-1, -1))
		check(b, nc.Flush())
		for i := range n {
			check(b, pub.Publish("q", body))
			if i%1000 == 0 {
				check(b, pub.Flush())
			}
		}
		check(b, pub.Flush())
		for {
			if p, _, _ := sub.Pending(); p >= n-1 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		return []any{srv, nc, sub}, func() { close(release); nc.Close(); pub.Close(); srv.Shutdown() }
	})
	hold("watermill-buffered", million/10, func(b *testing.B, n int) (any, func()) {
		g := gochannel.NewGoChannel(gochannel.Config{OutputChannelBuffer: int64(n)}, nil)
		c, err := g.Subscribe(ctx, "q")
		check(b, err)
		for range n {
			check(b, g.Publish("q", message.NewMessage("id", append([]byte(nil), body...))))
		}
		time.Sleep(time.Second)
		return []any{g, c}, func() { g.Close() }
	})
}

// BenchmarkRabbitTTL: 200k messages whose expirations all fall on one instant.
// fire-ns: a message, from that instant till the queue is empty (and, with a dead-letter
// exchange, the second queue full).
func BenchmarkRabbitTTL(b *testing.B) {
	if rabbitURL == "" {
		b.Skip("no rabbit")
	}
	const n = 200_000
	for _, dlx := range []bool{false, true} {
		b.Run("dlx="+strconv.FormatBool(dlx), func(b *testing.B) {
			queues := 1
			if dlx {
				queues = 2
			}
			s := openAMQP(rabbitURL, 500, true)(b, queues).(*amqpSys)
			defer s.close()
			due := time.Now().Add(15 * time.Second)
			t0 := time.Now()
			for range n {
				d, err := s.pub[0].PublishWithDeferredConfirm("", s.n[0], false, false, amqp.Publishing{
					Body: bodies[100], Expiration: strconv.FormatInt(time.Until(due).Milliseconds(), 10)})
				check(b, err)
				w := append(s.waiting[0], d)
				for len(w) > 500 {
					w[0].Wait()
					w = w[1:]
				}
				s.waiting[0] = w
			}
			set := time.Since(t0)
			if time.Now().After(due) {
				b.Fatal("publishing took longer than the expiration")
			}
			time.Sleep(time.Until(due))
			for {
				q, err := s.pub[0].QueueDeclarePassive(s.n[queues-1], false, false, false, false, nil)
				check(b, err)
				if !dlx && q.Messages == 0 || dlx && q.Messages == n {
					break
				}
				time.Sleep(2 * time.Millisecond)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(set)/n, "set-ns")
			b.ReportMetric(float64(time.Since(due))/n, "fire-ns")
		})
	}
}

// BenchmarkStartup: from nothing to the first message received and acknowledged.
func BenchmarkStartup(b *testing.B) {
	for _, p := range peers {
		switch p.name {
		case "chan", "nats", "js-sync", "watermill", "mochi", "leveret":
			b.Run("impl="+p.name, func(b *testing.B) {
				for b.Loop() {
					s := p.open(b, 1)
					s.publish(0, bodies[100])
					s.getAck(0)
					b.StopTimer()
					s.close()
					b.StartTimer()
				}
			})
		}
	}
}

// BenchmarkGoroutines: goroutines and bytes a queue, over
// 1000 idle queues with a consumer each.
func BenchmarkGoroutines(b *testing.B) {
	const n = 1000
	buffer = 2
	defer func() { buffer = 1024 }()
	count := func(b *testing.B, open func(testing.TB, int) system, base func() int) {
		g0, h0 := base(), heapInUse()
		s := open(b, n)
		time.Sleep(300 * time.Millisecond)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(base()-g0)/n, "goroutines/queue")
		b.ReportMetric(float64(heapInUse()-h0)/n, "B/queue")
		runtime.KeepAlive(s)
		s.close()
	}
	for _, p := range peers {
		switch p.name {
		case "chan", "nats", "js-sync", "watermill", "mochi", "leveret":
			b.Run("impl="+p.name, func(b *testing.B) { count(b, p.open, runtime.NumGoroutine) })
		}
	}
	b.Run("impl=nats-callback", func(b *testing.B) {
		count(b, func(tb testing.TB, n int) system {
			srv, conn := natsServer(tb, false)
			nc := conn()
			for _, q := range names(n) {
				_, err := nc.Subscribe(q, func(*nats.Msg) {})
				check(tb, err)
			}
			check(tb, nc.Flush())
			return &natsCore{tb: tb, s: srv, pub: nc}
		}, runtime.NumGoroutine)
	})
	b.Run("impl=leveret-consumer", func(b *testing.B) { count(b, openLeveret(leveretOptions{push: true}), runtime.NumGoroutine) })
}
