package bench

import (
	"encoding/base64"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	amqp "github.com/rabbitmq/amqp091-go"
)

// BenchmarkLatency measures how long messages of 100 bytes take, with few in flight, so that every wait counts: mode=confirm from publish to
// confirm, mode=deliver from publish on one connection to delivery on another. If BENCH_HISTOGRAMS names a file, each case appends a line
// to it: its name and its histogram, in ns, encoded as HdrHistogram does.
func BenchmarkLatency(b *testing.B) {
	all := servers(b)
	for _, p := range all {
		warm(b, p)
	}
	for _, m := range []struct {
		name string
		run  func(r *amqpRun, inFlight int, took *hdrhistogram.Histogram)
	}{{"confirm", (*amqpRun).timeConfirms}, {"deliver", (*amqpRun).timeDeliveries}} {
		for _, inFlight := range []int{1, 8, 64} {
			for _, p := range all {
				if m.name == "deliver" && p.name == "null" {
					continue // what it delivers is not what was published
				}
				took := hdrhistogram.New(1000, time.Minute.Nanoseconds(), 3)
				name := fmt.Sprintf("mode=%s/in-flight=%d/impl=%s", m.name, inFlight, p.name)
				b.Run(name, func(b *testing.B) {
					b.StopTimer()
					b.ResetTimer()
					took.Reset()
					m.run(openRun(b, p, 100), inFlight, took)
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
					b.ReportMetric(float64(took.ValueAtQuantile(50)), "p50-ns")
					b.ReportMetric(float64(took.ValueAtQuantile(99)), "p99-ns")
				})
				keepHistogram(b, name, took)
			}
		}
	}
}

func keepHistogram(b *testing.B, name string, took *hdrhistogram.Histogram) {
	file := os.Getenv("BENCH_HISTOGRAMS")
	if file == "" || took.TotalCount() == 0 {
		return
	}
	payload, err := took.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	check(b, err)
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	check(b, err)
	defer f.Close()
	_, err = fmt.Fprintf(f, "%s %s\n", name, base64.StdEncoding.EncodeToString(payload))
	check(b, err)
}

// timeConfirms publishes with at most inFlight messages unconfirmed.
func (r *amqpRun) timeConfirms(inFlight int, took *hdrhistogram.Histogram) {
	check(r.b, r.pub.Confirm(false))
	confirms := r.pub.NotifyPublish(make(chan amqp.Confirmation, inFlight))
	r.chunks(func(n int) {
		r.timed(n, inFlight, took, func(answered func()) {
			<-confirms
			answered()
		})
		_, err := r.pub.QueuePurge(r.q, false)
		check(r.b, err)
	})
}

// timeDeliveries publishes with at most inFlight messages that have not come back.
func (r *amqpRun) timeDeliveries(inFlight int, took *hdrhistogram.Histogram) {
	in := r.deliveries(r.sub, r.q)
	r.timed(r.b.N, inFlight, took, func(answered func()) {
		d := <-in
		answered()
		check(r.b, d.Ack(false))
	})
}

// timed publishes n messages, with at most inFlight that have no answer, and records how long each took. answer waits for the next
// answer and calls answered when it is there.
func (r *amqpRun) timed(n, inFlight int, took *hdrhistogram.Histogram, answer func(answered func())) {
	times := make(chan time.Time, inFlight)
	free := make(chan struct{}, inFlight)
	done := make(chan struct{})
	r.start()
	go func() {
		defer close(done)
		for range n {
			answer(func() { check(r.b, took.RecordValue(time.Since(<-times).Nanoseconds())) })
			<-free
		}
	}()
	for range n {
		free <- struct{}{}
		times <- time.Now()
		r.send()
	}
	<-done
	r.stop()
}
