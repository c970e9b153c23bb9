package places

import (
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// pairs are the copies from a number on.
func pairs(t *Table, from uint64) (copies []uint64, places []Place) {
	for copy, p := range t.From(from) {
		copies, places = append(copies, copy), append(places, p)
	}
	return copies, places
}

// verify checks what must hold of every table.
func (t *Table) verify(tb require.TestingT) {
	n := 0
	for i, b := range t.blocks {
		require.NotZero(tb, b.used, "an empty block")
		require.True(tb, i == 0 || t.blocks[i-1].key < b.key, "blocks out of order")
		for at, c := range b.chunks {
			require.Equal(tb, c != nil, b.used>>at&1 == 1)
			if c == nil {
				continue
			}
			n += c.n
			there := 0
			for _, word := range c.there {
				there += bits.OnesCount64(word)
			}
			require.Equal(tb, there, c.n)
			require.True(tb, c.n > 0 || c == t.set.c, "an empty chunk")
			require.Contains(tb, []int{c.n, width}, len(c.places))
		}
	}
	require.Equal(tb, n, t.n)
	for _, last := range []cursor{t.set, t.take} {
		if last.c != nil {
			i, there := t.position(last.key >> blockBits)
			require.True(tb, there)
			require.Same(tb, last.c, t.blocks[i].chunks[last.key%(1<<blockBits)])
		}
	}
}

func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table Table
		model := map[uint64]Place{}
		next := rapid.SampledFrom([]uint64{0, 1 << 40, math.MaxUint64 - 600}).Draw(t, "first")
		some := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 1<<17), rapid.Just[uint64](math.MaxUint64),
			rapid.Custom(func(t *rapid.T) uint64 { return next - rapid.Uint64Range(0, 2000).Draw(t, "back") }))
		set := func(t *rapid.T, copy uint64) {
			p := Place{rapid.Uint32().Draw(t, "segment"), rapid.Uint32().Draw(t, "octets")}
			table.Set(copy, p)
			model[copy] = p
		}
		take := func(t *rapid.T, copy uint64) {
			want, there := model[copy]
			delete(model, copy)
			p, ok := table.Take(copy)
			require.Equal(t, there, ok)
			require.Equal(t, want, p)
		}
		oldest := func() (oldest uint64) {
			for copy := range table.From(0) {
				return copy
			}
			return 0
		}
		t.Repeat(map[string]func(*rapid.T){
			"next": func(t *rapid.T) {
				for range rapid.SampledFrom([]int{1, 1, 10, 300}).Draw(t, "n") {
					set(t, next)
					next += rapid.SampledFrom([]uint64{1, 1, 1, 2, 100}).Draw(t, "step")
				}
			},
			"set":  func(t *rapid.T) { set(t, some.Draw(t, "copy")) },
			"take": func(t *rapid.T) { take(t, some.Draw(t, "copy")) },
			"take oldest": func(t *rapid.T) {
				for range rapid.SampledFrom([]int{1, 1, 10, 300}).Draw(t, "n") {
					take(t, oldest())
				}
			},
			"take most": func(t *rapid.T) {
				stays := rapid.Uint64Range(1, 100).Draw(t, "each")
				for _, copy := range slices.Sorted(maps.Keys(model)) {
					if copy%stays != 0 {
						take(t, copy)
					}
				}
			},
			"get": func(t *rapid.T) {
				copy := some.Draw(t, "copy")
				want, there := model[copy]
				p, ok := table.Get(copy)
				require.Equal(t, there, ok)
				require.Equal(t, want, p)
			},
			"from": func(t *rapid.T) {
				from := some.Draw(t, "from")
				var want []uint64
				for _, copy := range slices.Sorted(maps.Keys(model)) {
					if copy >= from {
						want = append(want, copy)
					}
				}
				copies, places := pairs(&table, from)
				require.Equal(t, want, copies)
				for i, p := range places {
					require.Equal(t, model[copies[i]], p)
				}
			},
			"set what is yielded": func(t *rapid.T) {
				var copies []uint64
				for copy, p := range table.From(0) {
					copies = append(copies, copy)
					p.Segment++
					table.Set(copy, p)
					model[copy] = p
				}
				require.Equal(t, slices.Sorted(maps.Keys(model)), copies)
			},
			"clear": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "rarely") == 0 {
					table.Clear()
					clear(model)
				}
			},
			"": func(t *rapid.T) {
				table.verify(t)
				require.Equal(t, len(model), table.Len())
			},
		})
	})
}

func TestFromStops(t *testing.T) {
	var table Table
	table.Set(1, Place{})
	table.Set(2, Place{})
	for copy := range table.From(1) {
		require.EqualValues(t, 1, copy)
		break
	}
}

// grown returns what a table that fill has filled takes of memory, in octets for each copy.
func grown(t *testing.T, fill func(*Table)) float64 {
	t.Helper()
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	table := new(Table)
	before := heap()
	fill(table)
	after := heap()
	octets := float64(int64(after-before)) / float64(max(1, table.Len()))
	t.Logf("%d copies, %.1f octets each", table.Len(), octets)
	runtime.KeepAlive(table)
	return octets
}

const million = 1_000_000

func fillDense(table *Table) {
	for i := range uint64(million) {
		table.Set(i, Place{uint32(i), 100})
	}
}

func TestMemoryOfCopiesInARow(t *testing.T) {
	assert.Less(t, grown(t, fillDense), 10.0)
}

func TestMemoryOfEveryHundredth(t *testing.T) {
	for name, fill := range map[string]func(*Table){
		"only they came": func(table *Table) {
			for i := range uint64(10_000) {
				table.Set(100*i, Place{1, 100})
			}
		},
		"the others left in order": func(table *Table) {
			fillDense(table)
			for i := range uint64(million) {
				if i%100 != 0 {
					table.Take(i)
				}
			}
		},
		"the others left in any order": func(table *Table) {
			fillDense(table)
			for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(million) {
				if i%100 != 0 {
					table.Take(uint64(i))
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) { assert.Less(t, grown(t, fill), 42.0) })
	}
}

func TestEmptiedRangesTakeNoMemory(t *testing.T) {
	for name, left := range map[string][]int{
		"in order": slices.Collect(func(yield func(int) bool) {
			for i := range million {
				if !yield(i) {
					return
				}
			}
		}),
		"in any order": rand.New(rand.NewPCG(1, 2)).Perm(million),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Less(t, grown(t, func(table *Table) {
				fillDense(table)
				for _, i := range left {
					table.Take(uint64(i))
				}
			}), 20_000.0) // in all: the chunk of the next Set, room for another, the list
		})
	}
}

func TestAllocations(t *testing.T) {
	var table Table
	newest, oldest := uint64(0), uint64(0)
	for ; newest < 10_000; newest++ {
		table.Set(newest, Place{})
	}
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		for range width {
			table.Set(newest, Place{1, 2})
			table.Take(oldest)
			newest, oldest = newest+1, oldest+1
		}
	}), 1.1, "for 256 copies")
	table.Clear()
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		for range width {
			table.Set(newest, Place{1, 2})
			table.Take(newest)
			newest++
		}
	}), 2.1, "for 256 copies that leave at once")
}

func BenchmarkSetTake(b *testing.B) {
	for name, behind := range map[string]uint64{"empty": 0, "long": million} {
		b.Run(name, func(b *testing.B) {
			var table Table
			for i := range behind {
				table.Set(i, Place{})
			}
			newest := behind
			b.ReportAllocs()
			for b.Loop() {
				table.Set(newest, Place{1, 2})
				table.Take(newest - behind)
				newest++
			}
		})
	}
}

func BenchmarkTakeInAnyOrder(b *testing.B) {
	order := rand.New(rand.NewPCG(1, 2)).Perm(million)
	var table Table
	fillDense(&table)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if table.Take(uint64(order[i])); i+1 == million {
			b.StopTimer()
			fillDense(&table)
			b.StartTimer()
		}
		i = (i + 1) % million
	}
}

func BenchmarkFrom(b *testing.B) {
	var table Table
	fillDense(&table)
	for b.Loop() {
		for range table.From(0) {
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/million, "ns/copy")
}
