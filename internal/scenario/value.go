package scenario

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
)

// An Arg is one argument of a statement.
type Arg struct {
	Name  string // of name=value; empty: positional
	Value any    // typed as leveret.Table describes
	Text  string // a positional argument's text
	slash int    // where in Text the first unquoted slash stands; -1: nowhere
}

// A reader takes a line apart.
type reader struct {
	s   string
	pos int
}

const special = " \t=,[]{}()\""

func (r *reader) skip(chars string) {
	for r.pos < len(r.s) && strings.IndexByte(chars, r.s[r.pos]) >= 0 {
		r.pos++
	}
}

func (r *reader) peek() byte {
	if r.pos < len(r.s) {
		return r.s[r.pos]
	}
	return 0
}

// text reads a word, parts of which may be quoted, and tells where its first unquoted slash is.
func (r *reader) text() (s string, slash int, quoted bool, err error) {
	var b strings.Builder
	slash = -1
	for r.pos < len(r.s) {
		if r.s[r.pos] == '"' || r.s[r.pos] == '`' {
			q, err := strconv.QuotedPrefix(r.s[r.pos:])
			if err != nil {
				return "", 0, false, fmt.Errorf("bad quoting at %q", r.s[r.pos:])
			}
			u, _ := strconv.Unquote(q)
			b.WriteString(u)
			r.pos += len(q)
			quoted = true
			continue
		}
		if r.s[r.pos] == '(' && !constructors[b.String()] {
			end := r.closing()
			b.WriteString(r.s[r.pos:end])
			r.pos = end
			continue
		}
		if strings.IndexByte(special, r.s[r.pos]) >= 0 {
			break
		}
		if r.s[r.pos] == '/' && slash < 0 {
			slash = b.Len()
		}
		b.WriteByte(r.s[r.pos])
		r.pos++
	}
	return b.String(), slash, quoted, nil
}

// closing returns where the parenthesis that opens here has closed: regular expressions are full of them.
func (r *reader) closing() int {
	depth := 0
	for i := r.pos; i < len(r.s); i++ {
		switch r.s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(r.s)
}

var constructors = map[string]bool{"byte": true, "ubyte": true, "short": true, "ushort": true, "uint": true, "long": true,
	"float": true, "double": true, "dec": true, "time": true, "bin": true}

// args reads arguments to the end of the line.
func (r *reader) args() ([]Arg, error) {
	var out []Arg
	for {
		r.skip(" \t")
		if r.pos >= len(r.s) {
			return out, nil
		}
		a, err := r.arg()
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
}

func (r *reader) arg() (Arg, error) {
	if c := r.peek(); c == '{' || c == '[' {
		v, err := r.value()
		return Arg{Value: v, slash: -1}, err
	}
	start := r.pos
	s, slash, _, err := r.text()
	if err != nil {
		return Arg{}, err
	}
	if r.pos == start {
		return Arg{}, fmt.Errorf("unexpected %q", r.s[r.pos:])
	}
	switch r.peek() {
	case '=':
		r.pos++
		v, err := r.value()
		return Arg{Name: s, Value: v}, err
	case '(':
		r.pos = start
		v, err := r.value()
		return Arg{Value: v, slash: -1}, err
	}
	return Arg{Text: s, Value: s, slash: slash}, nil
}

func (r *reader) value() (any, error) {
	switch r.peek() {
	case '[':
		r.pos++
		return r.array(']')
	case '{':
		r.pos++
		return r.table()
	}
	start := r.pos
	s, _, quoted, err := r.text()
	if err != nil || quoted {
		return s, err
	}
	if r.pos == start {
		return nil, fmt.Errorf("a value is missing at %q", r.s[r.pos:])
	}
	if r.peek() == '(' {
		r.pos++
		args, err := r.array(')')
		if err != nil {
			return nil, err
		}
		return construct(s, args)
	}
	return bare(s), nil
}

func (r *reader) array(end byte) ([]any, error) {
	out := []any{}
	for {
		r.skip(" \t,")
		if r.peek() == end {
			r.pos++
			return out, nil
		}
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
}

func (r *reader) table() (leveret.Fields, error) {
	out := leveret.Fields{}
	for {
		r.skip(" \t,")
		if r.peek() == '}' {
			r.pos++
			return out, nil
		}
		name, _, _, err := r.text()
		if err != nil {
			return nil, err
		}
		if r.peek() != '=' {
			return nil, fmt.Errorf("= is missing at %q", r.s[r.pos:])
		}
		r.pos++
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		out = append(out, leveret.Field{Name: name, Value: v})
	}
}

var integer = regexp.MustCompile(`^-?\d+$`)
var decimal = regexp.MustCompile(`^-?\d+\.\d+$`)

// bare gives an unquoted word its type.
func bare(s string) any {
	switch {
	case s == "true" || s == "false":
		return s == "true"
	case s == "void":
		return nil
	case integer.MatchString(s) && s != "-0":
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			if n == int64(int32(n)) {
				return int32(n)
			}
			return n
		}
	case decimal.MatchString(s):
		f, _ := strconv.ParseFloat(s, 64)
		return f
	}
	return s
}

func construct(name string, args []any) (any, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("%s() needs a value", name)
	}
	n, isInt := whole(args[0])
	switch name {
	case "byte":
		return int8(n), nil
	case "ubyte":
		return uint8(n), nil
	case "short":
		return int16(n), nil
	case "ushort":
		return uint16(n), nil
	case "uint":
		return uint32(n), nil
	case "long":
		return n, nil
	case "time":
		return time.Unix(n, 0).UTC(), nil
	case "bin":
		return []byte(fmt.Sprint(args[0])), nil
	case "float", "double":
		f, err := strconv.ParseFloat(fmt.Sprint(args[0]), 64)
		if name == "float" {
			return float32(f), err
		}
		return f, err
	case "dec":
		if v, ok := whole(args[len(args)-1]); isInt && ok && len(args) == 2 {
			return leveret.Decimal{Scale: uint8(n), Value: int32(v)}, nil
		}
	}
	return nil, fmt.Errorf("no such value: %s", name)
}

func whole(v any) (int64, bool) {
	switch v := v.(type) {
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case string:
		u, err := strconv.ParseUint(v, 10, 64) // beyond int64: timestamps
		return int64(u), err == nil
	}
	return 0, false
}

var plainWord = regexp.MustCompile("^[^\\s=,\\[\\]{}()\"`|#\\\\]+$")

// Quote writes a string so that a script reads it back as a string.
func Quote(s string) string {
	if _, isString := bare(s).(string); isString && plainWord.MatchString(s) && s != "->" && isASCII(s) {
		return s
	}
	return strconv.QuoteToASCII(s)
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool { return c < 0x20 || c > 0x7e }) < 0
}

// Format writes a value so that a script reads it back with the same type.
func Format(v any) string {
	switch v := v.(type) {
	case nil:
		return "void"
	case string:
		return Quote(v)
	case bool, int32:
		return fmt.Sprint(v)
	case int8:
		return fmt.Sprintf("byte(%d)", v)
	case uint8:
		return fmt.Sprintf("ubyte(%d)", v)
	case int16:
		return fmt.Sprintf("short(%d)", v)
	case uint16:
		return fmt.Sprintf("ushort(%d)", v)
	case uint32:
		return fmt.Sprintf("uint(%d)", v)
	case int64:
		return fmt.Sprintf("long(%d)", v)
	case int:
		return fmt.Sprintf("long(%d)", v)
	case float32:
		return "float(" + strconv.FormatFloat(float64(v), 'g', -1, 32) + ")"
	case float64:
		return formatDouble(v)
	case leveret.Decimal:
		return fmt.Sprintf("dec(%d %d)", v.Scale, v.Value)
	case time.Time:
		return fmt.Sprintf("time(%d)", uint64(v.Unix()))
	case []byte:
		return "bin(" + strconv.QuoteToASCII(string(v)) + ")"
	}
	return formatNested(v)
}

func formatDouble(f float64) string {
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if decimal.MatchString(s) {
		return s
	}
	return "double(" + s + ")"
}

func formatNested(v any) string {
	var parts []string
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			parts = append(parts, Format(e))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case []string:
		for _, e := range v {
			parts = append(parts, Quote(e))
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	fields, ok := FieldsOf(v)
	if !ok {
		return fmt.Sprintf("?%T(%v)", v, v)
	}
	for _, f := range fields {
		parts = append(parts, Quote(f.Name)+"="+Format(f.Value))
	}
	return "{" + strings.Join(parts, " ") + "}"
}
