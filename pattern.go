package leveret

import (
	"regexp"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// A pattern is a regular expression of a policy or a permission. RabbitMQ's are PCRE's, look
// at bytes, and match when they are found anywhere in the name. A backtracking matcher can
// take exponential time, so most patterns are run by Go's linear one: those that mean the same
// to both, and those that only add lookaheads to the front, such as ^(?!amq\.). Only the rest
// go to the backtracking matcher, under a time limit.
type pattern struct {
	source string

	ahead []lookahead    // have to hold at the start of the name
	plain *regexp.Regexp // found in the name; nil: only full knows the pattern

	full      *regexp2.Regexp
	exhausted atomic.Bool // full ran into its time limit once; it would again
}

type lookahead struct {
	expression *regexp.Regexp
	negative   bool
}

const (
	maxPatternLength = 1024 // bytes; RabbitMQ 4.3 refuses longer ones
	patternTimeout   = time.Second
)

func compilePattern(source string) (*pattern, error) {
	full, err := regexp2.Compile(byteRunes(pcre(source)), regexp2.RE2)
	if err != nil {
		return nil, err
	}
	full.MatchTimeout = patternTimeout
	p := &pattern{source: source, full: full}
	p.plain, p.ahead = linearPattern(source)
	return p, nil
}

// matches reports whether the pattern is found in name. A search that takes too long finds nothing.
func (p *pattern) matches(name string) bool {
	if p.plain != nil && isPlain(name) {
		for _, a := range p.ahead {
			if a.expression.MatchString(name) == a.negative {
				return false
			}
		}
		return p.plain.MatchString(name)
	}
	if p.exhausted.Load() {
		return false
	}
	found, err := p.full.MatchString(byteRunes(name))
	if err != nil {
		p.exhausted.Store(true)
	}
	return found && err == nil
}

// isPlain reports whether the linear matcher reads s as PCRE does: no bytes above ASCII, and
// no newline, before which PCRE's $ matches.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf || s[i] == '\n' {
			return false
		}
	}
	return true
}

// byteRunes returns a string that has a character for each byte of s.
func byteRunes(s string) string {
	if isPlain(s) {
		return s
	}
	return string(latin1(s))
}

// linearPattern compiles a pattern for the linear matcher, if it means the same to it.
func linearPattern(source string) (*regexp.Regexp, []lookahead) {
	rest, anchored := strings.CutPrefix(source, "^")
	var ahead []lookahead
	for anchored {
		negative := strings.HasPrefix(rest, "(?!")
		if !negative && !strings.HasPrefix(rest, "(?=") {
			break
		}
		end := closingParen(rest)
		if end < 0 || !isLinear(rest[3:end]) {
			return nil, nil
		}
		e, err := regexp.Compile("^(?:" + rest[3:end] + ")")
		if err != nil {
			return nil, nil
		}
		ahead = append(ahead, lookahead{e, negative})
		rest = rest[end+1:]
	}
	if ahead == nil {
		rest = source
	} else if hasTopLevelAlternation(rest) || strings.HasPrefix(rest, "*") || strings.HasPrefix(rest, "?") ||
		strings.HasPrefix(rest, "+") || strings.HasPrefix(rest, "{") {
		return nil, nil
	} else {
		rest = "^" + rest
	}
	if !isLinear(rest) {
		return nil, nil
	}
	e, err := regexp.Compile(rest)
	if err != nil {
		return nil, nil
	}
	return e, ahead
}

// isLinear reports whether e uses nothing but what Go's expressions and PCRE have in common.
func isLinear(e string) bool {
	if !isPlain(e) {
		return false
	}
	for i := 0; i < len(e); i++ {
		switch {
		case e[i] == '\\':
			i++
			if i == len(e) || (isWord(e[i]) && !strings.ContainsRune("dDwWbB", rune(e[i]))) {
				return false
			}
		case e[i] == '{' && strings.HasPrefix(e[i:], "{,"):
			return false // a quantifier to newer PCREs only
		case strings.HasPrefix(e[i:], "(?") && !strings.HasPrefix(e[i:], "(?:") && !strings.HasPrefix(e[i:], "(?i)"):
			return false
		case strings.HasPrefix(e[i:], "(*"):
			return false
		}
	}
	return true
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// eachOutside calls f with the position and the depth of every parenthesis and bar of e that
// is neither escaped nor in a character class, until f returns false.
func eachOutside(e string, f func(i, depth int) bool) {
	depth, class := 0, -1
	for i := 0; i < len(e); i++ {
		switch c := e[i]; {
		case c == '\\':
			i++
		case class >= 0:
			if c == ']' && i > class {
				class = -1
			}
		case c == '[':
			class = i + 1 // a bracket right here is a member
			if strings.HasPrefix(e[i+1:], "^") {
				class++
			}
		case c == '(':
			depth++
		case c == ')':
			depth--
			if !f(i, depth) {
				return
			}
		case c == '|':
			if !f(i, depth) {
				return
			}
		}
	}
}

// closingParen returns the position of the parenthesis that closes the group e starts with, or -1.
func closingParen(e string) int {
	at := -1
	eachOutside(e, func(i, depth int) bool {
		if depth == 0 && e[i] == ')' {
			at = i
		}
		return at < 0
	})
	return at
}

func hasTopLevelAlternation(e string) bool {
	found := false
	eachOutside(e, func(i, depth int) bool {
		found = found || depth == 0 && e[i] == '|'
		return !found
	})
	return found
}

// pcre rewrites what PCRE writes differently from the backtracking matcher: possessive
// quantifiers, quoted text and classes of white space.
func pcre(source string) string {
	if !strings.ContainsAny(source, `\+$`) {
		return source
	}
	return translate(source).out.String()
}

func translate(source string) *translation {
	t := &translation{in: source, atom: -1, fault: -1, lines: strings.Contains(source, "(?m")}
	for t.pos < len(source) {
		t.step()
	}
	return t
}

// patternFault returns the position of the first quantifier of nothing or closing parenthesis
// without an opening one, or -1.
func patternFault(source string) int { return translate(source).fault }

// A translation copies in to out, atom by atom.
type translation struct {
	in    string
	pos   int
	out   strings.Builder
	atom  int   // where in out the last atom starts; -1: there is nothing to repeat
	open  []int // where in out the groups that are open start
	class bool  // inside a character class
	lines bool  // $ may mean the end of a line
	fault int   // where the first error of structure is; -1: nowhere
}

var escapes = map[byte]string{
	's': `\t\n\v\f\r `, 'h': `\t \xa0`,
}

func (t *translation) step() {
	c, size := t.in[t.pos], 1
	switch {
	case c == '\\' && t.pos+1 < len(t.in):
		t.escape()
		return
	case t.class:
		t.class = c != ']'
	case c == '[':
		t.atom, t.class = t.out.Len(), true
		for _, start := range []string{"[^]", "[]", "[^"} {
			if strings.HasPrefix(t.in[t.pos:], start) {
				size = len(start)
				break
			}
		}
	case c == '(':
		t.open = append(t.open, t.out.Len())
		t.atom = -1
		if strings.HasPrefix(t.in[t.pos:], "(?") {
			size = 2
		}
	case c == ')' && len(t.open) > 0:
		t.atom = t.open[len(t.open)-1]
		t.open = t.open[:len(t.open)-1]
	case c == ')':
		t.failed()
	case c == '|':
		t.atom = -1
	case c == '$' && !t.lines:
		t.atom = t.out.Len()
		t.out.WriteString(`(?=\n?\z)`)
		t.pos++
		return
	case isQuantifier(t.in[t.pos:]) > 0:
		t.quantifier()
		return
	default:
		t.atom = t.out.Len()
	}
	t.out.WriteString(t.in[t.pos : t.pos+size])
	t.pos += size
}

func (t *translation) escape() {
	c := t.in[t.pos+1]
	if c == 'Q' {
		text, rest, _ := strings.Cut(t.in[t.pos+2:], `\E`)
		for i := range len(text) {
			t.atom = t.out.Len()
			t.out.WriteString(regexp.QuoteMeta(text[i : i+1]))
		}
		t.pos = len(t.in) - len(rest)
		return
	}
	t.pos += 2
	if !t.class {
		t.atom = t.out.Len()
	}
	set, known := escapes[c|0x20]
	switch {
	case c == 'R' && !t.class:
		t.out.WriteString(`(?>\r\n|[\n\v\f\r\x85])`)
	case known && t.class && c >= 'a':
		t.out.WriteString(set)
	case known && !t.class && c >= 'a':
		t.out.WriteString("[" + set + "]")
	case known && !t.class:
		t.out.WriteString("[^" + set + "]")
	default:
		t.out.WriteString(t.in[t.pos-2 : t.pos])
	}
}

// isQuantifier returns the length of the quantifier that e starts with, or 0.
func isQuantifier(e string) int {
	switch e[0] {
	case '*', '+', '?':
		return 1
	case '{':
		end := strings.IndexByte(e, '}')
		if end > 1 && strings.Trim(e[1:end], "0123456789,") == "" && e[1] != ',' {
			return end + 1
		}
	}
	return 0
}

func (t *translation) failed() {
	if t.fault < 0 {
		t.fault = t.pos
	}
}

func (t *translation) quantifier() {
	atom := t.atom
	if t.atom < 0 {
		t.failed()
	}
	t.atom = -1
	size := isQuantifier(t.in[t.pos:])
	q := t.in[t.pos : t.pos+size]
	t.pos += size
	if !strings.HasPrefix(t.in[t.pos:], "+") {
		t.out.WriteString(q)
		if strings.HasPrefix(t.in[t.pos:], "?") {
			t.out.WriteByte('?')
			t.pos++
		}
		return
	}
	t.pos++
	if atom < 0 {
		t.out.WriteString(q + "+")
		return
	}
	whole := t.out.String()
	t.out.Reset()
	t.out.WriteString(whole[:atom] + "(?>" + whole[atom:] + q + ")")
}
