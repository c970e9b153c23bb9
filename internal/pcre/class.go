package pcre

import "strings"

// class reads a character class, from its opening bracket on.
func (p *parser) class() node {
	if name := p.posixSyntax(); name != "" {
		now, old := p.pos+len(name), p.pos
		if name[1] != ':' {
			p.fail(posixCollating, now, old)
		}
		p.fail(posixOutside, now, old)
	}
	p.pos++
	negated := p.take("^")
	c := classReader{parser: p, first: true}
	for c.item() {
	}
	s := c.set
	if p.options.fold {
		s = s.foldCase(p.version)
	}
	s.union(c.sets)
	if negated {
		s = s.complement()
	}
	return one{s}
}

// posixSyntax returns what stands at the present position if it looks like [:name:].
func (p *parser) posixSyntax() string {
	rest := p.rest()
	if len(rest) < 2 || strings.IndexByte(":.=", rest[1]) < 0 {
		return ""
	}
	for i := 2; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '\\' && i+1 < len(rest) && (rest[i+1] == ']' || rest[i+1] == '\\'):
			i++
		case c == rest[1] && strings.HasPrefix(rest[i+1:], "]"):
			return rest[:i+2]
		case c == ']', c == '[' && i+1 < len(rest) && rest[i+1] == rest[1]:
			return ""
		}
	}
	return ""
}

// A classReader collects the members of a class.
type classReader struct {
	*parser
	set   set // characters and ranges, which (?i) folds
	sets  set // \w, [:alpha:] and the like, which stay as they are
	first bool
}

// item reads one member and reports whether the class goes on.
func (c *classReader) item() bool {
	c.skipQuotes()
	if c.ended() {
		c.failAtEnd(classOpen)
	}
	if closing := !c.quoted && !c.first && c.take("]"); closing {
		return false
	}
	c.first = false
	if ignored := c.options.extendedMore && !c.quoted && (c.take(" ") || c.take("\t")); ignored {
		return true
	}
	low, isSet := c.member()
	if isSet {
		c.refuseRangeFromSet()
		return true
	}
	high := low
	if c.hyphen() {
		start := c.pos
		high, isSet = c.member()
		if named := c.source[start] == '['; isSet && named {
			c.fail(invalidRange, c.pos, start)
		}
		if isSet {
			c.failHere(invalidRange)
		}
		if high < low {
			c.failHere(rangeOutOfOrder)
		}
	}
	c.set.union(between(low, high))
	return true
}

func (c *classReader) skipQuotes() {
	for {
		switch {
		case c.take(`\E`):
			c.quoted = false
		case !c.quoted && c.take(`\Q`):
			c.quoted = true
		default:
			return
		}
	}
}

// hyphen moves behind a hyphen that makes a range: one that is not the last member.
func (c *classReader) hyphen() bool {
	c.skipQuotes()
	start := c.pos
	if c.quoted || !c.take("-") {
		return false
	}
	c.skipQuotes()
	if c.ended() || !c.quoted && c.source[c.pos] == ']' {
		c.pos = start
		return false
	}
	return true
}

// refuseRangeFromSet refuses [\d-z], which PCRE 8 takes for three members.
func (c *classReader) refuseRangeFromSet() {
	start := c.pos
	if c.version == PCRE2 && c.hyphen() {
		c.pos = start + 1
		c.failHere(invalidRange)
	}
}

// member reads a character, or a whole set, which it adds.
func (c *classReader) member() (b byte, isSet bool) {
	b = c.source[c.pos]
	switch {
	case c.quoted:
	case b == '[' && c.posixSyntax() != "":
		c.posix()
		return 0, true
	case b == '\\':
		return c.escaped()
	}
	c.pos++
	return b, false
}

// posix reads [:name:] or [:^name:].
func (c *classReader) posix() {
	text, start := c.posixSyntax(), c.pos
	c.pos += len(text)
	if text[1] != ':' {
		c.fail(posixCollating, c.pos, start)
	}
	name := text[2 : len(text)-2]
	positive := strings.TrimPrefix(name, "^")
	if letterCase := positive == "upper" || positive == "lower"; letterCase && c.options.fold {
		name = strings.Replace(name, positive, "alpha", 1)
	}
	s, ok := c.version.posixClass(strings.TrimPrefix(name, "^"))
	if !ok {
		c.fail(posixUnknown, c.pos, start+2+len(name)-len(positive))
	}
	if name[0] == '^' {
		s = s.complement()
	}
	c.sets.union(s)
}

// escaped reads a member that begins with a backslash.
func (c *classReader) escaped() (b byte, isSet bool) {
	c.pos++
	if c.ended() {
		c.failAtEnd(backslashAtEnd)
	}
	b = c.source[c.pos]
	if s, ok := c.version.shorthand(b); ok {
		c.pos++
		c.sets.union(s)
		return 0, true
	}
	switch b {
	case 'p', 'P':
		c.sets.union(c.property())
		return 0, true
	case 'b':
		c.pos++
		return '\b', false
	case 'N':
		c.pos++
		c.failHere(notNewlineInClass)
	case 'B', 'R', 'X':
		c.pos++
		if c.version == PCRE2 {
			c.failHere(invalidClassEscape)
		}
		return b, false
	}
	return c.character(), false
}
