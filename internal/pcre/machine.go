package pcre

import (
	"runtime"
	"slices"
)

// A machine is the state of one match.
type machine struct {
	name string
	bound
	row    int // words for the positions of one guard in failed
	failed []uint64
	ends   []int32 // what each sub came to at each position: 0 unknown, 1 failed, 2 + where it ended
	end    int     // of the last sub that matched
	target int     // where the lookbehind at hand has to end
	begun  []int   // where each loop's present time began

	forgets bool
	opened  []int  // where each group was entered
	groups  []span // what each group matched last
}

// A bound says when a match is given up.
type bound struct {
	steps   int  // that are left
	reserve int  // steps after those, when other goroutines have run
	strict  bool // all that takes time counts as steps
}

// A span is a part of the name.
type span struct{ start, end int }

func (m *machine) reset(p *Pattern, name string) {
	m.name, m.forgets = name, p.forgets
	m.row = wordsOf(name)
	m.begun = zeroed(m.begun, p.loops)
	m.opened = zeroed(m.opened, p.groups)
	m.groups = zeroed(m.groups, p.groups)
	m.failed, m.ends = m.failed[:0], m.ends[:0]
	if !p.forgets {
		m.failed = zeroed(m.failed, p.guards*m.row)
		m.ends = zeroed(m.ends, p.subs*(len(name)+1))
	}
}

// wordsOf is how many words have a bit for each position of a name.
func wordsOf(name string) int { return len(name)/64 + 1 }

// zeroed returns n zeros, in the memory of s if that suffices.
func zeroed[E any](s []E, n int) []E {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// search looks for the pattern from each position of the name.
func (m *machine) search(start step) bool {
	for pos := range len(m.name) + 1 {
		for i := range m.groups {
			m.groups[i] = span{-1, -1}
		}
		if start(m, pos) || m.steps <= 0 {
			return m.steps > 0
		}
	}
	return false
}

// tick counts a step and reports whether there are more.
func (m *machine) tick() bool {
	m.steps--
	return m.steps > 0 || m.more()
}

// more lets other goroutines run and takes steps of the reserve, if there are any. Without it BenchmarkBystander/permissions of
// internal/bench, where eight goroutines match, has the bystander wait for 110 ms, because each keeps a processor for 10 ms.
func (m *machine) more() bool {
	if m.reserve == 0 {
		return false
	}
	runtime.Gosched()
	m.steps = min(m.reserve, stepsInARow)
	m.reserve -= m.steps
	return true
}

// works counts n steps for what MaxSteps does not count.
func (m *machine) works(n int) {
	if m.strict {
		m.steps -= n
	}
}

// tryAgain is tick for another try at a guarded place. A machine that remembers makes few of them: they do not count,
// unless all does.
func (m *machine) tryAgain() bool {
	if m.forgets || m.strict {
		return m.tick()
	}
	return m.steps > 0
}

// enter reports whether a guarded place is worth a try at pos. What was tried there failed: otherwise
// the match would be over.
func (m *machine) enter(guard, pos int) bool {
	if m.forgets {
		return m.tick()
	}
	word, bit := guard*m.row+pos/64, uint64(1)<<(pos%64)
	if m.failed[word]&bit != 0 {
		return false
	}
	m.failed[word] |= bit
	return m.tick()
}

// run matches a sub at pos. What comes of it depends on nothing else, if the machine remembers. What the
// sub's guards know is forgotten when it is no longer so that everything tried has failed, and that depends on
// where a lookbehind has to end.
func (m *machine) run(s *sub, pos int) (end int, ok bool) {
	if m.forgets {
		ok = m.tick() && s.body(m, pos)
		return m.end, ok
	}
	known := &m.ends[s.index*(len(m.name)+1)+pos]
	if *known == 0 {
		*known = 1
		matched := s.body(m, pos)
		if matched {
			*known = int32(m.end) + 2
		}
		if matched || s.behind {
			m.works((s.to - s.from) * m.row / wordsPerStep)
			clear(m.failed[s.from*m.row : s.to*m.row])
		}
	}
	return int(*known) - 2, *known > 1
}

// group returns what the first of the groups that is set matched.
func (m *machine) group(numbers []int) (span, bool) {
	for _, n := range numbers {
		if g := m.groups[n]; g.start >= 0 {
			return g, true
		}
	}
	return span{}, false
}

func (m *machine) saveGroups() []span { return slices.Clone(m.groups) }

func (m *machine) restoreGroups(saved []span) { copy(m.groups, saved) }
