package bench_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
)

// Benchmarks of messages that die: rejected, expired, dropped for want of room.

// deadLetters declares queue "q", whose dead letters go through exchange "dlx" to queue "dead".
func deadLetters(b *testing.B, br *leveret.Broker, args leveret.Table) (q, dead *leveret.Queue) {
	_, err := br.DeclareExchange("dlx", leveret.Direct, leveret.ExchangeConfig{})
	must(b, err)
	if args == nil {
		args = leveret.Table{}
	}
	args[leveret.ArgDeadLetterExchange], args[leveret.ArgDeadLetterRoutingKey] = "dlx", "dead"
	q, dead = declare(b, br, "q", args), declare(b, br, "dead", nil)
	must(b, br.BindQueue("dead", "dlx", "dead", nil))
	return q, dead
}

// BenchmarkReject publishes, rejects, takes the dead letter and acknowledges it.
func BenchmarkReject(b *testing.B) {
	cycle := func(b *testing.B, connect func(*testing.B, *leveret.Broker) *leveret.Channel, read func(*leveret.Delivery)) {
		br := open(b)
		q, _ := deadLetters(b, br, nil)
		ch := connect(b, br)
		b.ReportAllocs()
		for b.Loop() {
			publish(b, br, "", "q")
			must(b, get(b, q).Reject(false))
			d, ok, err := ch.Get("dead", leveret.GetConfig{})
			if !ok {
				b.Fatal(err)
			}
			read(d)
			must(b, d.Ack())
		}
	}
	b.Run("headers=unread", func(b *testing.B) { cycle(b, listenerChannel, func(*leveret.Delivery) {}) })
	b.Run("headers=typed", func(b *testing.B) {
		cycle(b, listenerChannel, func(d *leveret.Delivery) {
			if len(d.Deaths()) != 1 {
				b.Fatal(d.Deaths())
			}
		})
	})
	b.Run("headers=table", func(b *testing.B) {
		cycle(b, guestChannel, func(d *leveret.Delivery) {
			if len(d.Headers) == 0 {
				b.Fatal("no headers")
			}
		})
	})
}

// BenchmarkFull publishes to a queue at its length limit, which drops its head.
func BenchmarkFull(b *testing.B) {
	limit := func() leveret.Table { return leveret.Table{leveret.ArgMaxLength: 1000} }
	b.Run("dead-letter=false", func(b *testing.B) {
		br := open(b)
		declare(b, br, "q", limit())
		b.ReportAllocs()
		for b.Loop() {
			publish(b, br, "", "q")
		}
	})
	b.Run("dead-letter=true", func(b *testing.B) { // the second queue is full too, so that it does not grow
		br := open(b)
		deadLetters(b, br, limit())
		must(b, br.SetPolicy(leveret.Policy{Name: "p", Pattern: "^dead$", ApplyTo: leveret.ApplyToQueues,
			Definition: leveret.Table{"max-length": 1000}}))
		b.ReportAllocs()
		for b.Loop() {
			publish(b, br, "", "q")
		}
	})
}

const million = 1_000_000

// round reports what n messages cost to set up and to work off. One op is all of them.
func round(b *testing.B, n int, set, fire time.Duration) {
	b.ReportMetric(float64(set)/float64(n), "set-ns")
	b.ReportMetric(float64(fire)/float64(n), "fire-ns")
}

// BenchmarkExpiry publishes a million messages, all due in the same second, and lets them
// expire on a virtual clock. The anchors take a million off a ring, and get and acknowledge
// as many. An expiry by time.AfterFunc, a timer a message, is what a queue does not do.
func BenchmarkExpiry(b *testing.B) {
	b.Run("impl=ring", func(b *testing.B) {
		for b.Loop() {
			r, t := new(ring), time.Now()
			for range million {
				r.put(&note{body: body100})
			}
			set := time.Since(t)
			for r.take() != nil {
			}
			round(b, million, set, time.Since(t)-set)
		}
	})
	b.Run("impl=AfterFunc", func(b *testing.B) {
		for b.Loop() {
			const timers = 250_000 // a million take seconds
			set, fire := afterFuncs(timers, 300*time.Millisecond)
			round(b, timers, set, fire)
		}
	})
	b.Run("impl=leveret-get-ack", func(b *testing.B) {
		br := open(b)
		q := bound(b, br, "q")[0]
		for b.Loop() {
			t := time.Now()
			for range million {
				publish(b, br, "q", "q")
			}
			set := time.Since(t)
			for range million {
				getAck(b, q)
			}
			round(b, million, set, time.Since(t)-set)
		}
	})
	for _, c := range []struct {
		queues int
		dlx    bool
	}{{1, false}, {1_000, false}, {100_000, false}, {1, true}, {1_000, true}, {100_000, true}} {
		b.Run(fmt.Sprintf("impl=leveret/queues=%d/dead-letter=%t", c.queues, c.dlx), func(b *testing.B) {
			for b.Loop() {
				expire(b, c.queues, c.dlx)
			}
		})
	}
}

func expire(b *testing.B, queues int, dlx bool) {
	clock := leveret.NewManualClock(time.Unix(1_700_000_000, 0))
	br := leveret.New(leveret.WithClock(clock))
	defer br.Close()
	dead := declare(b, br, "dead", nil)
	args := leveret.Table{leveret.ArgMessageTTL: 1000}
	if dlx {
		args[leveret.ArgDeadLetterExchange], args[leveret.ArgDeadLetterRoutingKey] = "", "dead"
	}
	names := benchQueueNames(queues)
	for _, name := range names {
		declare(b, br, name, args)
	}
	t := time.Now()
	for i := range million {
		publish(b, br, "", names[i%len(names)])
	}
	set := time.Since(t)
	clock.Advance(time.Second)
	round(b, million, set, time.Since(t)-set)
	c := br.Counters()
	if expired := c.NoDeadLetterExchange.Expired + c.DeadLetteredAtMostOnce.Expired; expired != million {
		b.Fatal(expired, "expired")
	}
	if n := dead.Info().Ready; dlx && n != million {
		b.Fatal(n, "dead letters")
	}
}

// afterFuncs sets n timers of the runtime for one instant and returns how long setting them
// took and how long after that instant the last one had fired.
func afterFuncs(n int, wait time.Duration) (set, fire time.Duration) {
	var fired atomic.Int64
	last := make(chan time.Time, 1)
	start := time.Now()
	due := start.Add(wait)
	for range n {
		time.AfterFunc(time.Until(due), func() {
			if fired.Add(1) == int64(n) {
				last <- time.Now()
			}
		})
	}
	set = time.Since(start)
	return set, (<-last).Sub(due)
}

// BenchmarkQueueTimers has 100,000 queues, each with one message and a deadline of its own.
// set-ns is the publish that arms a queue, fire-ns its expiry.
func BenchmarkQueueTimers(b *testing.B) {
	const n = 100_000
	b.Run("impl=AfterFunc", func(b *testing.B) {
		for b.Loop() {
			set, fire := afterFuncs(n, 200*time.Millisecond)
			round(b, n, set, fire)
		}
	})
	b.Run("impl=leveret", func(b *testing.B) {
		names := benchQueueNames(n)
		for b.Loop() {
			clock := leveret.NewManualClock(time.Unix(1_700_000_000, 0))
			br := leveret.New(leveret.WithClock(clock))
			r := rand.New(rand.NewPCG(1, 2))
			for _, name := range names {
				declare(b, br, name, leveret.Table{leveret.ArgMessageTTL: r.IntN(1_000_000)})
			}
			t := time.Now()
			for _, name := range names {
				publish(b, br, "", name)
			}
			set := time.Since(t)
			clock.Advance(time.Hour)
			round(b, n, set, time.Since(t)-set)
			if _, pending := br.NextDeadline(); pending {
				b.Fatal("timers left")
			}
			br.Close()
		}
	})
	b.Run("impl=leveret-expiration", func(b *testing.B) { // one queue, a deadline a message, ascending
		for b.Loop() {
			clock := leveret.NewManualClock(time.Unix(1_700_000_000, 0))
			br := leveret.New(leveret.WithClock(clock))
			declare(b, br, "q", nil)
			t := time.Now()
			for i := range n {
				_, err := br.Publish("", "q", leveret.Message{Body: body100,
					Properties: &leveret.Properties{Expiration: strconv.Itoa(i + 1)}})
				must(b, err)
			}
			set := time.Since(t)
			clock.Advance(time.Hour)
			round(b, n, set, time.Since(t)-set)
			br.Close()
		}
	})
}

// BenchmarkRetries simulates a service that fails twice with each message: three deliveries whose headers are read, two rejections
// and two waits of a second in another queue, on virtual time. An operation is a message.
func BenchmarkRetries(b *testing.B) {
	clock := leveret.NewManualClock(time.Unix(1_800_000_000, 0))
	br := leveret.New(leveret.WithClock(clock))
	defer br.Close()
	work := declare(b, br, "work", leveret.Table{leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "wait"})
	declare(b, br, "wait", leveret.Table{leveret.ArgMessageTTL: 1000, leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "work"})
	done := 0
	_, err := work.Consume(leveret.ConsumeConfig{Handler: func(d *leveret.Delivery) {
		if deaths, _ := d.Headers["x-death"].([]any); len(deaths) > 0 && deaths[0].(leveret.Table)["count"] == int64(2) {
			done++
			must(b, d.Ack())
			return
		}
		must(b, d.Reject(false))
	}})
	must(b, err)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		publish(b, br, "", "work")
		clock.Advance(time.Millisecond)
		n++
	}
	clock.Advance(3 * time.Second)
	if done != n {
		b.Fatalf("%d of %d messages are done", done, n)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "messages/s")
}
