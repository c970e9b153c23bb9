package bench_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/leveretmq/leveret"
)

// BenchmarkOpen opens a directory with many messages of 100 octets. It reports what each takes in memory, beside one of a broker
// without a directory.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			if n > 10_000 && testing.Short() {
				b.Skip("-short")
			}
			dir := b.TempDir()
			kept, err := leveret.Open(dir)
			must(b, err)
			withDirectory := fillDurable(b, kept, n)
			must(b, kept.Close())
			inMemory := leveret.New()
			without := fillDurable(b, inMemory, n)
			must(b, inMemory.Close())
			opened := 0.0
			for b.Loop() {
				before := heapInUse()
				again, err := leveret.Open(dir)
				must(b, err)
				b.StopTimer()
				opened = float64(heapInUse()-before) / float64(n)
				if found := again.Recovered().Messages; found != n {
					b.Fatalf("%d messages were found of %d", found, n)
				}
				must(b, again.Close())
				b.StartTimer()
			}
			b.ReportMetric(without, "B/message-in-memory")
			b.ReportMetric(withDirectory, "B/message-with-directory")
			b.ReportMetric(opened, "B/message-opened")
		})
	}
}

// BenchmarkDurable publishes persistent messages of 100 octets to a classic queue and acknowledges them, 1,000 messages behind, on
// a channel without confirms: in memory, and on a broker with a directory.
func BenchmarkDurable(b *testing.B) {
	for _, kind := range []string{"memory", "directory"} {
		b.Run("in="+kind, func(b *testing.B) {
			broker := leveret.New()
			if kind == "directory" {
				var err error
				broker, err = leveret.Open(b.TempDir())
				must(b, err)
			}
			defer broker.Close()
			ch := durableChannel(b, broker)
			publishDurable(b, ch, 1000)
			b.ReportAllocs()
			for b.Loop() {
				publishDurable(b, ch, 1)
				d, _, err := ch.Get("q", leveret.GetConfig{})
				must(b, err)
				must(b, d.Ack())
			}
		})
	}
}

func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func durableChannel(b *testing.B, broker *leveret.Broker) *leveret.Channel {
	_, err := broker.DeclareQueue("q", leveret.QueueConfig{Durable: true})
	must(b, err)
	conn, err := broker.Connect("guest", "guest", "/")
	must(b, err)
	ch, err := conn.Channel()
	must(b, err)
	return ch
}

// fillDurable publishes n messages and returns how many octets of memory each takes.
func fillDurable(b *testing.B, broker *leveret.Broker, n int) float64 {
	ch := durableChannel(b, broker)
	before := heapInUse()
	publishDurable(b, ch, n)
	return float64(heapInUse()-before) / float64(n)
}

func publishDurable(b *testing.B, ch *leveret.Channel, n int) {
	p := &leveret.Properties{DeliveryMode: 2}
	for range n {
		_, err := ch.Publish("", "q", leveret.Message{Properties: p, Body: make([]byte, 100)})
		must(b, err)
	}
}
