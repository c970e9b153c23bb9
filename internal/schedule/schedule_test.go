package schedule_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/leveretmq/leveret/internal/schedule"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// modelTimer is what a timer should be: its time, and when it was set.
type modelTimer struct {
	at  int64
	set int
}

// due returns the number of the timer that is due first, -1 if there is none.
func due(model map[int]modelTimer) int {
	best := -1
	for i, m := range model {
		if b := model[best]; best < 0 || m.at < b.at || m.at == b.at && m.set < b.set {
			best = i
		}
	}
	return best
}

func TestHeapGivesTimersInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h schedule.Heap[int]
		timers := make([]schedule.Timer[int], rapid.IntRange(1, 60).Draw(t, "timers"))
		for i := range timers {
			timers[i].Value = i
		}
		model := map[int]modelTimer{}
		sets := 0
		which := rapid.IntRange(0, len(timers)-1)
		set := func(t *rapid.T) {
			i, at := which.Draw(t, "timer"), rapid.Int64Range(-20, 20).Draw(t, "at")
			sets++
			h.Set(&timers[i], at)
			model[i] = modelTimer{at, sets}
		}
		t.Repeat(map[string]func(*rapid.T){
			"set":   set,
			"reset": set,
			"remove": func(t *rapid.T) {
				i := which.Draw(t, "timer")
				h.Remove(&timers[i])
				delete(model, i)
			},
			"fire": func(t *rapid.T) {
				if m, _, ok := h.Min(); ok {
					h.Remove(m)
					delete(model, m.Value)
				}
			},
			"earliest": func(t *rapid.T) {
				late := rapid.SliceOfN(rapid.Int64Range(-1, 9), len(timers), len(timers)).Draw(t, "late") // -1: none
				want := int64(math.MaxInt64)
				for i, m := range model {
					if late[i] >= 0 {
						want = min(want, m.at+late[i])
					}
				}
				at, ok := h.Earliest(func(i int) (int64, bool) { return model[i].at + late[i], late[i] >= 0 })
				require.Equal(t, want < math.MaxInt64, ok)
				if ok {
					require.Equal(t, want, at)
				}
			},
			"until": func(t *rapid.T) {
				now, most := rapid.Int64Range(-21, 21).Draw(t, "now"), rapid.IntRange(1, len(timers)).Draw(t, "most")
				var want, got []int
				for i, m := range model {
					if m.at <= now {
						want = append(want, i)
					}
				}
				for timer := range h.Until(now) {
					if got = append(got, timer.Value); len(got) == most {
						break
					}
				}
				require.Subset(t, append(want, -1), got)
				require.Len(t, slices.Compact(slices.Sorted(slices.Values(got))), min(len(want), most))
			},
			"": func(t *rapid.T) {
				require.Equal(t, len(model), h.Len())
				m, at, ok := h.Min()
				want := due(model)
				require.Equal(t, want >= 0, ok)
				if ok {
					require.Equal(t, want, m.Value)
					require.Equal(t, model[want].at, at)
				}
				for i := range timers {
					at, ok := timers[i].At()
					m, set := model[i]
					require.Equal(t, set, ok)
					if set {
						require.Equal(t, m.at, at)
					}
				}
			},
		})
		last := -1
		for len(model) > 0 {
			m, _, _ := h.Min()
			require.Equal(t, due(model), m.Value)
			require.NotEqual(t, last, m.Value)
			last = m.Value
			h.Remove(m)
			delete(model, last)
		}
	})
}

func TestManyTimersComeInOrderAndMemoryIsGivenBack(t *testing.T) {
	var h schedule.Heap[int]
	timers := make([]schedule.Timer[int], 50_000)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range timers {
		h.Set(&timers[i], r.Int64N(1000))
	}
	lastAt := int64(-1)
	for h.Len() > 0 {
		m, at, _ := h.Min()
		require.GreaterOrEqual(t, at, lastAt)
		lastAt = at
		h.Remove(m)
	}
	_, _, ok := h.Min()
	require.False(t, ok)
}

func BenchmarkSetRemove(b *testing.B) {
	for _, n := range []int{0, 100, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var h schedule.Heap[int]
			others := make([]schedule.Timer[int], n)
			for i := range others {
				h.Set(&others[i], rand.Int64N(1_000_000))
			}
			var t schedule.Timer[int]
			b.ReportAllocs()
			for i := range b.N {
				h.Set(&t, int64(i*7919%1_000_000))
				h.Remove(&t)
			}
		})
	}
}

func BenchmarkFireAndSetAgain(b *testing.B) {
	const n = 100_000
	var h schedule.Heap[int]
	timers := make([]schedule.Timer[int], n)
	for i := range timers {
		h.Set(&timers[i], rand.Int64N(1_000_000))
	}
	b.ReportAllocs()
	for range b.N {
		t, at, _ := h.Min()
		h.Set(t, at+rand.Int64N(1_000_000))
	}
}

func TestAllAreInTheOrderOfTheirTimes(t *testing.T) {
	var h schedule.Heap[int]
	timers := make([]schedule.Timer[int], 50)
	for i := range timers {
		timers[i].Value = i
		h.Set(&timers[i], int64(i%7))
	}
	last, lastAt := -1, int64(0)
	for i, timer := range h.All() {
		at, set := timer.At()
		inOrder := at > lastAt || at == lastAt && timer.Value > last
		if !set || i > 0 && !inOrder {
			t.Fatalf("%d at %d after %d at %d", timer.Value, at, last, lastAt)
		}
		last, lastAt = timer.Value, at
	}
	if len(h.All()) != len(timers) {
		t.Fatal("not all")
	}
}
