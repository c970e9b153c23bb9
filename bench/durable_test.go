package bench

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// BenchmarkDurable publishes persistent messages to a durable queue, with at most so many unconfirmed. impl=leveret keeps them in
// a directory and confirms when RabbitMQ's release does, which is after the sync but for the classic queues of 4.3; impl=memory is
// leveret without a directory. p99-ns is the time from a publish to its confirm that one message of a hundred exceeds.
func BenchmarkDurable(b *testing.B) {
	room := make([]byte, ballast)
	defer runtime.KeepAlive(room)
	all := durableServers(b)
	for _, p := range all {
		warm(b, p)
	}
	for _, kind := range []string{"classic", "quorum"} {
		for _, outstanding := range []int{1, 100, 1000} {
			for _, size := range []int{100, 1 << 10, 64 << 10} {
				for _, p := range all {
					b.Run(fmt.Sprintf("queue=%s/outstanding=%d/body=%d/impl=%s", kind, outstanding, size, p.name), func(b *testing.B) {
						b.StopTimer()
						b.ResetTimer()
						r := openDurableRun(b, p, kind, size)
						took := r.durable(outstanding)
						slices.Sort(took)
						b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
						b.ReportMetric(float64(took[(len(took)-1)*99/100]), "p99-ns")
						if p.pid != 0 {
							b.ReportMetric(float64(r.cpu[0])/float64(b.N), "server-cpu-ns")
						}
					})
				}
			}
		}
	}
}

// durableServers are leveret with a directory and without, and, if it is named, RabbitMQ. leveret has RabbitMQ's profile.
func durableServers(b *testing.B) []*process {
	profile := "4.3"
	if rabbitURL != "" {
		profile = rabbitProfile(b)
	}
	dir, err := os.MkdirTemp(os.Getenv("BENCH_DATA"), "leveret")
	check(b, err)
	b.Cleanup(func() { os.RemoveAll(dir) })
	all := []*process{
		startServer(b, "leveret", "--profile", profile),
		startServer(b, "leveret", "--profile", profile, "--data", dir, "--sync", "as-rabbitmq"),
	}
	all[0].name = "memory"
	for _, p := range all {
		b.Cleanup(p.stop)
	}
	if rabbitURL != "" {
		all = append(all, &process{name: "rabbit", url: rabbitURL, pid: rabbitPID()})
	}
	return all
}

func rabbitProfile(b *testing.B) string {
	c, err := amqp.Dial(rabbitURL)
	check(b, err)
	defer c.Close()
	if version, _ := c.Properties["version"].(string); strings.HasPrefix(version, "3.") {
		return "3.10"
	}
	return "4.3"
}

func openDurableRun(b *testing.B, p *process, kind string, size int) *amqpRun {
	r := &amqpRun{b: b, p: p, q: fmt.Sprintf("bench-%d", time.Now().UnixNano()), body: make([]byte, size)}
	r.pub = r.channel()
	_, err := r.pub.QueueDeclare(r.q, true, false, false, false, amqp.Table{"x-queue-type": kind})
	check(b, err)
	b.Cleanup(func() {
		_, err := r.pub.QueueDelete(r.q, false, false, false)
		check(b, err)
	})
	check(b, r.pub.Confirm(false))
	return r
}

// durable publishes with at most outstanding messages unconfirmed, and returns how long each confirm took.
func (r *amqpRun) durable(outstanding int) []time.Duration {
	type published struct {
		at        time.Time
		confirmed *amqp.DeferredConfirmation
	}
	took := make([]time.Duration, 0, r.b.N)
	free := make(chan struct{}, outstanding)
	r.chunks(func(n int) {
		waiting, done := make(chan published, outstanding), make(chan bool)
		go func() {
			all := true
			for m := range waiting {
				all = m.confirmed.Wait() && all
				took = append(took, time.Since(m.at))
				<-free
			}
			done <- all
		}()
		r.start()
		for range n {
			free <- struct{}{}
			at := time.Now()
			d, err := r.pub.PublishWithDeferredConfirmWithContext(ctx, "", r.q, false, false,
				amqp.Publishing{DeliveryMode: amqp.Persistent, Body: r.body})
			check(r.b, err)
			waiting <- published{at, d}
		}
		close(waiting)
		all := <-done
		r.stop()
		if !all {
			r.b.Fatal("not every message was confirmed")
		}
		_, err := r.pub.QueuePurge(r.q, false)
		check(r.b, err)
	})
	return took
}
