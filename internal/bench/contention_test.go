package bench_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/leveretmq/leveret"
)

// BenchmarkContention has sixteen goroutines publish to eight queues, receive and acknowledge, and one goroutine alone, in turns. It
// prints how many times as many messages a second the sixteen manage, as the median of the turns. The anchor impl=chan tells what the
// machine has to give; impl=leveret-vhosts has a virtual host for each queue, impl=leveret-batch publishes, gets and acknowledges sixteen
// messages at a time. The processors that are used are powers of two, up to those of the machine.
func BenchmarkContention(b *testing.B) {
	for _, c := range []struct {
		name string
		open func(b *testing.B) (cycles []func())
	}{
		{"chan", chanCycles},
		{"leveret", func(b *testing.B) []func() {
			v, err := open(b).VHost("/")
			must(b, err)
			return hostCycles(b, func(string) *leveret.VHost { return v })
		}},
		{"leveret-batch", func(b *testing.B) []func() {
			v, err := open(b).VHost("/")
			must(b, err)
			return batchCycles(b, v)
		}},
		{"leveret-vhosts", func(b *testing.B) []func() {
			br := open(b)
			return hostCycles(b, func(name string) *leveret.VHost {
				v, err := br.CreateVHost(name)
				must(b, err)
				return v
			})
		}},
	} {
		for procs := 1; procs <= runtime.NumCPU(); procs *= 2 {
			b.Run(fmt.Sprintf("cpus=%d/impl=%s", procs, c.name), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				contend(b, c.open(b))
			})
		}
	}
}

const (
	contenders = 16
	contended  = 8
	turn       = 200_000 // messages of one turn
)

// contend measures turns of one goroutine and of sixteen. cycles are of one message each, by queue.
func contend(b *testing.B, cycles []func()) {
	var times []float64
	alone, together := 0.0, 0.0
	for b.Loop() {
		one := took(func() { cycle(cycles, 0, turn) })
		all := took(func() {
			var wg sync.WaitGroup
			for i := range contenders {
				wg.Go(func() { cycle(cycles, i, turn/contenders) })
			}
			wg.Wait()
		})
		times = append(times, float64(one)/float64(all))
		alone, together = alone+float64(one), together+float64(all)
	}
	slices.Sort(times)
	b.ReportMetric(times[len(times)/2], "times-alone")
	b.ReportMetric(alone/float64(len(times)*turn), "alone-ns")
	b.ReportMetric(together/float64(len(times)*turn), "together-ns")
}

// cycle is n messages of a goroutine, on its queue; one alone uses all queues in turn.
func cycle(cycles []func(), first, n int) {
	for i := range n {
		if n == turn {
			first = i
		}
		cycles[first%len(cycles)]()
	}
}

func chanCycles(*testing.B) []func() {
	cycles := make([]func(), contended)
	for i := range cycles {
		c := make(chan *note, contenders)
		cycles[i] = func() {
			c <- new(note)
			<-c
		}
	}
	return cycles
}

func hostCycles(b *testing.B, host func(name string) *leveret.VHost) []func() {
	var cycles []func()
	for _, name := range benchQueueNames(contended) {
		v := host(name)
		q, err := v.DeclareQueue(name, leveret.QueueConfig{})
		must(b, err)
		cycles = append(cycles, func() {
			if _, err := v.Publish("", name, leveret.Message{Body: body100}); err != nil {
				b.Error(err)
			}
			d, ok, err := q.Get()
			if !ok {
				b.Error("empty queue", err)
				return
			}
			if err := d.Ack(); err != nil {
				b.Error(err)
			}
		})
	}
	return cycles
}

// batchCycles are cycles of which every sixteenth does the work of all.
func batchCycles(b *testing.B, v *leveret.VHost) []func() {
	var cycles []func()
	for _, name := range benchQueueNames(contended) {
		q, err := v.DeclareQueue(name, leveret.QueueConfig{})
		must(b, err)
		batches := sync.Pool{New: func() any { return &batch{b: b, v: v, q: q} }}
		cycles = append(cycles, func() {
			c := batches.Get().(*batch)
			c.add(name)
			batches.Put(c)
		})
	}
	return cycles
}

// A batch is what a goroutine has to publish.
type batch struct {
	b        *testing.B
	v        *leveret.VHost
	q        *leveret.Queue
	messages []leveret.Publishing
	ds       [16]leveret.Delivery
}

func (c *batch) add(key string) {
	c.messages = append(c.messages, leveret.Publishing{RoutingKey: key, Message: leveret.Message{Body: body100}})
	if len(c.messages) < len(c.ds) {
		return
	}
	outs, err := c.v.PublishAll(c.messages)
	if err != nil {
		c.b.Error(outs, err)
	}
	n, err := c.q.GetMany(c.ds[:])
	if err != nil || n < len(c.ds) {
		c.b.Error(n, err)
	}
	if err := leveret.AckAll(c.ds[:n]); err != nil {
		c.b.Error(err)
	}
	c.messages = c.messages[:0]
}
