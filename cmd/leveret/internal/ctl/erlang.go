package ctl

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/leveretmq/leveret"
)

// rabbitmqctl's tables show arguments in Erlang's notation. The types below are the terms
// that occur; a string inside arguments is a list of its characters, as Erlang's are.
type (
	erlTuple  []any
	erlList   []any
	erlAtom   string
	erlBinary []byte
)

// erlString returns the term of a long string.
func erlString(s string) erlList {
	chars := make(erlList, 0, len(s))
	for _, r := range s {
		chars = append(chars, int64(r))
	}
	return chars
}

// argumentsTerm returns the term of an argument table: pairs, by name.
func argumentsTerm(t leveret.Table) erlList {
	pairs := erlList{}
	for _, f := range sortedFields(t) {
		pairs = append(pairs, erlTuple{erlString(f.Name), argumentTerm(f.Value)})
	}
	return pairs
}

func sortedFields(t leveret.Table) leveret.Fields {
	fields := make(leveret.Fields, 0, len(t))
	for name, v := range t {
		fields = append(fields, leveret.Field{Name: name, Value: v})
	}
	slices.SortFunc(fields, func(a, b leveret.Field) int { return strings.Compare(a.Name, b.Name) })
	return fields
}

func argumentTerm(v any) any {
	switch v := v.(type) {
	case nil:
		return erlAtom("undefined")
	case string:
		return erlString(v)
	case []byte:
		return erlBinary(v)
	case bool:
		return erlAtom(strconv.FormatBool(v))
	case leveret.Decimal:
		return erlTuple{int64(v.Scale), int64(v.Value)}
	}
	if fields, ok := asFields(v); ok {
		pairs := erlList{}
		for _, f := range fields {
			pairs = append(pairs, erlTuple{erlString(f.Name), argumentTerm(f.Value)})
		}
		return pairs
	}
	if array, ok := asArray(v); ok {
		items := erlList{}
		for _, item := range array {
			items = append(items, argumentTerm(item))
		}
		return items
	}
	if n, ok := asInteger(v); ok {
		return n
	}
	f, _ := asFloat(v)
	return f
}

// asFields returns the fields of anything a table may be given as.
func asFields(v any) (leveret.Fields, bool) {
	switch v := v.(type) {
	case leveret.Table:
		return sortedFields(v), true
	case map[string]any:
		return sortedFields(v), true
	case leveret.Fields:
		return v, true
	}
	return nil, false
}

func asArray(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case []string:
		items := make([]any, len(v))
		for i, s := range v {
			items[i] = s
		}
		return items, true
	}
	return nil, false
}

func asInteger(v any) (int64, bool) {
	switch v := v.(type) {
	case int8:
		return int64(v), true
	case uint8:
		return int64(v), true
	case int16:
		return int64(v), true
	case uint16:
		return int64(v), true
	case int32:
		return int64(v), true
	case uint32:
		return int64(v), true
	case int64:
		return v, true
	case int:
		return int64(v), true
	case time.Time:
		return v.Unix(), true
	case time.Duration:
		return v.Milliseconds(), true
	}
	return 0, false
}

func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case float32:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// appendTerm writes a term as Erlang prints it on one line.
func appendTerm(b []byte, t any) []byte {
	switch t := t.(type) {
	case int64:
		return strconv.AppendInt(b, t, 10)
	case float64:
		return append(b, erlFloat(t)...)
	case erlAtom:
		return append(b, t...)
	case erlBinary:
		return appendBinary(b, t)
	case erlTuple:
		return append(appendTerms(append(b, '{'), t), '}')
	case erlList:
		if s, ok := printable(t); ok {
			return append(b, erlQuote(s)...)
		}
		return append(appendTerms(append(b, '['), t), ']')
	}
	panic("a value has no Erlang term")
}

func appendTerms(b []byte, terms []any) []byte {
	for i, t := range terms {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendTerm(b, t)
	}
	return b
}

func appendBinary(b []byte, data []byte) []byte {
	b = append(b, "<<"...)
	if s := string(data); len(data) > 0 && utf8.Valid(data) && !strings.ContainsFunc(s, unprintable) {
		b = append(b, erlQuote(s)...)
		if len(s) != utf8.RuneCountInString(s) {
			b = append(b, "/utf8"...)
		}
	} else {
		for i, c := range data {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendUint(b, uint64(c), 10)
		}
	}
	return append(b, ">>"...)
}

// printable returns the text of a list that Erlang shows as text: not empty, and of nothing
// but printable Latin-1 characters.
func printable(list erlList) (string, bool) {
	var s strings.Builder
	for _, item := range list {
		c, ok := item.(int64)
		if !ok || unprintable(rune(c)) {
			return "", false
		}
		s.WriteRune(rune(c))
	}
	return s.String(), len(list) > 0
}

func unprintable(r rune) bool {
	switch {
	case r >= ' ' && r <= '~', r >= 0xa0 && r <= 0xff, r >= '\b' && r <= '\r', r == 0x1b:
		return false
	}
	return true
}

var erlEscapes = strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`,
	"\v", `\v`, "\b", `\b`, "\f", `\f`, "\x1b", `\e`)

func erlQuote(s string) string { return `"` + erlEscapes.Replace(s) + `"` }

// erlFloat writes the shortest text that reads back, always with a fraction.
func erlFloat(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	mantissa, exponent, scientific := strings.Cut(s, "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	if !scientific {
		return mantissa
	}
	n, _ := strconv.Atoi(exponent)
	return mantissa + "e" + strconv.Itoa(n)
}
