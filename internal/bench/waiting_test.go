package bench_test

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// BenchmarkHandover is what it takes until one processor sees what another has written: two goroutines take turns.
func BenchmarkHandover(b *testing.B) {
	var turns atomic.Int64
	n := int64(b.N)
	take := func(first int64) {
		for at := first; at < n; at += 2 {
			for turns.Load() != at {
			}
			turns.Store(at + 1)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { take(1) })
	take(0)
	wg.Wait()
}

// BenchmarkWaiting compares ways to have sixteen goroutines do short operations on one state, one at a time: impl=mutex is a plain
// mutex, impl=pauses pauses as a virtual host's lock does, and in impl=combining the holder of the lock does the operations that
// others wait for. It prints how many times as many operations a second as one goroutine alone, as the median of the turns.
func BenchmarkWaiting(b *testing.B) {
	for _, c := range []struct {
		name string
		open func() func(goroutine int)
	}{
		{"mutex", withMutex},
		{"pauses", withPauses},
		{"combining", withCombining},
	} {
		b.Run("impl="+c.name, func(b *testing.B) {
			var times []float64
			for b.Loop() {
				one := took(func() { operate(c.open(), 1) })
				all := took(func() { operate(c.open(), contenders) })
				times = append(times, float64(one)/float64(all))
			}
			slices.Sort(times)
			b.ReportMetric(times[len(times)/2], "times-alone")
		})
	}
}

func operate(do func(goroutine int), goroutines int) {
	const operations = 5 * turn
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for range operations / goroutines {
				do(g)
			}
		})
	}
	wg.Wait()
}

// A shared state is what a small virtual host may be: queues, and figures of all.
type shared struct {
	queues [contended]struct {
		entries [1024]*note
		next    int
		octets  int
	}
	total, figure uint64
}

// operate is an operation of some 50 ns.
func (s *shared) operate(goroutine int, n *note) {
	q := &s.queues[goroutine%contended]
	q.entries[q.next%len(q.entries)] = n
	q.next++
	q.octets += len(body100)
	s.total++
	for range 24 {
		s.figure = s.figure*6364136223846793005 + 1442695040888963407
	}
}

func withMutex() func(int) {
	var mu sync.Mutex
	s := new(shared)
	return func(g int) {
		n := new(note)
		mu.Lock()
		s.operate(g, n)
		mu.Unlock()
	}
}

func withPauses() func(int) {
	var mu sync.Mutex
	s := new(shared)
	lock := func() {
		for range 5 {
			if mu.TryLock() {
				return
			}
			for range pause {
			}
		}
		mu.Lock()
	}
	return func(g int) {
		n := new(note)
		lock()
		s.operate(g, n)
		mu.Unlock()
	}
}

const pause = 20_000 // steps, as in a virtual host's lock

// A waiting is the operation that a goroutine waits for.
type waiting struct {
	wanted atomic.Bool
	note   *note
	_      [48]byte // has a cache line of its own
}

func withCombining() func(int) {
	var taken atomic.Bool
	var all [contenders]waiting
	s := new(shared)
	try := func() bool {
		if taken.Load() || !taken.CompareAndSwap(false, true) {
			return false
		}
		for g := range all {
			if w := &all[g]; w.wanted.Load() {
				s.operate(g, w.note)
				w.wanted.Store(false)
			}
		}
		taken.Store(false)
		return true
	}
	return func(g int) {
		w := &all[g]
		w.note = new(note)
		w.wanted.Store(true)
		for tries := 1; w.wanted.Load() && !try(); tries++ {
			for range pause / 10 {
			}
			if tries%100 == 0 { // the holder may have to run where this goroutine does
				runtime.Gosched()
			}
		}
	}
}
