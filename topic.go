package leveret

import "strings"

// A topic exchange's binding keys are patterns: words with dots between them, where * stands
// for one word and # for any number of words.

// maxHashWords is how many words of a binding key may be #.
const maxHashWords = 2

// validateTopicKey refuses a binding key with more # words than the release allows.
// Rules: X-20.
func validateTopicKey(key string, r *rules) *Error {
	if r.manyHashWords || strings.Count(key, "#") <= maxHashWords {
		return nil
	}
	n := 0
	for word := range strings.SplitSeq(key, ".") {
		if word == "#" {
			n++
		}
	}
	if n <= maxHashWords {
		return nil
	}
	return errorf(PreconditionFailed, "", "",
		"Topic binding key '%s' uses %d '#' wildcards, at most %d are allowed", key, n, maxHashWords)
}
