package ring_test

import (
	"slices"
	"testing"

	"github.com/leveretmq/leveret/internal/ring"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestList compares two lists, between which values move, with slices.
func TestList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lists [2]ring.List[int]
		var want [2][]int
		var places [20]ring.Place[int]
		for i := range places {
			places[i].Value = i
		}
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				l, i := rapid.IntRange(0, 1).Draw(t, "list"), rapid.IntRange(0, len(places)-1).Draw(t, "place")
				if places[i].In() != nil {
					require.Panics(t, func() { lists[l].PushBack(&places[i]) })
					return
				}
				lists[l].PushBack(&places[i])
				want[l] = append(want[l], i)
			},
			"leave": func(t *rapid.T) {
				i := rapid.IntRange(0, len(places)-1).Draw(t, "place")
				places[i].Leave()
				for l := range want {
					want[l] = slices.DeleteFunc(want[l], func(o int) bool { return o == i })
				}
			},
			"replace": func(t *rapid.T) {
				by, old := rapid.IntRange(0, len(places)-1).Draw(t, "by"), rapid.IntRange(0, len(places)-1).Draw(t, "old")
				if places[by].In() != nil && places[old].In() != nil {
					require.Panics(t, func() { places[by].Replace(&places[old]) })
					return
				}
				places[by].Replace(&places[old])
				for l := range want {
					if at := slices.Index(want[l], old); at >= 0 {
						want[l][at] = by
					}
				}
			},
			"rotate": func(t *rapid.T) {
				l := rapid.IntRange(0, 1).Draw(t, "list")
				lists[l].Rotate()
				if n := len(want[l]); n > 0 {
					want[l] = append(want[l][1:n:n], want[l][0])
				}
			},
			"": func(t *rapid.T) {
				for l := range want {
					require.True(t, slices.Equal(want[l], slices.Collect(lists[l].All())))
					require.Equal(t, len(want[l]), lists[l].Len())
					for _, i := range want[l] {
						require.Same(t, &lists[l], places[i].In())
					}
					if front := lists[l].Front(); front != nil {
						require.Equal(t, want[l][0], front.Value)
					}
				}
			},
		})
	})
}
