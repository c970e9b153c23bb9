package fifo_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/leveretmq/leveret/internal/fifo"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestQueueBehavesAsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q fifo.Queue[int]
		var model []int
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 300).Draw(t, "n") {
					next++
					q.PushBack(next)
					model = append(model, next)
				}
			},
			"pop": func(t *rapid.T) {
				for range rapid.IntRange(0, len(model)).Draw(t, "n") {
					require.Equal(t, model[0], q.PopFront())
					model = model[1:]
				}
			},
			"one by one": func(t *rapid.T) {
				for range rapid.IntRange(1, 300).Draw(t, "n") {
					next++
					q.PushBack(next)
					model = append(model, next)
					require.Equal(t, model[0], q.PopFront())
					model = model[1:]
				}
			},
			"in place": func(t *rapid.T) {
				for range rapid.IntRange(1, 100).Draw(t, "n") {
					next++
					v := q.Push()
					require.Zero(t, *v)
					*v = next
					model = append(model, next)
				}
				for range rapid.IntRange(0, len(model)).Draw(t, "n") {
					require.Equal(t, model[0], *q.Front())
					q.Drop()
					model = model[1:]
				}
			},
			"change in place": func(t *rapid.T) {
				if len(model) > 0 {
					model[0] = -model[0]
					*q.Front() *= -1
				}
			},
			"clear": func(*rapid.T) {
				q.Clear()
				model = nil
			},
			"": func(t *rapid.T) {
				require.Equal(t, len(model), q.Len())
				if len(model) == 0 {
					require.Nil(t, q.Front())
				} else {
					require.Equal(t, model[0], *q.Front())
				}
				i := 0
				for v := range q.All() {
					require.Equal(t, model[i], *v)
					i++
				}
				require.Equal(t, len(model), i)
			},
		})
	})
}

func TestAllStopsWhenAsked(t *testing.T) {
	var q fifo.Queue[int]
	for i := range 100 {
		q.PushBack(i)
	}
	seen := 0
	for v := range q.All() {
		if *v == 20 {
			break
		}
		seen++
	}
	require.Equal(t, 20, seen)
}

func TestPopFromEmptyPanics(t *testing.T) {
	var q fifo.Queue[int]
	require.Panics(t, func() { q.PopFront() })
	require.Panics(t, func() { q.Drop() })
	q.PushBack(1)
	q.PopFront()
	require.Panics(t, func() { q.PopFront() })
}

func TestPoppedElementsAreReleased(t *testing.T) {
	var q fifo.Queue[*[64]byte]
	freed := make(chan int, 3)
	for i := range 3 {
		p := new([64]byte)
		runtime.AddCleanup(p, func(i int) { freed <- i }, i)
		q.PushBack(p)
	}
	q.PopFront()
	q.PopFront()
	runtime.GC()
	require.ElementsMatch(t, []int{0, 1}, []int{<-freed, <-freed})
	require.Empty(t, freed)
	require.Equal(t, 1, q.Len())
	runtime.KeepAlive(&q)
}

func TestSteadyUseDoesNotAllocate(t *testing.T) {
	for _, depth := range []int{0, 1, 5, 100, 1000} {
		var q fifo.Queue[entry]
		for range depth {
			q.PushBack(entry{})
		}
		for range 2000 { // reach the full chunk size
			q.PushBack(entry{})
			q.PopFront()
		}
		allocs := testing.AllocsPerRun(2000, func() {
			q.PushBack(entry{})
			q.PopFront()
		})
		require.Zero(t, allocs, "depth %d", depth)
	}
}

// An entry has the size of a queued message.
type entry struct {
	_       *int
	a, b, _ int64
	_       uint64
}

func BenchmarkPushPop(b *testing.B) {
	for _, depth := range []int{0, 10, 100_000} {
		b.Run(fmt.Sprint(depth), func(b *testing.B) {
			var q fifo.Queue[entry]
			for range depth {
				q.PushBack(entry{})
			}
			b.ReportAllocs()
			for i := range b.N {
				q.PushBack(entry{a: int64(i)})
				q.PopFront()
			}
		})
	}
}

func BenchmarkInPlace(b *testing.B) {
	for _, depth := range []int{0, 10, 100_000} {
		b.Run(fmt.Sprint(depth), func(b *testing.B) {
			var q fifo.Queue[entry]
			for range depth {
				q.PushBack(entry{})
			}
			b.ReportAllocs()
			for i := range b.N {
				e := q.Push()
				e.a, e.b = int64(i), 1
				sum += q.Front().a
				q.Drop()
			}
		})
	}
}

var sum int64

func BenchmarkFill(b *testing.B) {
	b.ReportAllocs()
	var q fifo.Queue[entry]
	for i := range b.N {
		q.PushBack(entry{a: int64(i)})
	}
}
