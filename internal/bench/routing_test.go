package bench_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/leveretmq/leveret"
)

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
