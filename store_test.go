package leveret

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// newStore returns a store with so many priorities, and the figure that it adds to.
func newStore(levels int) (*store, *int64) {
	sums := new(storeSums)
	return &store{backlog: backlog{levels: int16(levels)}, shared: sums}, &sums.growth
}

func stored(seq uint64, body string, priority uint8) entry {
	m := &message{body: []byte(body), props: &Properties{Priority: priority}}
	return entry{m: m, seq: seq}
}

// put adds an entry at the tail, as a queue does.
func (s *store) put(e entry) {
	s.pushBack(e)
	s.countReady(e, 1)
}

func (s *store) sequences() (seqs []uint64) {
	for e := range s.all() {
		seqs = append(seqs, e.seq)
	}
	return seqs
}

func TestStoreKeepsOrder(t *testing.T) {
	s, _ := newStore(3)
	for i, priority := range []uint8{0, 2, 1, 2, 9} {
		s.put(stored(uint64(i+1), "x", priority))
	}
	require.Equal(t, []uint64{2, 4, 5, 3, 1}, s.sequences(), "the highest priority first, 9 as 2")

	s, _ = newStore(0)
	for i := range uint64(4) {
		s.put(stored(i+1, "x", 0))
	}
	first, second := s.pop(), s.pop()
	s.putBack(second)
	s.putBack(first)
	require.Equal(t, []uint64{1, 2, 3, 4}, s.sequences(), "back at the old positions")
	first = s.pop()
	s.pushReturned(s.pop())
	s.pushReturned(first)
	require.Equal(t, []uint64{2, 1, 3, 4}, s.sequences(), "in the order of the returns")
}

func TestStoreCounts(t *testing.T) {
	s, memory := newStore(0)
	e := stored(1, "12345", 0)
	e.deadline = 70
	s.put(e)
	require.Equal(t, kept{holdings: holdings{1, 5}}, s.ready)
	require.Equal(t, 1, s.deadlines)
	require.False(t, s.headExpired(69))
	require.True(t, s.headExpired(70), "due at its deadline")

	s.countReady(s.pop(), -1)
	s.countUnacked(e.m, 1)
	s.countAside(e.m, 1)
	require.Equal(t, holdings{1, 5}, s.length(), "unacknowledged messages do not count for limits, those set aside do")
	require.Equal(t, int64(10), s.bytes())
	require.Equal(t, int64(10), *memory)
	s.countAside(e.m, -1)
	s.countDeparting(e.m, 1)
	require.Zero(t, s.length())
	require.Equal(t, int64(10), *memory, "what departs still needs memory")

	s.countsProperties = true
	require.Equal(t, int64(5+2), s.size(&message{body: []byte("12345")}), "two octets of property flags")
}

func TestStoreVerifyFindsWrongFigures(t *testing.T) {
	s, _ := newStore(0)
	s.put(stored(1, "x", 0))
	require.NoError(t, s.verify(kept{}))
	require.ErrorContains(t, s.verify(kept{holdings: holdings{1, 1}}), "unacknowledged")
	s.ready.n++
	require.ErrorContains(t, s.verify(kept{}), "ready")
	s.ready.n--
	s.deadlines++
	require.ErrorContains(t, s.verify(kept{}), "deadline")
}

func TestStoreClear(t *testing.T) {
	s, memory := newStore(5)
	for i := range uint64(10) {
		s.put(stored(i+1, "x", uint8(i)))
	}
	require.Equal(t, 10, s.clear())
	require.Empty(t, s.sequences())
	require.Zero(t, *memory)
	require.Nil(t, s.head())
	require.NoError(t, s.verify(kept{}))
}

// TestStoreIsAList compares a store with a list: every message leaves at the place that its priority and position say.
func TestStoreIsAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		levels := rapid.SampledFrom([]int{0, 2, 10, 256}).Draw(t, "levels")
		s, memory := newStore(levels)
		var list, out []entry // in the store, and taken from it
		seq := uint64(0)
		sorted := func() []uint64 {
			slices.SortFunc(list, func(a, b entry) int {
				if levels > 1 && s.level(a.m) != s.level(b.m) {
					return s.level(b.m) - s.level(a.m)
				}
				return int(a.seq) - int(b.seq)
			})
			var seqs []uint64
			for _, e := range list {
				seqs = append(seqs, e.seq)
			}
			return seqs
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				seq++
				e := stored(seq, "body", rapid.Byte().Draw(t, "priority"))
				list = append(list, e)
				s.put(e)
			},
			"pop": func(t *rapid.T) {
				if len(list) == 0 {
					t.Skip("empty")
				}
				sorted()
				e := s.pop()
				s.countReady(e, -1)
				require.Equal(t, list[0].seq, e.seq)
				list, out = list[1:], append(out, e)
			},
			"put back": func(t *rapid.T) {
				if len(out) == 0 {
					t.Skip("nothing is out")
				}
				i := rapid.IntRange(0, len(out)-1).Draw(t, "which")
				e := out[i]
				out = slices.Delete(out, i, i+1)
				list = append(list, e)
				s.putBack(e)
				s.countReady(e, 1)
			},
			"": func(t *rapid.T) {
				require.Equal(t, sorted(), s.sequences())
				require.NoError(t, s.verify(kept{}))
				require.Equal(t, int64(4*len(list)), *memory)
				if len(list) > 0 {
					require.Equal(t, list[0].seq, s.head().seq)
				} else {
					require.Nil(t, s.head())
				}
			},
		})
	})
}
