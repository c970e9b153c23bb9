package pcre

import "unicode"

// A set is a set of bytes.
type set [4]uint64

func (s *set) has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }

func (s *set) add(b byte) { s[b>>6] |= 1 << (b & 63) }

func (s *set) union(o set) {
	for i := range s {
		s[i] |= o[i]
	}
}

func (s set) complement() set {
	for i := range s {
		s[i] = ^s[i]
	}
	return s
}

// single returns the only byte of s.
func (s *set) single() (b byte, ok bool) {
	for i := range 256 {
		if !s.has(byte(i)) {
			continue
		}
		if ok {
			return 0, false
		}
		b, ok = byte(i), true
	}
	return b, ok
}

func setOf(in func(byte) bool) (s set) {
	for i := range 256 {
		if in(byte(i)) {
			s.add(byte(i))
		}
	}
	return s
}

func between(low, high byte) set { return setOf(func(b byte) bool { return low <= b && b <= high }) }

func bytesOf(list string) (s set) {
	for i := range len(list) {
		s.add(list[i])
	}
	return s
}

// foldCase adds the other case of every letter in s.
func (s set) foldCase(v Version) set {
	folded := s
	for i := range 256 {
		if b := byte(i); s.has(b) {
			folded.add(v.otherCase(b))
		}
	}
	return folded
}

// otherCase returns the letter b in its other case, and every other byte as it is.
func (v Version) otherCase(b byte) byte {
	upper, lower := v.isUpper(b), v.isLower(b)
	switch {
	case b == 0xaa, b == 0xb5, b == 0xba, b == 0xdf, b == 0xff: // lower case whose upper case is not in Latin-1
		return b
	case upper:
		return b + 0x20
	case lower:
		return b - 0x20
	}
	return b
}

// isLatin1 reports whether the version's tables know b and b is not ASCII.
func (v Version) isLatin1(b byte) bool { return v == PCRE1 && b >= 0x80 }

func (v Version) isUpper(b byte) bool {
	return 'A' <= b && b <= 'Z' || v.isLatin1(b) && unicode.IsUpper(rune(b))
}

func (v Version) isLower(b byte) bool {
	return 'a' <= b && b <= 'z' || v.isLatin1(b) && unicode.IsLetter(rune(b)) && !unicode.IsUpper(rune(b))
}

func (v Version) isAlpha(b byte) bool { return v.isUpper(b) || v.isLower(b) }

func (v Version) isAlnum(b byte) bool { return v.isAlpha(b) || isDigit(b) }

func (v Version) isWord(b byte) bool { return v.isAlnum(b) || b == '_' }

func (v Version) isCntrl(b byte) bool { return b < ' ' || b == 0x7f || v.isLatin1(b) && b < 0xa0 }

func (v Version) isGraph(b byte) bool { return '!' <= b && b <= '~' || v.isLatin1(b) && b >= 0xa0 }

func (v Version) isPrint(b byte) bool { return b == ' ' || v.isGraph(b) }

func (v Version) isPunct(b byte) bool { return v.isGraph(b) && !v.isAlnum(b) }

func (v Version) isASCII(b byte) bool { return v.isPrint(b) || v.isCntrl(b) }

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func isSpace(b byte) bool { return '\t' <= b && b <= '\r' || b == ' ' }

// posixClass returns the class [:name:].
func (v Version) posixClass(name string) (s set, ok bool) {
	in, ok := map[string]func(byte) bool{
		"alpha": v.isAlpha, "lower": v.isLower, "upper": v.isUpper, "alnum": v.isAlnum, "ascii": v.isASCII,
		"blank": func(b byte) bool { return b == ' ' || b == '\t' },
		"cntrl": v.isCntrl, "digit": isDigit, "graph": v.isGraph, "print": v.isPrint, "punct": v.isPunct,
		"space": isSpace, "word": v.isWord,
		"xdigit": func(b byte) bool { return isDigit(b) || 'a' <= b|0x20 && b|0x20 <= 'f' },
	}[name]
	if !ok {
		return s, false
	}
	return setOf(in), true
}

// shorthand returns the class that \c stands for.
func (v Version) shorthand(c byte) (s set, ok bool) {
	switch c {
	case 'd', 'D':
		s = setOf(isDigit)
	case 'w', 'W':
		s = setOf(v.isWord)
	case 's', 'S':
		s = setOf(isSpace)
	case 'h', 'H':
		s = bytesOf("\t \xa0")
	case 'v', 'V':
		s = bytesOf("\n\v\f\r\x85")
	default:
		return s, false
	}
	if negated := c < 'a'; negated {
		s = s.complement()
	}
	return s, true
}

// property returns the class of \p{name}, of the bytes as Latin-1 characters.
func property(name string) (s set, ok bool) {
	if name == "Any" {
		return set{}.complement(), true
	}
	tables := []*unicode.RangeTable{unicode.Categories[name], unicode.Scripts[name]}
	switch name {
	case "L&":
		tables = []*unicode.RangeTable{unicode.Lu, unicode.Ll, unicode.Lt}
	case "Xan", "Xwd":
		tables = []*unicode.RangeTable{unicode.L, unicode.N}
	case "Xsp", "Xps":
		tables = []*unicode.RangeTable{unicode.White_Space}
	}
	known := func(t *unicode.RangeTable) bool { return t != nil }
	ok = known(tables[0]) || known(tables[len(tables)-1])
	s = setOf(func(b byte) bool {
		for _, t := range tables {
			if known(t) && unicode.Is(t, rune(b)) {
				return true
			}
		}
		return name == "Xwd" && b == '_'
	})
	return s, ok
}
