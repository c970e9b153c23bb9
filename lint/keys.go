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

// commonKey returns a routing key that both binding keys match, the shortest ways of their # first.
func commonKey(a, b []string) (key []string, ok bool) {
	switch {
	case len(a) == 0 && len(b) == 0:
		return nil, true
	case len(a) > 0 && a[0] == anyWords:
		return commonBehindHash(a, b)
	case len(b) > 0 && b[0] == anyWords:
		return commonBehindHash(b, a)
	case len(a) == 0 || len(b) == 0:
		return nil, false
	}
	word, ok := commonWord(a[0], b[0])
	if !ok {
		return nil, false
	}
	rest, ok := commonKey(a[1:], b[1:])
	return append([]string{word}, rest...), ok
}

// commonBehindHash is commonKey where a begins with #, which takes no word of b, or one and perhaps more.
func commonBehindHash(a, b []string) (key []string, ok bool) {
	if key, ok = commonKey(a[1:], b); ok || len(b) == 0 {
		return key, ok
	}
	rest, ok := commonKey(a, b[1:])
	switch b[0] {
	case anyWords: // which takes no word either
		return rest, ok
	case oneWord:
		return append([]string{filler}, rest...), ok
	}
	return append([]string{b[0]}, rest...), ok
}

func commonWord(a, b string) (word string, ok bool) {
	switch {
	case a == oneWord && b == oneWord:
		return filler, true
	case a == oneWord:
		return b, true
	}
	return a, a == b || b == oneWord
}
