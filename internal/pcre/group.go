package pcre

import (
	"strconv"
	"strings"
)

// group reads everything that begins with a parenthesis.
func (p *parser) group() (n node, repeatable bool) {
	start, outer := p.pos, p.options
	p.pos++
	if p.depth++; p.depth > maxDepth {
		p.failHere(tooDeep)
	}
	switch {
	case p.atVerb():
		n = p.verb()
	case p.take("?"):
		n = p.special(start)
		if _, switched := n.(options); switched { // the options hold on
			p.depth--
			return nil, false
		}
	case p.options.noCapture:
		n = p.branches(nil)
		p.close()
	default:
		n = p.capture()
	}
	p.options = outer
	p.depth--
	return n, n != nil
}

func (p *parser) close() {
	if !p.take(")") {
		p.failAtEnd(parenMissing)
	}
}

// inner reads the branches of a group and its end.
func (p *parser) inner() node {
	n := p.branches(nil)
	p.close()
	return n
}

func (p *parser) capture() node {
	p.groups++
	number := p.groups
	return capture{number, p.inner()}
}

// atVerb reports whether the group goes on like (*VERB) or (*:NAME); (*) is a quantifier of nothing.
func (p *parser) atVerb() bool {
	rest := p.rest()
	if len(rest) < 2 || rest[0] != '*' {
		return false
	}
	named := isLetter(rest[1]) || rest[1] == ':'
	return named || p.version == PCRE2 && rest[1] != ')'
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// verb reads (*FAIL), which alone of its kind is known.
func (p *parser) verb() node {
	if p.take("*FAIL)") || p.take("*F)") {
		return choice{}
	}
	name, _, closed := strings.Cut(p.rest(), ")")
	if !closed {
		p.failAtEnd(parenMissing)
	}
	if nameless := !isLetter(name[1]) && name[1] != ':'; nameless {
		p.pos++
		p.failHere(verbUnknown)
	}
	for _, known := range knownVerbs {
		if strings.HasPrefix(name[1:], known) {
			p.failHere(verbs)
		}
	}
	end := p.pos + len(name)
	p.fail(verbUnknown, end, end)
	return nil
}

var knownVerbs = []string{"ACCEPT", "COMMIT", "PRUNE", "SKIP", "THEN", "MARK", ":", "UTF", "UCP", "NO_", "LIMIT_", "CR", "LF",
	"ANY", "BSR_", "NUL", "NOTEMPTY", "atomic:", "pla:", "plb:", "nla:", "nlb:", "napla:", "naplb:", "positive_", "negative_"}

// special reads what follows (? up to the end of the group. It returns options where these were
// switched for the rest of the group around it.
func (p *parser) special(start int) node {
	switch {
	case p.take(":"):
		return p.inner()
	case p.take("|"):
		return p.branchReset()
	case p.take(">"):
		return atomic{p.inner()}
	case p.take("="):
		return p.look(look{}, start)
	case p.take("!"):
		return p.look(look{negative: true}, start)
	case p.take("<="):
		return p.look(look{behind: true}, start)
	case p.take("<!"):
		return p.look(look{behind: true, negative: true}, start)
	case p.take("P="):
		return p.backReference(p.name(")"))
	case p.take("P<"), p.take("<"):
		return p.namedCapture(">")
	case p.take("'"):
		return p.namedCapture("'")
	case p.take("("):
		return p.condition(start)
	case p.take("C"):
		return p.callout()
	}
	p.refuseUnsupported()
	return p.switches()
}

// refuseUnsupported ends the compilation at what PCRE knows and this package does not.
func (p *parser) refuseUnsupported() {
	rest := p.rest()
	nonAtomic := strings.HasPrefix(rest, "*") && p.version == PCRE2
	recursive := strings.HasPrefix(rest, "R") || strings.HasPrefix(rest, "&") || strings.HasPrefix(rest, "P>")
	sign := strings.TrimLeft(rest, "+-")
	numbered := sign != "" && isDigit(sign[0]) && len(rest)-len(sign) <= 1
	switch {
	case nonAtomic:
		p.failHere(nonAtomicLookaround)
	case recursive || numbered:
		p.failHere(recursion)
	}
}

// branchReset reads alternatives that number their groups from the same number on.
func (p *parser) branchReset() node {
	first, last := p.groups, p.groups
	n := p.branches(func(node) {
		last = max(last, p.groups)
		p.groups = first
	})
	p.groups = last
	p.close()
	return n
}

func (p *parser) look(l look, start int) node {
	p.looks++
	l.body = p.branches(func(branch node) {
		if l.behind {
			p.checkBehind(branch, start)
		}
	})
	p.looks--
	p.close()
	return l
}

// checkBehind refuses a branch of a lookbehind whose length has no limit, or, in PCRE 8, is not always the same.
func (p *parser) checkBehind(branch node, start int) {
	end := p.pos
	check := func() {
		_, longest := length(branch)
		endless := longest == unlimited
		varying := p.version == PCRE1 && !isFixed(branch)
		if endless || varying {
			p.fail(behindNotFixed, start, end)
		}
	}
	order := 1 // PCRE2 looks at references first
	if p.version == PCRE1 {
		order = 0
	}
	p.pending[order] = append(p.pending[order], check)
}

// callout reads the number of (?C1), which does nothing.
func (p *parser) callout() node {
	digits := p.digits()
	if n, err := strconv.Atoi(digits); digits != "" && (err != nil || n > 255) {
		p.fail(calloutTooBig, p.pos, p.pos)
	}
	p.close()
	return sequence{}
}

func (p *parser) digits() string {
	rest := p.rest()
	n := 0
	for n < len(rest) && isDigit(rest[n]) {
		n++
	}
	p.pos += n
	return rest[:n]
}

// name reads the name of a group and the text that ends it.
func (p *parser) name(terminator string) (name string, at int) {
	at = p.pos
	rest := p.rest()
	n := 0
	for n < len(rest) && p.version.isWord(rest[n]) {
		n++
	}
	switch {
	case n == 0:
		p.fail(nameExpected, at, at)
	case isDigit(rest[0]):
		p.fail(nameWithDigit, at+1, at)
	}
	p.pos += n
	if n > p.version.longestName() {
		p.fail(nameTooLong, p.pos, p.pos)
	}
	if !p.take(terminator) {
		p.fail(nameOpen, p.pos, p.pos)
	}
	return rest[:n], at
}

func (v Version) longestName() int {
	if v == PCRE1 {
		return 32
	}
	return 128
}

func (p *parser) namedCapture(terminator string) node {
	if nonAtomic := strings.HasPrefix(p.rest(), "*"); nonAtomic && p.version == PCRE2 {
		p.failHere(nonAtomicLookaround)
	}
	name, _ := p.name(terminator)
	number := p.groups + 1
	known := p.names[name]
	if known != nil && known[0] != number && !p.options.duplicates {
		p.failHere(nameTaken)
	}
	p.names[name] = append(known, number)
	return p.capture()
}

// backReference refers to the group of that name.
func (p *parser) backReference(name string, at int) node {
	r := &backReference{fold: p.options.fold}
	p.refer(reference{p.named(name), at, p.pos - 1}, func(groups []int) { r.groups = groups })
	return r
}

// condition reads (?(test)yes|no).
func (p *parser) condition(start int) node {
	c := &condition{}
	p.conditionTest(c)
	n := p.branches(nil)
	c.yes, c.no = n, sequence{}
	if both, ok := n.(choice); ok {
		if len(both) > 2 {
			p.fail(tooManyBranches, start, p.pos)
		}
		c.yes, c.no = both[0], both[1]
	}
	p.close()
	return c
}

func (p *parser) conditionTest(c *condition) {
	set := func(groups []int) { c.groups = groups }
	at := p.pos
	switch {
	case p.take("?"):
		test, ok := p.special(at - 1).(look)
		if !ok {
			p.failHere(unknownGroup)
		}
		c.test = test
		return
	case p.take("<"):
		name, at := p.name(">)")
		p.refer(reference{p.named(name), at, p.pos}, set)
	case p.take("'"):
		name, at := p.name("')")
		p.refer(reference{p.named(name), at, p.pos}, set)
	case p.take("DEFINE)"):
		c.test = choice{}
	case p.take("R"), p.take("VERSION"):
		p.failHere(recursion)
	case strings.HasPrefix(p.rest(), "+"), strings.HasPrefix(p.rest(), "-"):
		p.refer(reference{p.relative(), at, p.pos}, set)
		p.close()
	default:
		digits := p.digits()
		if digits == "" {
			name, at := p.name(")")
			p.refer(reference{p.named(name), at, p.pos}, set)
			return
		}
		n, _ := strconv.Atoi(digits)
		p.close()
		p.refer(reference{p.numbered(n), at - 1, p.pos}, set)
	}
}

// relative reads the number of a group counted from here: -1 is the last that was opened.
func (p *parser) relative() func() []int {
	back := p.take("-")
	if !back {
		p.take("+")
	}
	n, _ := strconv.Atoi(p.digits())
	switch {
	case n == 0:
		return p.numbered(0)
	case back:
		return p.numbered(p.groups + 1 - n)
	}
	return p.numbered(p.groups + n)
}

// switches reads options up to a parenthesis, for the rest of the group around them, or up to a
// colon, for the group that follows it.
func (p *parser) switches() node {
	o := p.options
	if p.version == PCRE2 && p.take("^") {
		o = options{duplicates: o.duplicates, ungreedy: o.ungreedy}
	}
	on := true
	for !p.ended() {
		c := p.source[p.pos]
		p.pos++
		switch {
		case c == ')':
			p.options = o
			return o
		case c == ':':
			p.options = o
			return p.inner()
		case c == '-' && on:
			on = false
		case !o.set(c, on, p.version):
			p.failHere(unknownGroup)
		}
	}
	if p.version == PCRE1 {
		p.failAtEnd(unknownGroup)
	}
	p.failAtEnd(parenMissing)
	return nil
}

// set switches the option of a letter, if there is one.
func (o *options) set(letter byte, on bool, v Version) bool {
	switch letter {
	case 'i':
		o.fold = on
	case 'm':
		o.multiline = on
	case 's':
		o.dotAll = on
	case 'x':
		o.extendedMore = on && o.extended && v == PCRE2
		o.extended = on
	case 'U':
		o.ungreedy = on
	case 'J':
		o.duplicates = on
	case 'n':
		o.noCapture = on
		return v == PCRE2
	default:
		return false
	}
	return true
}
