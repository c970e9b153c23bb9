package pcre

import "slices"

// A step tries to match the rest of the pattern at a position of the name.
type step func(m *machine, pos int) bool

// maxSize is how many steps a pattern may have; a repetition of a group has a copy of them for
// every time. PCRE's own limit is somewhat lower.
const maxSize = 1 << 16

// A compiler makes steps of a syntax tree, from the last to the first: each knows the step after it.
type compiler struct {
	syntax
	Pattern
	captures bool // something refers to groups
	atomics  bool // there are atomic groups
	empties  bool // there are unlimited repetitions of what may be empty
	size     int
}

func newCompiler(s syntax) *compiler { return &compiler{syntax: s} }

func (c *compiler) pattern() *Pattern {
	c.survey(c.tree)
	if c.captures {
		c.Pattern.groups = c.syntax.groups + 1
	}
	c.forgets = c.captures || c.atomics && c.empties
	c.start = c.step(c.tree, matched)
	p := c.Pattern
	return &p
}

// survey finds what decides how the pattern is matched.
func (c *compiler) survey(n node) {
	switch n := n.(type) {
	case sequence:
		c.surveyAll(n)
	case choice:
		c.surveyAll(n)
	case repeat:
		_, single := n.body.(one)
		shortest, _ := length(n.body)
		c.atomics = c.atomics || n.mode == possessive && !single
		c.empties = c.empties || n.max == unlimited && shortest == 0
		c.survey(n.body)
	case capture:
		c.survey(n.body)
	case cluster:
		c.atomics = true
	case atomic:
		c.atomics = true
		c.survey(n.body)
	case look:
		c.survey(n.body)
	case *backReference:
		c.captures = true
	case *condition:
		c.captures = c.captures || n.test == nil
		c.surveyAll([]node{n.test, n.yes, n.no})
	}
}

func (c *compiler) surveyAll(nodes []node) {
	for _, n := range nodes {
		c.survey(n)
	}
}

// matched is the last step of a pattern, a lookahead or an atomic group.
func matched(m *machine, pos int) bool {
	m.end = pos
	return true
}

func (c *compiler) step(n node, next step) step {
	if c.size++; c.size > maxSize {
		(&parser{source: c.source, version: c.version}).fail(tooLarge, 0, len(c.source))
	}
	switch n := n.(type) {
	case one:
		return func(m *machine, pos int) bool {
			return pos < len(m.name) && n.set.has(m.name[pos]) && next(m, pos+1)
		}
	case sequence:
		return c.sequence(n, next)
	case choice:
		return c.choice(n, next)
	case repeat:
		return c.repeat(n, next)
	case capture:
		return c.capture(n, next)
	case atomic:
		return c.atomic(n.body, next)
	case look:
		return c.look(n, next)
	case *backReference:
		return c.backReference(n, next)
	case *condition:
		return c.condition(n, next)
	case cluster:
		return c.step(atomic{choice{newlinePair, one{anyByte}}}, next)
	case assertion:
		return func(m *machine, pos int) bool { return n(m.name, pos) && next(m, pos) }
	}
	return next
}

// sequence joins neighbouring characters to a text.
func (c *compiler) sequence(items sequence, next step) step {
	var text []byte
	for _, item := range slices.Backward(items) {
		if b, ok := character(item); ok {
			text = append(text, b)
			continue
		}
		next = c.step(item, literal(text, next))
		text = nil
	}
	return literal(text, next)
}

func character(n node) (b byte, ok bool) {
	if o, isOne := n.(one); isOne {
		return o.set.single()
	}
	return 0, false
}

// literal matches a text, which is given from its end.
func literal(reversed []byte, next step) step {
	if len(reversed) == 0 {
		return next
	}
	slices.Reverse(reversed)
	text := string(reversed)
	return func(m *machine, pos int) bool {
		end := pos + len(text)
		return end <= len(m.name) && m.name[pos:end] == text && next(m, end)
	}
}

func (c *compiler) guard() int {
	c.guards++
	return c.guards - 1
}

// branchesPerStep is how many branches of a choice are tried in the time of a step.
const branchesPerStep = 8

func (c *compiler) choice(branches choice, next step) step {
	guard := c.guard()
	steps := make([]step, len(branches))
	for i, b := range branches {
		steps[i] = c.step(b, next)
	}
	return func(m *machine, pos int) bool {
		if !m.enter(guard, pos) {
			return false
		}
		m.works(len(steps) / branchesPerStep)
		for _, s := range steps {
			if s(m, pos) {
				return true
			}
		}
		return false
	}
}

func (c *compiler) capture(n capture, next step) step {
	if !c.captures {
		return c.step(n.body, next)
	}
	closed := func(m *machine, pos int) bool {
		old := m.groups[n.number]
		m.groups[n.number] = span{m.opened[n.number], pos}
		if next(m, pos) {
			return true
		}
		m.groups[n.number] = old
		return false
	}
	body := c.step(n.body, closed)
	return func(m *machine, pos int) bool {
		old := m.opened[n.number]
		m.opened[n.number] = pos
		if body(m, pos) {
			return true
		}
		m.opened[n.number] = old
		return false
	}
}

func (c *compiler) backReference(n *backReference, next step) step {
	equal := func(a, b byte) bool { return a == b }
	if n.fold {
		equal = func(a, b byte) bool { return a == b || c.version.otherCase(a) == b }
	}
	return func(m *machine, pos int) bool {
		g, ok := m.group(n.groups)
		if !ok || len(m.name)-pos < g.end-g.start {
			return false
		}
		for i := g.start; i < g.end; i++ {
			if !equal(m.name[i], m.name[pos+i-g.start]) {
				return false
			}
		}
		return next(m, pos+g.end-g.start)
	}
}

func (c *compiler) condition(n *condition, next step) step {
	yes, no := c.step(n.yes, next), c.step(n.no, next)
	if n.test != nil {
		return c.decide(n.test, yes, no)
	}
	return func(m *machine, pos int) bool {
		if _, ok := m.group(n.groups); ok {
			return yes(m, pos)
		}
		return no(m, pos)
	}
}

// decide goes on with yes or no, by a lookaround.
func (c *compiler) decide(test node, yes, no step) step {
	l, ok := test.(look)
	if !ok {
		return no // (?(DEFINE)...)
	}
	positive := look{body: l.body, behind: l.behind}
	if l.negative {
		yes, no = no, yes
	}
	s := c.lookSub(positive)
	return func(m *machine, pos int) bool {
		if _, ok := m.run(s, pos); ok {
			return yes(m, pos)
		}
		return no(m, pos)
	}
}

// A sub is a part of the pattern that is matched by itself, in one way only.
type sub struct {
	index    int
	body     step
	from, to int  // its guards
	behind   bool // a lookbehind
}

func (c *compiler) sub(body func() step) *sub {
	s := &sub{index: c.subs, from: c.guards}
	c.subs++
	s.body = body()
	s.to = c.guards
	return s
}

func (c *compiler) atomic(body node, next step) step {
	s := c.sub(func() step { return c.step(body, matched) })
	return func(m *machine, pos int) bool {
		saved := m.saveGroups()
		if end, ok := m.run(s, pos); ok && next(m, end) {
			return true
		}
		m.restoreGroups(saved)
		return false
	}
}

func (c *compiler) look(n look, next step) step {
	s := c.lookSub(n)
	if n.negative {
		return func(m *machine, pos int) bool {
			saved := m.saveGroups()
			if _, found := m.run(s, pos); found {
				m.restoreGroups(saved)
				return false
			}
			return next(m, pos)
		}
	}
	return func(m *machine, pos int) bool {
		saved := m.saveGroups()
		if _, found := m.run(s, pos); found && next(m, pos) {
			return true
		}
		m.restoreGroups(saved)
		return false
	}
}

func (c *compiler) lookSub(n look) *sub {
	if !n.behind {
		return c.sub(func() step { return c.step(n.body, matched) })
	}
	shortest, longest := length(n.body)
	s := c.sub(func() step {
		body := c.step(n.body, func(m *machine, pos int) bool { return pos == m.target })
		return func(m *machine, pos int) bool {
			outer := m.target
			m.target = pos
			found := false
			for start := pos - shortest; !found && start >= max(0, pos-longest); start-- {
				found = body(m, start)
			}
			m.target = outer
			return found
		}
	})
	s.behind = true
	return s
}
