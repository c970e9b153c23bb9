// Package erl prints terms in Erlang's notation, as RabbitMQ prints them in its error texts.
package erl

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Terms are these types, every integer type of Go, *big.Int, float32, float64, and bool, which is an atom.
type (
	Atom   string
	String string // prints "…"
	Binary string // prints <<"…">>, or <<1,2,3>> if it is no text
	Latin1 string // a Binary where text is expected to be Latin-1, as ~p does, and UTF-8 is not looked for
	Text   string // prints as it is
	Tuple  []any
	List   []any
	Map    []Pair // in the order in which it prints: that of the keys
)

// A Pair is one association of a Map.
type Pair struct{ Key, Value any }

// LineLength is the number of columns in which RabbitMQ prints most terms.
const LineLength = 80

// Format returns term as Erlang's ~p prints it behind column characters of its line, on lines
// of LineLength columns.
func Format(term any, column int) string { return FormatWidth(term, column, LineLength) }

// FormatWidth is Format for lines of another length.
// Rules: E-6.
func FormatWidth(term any, column, width int) string {
	t := measure(term)
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

// Where the elements of a tuple that begins with an atom go if they need several lines: behind
// the atom, or at a fixed indentation, or, as in other tuples, below the atom.
const (
	afterTag  = -1
	tagIndent = 4
)

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

func measure(term any) measured {
	switch term := term.(type) {
	case Tuple:
		_, atom := first(term).(Atom)
		m := join("{", "}", term)
		m.tagged = atom && len(term) > 1
		return m
	case List:
		return join("[", "]", term)
	case Map:
		return joinPairs(term)
	case Pair:
		return measurePair(term)
	}
	s := scalar(term)
	bytes := isBinary(term) && len(s) > len("<<>>") && s[2] != '"'
	return measured{text: s, len: utf8.RuneCountInString(s), bytes: bytes}
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

func join(open, shut string, list []any) measured {
	m := measured{open: open, nested: len(list) > 0, len: len(open) + len(shut)}
	var b strings.Builder
	b.WriteString(open)
	for i := range list {
		if i > 0 {
			b.WriteByte(',')
			m.len++
		}
		e := measure(list[i])
		b.WriteString(e.text)
		m.len += e.len
		m.elems = append(m.elems, e)
	}
	b.WriteString(shut)
	m.text = b.String()
	return m
}

func joinPairs(term Map) measured {
	pairs := make([]any, len(term))
	for i := range term {
		pairs[i] = term[i]
	}
	return join("#{", "}", pairs)
}

const arrow = " => "

func measurePair(p Pair) measured {
	key, value := measure(p.Key), measure(p.Value)
	return measured{text: key.text + arrow + value.text, len: key.len + len(arrow) + value.len, elems: []measured{key, value},
		nested: key.nested || value.nested, bytes: key.bytes || value.bytes, pair: true}
}

// A printer breaks a term into lines. Erlang's rules for where a line may end count two things:
// the column, and the characters on the line without its indentation.
type printer struct {
	out    strings.Builder
	width  int
	max    int // the length of the whole term
	indent int // of the elements of tagged tuples
}

// fits reports whether n characters fit on the line from a column on, if used characters are on it
// already and behind of them brackets are to follow.
func (p *printer) fits(n, column, behind, used int) bool {
	return n < p.width-column-behind && used+n+behind <= p.max
}

// fitsNext is fits for an element and the comma before it.
func (p *printer) fitsNext(n, column, behind, used int) bool {
	if behind == 0 {
		return n+2 < p.width-column && used+n+2 <= p.max
	}
	return p.fits(n+1, column, behind, used)
}

// term prints t, which starts at column; the result counts for what follows on its line.
func (p *printer) term(t measured, column, behind, used int) int {
	fits := p.fits(t.len, column, behind, used)
	switch {
	case t.simple() && fits:
		p.out.WriteString(t.text)
		return t.len
	case t.pair && !fits:
		p.pair(t.elems[0], t.elems[1], column, behind, used)
		return p.width
	case t.simple(), fits:
		p.out.WriteString(t.text)
		return p.width // whatever follows goes on a line of its own
	case t.bytes:
		p.binary(t, column, behind, used)
		return p.width
	}
	p.out.WriteString(t.open)
	if t.tagged {
		p.tagged(t.elems, column, behind, used+1)
	} else {
		p.list(t.elems, column+len(t.open), behind, used+1)
	}
	p.out.WriteByte(t.open[len(t.open)-1] + 2) // ] and } stand two behind [ and {
	return p.width
}

// pair prints a key, and its value below.
func (p *printer) pair(key, value measured, column, behind, used int) {
	p.term(key, column, behind, used)
	p.out.WriteString(" =>\n")
	column += p.valueIndent()
	p.out.WriteString(strings.Repeat(" ", column-1))
	p.term(value, column, behind, 0)
}

// valueIndent is how much further than its key a value stands that has a line of its own.
func (p *printer) valueIndent() int {
	if p.indent > 0 {
		return p.indent
	}
	return tagIndent
}

// tagged prints the elements of a tuple that begins with an atom.
func (p *printer) tagged(elems []measured, column, behind, used int) {
	tag := elems[0].len
	p.out.WriteString(elems[0].text)
	if p.indent > 0 && tag+2 > p.indent {
		p.tail(elems[1:], column+p.indent, column+tag+2, behind, used+tag)
		return
	}
	p.out.WriteByte(',')
	p.list(elems[1:], column+tag+2, behind, used+tag+1)
}

// binary prints bytes in lines below one another.
func (p *printer) binary(t measured, column, behind, used int) {
	room := max(8, min(p.width-column-2, p.max-4-used)-behind)
	line := 0
	p.out.WriteString("<<")
	for i, b := range strings.SplitAfter(strings.Trim(t.text, "<>"), ",") {
		if i > 0 && line+len(b) > room {
			p.out.WriteByte('\n')
			p.out.WriteString(strings.Repeat(" ", column+1))
			line = 0
		}
		p.out.WriteString(b)
		line += len(b)
	}
	p.out.WriteString(">>")
}

// list prints elements from a column on, one below the other where they do not fit.
func (p *printer) list(elems []measured, column, behind, used int) {
	n := p.term(elems[0], column, last(elems[1:], behind), used)
	p.tail(elems[1:], column, column+n, behind, used+n)
}

// tail prints the elements behind at; those that do not fit on the line start below column.
func (p *printer) tail(elems []measured, column, at, behind, used int) {
	for i, e := range elems {
		b := last(elems[i+1:], behind)
		p.out.WriteByte(',')
		if e.simple() && p.fitsNext(e.len, at, b, used) {
			p.out.WriteString(e.text)
			at, used = at+1+e.len, used+1+e.len
			continue
		}
		p.out.WriteByte('\n')
		p.out.WriteString(strings.Repeat(" ", column-1))
		n := p.term(e, column, b, 0)
		at, used = column+n, n
	}
}

// last returns how many closing brackets follow an element that has rest behind it.
func last(rest []measured, behind int) int {
	if len(rest) == 0 {
		return behind + 1
	}
	return 0
}

// tagsFit reports whether the elements of all tagged tuples that need several lines have room
// at the indentation: the whole term beside it, or half of the line.
func (p *printer) tagsFit(t measured, column, indent int) bool {
	q := printer{width: p.width, max: p.max, indent: indent}
	_, ok := q.check(t, column, 0, 0)
	return ok
}

// check follows term without printing.
func (p *printer) check(t measured, column, behind, used int) (int, bool) {
	fits := p.fits(t.len, column, behind, used)
	switch {
	case fits && t.simple():
		return t.len, true
	case t.pair && !fits:
		_, key := p.check(t.elems[0], column, behind, used)
		_, value := p.check(t.elems[1], column+p.valueIndent(), behind, 0)
		return p.width, key && value
	case fits || !t.nested:
		return p.width, true
	case !t.tagged:
		return p.width, p.checkList(t.elems, column+len(t.open), behind, used+len(t.open))
	}
	tag := t.elems[0].len
	if p.indent > 0 && tag+2 > p.indent {
		c := column + p.indent
		return p.width, (p.max+c <= p.width || c <= p.width/2) &&
			p.checkTail(t.elems[1:], c, column+tag+2, behind, used+1+tag)
	}
	c := column + tag + 2
	return p.width, (p.max+c < p.width || c < p.width/2) &&
		p.checkList(t.elems[1:], c, behind, used+1+tag+1)
}

func (p *printer) checkList(elems []measured, column, behind, used int) bool {
	n, ok := p.check(elems[0], column, last(elems[1:], behind), used)
	return ok && p.checkTail(elems[1:], column, column+n, behind, used+n)
}

func (p *printer) checkTail(elems []measured, column, at, behind, used int) bool {
	for i, e := range elems {
		b := last(elems[i+1:], behind)
		if e.simple() && p.fitsNext(e.len, at, b, used) {
			at, used = at+1+e.len, used+1+e.len
			continue
		}
		n, ok := p.check(e, column, b, 0)
		if !ok {
			return false
		}
		at, used = column+n, n
	}
	return true
}

// scalar returns the text of a term that is neither tuple nor list.
// Rules: E-6.
func scalar(term any) string {
	switch v := term.(type) {
	case Atom:
		return atom(string(v))
	case String:
		return quote(string(v), '"')
	case Binary:
		return binary(string(v))
	case Latin1:
		return latin1(string(v))
	case Text:
		return string(v)
	case bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return fmt.Sprint(v)
	case *big.Int:
		return v.String()
	case float32:
		return float(float64(v))
	case float64:
		return float(v)
	}
	panic(fmt.Sprintf("erl: %T is not a term", term))
}

// float prints the shortest digits that read back as f; with an exponent if that is shorter, or
// if there are digits that a double cannot hold.
func float(f float64) string {
	if f == 0 {
		if math.Signbit(f) {
			return "-0.0"
		}
		return "0.0"
	}
	sci := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, e, _ := strings.Cut(sci, "e")
	exp, _ := strconv.Atoi(e)
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	short := mantissa + "e" + strconv.Itoa(exp)
	plain := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(plain, ".") {
		plain += ".0"
	}
	if math.Abs(f) < 1<<53 && len(plain) <= len(short) {
		return plain
	}
	return short
}

func atom(s string) string {
	for i, r := range s {
		lower := 'a' <= r && r <= 'z' || 0xdf <= r && r <= 0xff && r != 0xf7
		other := 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '@' || 0xc0 <= r && r <= 0xde && r != 0xd7
		if !lower && (i == 0 || !other) {
			return quote(s, '\'')
		}
	}
	if s == "" || reserved[s] {
		return quote(s, '\'')
	}
	return s
}

var reserved = map[string]bool{
	"after": true, "and": true, "andalso": true, "band": true, "begin": true, "bnot": true, "bor": true, "bsl": true,
	"bsr": true, "bxor": true, "case": true, "catch": true, "cond": true, "div": true, "else": true, "end": true,
	"fun": true, "if": true, "let": true, "maybe": true, "not": true, "of": true, "or": true, "orelse": true,
	"receive": true, "rem": true, "try": true, "when": true, "xor": true,
}

// binary prints bytes as text if they are UTF-8 or Latin-1 and printable, else as numbers.
func binary(s string) string {
	if s == "" {
		return "<<>>"
	}
	if utf8.ValidString(s) && printable([]rune(s)) {
		if utf8.RuneCountInString(s) < len(s) {
			return "<<" + quote(s, '"') + "/utf8>>"
		}
		return "<<" + quote(s, '"') + ">>"
	}
	return latin1(s)
}

func latin1(s string) string {
	if s == "" {
		return "<<>>"
	}
	chars := make([]rune, len(s))
	for i := range len(s) {
		chars[i] = rune(s[i])
	}
	if printable(chars) {
		return "<<" + quote(string(chars), '"') + ">>"
	}
	numbers := make([]string, len(s))
	for i := range len(s) {
		numbers[i] = strconv.Itoa(int(s[i]))
	}
	return "<<" + strings.Join(numbers, ",") + ">>"
}

var escapes = map[rune]string{
	'\n': `\n`, '\r': `\r`, '\t': `\t`, '\v': `\v`, '\b': `\b`, '\f': `\f`, 0x1b: `\e`, 0x7f: `\d`, '\\': `\\`,
}

func printable(chars []rune) bool {
	for _, r := range chars {
		control := r < ' ' || 0x7f <= r && r < 0xa0
		if control && (r == 0x7f || escapes[r] == "") || r == 0xfffe || r == 0xffff {
			return false
		}
	}
	return true
}

func quote(s string, mark rune) string {
	var b strings.Builder
	b.WriteRune(mark)
	for _, r := range s {
		switch esc := escapes[r]; {
		case r == mark:
			b.WriteByte('\\')
			b.WriteRune(r)
		case esc != "":
			b.WriteString(esc)
		case r < ' ' || 0x80 <= r && r < 0xa0:
			fmt.Fprintf(&b, `\%03o`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteRune(mark)
	return b.String()
}

// maxBytes is how many characters of a binary Bytes prints before it stops: more than a reply text has.
const maxBytes = 300

// Bytes returns the beginning of a binary as Erlang's ~w prints it: as numbers, on one line.
func Bytes(b []byte) string {
	text := []byte("<<")
	for i, c := range b {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendUint(text, uint64(c), 10)
		if len(text) > maxBytes {
			break
		}
	}
	return string(append(text, ">>"...))
}
