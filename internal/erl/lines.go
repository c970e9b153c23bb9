package erl

import "strings"

// Where the elements of a tuple that begins with an atom go if they need several lines: behind
// the atom, or at a fixed indentation, or, as in other tuples, below the atom.
const (
	afterTag  = -1
	tagIndent = 4
)

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
