package lint

import (
	"slices"
	"strings"
)

// Binding keys of topic exchanges as sets of routing keys.

const (
	oneWord  = "*"
	anyWords = "#"
)

// filler stands for a word that a wildcard leaves open.
const filler = "any"

// splitKey returns the words of a key. The empty key has none.
// Rules: X-20.
func splitKey(key string) []string {
	if key == "" {
		return nil
	}
	return strings.Split(key, ".")
}

// hasWildcard reports whether a word of a key is a wildcard.
func hasWildcard(key string) bool {
	return slices.ContainsFunc(splitKey(key), func(word string) bool { return word == oneWord || word == anyWords })
}

// replaceWildcards returns a key that a binding key seems to be for, also if its wildcards are part of a word.
func replaceWildcards(key string) string {
	return strings.NewReplacer(oneWord, filler, anyWords, filler).Replace(key)
}

// commonKey returns a routing key that both binding keys match. Of the ways of a # the one with fewer words is tried
// first.
func commonKey(a, b []string) (key []string, ok bool) {
	c := common{a, b, map[[2]int]bool{}}
	return c.from(0, 0)
}

// A common looks for a key that two binding keys match.
type common struct {
	a, b []string
	dead map[[2]int]bool // where the search has failed; without it keys with many # take forever
}

// from returns a key that the rest of both matches, from the i-th word of a and the j-th of b on.
func (c *common) from(i, j int) (key []string, ok bool) {
	if c.dead[[2]int{i, j}] {
		return nil, false
	}
	key, ok = c.search(i, j)
	if !ok {
		c.dead[[2]int{i, j}] = true
	}
	return key, ok
}

func (c *common) search(i, j int) (key []string, ok bool) {
	hashOfA, hashOfB := startsWithHash(c.a[i:]), startsWithHash(c.b[j:])
	endOfA, endOfB := i == len(c.a), j == len(c.b)
	if hashOfA { // it takes no word
		key, ok = c.from(i+1, j)
	}
	if hashOfB && !ok {
		key, ok = c.from(i, j+1)
	}
	switch {
	case ok, hashOfA && hashOfB:
		return key, ok
	case endOfA || endOfB:
		return nil, endOfA && endOfB
	case hashOfA: // it takes the next word
		return behind(c.b[j])(c.from(i, j+1))
	case hashOfB:
		return behind(c.a[i])(c.from(i+1, j))
	}
	word, ok := commonWord(c.a[i], c.b[j])
	if !ok {
		return nil, false
	}
	return behind(word)(c.from(i+1, j+1))
}

func startsWithHash(words []string) bool { return len(words) > 0 && words[0] == anyWords }

// behind returns a function that puts a word before the rest of a key. For * it is the filler.
func behind(word string) func(rest []string, ok bool) ([]string, bool) {
	if word == oneWord {
		word = filler
	}
	return func(rest []string, ok bool) ([]string, bool) {
		return append([]string{word}, rest...), ok
	}
}

// commonWord returns a word that both match, either of which may be *.
func commonWord(a, b string) (word string, ok bool) {
	if a == oneWord {
		return b, true
	}
	return a, a == b || b == oneWord
}
