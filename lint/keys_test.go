package lint

import (
	"strings"
	"testing"

	"github.com/leveretmq/leveret/internal/topic"
	"github.com/stretchr/testify/require"
)

// TestCommonKey compares all pairs of binding keys of up to three words with all routing keys of up to five, as topic
// exchanges match them.
func TestCommonKey(t *testing.T) {
	patterns, keys := sequences([]string{"a", "b", oneWord, anyWords}, 3), sequences([]string{"a", "b", filler}, 5)
	matching := map[string]map[string]bool{} // by pattern: the keys that match it
	for _, p := range patterns {
		var trie topic.Trie[bool]
		trie.Add(p, true)
		matching[p] = map[string]bool{}
		for _, k := range keys {
			if len(trie.Match(k, nil)) > 0 {
				matching[p][k] = true
			}
		}
	}
	for _, a := range patterns {
		for _, b := range patterns {
			words, ok := commonKey(splitKey(a), splitKey(b))
			key := strings.Join(words, ".")
			if ok {
				require.True(t, matching[a][key] && matching[b][key], "%q and %q: %q", a, b, key)
				continue
			}
			for k := range matching[a] {
				require.False(t, matching[b][k], "%q and %q have %q in common", a, b, k)
			}
		}
	}
}

// TestCommonKeyOfManyWildcards shows that a search without result ends.
func TestCommonKeyOfManyWildcards(t *testing.T) {
	const many = "#.*.#.*.#.*.#.*.#.*.#.*.#.*.#.*.#.*.#.*.#.*.#.*.#.*.#.*.#.*."
	_, ok := commonKey(splitKey(many+"a"), splitKey(many+"b"))
	require.False(t, ok)
}

// sequences returns all keys of up to n of the words.
func sequences(words []string, n int) []string {
	all := []string{""}
	for from := 0; n > 0; n-- {
		longer := all[from:]
		from = len(all)
		for _, key := range longer {
			for _, word := range words {
				all = append(all, strings.TrimPrefix(key+"."+word, "."))
			}
		}
	}
	return all
}
