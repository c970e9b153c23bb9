package pcre

import "slices"

// A machine is the state of one match.
type machine struct {
	name   string
	steps  int // that are left
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

// A span is a part of the name.
type span struct{ start, end int }

func (m *machine) reset(p *Pattern, name string) {
	m.name, m.steps, m.forgets = name, MaxSteps, p.forgets
	m.row = len(name)/64 + 1
	m.begun = zeroed(m.begun, p.loops)
	m.opened = zeroed(m.opened, p.groups)
	m.groups = zeroed(m.groups, p.groups)
	m.failed, m.ends = m.failed[:0], m.ends[:0]
	if !p.forgets {
		m.failed = zeroed(m.failed, p.guards*m.row)
		m.ends = zeroed(m.ends, p.subs*(len(name)+1))
	}
}

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
		if start(m, pos) {
			return m.steps > 0
		}
	}
	return false
}

// tick counts a step and reports whether there are more.
func (m *machine) tick() bool {
	m.steps--
	return m.steps > 0
}

// tryAgain is tick for another try at a guarded place. A machine that remembers makes few of them: they do not count.
func (m *machine) tryAgain() bool {
	if m.forgets {
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
