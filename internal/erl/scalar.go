package erl

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// scalar returns the text of a term that is neither tuple nor list.
// Rules: E-6.
func (n Notation) scalar(term any) string {
	switch v := term.(type) {
	case Atom:
		return atom(string(v))
	case Binary:
		return n.binary(string(v))
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

// binary prints bytes as text if the notation shows their characters, else as numbers. What is not UTF-8 is taken for
// Latin-1.
func (n Notation) binary(s string) string {
	if n > Console || !utf8.ValidString(s) || utf8.RuneCountInString(s) == len(s) {
		return latin1(s)
	}
	if n.shows([]rune(s)) {
		return "<<" + Quote(s) + "/utf8>>"
	}
	return numbers(s)
}

// latin1 prints bytes as text if they are Latin-1, else as numbers.
func latin1(s string) string {
	if s == "" {
		return "<<>>"
	}
	text := string(Characters(s))
	if printable([]rune(text)) {
		return "<<" + Quote(text) + ">>"
	}
	return numbers(s)
}

// Characters returns the string whose characters are octets, each of them one of Latin-1.
func Characters(octets string) String {
	chars := make([]rune, len(octets))
	for i := range len(octets) {
		chars[i] = rune(octets[i])
	}
	return String(string(chars))
}

func numbers(s string) string {
	list := make([]string, len(s))
	for i := range len(s) {
		list[i] = strconv.Itoa(int(s[i]))
	}
	return "<<" + strings.Join(list, ",") + ">>"
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

// Quote returns s in double quotes.
func Quote(s string) string { return quote(s, '"') }

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
