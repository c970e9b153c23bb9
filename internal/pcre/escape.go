package pcre

import (
	"strconv"
	"strings"
)

// escape reads what begins with a backslash, outside of a class.
func (p *parser) escape() (n node, repeatable bool) {
	p.pos++
	if p.ended() {
		p.failAtEnd(backslashAtEnd)
	}
	c := p.source[p.pos]
	if s, ok := p.version.shorthand(c); ok {
		p.pos++
		return one{s}, true
	}
	if a := p.escapedAssertion(c); a != nil {
		p.pos++
		return a, false
	}
	switch c {
	case 'R':
		p.pos++
		s, _ := p.version.shorthand('v')
		return atomic{choice{newlinePair, one{s}}}, true
	case 'X':
		p.pos++
		return cluster{}, true
	case 'N':
		p.pos++
		if _, _, quantified := p.peekQuantifier(); !quantified && strings.HasPrefix(p.rest(), "{") {
			p.failHere(perlEscape)
		}
		return one{notNewline}, true
	case 'C':
		p.pos++
		return one{anyByte}, true
	case 'K': // sets where the match begins, which nobody asks
		p.pos++
		if p.looks > 0 && p.version == PCRE2 {
			p.failAtEnd(keepInLookaround)
		}
		return nil, false
	case 'p', 'P':
		return one{p.property()}, true
	case 'k':
		return p.namedReference(), true
	case 'g':
		return p.groupReference(), true
	}
	if '1' <= c && c <= '9' {
		if n := p.numberedReference(); n != nil {
			return n, true
		}
	}
	return p.literal(p.character()), true
}

func (p *parser) escapedAssertion(c byte) node {
	switch c {
	case 'A', 'G':
		return assertion(atStart)
	case 'z':
		return assertion(atEnd)
	case 'Z':
		return assertion(atLastLineEnd)
	case 'b':
		return assertion(p.atWordBoundary)
	case 'B':
		return assertion(func(name string, pos int) bool { return !p.atWordBoundary(name, pos) })
	}
	return nil
}

// numberedReference reads \1, unless the number is an octal character code.
func (p *parser) numberedReference() node {
	start := p.pos
	digits := p.digits()
	n, err := strconv.Atoi(digits)
	always := n < 10
	if p.version == PCRE1 {
		always = n < 8
	} else if digits[0] >= '8' {
		always = true
	}
	if err == nil && (always || n <= p.groups) {
		return p.referenceTo(reference{p.numbered(n), p.pos, len(p.source)})
	}
	p.pos = start
	return nil
}

func (p *parser) referenceTo(target reference) node {
	r := &backReference{fold: p.options.fold}
	found := func(groups []int) { r.groups = groups }
	if p.version == PCRE1 { // which counts the groups last
		p.pending[1] = append(p.pending[1], p.lookUp(target, found))
	} else {
		p.refer(target, found)
	}
	return r
}

// namedReference reads \k<name> and its like.
func (p *parser) namedReference() node {
	p.pos++
	for open, terminator := range map[string]string{"<": ">", "'": "'", "{": "}"} {
		if p.take(open) {
			return p.backReference(p.name(terminator))
		}
	}
	p.fail(message{`\k is not followed by a braced, angle-bracketed, or quoted name`,
		`\k is not followed by a braced, angle-bracketed, or quoted name`}, p.pos, p.pos)
	return nil
}

// groupReference reads \g1, \g{1}, \g{-1} and \g{name}.
func (p *parser) groupReference() node {
	p.pos++
	at := p.pos
	braced := p.take("{")
	var n node
	switch rest := p.rest(); {
	case strings.HasPrefix(rest, "<"), strings.HasPrefix(rest, "'"):
		p.failHere(recursion)
	case strings.HasPrefix(rest, "-"), strings.HasPrefix(rest, "+"):
		find := p.relative()
		n = p.referenceTo(reference{find, at, p.pos})
	case rest != "" && isDigit(rest[0]):
		number, _ := strconv.Atoi(p.digits())
		end := p.pos
		if braced {
			end++
		}
		n = p.referenceTo(reference{p.numbered(number), end, len(p.source)})
	case braced:
		return p.backReference(p.name("}"))
	}
	if n == nil || braced && !p.take("}") {
		p.failHere(same(`a numbered reference must not be zero`))
	}
	return n
}

// property reads \pL and \p{Lu}.
func (p *parser) property() set {
	negated := p.source[p.pos] == 'P'
	p.pos++
	if p.ended() {
		p.failAtEnd(propertyMalformed)
	}
	name := p.source[p.pos : p.pos+1]
	p.pos++
	if name == "{" {
		inside, _, closed := strings.Cut(p.rest(), "}")
		if !closed {
			p.failAtEnd(propertyMalformed)
		}
		p.pos += len(inside) + 1
		name = strings.TrimPrefix(inside, "^")
		negated = negated != (name != inside)
	}
	if cased := name == "Lu" || name == "Ll" || name == "Lt"; cased && p.options.fold && p.version == PCRE2 {
		name = "L&"
	}
	s, ok := property(name)
	if !ok {
		p.failHere(propertyUnknown)
	}
	if negated {
		return s.complement()
	}
	return s
}

// controls are the escapes of control characters.
var controls = map[byte]byte{'a': '\a', 'e': 0x1b, 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// character reads the rest of an escape that stands for one character, in a class or outside.
func (p *parser) character() byte {
	c := p.source[p.pos]
	p.pos++
	control, isControl := controls[c]
	switch {
	case isControl:
		return control
	case c == 'x':
		return p.hex()
	case c == 'o':
		return p.octalBraces()
	case c == 'c':
		return p.control()
	case '0' <= c && c <= '7':
		return p.octal()
	case strings.IndexByte("LlUuN", c) >= 0, c == 'F' && p.version == PCRE2:
		p.failHere(perlEscape)
	case p.version == PCRE2 && isLetter(c):
		p.failHere(unknownEscape)
	}
	return c
}

func isHex(b byte) bool { return isDigit(b) || 'a' <= b|0x20 && b|0x20 <= 'f' }

func (p *parser) hex() byte {
	if p.take("{") {
		return p.braced(isHex, 16, nonHex)
	}
	digits := p.rest()[:min(2, len(p.rest()))]
	n := 0
	for n < len(digits) && isHex(digits[n]) {
		n++
	}
	if n == 0 && p.version == PCRE2 {
		p.fail(digitsMissing, p.pos, p.pos)
	}
	p.pos += n
	code, _ := strconv.ParseUint(digits[:n], 16, 8)
	return byte(code)
}

// braced reads the digits of \x{} and \o{}.
func (p *parser) braced(isDigit func(byte) bool, base int, wrong message) byte {
	start := p.pos
	for !p.ended() && isDigit(p.source[p.pos]) {
		p.pos++
	}
	digits := p.source[start:p.pos]
	if digits == "" && (p.ended() || p.source[p.pos] == '}') && p.version == PCRE2 {
		p.fail(digitsMissing, p.pos, p.pos)
	}
	code, err := strconv.ParseUint(digits, base, 8)
	if err != nil && digits != "" {
		p.fail(characterTooLarge, p.pos, p.pos)
	}
	if digits == "" || !p.take("}") {
		p.fail(wrong, p.pos+1, p.pos)
	}
	return byte(code)
}

func (p *parser) octalBraces() byte {
	if !p.take("{") {
		p.failHere(octalBrace)
	}
	return p.braced(func(b byte) bool { return '0' <= b && b <= '7' }, 8, nonOctal)
}

// octal reads up to three octal digits, the first of which has been read.
func (p *parser) octal() byte {
	start := p.pos - 1
	for p.pos < start+3 && !p.ended() && '0' <= p.source[p.pos] && p.source[p.pos] <= '7' {
		p.pos++
	}
	code, err := strconv.ParseUint(p.source[start:p.pos], 8, 8)
	if err != nil {
		p.failHere(octalTooLarge)
	}
	return byte(code)
}

// control reads the letter of \cA.
func (p *parser) control() byte {
	if p.ended() {
		p.failAtEnd(controlAtEnd)
	}
	c := p.source[p.pos]
	p.pos++
	if c >= 0x7f || c < ' ' && p.version == PCRE2 {
		p.failHere(controlNotASCII)
	}
	if 'a' <= c && c <= 'z' {
		c -= 0x20
	}
	return c ^ 0x40
}
