package bench_test

import (
	"context"
	"testing"

	"github.com/leveretmq/leveret"
)

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
	b.Run("impl=leveret-eight", func(b *testing.B) { // eight queues in turns
		br := open(b)
		names := benchQueueNames(8)
		qs := bound(b, br, names...)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			publish(b, br, names[0], names[i%8])
			getAck(b, qs[i%8])
		}
	})
	b.Run("impl=leveret-into", func(b *testing.B) { // the program brings its Delivery
		br := open(b)
		q := bound(b, br, "q")[0]
		var d leveret.Delivery
		b.ReportAllocs()
		for b.Loop() {
			publish(b, br, "q", "q")
			if _, ok, err := q.Get(leveret.GetConfig{Into: &d}); !ok {
				b.Fatal(err)
			}
			must(b, d.Ack())
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

// BenchmarkPublish publishes to an exchange without bindings: what is measured are the checks of a publish.
func BenchmarkPublish(b *testing.B) {
	run := func(name string, channel func(*testing.B, *leveret.Broker) *leveret.Channel, p *leveret.Properties) {
		b.Run(name, func(b *testing.B) {
			br := open(b)
			_, err := br.DeclareExchange("x", leveret.Direct, leveret.ExchangeConfig{})
			must(b, err)
			publish := func() error {
				_, err := br.Publish("x", "q", leveret.Message{Properties: p, Body: body100})
				return err
			}
			if channel != nil {
				ch := channel(b, br)
				publish = func() error {
					_, err := ch.Publish("x", "q", leveret.Message{Properties: p, Body: body100})
					return err
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				must(b, publish())
			}
		})
	}
	run("by=superuser", nil, nil)
	run("by=guest", guestChannel, nil)
	run("by=guest/properties", guestChannel, &leveret.Properties{DeliveryMode: 2, ContentType: "text/plain", MessageID: "1"})
}

// BenchmarkHeaders is a cycle of a message with three headers, which are read, or with another property.
func BenchmarkHeaders(b *testing.B) {
	run := func(name string, properties *leveret.Properties) {
		b.Run(name, func(b *testing.B) {
			br := open(b)
			q := bound(b, br, "q")[0]
			b.ReportAllocs()
			for b.Loop() {
				_, err := br.Publish("q", "q", leveret.Message{Properties: properties, Body: body100})
				must(b, err)
				d := get(b, q)
				if properties != nil && len(d.Headers) != len(properties.Headers) {
					b.Fatal(d.Headers)
				}
				must(b, d.Ack())
			}
		})
	}
	run("values=none", nil)
	run("values=empty", &leveret.Properties{})
	run("values=canonical", &leveret.Properties{Headers: leveret.Table{"tenant": "a", "attempt": int64(1), "urgent": true}})
	run("values=int", &leveret.Properties{Headers: leveret.Table{"tenant": "a", "attempt": 1, "urgent": true}})
	run("values=expiration", &leveret.Properties{Expiration: "3600000"})
}

// BenchmarkConsumer publishes to a queue with a consumer, which acknowledges, in one goroutine.
func BenchmarkConsumer(b *testing.B) {
	for _, reuse := range []bool{false, true} {
		suffix := ""
		if reuse {
			suffix = "-reuse"
		}
		b.Run("impl=handler"+suffix, func(b *testing.B) {
			br := open(b)
			q := bound(b, br, "q")[0]
			n := 0
			_, err := q.Consume(leveret.ConsumeConfig{Reuse: reuse, Handler: func(d *leveret.Delivery) { must(b, d.Ack()); n++ }})
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
		b.Run("impl=deliveries"+suffix, func(b *testing.B) {
			br := open(b)
			c, err := bound(b, br, "q")[0].Consume(leveret.ConsumeConfig{Reuse: reuse})
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
}
