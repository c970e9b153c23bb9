package pcre

import (
	"slices"
	"strconv"
	"strings"
)

// A parser reads an expression into its syntax tree, from left to right.
type parser struct {
	source  string
	pos     int
	version Version
	options options
	quoted  bool // between \Q and \E
	groups  int  // capturing groups opened so far
	names   map[string][]int
	pending [2][]func() // checks that wait until all groups are known: first these, then those
	depth   int         // groups that are open
	looks   int         // lookarounds that are open
}

// options are what (?i) and the like switch. They hold until the group around them ends.
type options struct {
	fold, multiline, dotAll, extended, extendedMore, ungreedy, noCapture, duplicates bool
}

const maxDepth = 2000 // of groups, so that no pattern exhausts the stack

// A syntax is what a parser makes of an expression.
type syntax struct {
	version Version
	source  string
	tree    node
	groups  int
}

func parse(source string, v Version) syntax {
	p := &parser{source: source, version: v, names: map[string][]int{}}
	tree := p.branches(nil)
	if p.pos < len(source) {
		p.pos++
		p.failHere(parenUnmatched)
	}
	for _, check := range slices.Concat(p.pending[0], p.pending[1]) {
		check()
	}
	return syntax{v, source, tree, p.groups}
}

func (p *parser) rest() string { return p.source[p.pos:] }

func (p *parser) ended() bool { return p.pos == len(p.source) }

// take moves behind text if it is next.
func (p *parser) take(text string) bool {
	if !strings.HasPrefix(p.rest(), text) {
		return false
	}
	p.pos += len(text)
	return true
}

// branches reads alternatives. after is called at the end of each.
func (p *parser) branches(after func(node)) node {
	var all choice
	for {
		branch := p.sequence()
		all = append(all, branch)
		if after != nil {
			after(branch)
		}
		if !p.take("|") {
			break
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return all
}

func (p *parser) sequence() node {
	var items sequence
	for {
		p.skip()
		if p.ended() || !p.quoted && strings.IndexByte("|)", p.source[p.pos]) >= 0 {
			return items
		}
		item, repeatable := p.atom()
		p.skip()
		for repeatable {
			min, max, ok := p.quantifier()
			if !ok {
				break
			}
			item = repeat{item, min, max, p.mode()}
			repeatable = false
		}
		if item != nil {
			items = append(items, item)
		}
	}
}

// skip moves behind what matches nothing and may stand between an item and its quantifier.
func (p *parser) skip() {
	for !p.ended() {
		switch c := p.source[p.pos]; {
		case p.take(`\E`):
			p.quoted = false
		case p.quoted:
			return
		case p.take(`\Q`):
			p.quoted = true
		case p.options.extended && isSpace(c):
			p.pos++
		case p.options.extended && c == '#':
			line, _, _ := strings.Cut(p.rest(), "\n")
			p.pos = min(p.pos+len(line)+1, len(p.source))
		case p.take("(?#"):
			end := strings.IndexByte(p.rest(), ')')
			if end < 0 {
				p.failAtEnd(commentOpen)
			}
			p.pos += end + 1
		default:
			return
		}
	}
}

// atom reads one item and reports whether it may be repeated. The item is nil if it matches nothing.
func (p *parser) atom() (item node, repeatable bool) {
	c := p.source[p.pos]
	if p.quoted {
		p.pos++
		return p.literal(c), true
	}
	switch c {
	case '(':
		return p.group()
	case '[':
		return p.class(), true
	case '\\':
		return p.escape()
	case '^':
		p.pos++
		return p.lineStart(), false
	case '$':
		p.pos++
		return p.lineEnd(), false
	case '.':
		p.pos++
		if p.options.dotAll {
			return one{anyByte}, true
		}
		return one{notNewline}, true
	}
	if _, _, ok := p.quantifier(); ok {
		p.failHere(nothingToRepeat)
	}
	p.pos++
	return p.literal(c), true
}

var (
	anyByte    = set{}.complement()
	notNewline = bytesOf("\n").complement()

	newlinePair = sequence{one{bytesOf("\r")}, one{bytesOf("\n")}}
)

func (p *parser) literal(c byte) node {
	s := bytesOf(string([]byte{c}))
	if p.options.fold {
		s = s.foldCase(p.version)
	}
	return one{s}
}

func (p *parser) lineStart() node {
	if p.options.multiline {
		return assertion(func(name string, pos int) bool {
			return pos == 0 || pos < len(name) && name[pos-1] == '\n'
		})
	}
	return assertion(atStart)
}

func (p *parser) lineEnd() node {
	if p.options.multiline {
		return assertion(func(name string, pos int) bool { return pos == len(name) || name[pos] == '\n' })
	}
	return assertion(atLastLineEnd)
}

func atStart(_ string, pos int) bool { return pos == 0 }

func atEnd(name string, pos int) bool { return pos == len(name) }

// atLastLineEnd is before a newline at the end, too.
func atLastLineEnd(name string, pos int) bool {
	return pos == len(name) || pos == len(name)-1 && name[pos] == '\n'
}

func (p *parser) atWordBoundary(name string, pos int) bool {
	before := pos > 0 && p.version.isWord(name[pos-1])
	behind := pos < len(name) && p.version.isWord(name[pos])
	return before != behind
}

// quantifier moves behind a quantifier, if one is next.
func (p *parser) quantifier() (low, high int, ok bool) {
	if p.ended() || p.quoted {
		return 0, 0, false
	}
	switch p.source[p.pos] {
	case '*':
		low, high = 0, unlimited
	case '+':
		low, high = 1, unlimited
	case '?':
		low, high = 0, 1
	case '{':
		return p.braces()
	default:
		return 0, 0, false
	}
	p.pos++
	return low, high, true
}

func (p *parser) peekQuantifier() (low, high int, ok bool) {
	start := p.pos
	defer func() { p.pos = start }()
	return p.quantifier()
}

// braces is quantifier for {n}, {n,}, {n,m}, and in PCRE2 {,m} and spaces in them.
func (p *parser) braces() (low, high int, ok bool) {
	body, _, closed := strings.Cut(p.rest()[1:], "}")
	from, to, comma := strings.Cut(body, ",")
	spaced := p.version == PCRE2
	if spaced {
		from, to = strings.Trim(from, " \t"), strings.Trim(to, " \t")
	}
	numbers := isNumber(from) && isNumber(to)
	open := from == "" && (!spaced || to == "")
	if !closed || !numbers || open {
		return 0, 0, false
	}
	end := p.pos + 1 + len(body)
	low, high = p.count(from, 0, end), p.count(to, unlimited, end)
	if !comma {
		high = low
	}
	if high != unlimited && high < low {
		p.fail(numbersOutOfOrder, end, end)
	}
	p.pos = end + 1
	return low, high, true
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }

func (p *parser) count(digits string, otherwise, end int) int {
	if digits == "" {
		return otherwise
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n > 65535 {
		p.fail(numberTooBig, end, end)
	}
	return n
}

// mode moves behind the + or ? that may follow a quantifier.
func (p *parser) mode() mode {
	if p.options.extended {
		p.skip()
	}
	switch {
	case p.quoted:
	case p.take("+"):
		return possessive
	case p.take("?") != p.options.ungreedy:
		return lazy
	}
	return greedy
}

// A reference is to a group that may come later in the pattern.
type reference struct {
	find     func() []int // the numbers of its groups
	now, old int          // the offsets if there are none, as of fail
}

// refer has found called when all groups are known, with the numbers of the group's.
func (p *parser) refer(r reference, found func([]int)) {
	p.pending[0] = append(p.pending[0], p.lookUp(r, found))
}

func (p *parser) lookUp(r reference, found func([]int)) func() {
	return func() {
		groups := r.find()
		if groups == nil {
			p.fail(noSuchGroup, r.now, r.old)
		}
		found(groups)
	}
}

func (p *parser) numbered(n int) func() []int {
	return func() []int {
		if n < 1 || n > p.groups {
			return nil
		}
		return []int{n}
	}
}

func (p *parser) named(name string) func() []int {
	return func() []int { return slices.Clone(p.names[name]) }
}
