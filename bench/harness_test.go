// Package bench measures leveret beside its peers, and both beside the cheapest things that
// move a message at all. Only ratios carry over to other machines.
package bench

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
)

// A system carries messages over numbered queues: the same work for every peer.
type system interface {
	publish(q int, body []byte)
	getAck(q int) // waits for one message of queue q, takes it and acknowledges it
	close()
}

// fanner publishes one message that reaches every queue.
type fanner interface{ publishAll(body []byte) }

// rejecter takes one message off queue 0 and rejects it, which dead-letters it to queue 1.
type rejecter interface{ reject() }

// router routes by topic key into queue 0.
type router interface{ publishKey(key string, body []byte) }

type peer struct {
	name string
	open func(tb testing.TB, queues int) system
	// topic opens a system whose bindings, made by pattern(i, …) for i < n, all lead to queue 0.
	topic func(tb testing.TB, n int) system
	// only, if set, names the modes of BenchmarkCycle that make sense for the peer.
	only     string
	maxTopic int
}

var peers []peer

const (
	window = 256 // messages in flight between one producer and one consumer
	batch  = 32  // credits come back in batches, to keep the harness cheap
)

// buffer is the length of the channels that harness and peers deliver into.
var buffer = 1024

var bodies = map[int][]byte{100: make([]byte, 100), 1024: make([]byte, 1024)}

func single(s system, n int, body []byte) {
	for range n {
		s.publish(0, body)
		s.getAck(0)
	}
}

func pipe(s system, q, n int, body []byte) {
	credits := make(chan struct{}, window/batch)
	for range window / batch {
		credits <- struct{}{}
	}
	done := make(chan struct{})
	go func() {
		for i := range n {
			s.getAck(q)
			if i%batch == batch-1 {
				credits <- struct{}{}
			}
		}
		close(done)
	}()
	for i := range n {
		if i%batch == 0 {
			<-credits
		}
		s.publish(q, body)
	}
	<-done
}

func parallel(s system, queues, n int, body []byte) {
	var wg sync.WaitGroup
	for q := range queues {
		wg.Go(func() { pipe(s, q, (n+queues-1)/queues, body) })
	}
	wg.Wait()
}

func fanout(s system, queues, n int, body []byte) {
	f := s.(fanner)
	for range n {
		f.publishAll(body)
		for q := range queues {
			s.getAck(q)
		}
	}
}

func deadLetter(s system, n int, body []byte) {
	r := s.(rejecter)
	for range n {
		s.publish(0, body)
		r.reject()
		s.getAck(1)
	}
}

var modes = []struct {
	name   string
	queues int
	sizes  []int
	run    func(s system, n int, body []byte)
}{
	{"single", 1, []int{100, 1024}, single},
	{"pipe", 1, []int{100, 1024}, func(s system, n int, body []byte) { pipe(s, 0, n, body) }},
	{"par8", 8, []int{100}, func(s system, n int, body []byte) { parallel(s, 8, n, body) }},
	{"fan10", 10, []int{100}, func(s system, n int, body []byte) { fanout(s, 10, n, body) }},
	{"dlx", 2, []int{100}, deadLetter},
}

func (p peer) can(mode string, s system) bool {
	switch mode {
	case "fan10":
		_, ok := s.(fanner)
		return ok
	case "dlx":
		_, ok := s.(rejecter)
		return ok
	}
	return true
}

// BenchmarkCycle is publish, receive, acknowledge; one op is one published message.
func BenchmarkCycle(b *testing.B) {
	for _, m := range modes {
		for _, size := range m.sizes {
			for _, p := range peers {
				if p.open == nil || p.only != "" && p.only != m.name {
					continue
				}
				var s system
				b.Run(fmt.Sprintf("mode=%s/body=%d/impl=%s", m.name, size, p.name), func(b *testing.B) {
					if s == nil {
						s = p.open(b, m.queues)
					}
					if !p.can(m.name, s) {
						b.Skip("cannot")
					}
					b.ReportAllocs()
					b.ResetTimer()
					m.run(s, b.N, bodies[size])
				})
				if s != nil {
					s.close()
				}
			}
		}
	}
}

// pattern and key: key(i) matches pattern(i) alone. star and hash are the peer's wildcards.
func pattern(i int, sep, star, hash string) string {
	k := "k" + strconv.Itoa(i)
	switch i % 4 {
	case 0:
		return k + sep + "x" + sep + "y"
	case 1:
		return k + sep + star + sep + "y"
	case 2:
		return k + sep + hash
	}
	return star + sep + k + sep + "y"
}

func key(i int, sep string) string {
	k := "k" + strconv.Itoa(i)
	switch i % 4 {
	case 0:
		return k + sep + "x" + sep + "y"
	case 1:
		return k + sep + "z" + sep + "y"
	case 2:
		return k + sep + "a" + sep + "b" + sep + "c"
	}
	return "q" + sep + k + sep + "y"
}

// keys are up to 8192 keys drawn over the n bindings: more than the peers' result caches hold.
func keys(n int, sep string) []string {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]string, min(n, 8192))
	for i := range out {
		out[i] = key(r.IntN(n), sep)
	}
	return out
}

// BenchmarkTopic is publish by a key that matches one of n bindings, receive, acknowledge.
func BenchmarkTopic(b *testing.B) {
	for _, n := range []int{1000, 10000, 100000} {
		for _, p := range peers {
			if p.topic == nil || p.maxTopic > 0 && n > p.maxTopic {
				continue
			}
			var s system
			sep := "."
			if p.name == "mochi" {
				sep = "/"
			}
			ks := keys(n, sep)
			b.Run(fmt.Sprintf("bindings=%d/impl=%s", n, p.name), func(b *testing.B) {
				if s == nil {
					s = p.topic(b, n)
				}
				r := s.(router)
				b.ReportAllocs()
				b.ResetTimer()
				k := 0
				for range b.N {
					r.publishKey(ks[k], bodies[100])
					s.getAck(0)
					if k++; k == len(ks) {
						k = 0
					}
				}
			})
			if s != nil {
				s.close()
			}
		}
	}
}

func itoa(i int) string { return strconv.Itoa(i) }

func names(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "queue-" + strconv.Itoa(i)
	}
	return out
}
