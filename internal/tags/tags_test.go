package tags_test

import (
	"maps"
	"runtime"
	"slices"
	"testing"

	"github.com/leveretmq/leveret/internal/tags"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// windowMachine drives a window and a map that does the same.
type windowMachine struct {
	w     tags.Window[int]
	model map[uint64]int
	last  uint64
}

func (m *windowMachine) take(t require.TestingT, tag uint64) {
	want, there := m.model[tag]
	if p := m.w.Get(tag); p != nil && tag%2 == 0 {
		require.Equal(t, want, *p)
		m.w.Drop(tag)
	} else {
		v, ok := m.w.Take(tag)
		require.Equal(t, there, ok)
		require.Equal(t, want, v)
	}
	delete(m.model, tag)
}

func (m *windowMachine) tags() []uint64 { return slices.Sorted(maps.Keys(m.model)) }

func (m *windowMachine) push(t *rapid.T) {
	for range rapid.IntRange(1, 40).Draw(t, "n") {
		m.last++
		if m.last%2 == 0 {
			require.Equal(t, m.last, m.w.Push(int(m.last)*3))
		} else {
			tag, p := m.w.Add()
			require.Equal(t, m.last, tag)
			require.Zero(t, *p)
			*p = int(tag) * 3
		}
		m.model[m.last] = int(m.last) * 3
	}
}

func (m *windowMachine) skip(t *rapid.T) {
	for range rapid.IntRange(1, 40).Draw(t, "n") {
		m.last++
		require.Equal(t, m.last, m.w.Skip())
	}
}

func (m *windowMachine) takeOldest(t *rapid.T) {
	outstanding := m.tags()
	for _, tag := range outstanding[:rapid.IntRange(0, len(outstanding)).Draw(t, "n")] {
		m.take(t, tag)
	}
}

func (m *windowMachine) takeAny(t *rapid.T) {
	m.take(t, rapid.Uint64Range(0, m.last+2).Draw(t, "tag"))
}

// leaveFew takes all but every tenth outstanding value, or all but the oldest.
func (m *windowMachine) leaveFew(t *rapid.T) {
	every := rapid.SampledFrom([]int{10, 1 << 30}).Draw(t, "every")
	for i, tag := range m.tags() {
		if i%every != 0 {
			m.take(t, tag)
		}
	}
}

func (m *windowMachine) takeWhileIterating(t *rapid.T) {
	want := m.tags()
	var got []uint64
	mod := rapid.Uint64Range(1, 3).Draw(t, "mod")
	for tag, v := range m.w.All() {
		require.Equal(t, m.model[tag], *v)
		got = append(got, tag)
		if tag%mod == 0 {
			m.take(t, tag)
		}
	}
	require.Equal(t, want, got)
}

func (m *windowMachine) check(t *rapid.T) {
	require.Equal(t, m.last, m.w.Last())
	require.Equal(t, len(m.model), m.w.Len())
	for tag := range m.last + 3 {
		want, there := m.model[tag]
		v := m.w.Get(tag)
		require.Equal(t, there, v != nil, "tag %d", tag)
		if there {
			require.Equal(t, want, *v)
		}
	}
	var got []uint64
	for tag := range m.w.All() {
		got = append(got, tag)
	}
	require.Equal(t, m.tags(), got)

	from := rapid.Uint64Range(0, m.last+2).Draw(t, "from")
	got = nil
	for tag := range m.w.From(from) {
		got = append(got, tag)
	}
	require.True(t, slices.Equal(slices.DeleteFunc(m.tags(), func(tag uint64) bool { return tag < from }), got), "from %d: %v", from, got)
}

func TestWindowBehavesAsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &windowMachine{model: map[uint64]int{}}
		t.Repeat(map[string]func(*rapid.T){
			"push": m.push, "push more": m.push, "skip": m.skip, "take oldest": m.takeOldest,
			"take any": m.takeAny, "leave few": m.leaveFew, "take while iterating": m.takeWhileIterating,
			"": m.check,
		})
	})
}

func TestAnOldValueDoesNotMakeTheWindowGrow(t *testing.T) {
	const many = 2_000_000
	for name, pass := range map[string]func(*tags.Window[[4]int]){
		"taken":   func(w *tags.Window[[4]int]) { w.Take(w.Push([4]int{})) },
		"skipped": func(w *tags.Window[[4]int]) { w.Skip() },
	} {
		t.Run(name, func(t *testing.T) {
			var w tags.Window[[4]int]
			before := heapBytes()
			for i := range many {
				if i%(many/4) == 0 {
					w.Push([4]int{i})
				}
				pass(&w)
			}
			require.Less(t, heapBytes()-before, int64(100_000))
			require.Equal(t, 4, w.Len())
			v, ok := w.Take(1)
			require.True(t, ok)
			require.Equal(t, [4]int{}, v)
			runtime.KeepAlive(&w)
		})
	}
}

func TestALargeWindowGivesMemoryBack(t *testing.T) {
	var w tags.Window[[4]int]
	before := heapBytes()
	for range 200_000 {
		w.Push([4]int{})
	}
	for tag := uint64(2); tag <= 200_000; tag++ {
		w.Take(tag)
	}
	for range 1_000_000 {
		w.Take(w.Push([4]int{}))
	}
	require.Less(t, heapBytes()-before, int64(200_000))
	require.Equal(t, 1, w.Len())
	runtime.KeepAlive(&w)
}

func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkPushTake(b *testing.B) {
	for _, c := range []struct {
		name         string
		stuck, ahead int
	}{{"one", 0, 0}, {"thousand ahead", 0, 1000}, {"old one stuck", 1, 100}} {
		b.Run(c.name, func(b *testing.B) {
			var w tags.Window[[5]int]
			for range c.stuck + c.ahead {
				w.Push([5]int{})
			}
			b.ReportAllocs()
			for range b.N {
				w.Take(w.Push([5]int{}) - uint64(c.ahead))
			}
		})
	}
}
