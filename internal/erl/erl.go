// Package erl prints terms in Erlang's notation, as RabbitMQ prints them in its error texts.
package erl

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Terms are these types, every integer type of Go, *big.Int, float32, float64, and bool, which is an atom.
type (
	Atom   string
	String string // prints "…", or as the list of its characters if it is no text
	Binary string // prints <<"…">>, or <<1,2,3>> if it is no text
	Latin1 string // a Binary where text is expected to be Latin-1, and UTF-8 is not looked for
	Text   string // prints as it is
	Tuple  []any
	List   []any  // prints as a String if all it has are characters of a text
	Map    []Pair // in the order in which it prints: that of the keys
)

// A Pair is one association of a Map.
type Pair struct{ Key, Value any }

// LineLength is the number of columns in which RabbitMQ prints most terms.
const LineLength = 80

// A Notation says which binaries and lists print as texts, and in which octets. A binary of UTF-8 that is a text ends
// in /utf8 in the notations that know UTF-8; in the others each octet is a character.
type Notation uint8

// The notations.
const (
	Unicode Notation = iota // ~tp of RabbitMQ 4.3: any characters
	Console                 // ~tp of rabbitmqctl: characters of Latin-1
	Narrow                  // ~p: characters of Latin-1, and no UTF-8 in binaries
	Octets                  // ~p of RabbitMQ 3.10: as Narrow, but the text itself is Latin-1, not UTF-8
)

// Format returns term as rabbitmqctl prints it behind column characters of its line, on lines of LineLength columns.
func Format(term any, column int) string { return Console.Format(term, column) }

// FormatWidth is Format for lines of another length.
func FormatWidth(term any, column, width int) string { return Console.FormatWidth(term, column, width) }

// Format returns term as it prints in the notation, behind column characters of its line, on lines of LineLength
// columns.
func (n Notation) Format(term any, column int) string { return n.FormatWidth(term, column, LineLength) }

// Behind returns text with term printed behind it.
func (n Notation) Behind(text string, term any) string { return text + n.Format(term, n.column(text)) }

// column returns how many characters the last line of a text has.
func (n Notation) column(text string) int {
	line := text[strings.LastIndexByte(text, '\n')+1:]
	if n == Octets {
		return len(line)
	}
	return utf8.RuneCountInString(line)
}

// FormatWidth is Format for lines of another length.
// Rules: E-6.
func (n Notation) FormatWidth(term any, column, width int) string {
	text := n.lines(term, column, width)
	if n == Octets {
		return narrowed(text)
	}
	return text
}

// narrowed returns a text of Latin-1 characters with an octet for each.
func narrowed(text string) string {
	octets := make([]byte, 0, len(text))
	for _, r := range text {
		octets = append(octets, byte(r))
	}
	return string(octets)
}

// lines returns term printed in UTF-8.
func (n Notation) lines(term any, column, width int) string {
	t := n.measure(term)
	p := printer{width: width, max: t.len}
	column++ // Erlang counts columns from 1
	if t.simple() || t.len < width-column {
		return t.text
	}
	p.indent = 1
	for _, indent := range []int{afterTag, tagIndent} {
		if p.tagsFit(t, column, indent) {
			p.indent = indent
			break
		}
	}
	p.term(t, column, 0, 0)
	return p.out.String()
}

// A measured term, or pair of a map, has its text on one line and the length of that in characters.
type measured struct {
	text   string
	len    int
	elems  []measured
	nested bool // a tuple or a list
	bytes  bool // a binary that is no text
	open   string
	tagged bool // a tuple of an atom and more
	pair   bool // a key and a value, the elements
}

// simple reports whether t, or both parts of it, are something that is never broken and may share a line with others.
func (t *measured) simple() bool { return !t.nested && !t.bytes }

func (n Notation) measure(term any) measured {
	switch term := n.listed(term).(type) {
	case Tuple:
		_, atom := first(term).(Atom)
		m := n.join("{", "}", term)
		m.tagged = atom && len(term) > 1
		return m
	case List:
		return n.join("[", "]", term)
	case Map:
		return n.joinPairs(term)
	case Pair:
		return n.measurePair(term)
	case String:
		return scalarOf(Quote(string(term)), false)
	}
	s := n.scalar(term)
	return scalarOf(s, isBinary(term) && len(s) > len("<<>>") && s[2] != '"')
}

func scalarOf(text string, bytes bool) measured {
	return measured{text: text, len: utf8.RuneCountInString(text), bytes: bytes}
}

// listed returns the String that a list is if all it has are characters of a text, the List that a string is otherwise,
// and any other term as it is. To Erlang both are lists of integers.
func (n Notation) listed(term any) any {
	switch term := term.(type) {
	case String:
		chars := []rune(string(term))
		if len(chars) > 0 && n.shows(chars) {
			return term
		}
		list := make(List, len(chars))
		for i, c := range chars {
			list[i] = int64(c)
		}
		return list
	case List:
		chars := characters(term)
		if len(chars) > 0 && n.shows(chars) {
			return String(string(chars))
		}
	}
	return term
}

// characters returns the characters whose numbers a list has, nil if it has anything else.
func characters(list List) []rune {
	chars := make([]rune, len(list))
	for i, elem := range list {
		c, ok := elem.(int64)
		if !ok || c < 0 || c > utf8.MaxRune || !utf8.ValidRune(rune(c)) {
			return nil
		}
		chars[i] = rune(c)
	}
	return chars
}

// shows reports whether characters print as a text.
func (n Notation) shows(chars []rune) bool {
	if n != Unicode && slices.ContainsFunc(chars, func(r rune) bool { return r > 0xff }) {
		return false
	}
	return printable(chars)
}

func isBinary(term any) bool {
	switch term.(type) {
	case Binary, Latin1:
		return true
	}
	return false
}

func first(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func (n Notation) join(open, shut string, list []any) measured {
	m := measured{open: open, nested: len(list) > 0, len: len(open) + len(shut)}
	var b strings.Builder
	b.WriteString(open)
	for i := range list {
		if i > 0 {
			b.WriteByte(',')
			m.len++
		}
		e := n.measure(list[i])
		b.WriteString(e.text)
		m.len += e.len
		m.elems = append(m.elems, e)
	}
	b.WriteString(shut)
	m.text = b.String()
	return m
}

func (n Notation) joinPairs(term Map) measured {
	pairs := make([]any, len(term))
	for i := range term {
		pairs[i] = term[i]
	}
	return n.join("#{", "}", pairs)
}

const arrow = " => "

func (n Notation) measurePair(p Pair) measured {
	key, value := n.measure(p.Key), n.measure(p.Value)
	return measured{text: key.text + arrow + value.text, len: key.len + len(arrow) + value.len, elems: []measured{key, value},
		nested: key.nested || value.nested, bytes: key.bytes || value.bytes, pair: true}
}
