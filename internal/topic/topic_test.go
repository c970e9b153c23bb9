package topic_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/leveretmq/leveret/internal/topic"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// words splits a key or pattern; the empty string has no words.
func words(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ".")
}

// matches is the definition of a match, by dynamic programming: fits[j] says whether the
// pattern's words so far match the first j words of the key.
func matches(pattern, key string) bool {
	ws := words(key)
	fits := make([]bool, len(ws)+1)
	fits[0] = true
	for _, p := range words(pattern) {
		next := make([]bool, len(ws)+1)
		for j := range next {
			if p == "#" {
				next[j] = fits[j] || j > 0 && next[j-1]
			} else {
				next[j] = j > 0 && fits[j-1] && (p == "*" || p == ws[j-1])
			}
		}
		fits = next
	}
	return fits[len(ws)]
}

// What a live RabbitMQ matched, for each binding key among these routing keys.
var vectorKeys = []string{"", "a", ".", "a.", ".a", "a.b", "a..b", "a.b.c", "*", "#", "a.*", "a.#", "b", "..",
	"a.b.", "ab"}

var vectors = []struct {
	patterns []string
	keys     []string
}{
	{[]string{""}, []string{""}},
	{[]string{"#", "#.#"}, vectorKeys},
	{[]string{"*"}, []string{"a", "*", "#", "b", "ab"}},
	{[]string{"*.*"}, []string{".", "a.", ".a", "a.b", "a.*", "a.#"}},
	{[]string{"a"}, []string{"a"}},
	{[]string{"a."}, []string{"a."}},
	{[]string{"."}, []string{"."}},
	{[]string{"a.*"}, []string{"a.", "a.b", "a.*", "a.#"}},
	{[]string{"a.#"}, []string{"a", "a.", "a.b", "a..b", "a.b.c", "a.*", "a.#", "a.b."}},
	{[]string{"#.a", "#.#.a"}, []string{"a", ".a"}},
	{[]string{"*.a"}, []string{".a"}},
	{[]string{"a.#.b"}, []string{"a.b", "a..b"}},
	{[]string{"a.*.b"}, []string{"a..b"}},
	{[]string{"*.#", "#.*"}, vectorKeys[1:]},
	{[]string{"*.#.*"}, []string{".", "a.", ".a", "a.b", "a..b", "a.b.c", "a.*", "a.#", "..", "a.b."}},
	{[]string{".."}, []string{".."}},
	{[]string{"#.a.#"}, []string{"a", "a.", ".a", "a.b", "a..b", "a.b.c", "a.*", "a.#", "a.b."}},
	{[]string{"ab*", "a*", "#b"}, nil},
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		for _, pattern := range v.patterns {
			var trie topic.Trie[int]
			trie.Add(pattern, 1)
			for _, key := range vectorKeys {
				want := slices.Contains(v.keys, key)
				require.Equal(t, want, len(trie.Match(key, nil)) == 1, "pattern %q, key %q", pattern, key)
				require.Equal(t, want, matches(pattern, key), "the test's own matcher: pattern %q, key %q", pattern, key)
			}
		}
	}
}

var (
	wordGen    = rapid.SampledFrom([]string{"#", "*", "", "a", "b", "c", "#a"})
	patternGen = rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(wordGen, 0, 7).Draw(t, "words"), ".")
	})
	keyGen = rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(wordGen, 0, 9).Draw(t, "words"), ".")
	})
)

type binding struct {
	pattern string
	v       int
}

func TestTrieMatchesAsDefined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var trie topic.Trie[int]
		model := map[binding]int{}
		n := 0
		draw := func(t *rapid.T) binding {
			return binding{patternGen.Draw(t, "pattern"), rapid.IntRange(0, 40).Draw(t, "v")}
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				b := draw(t)
				trie.Add(b.pattern, b.v)
				model[b]++
				n++
			},
			"add many": func(t *rapid.T) {
				pattern := patternGen.Draw(t, "pattern")
				for v := range rapid.IntRange(0, 40).Draw(t, "n") {
					trie.Add(pattern, v)
					model[binding{pattern, v}]++
					n++
				}
			},
			"remove": func(t *rapid.T) {
				b := draw(t)
				if len(model) > 0 && rapid.Bool().Draw(t, "existing") {
					b = rapid.SampledFrom(sortedBindings(model)).Draw(t, "binding")
				}
				trie.Remove(b.pattern, b.v)
				if model[b] > 0 {
					model[b]--
					n--
				}
				if model[b] == 0 {
					delete(model, b)
				}
			},
			"": func(t *rapid.T) {
				require.Equal(t, n, trie.Len())
				key := keyGen.Draw(t, "key")
				var want []int
				for b := range model {
					if matches(b.pattern, key) {
						want = append(want, b.v)
					}
				}
				slices.Sort(want)
				got := trie.Match(key, nil)
				slices.Sort(got)
				require.Equal(t, want, got, "key %q", key)
			},
		})
	})
}

func sortedBindings(model map[binding]int) []binding {
	var bs []binding
	for b := range model {
		bs = append(bs, b)
	}
	slices.SortFunc(bs, func(a, b binding) int {
		return strings.Compare(fmt.Sprintf("%s %d", a.pattern, a.v), fmt.Sprintf("%s %d", b.pattern, b.v))
	})
	return bs
}

func TestMatchAppends(t *testing.T) {
	var trie topic.Trie[string]
	trie.Add("a.*", "x")
	require.Equal(t, []string{"before", "x"}, trie.Match("a.b", []string{"before"}))
}

func TestHostilePatternsAreBounded(t *testing.T) {
	var trie topic.Trie[int]
	pattern := strings.Repeat("#.a.", 63) + "b"
	trie.Add(pattern, 1)
	trie.Add(strings.Repeat("#.", 126)+"b", 2)
	trie.Add(strings.Repeat("#.*.", 63)+"b", 3)
	key := strings.Repeat("a.", 126) + "a" // naive matchers try all ways of dividing the key
	require.Empty(t, trie.Match(key, nil))
	require.ElementsMatch(t, []int{1, 2, 3}, trie.Match(key[:250]+"a.b", nil))
}

func TestMatchDoesNotAllocate(t *testing.T) {
	var trie topic.Trie[int]
	for i, p := range []string{"a.b.c", "a.*.c", "#.c", "#.b.#", "*.b.*"} {
		trie.Add(p, i)
	}
	buf := trie.Match("a.b.c", nil)
	require.Len(t, buf, 5)
	require.Zero(t, testing.AllocsPerRun(100, func() { buf = trie.Match("a.b.c", buf[:0]) }))
}

func FuzzMatch(f *testing.F) {
	for _, v := range vectors {
		for i, p := range v.patterns {
			f.Add(p, "#.a", vectorKeys[i])
		}
	}
	f.Add("#.a.#.a.#", "*.#", "a.a.b.a.a")
	f.Fuzz(func(t *testing.T, p1, p2, key string) {
		if len(p1) > 255 || len(p2) > 255 || len(key) > 255 {
			return
		}
		var trie topic.Trie[int]
		trie.Add(p1, 1)
		trie.Add(p2, 2)
		var want []int
		for i, p := range []string{p1, p2} {
			if matches(p, key) {
				want = append(want, i+1)
			}
		}
		got := trie.Match(key, nil)
		slices.Sort(got)
		require.Equal(t, want, got)
		trie.Remove(p1, 1)
		trie.Remove(p2, 2)
		require.Zero(t, trie.Len())
		require.Empty(t, trie.Match(key, nil))
	})
}

func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		for kind, pattern := range map[string]func(i int) string{
			"plain":  func(i int) string { return fmt.Sprintf("site%d.device%d.event", i%100, i) },
			"star":   func(i int) string { return fmt.Sprintf("site%d.device%d.*", i%100, i) },
			"suffix": func(i int) string { return fmt.Sprintf("#.device%d.event", i) },
		} {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				var trie topic.Trie[int]
				keys := make([]string, 64)
				for i := range n {
					trie.Add(pattern(i), i)
				}
				for i := range keys {
					d := i * (n / len(keys))
					keys[i] = fmt.Sprintf("site%d.device%d.event", d%100, d)
				}
				var buf []int
				b.ReportAllocs()
				for i := range b.N {
					buf = trie.Match(keys[i%len(keys)], buf[:0])
					if len(buf) != 1 {
						b.Fatal(len(buf))
					}
				}
			})
		}
	}
}

func BenchmarkAddRemove(b *testing.B) {
	for kind, pattern := range map[string]string{"same": "a.*.c", "plain": "a.b.c"} {
		b.Run(kind, func(b *testing.B) {
			var trie topic.Trie[int]
			for i := range 100_000 {
				trie.Add(pattern, i)
			}
			for i := range b.N {
				trie.Remove(pattern, i%100_000)
				trie.Add(pattern, i%100_000)
			}
		})
	}
}
