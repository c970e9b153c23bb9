package leveret

import (
	"github.com/leveretmq/leveret/internal/pcre"
	"github.com/leveretmq/leveret/internal/turns"
)

// Matches. The pattern of a policy or a permission may take a hundredth of a second with one name, and there may be
// hundreds of policies. So the matches of a turn take matchSteps altogether under the lock. An operation that needs
// a longer match has changed nothing yet: it gives the lock back, matches without a bound but the pattern's own, and is
// attempted again from its first check. What others did meanwhile is what the operation finds. It keeps the results of
// its long matches for its further attempts. So each attempt brings it one match further, whatever others do.
//
// A policy that is set goes over the queues and exchanges, and makes such an attempt for each.

// matchSteps is how many steps of patterns there are in a turn, 10,000: at most 0.8 ms (BenchmarkMatchWithin of
// internal/pcre). In the short turns of a test nearly every match is a long one.
func matchSteps() int { return 10 * turn() }

// shortMatch is how many steps each match may take in any case, 100, so that an operation that looks at very many simple
// patterns is attempted once.
func shortMatch() int { return turn() / 10 }

// matchStepsPerStep is how many steps of patterns are one of an operation.
const matchStepsPerStep = 100

// A match is a pattern that is looked for in a name.
type match struct {
	pattern *pcre.Pattern
	name    string
}

// errLongMatch ends an attempt of an operation that needs a long match. Nobody sees it outside.
var errLongMatch = &Error{Code: InternalError, Reason: "a match takes long"}

// A longMatch is why an attempt ended.
type longMatch struct {
	match
	queue string // the name that the broker made up for the queue which is declared; empty: none
}

// known is what an operation knows from its earlier attempts.
type known struct {
	found map[match]bool
	queue string // of the longMatch
}

// foundLocked reports whether the pattern is found in the name. errLongMatch says that this takes long.
func (v *vhost) foundLocked(p *pcre.Pattern, name string) (bool, *Error) {
	m := match{p, name}
	if k := v.turns.known; k != nil {
		if found, ok := k.found[m]; ok {
			return found, nil
		}
	}
	t := &v.timing.turn
	found, done, took := p.MatchWithin(name, max(matchSteps()-t.matching, shortMatch()))
	t.matching += took
	t.steps += took / matchStepsPerStep
	if !done {
		v.turns.wanted = longMatch{match: m}
		return false, errLongMatch
	}
	return found, nil
}

// attemptLocked attempts something until it needs no long match any more.
func (v *vhost) attemptLocked(attempt func() *Error) *Error {
	err := attempt()
	if err == errLongMatch {
		err = v.attemptAgainLocked(attempt)
	}
	return err
}

// attemptAgainLocked is for an attempt that has ended with errLongMatch.
func (v *vhost) attemptAgainLocked(attempt func() *Error) *Error {
	k := &known{found: map[match]bool{}}
	for {
		k.queue = v.turns.wanted.queue
		v.finishMatchLocked(k, v.turns.wanted.match)
		v.turns.known = k
		err := attempt()
		v.turns.known = nil
		if err != errLongMatch {
			return err
		}
	}
}

// finishMatchLocked gives the lock back for as long as the match takes.
func (v *vhost) finishMatchLocked(k *known, m match) {
	var found bool
	v.apartLocked(func() {
		found = m.pattern.Match(m.name)
		turns.LetIn()
	})
	k.found[m] = found
}
