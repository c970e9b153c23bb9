package ctl

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
)

// rabbitmqctl's tables show arguments in Erlang's notation, where a string inside arguments is a
// list of its characters.

// stringTerm returns the term of a long string. A list prints as text if it is not empty and has
// nothing but printable Latin-1 characters.
func stringTerm(s string) any {
	if s != "" && !strings.ContainsFunc(s, unprintable) {
		return erl.String(s)
	}
	chars := erl.List{}
	for _, r := range s {
		chars = append(chars, int64(r))
	}
	return chars
}

func unprintable(r rune) bool {
	switch {
	case r >= ' ' && r <= '~', r >= 0xa0 && r <= 0xff, r >= '\b' && r <= '\r', r == 0x1b:
		return false
	}
	return true
}

// listTerm returns the term of a list, which is text if all it has are characters.
func listTerm(items erl.List) any {
	var text strings.Builder
	for _, item := range items {
		c, ok := item.(int64)
		if !ok || unprintable(rune(c)) {
			return items
		}
		text.WriteRune(rune(c))
	}
	return stringTerm(text.String())
}

// oneLine prints a term without line breaks.
func oneLine(term any) string { return erl.FormatWidth(term, 0, math.MaxInt32) }

// quoted is a text as Erlang and Elixir quote it.
func quoted(s string) string { return erl.Quote(s) }

func sortedFields(t leveret.Table) leveret.Fields {
	fields := make(leveret.Fields, 0, len(t))
	for name, v := range t {
		fields = append(fields, leveret.Field{Name: name, Value: v})
	}
	slices.SortFunc(fields, func(a, b leveret.Field) int { return strings.Compare(a.Name, b.Name) })
	return fields
}

// argumentTerm returns the term of an argument's value; that of a table are pairs.
func argumentTerm(v any) any {
	switch v := v.(type) {
	case nil:
		return erl.Atom("undefined")
	case string:
		return stringTerm(v)
	case []byte:
		return erl.Binary(v)
	case bool:
		return v
	case leveret.Decimal:
		return decimalTerm(v)
	case time.Time:
		return uint64(v.Unix())
	case *big.Int:
		return v
	}
	if fields, ok := asFields(v); ok {
		pairs := erl.List{}
		for _, f := range fields {
			pairs = append(pairs, erl.Tuple{stringTerm(f.Name), argumentTerm(f.Value)})
		}
		return pairs
	}
	if array, ok := asArray(v); ok {
		items := erl.List{}
		for _, item := range array {
			items = append(items, argumentTerm(item))
		}
		return listTerm(items)
	}
	if n, ok := asInteger(v); ok {
		return n
	}
	f, _ := asFloat(v)
	return f
}

// decimalTerm is a decimal, which RabbitMQ reads without a sign.
func decimalTerm(d leveret.Decimal) any { return erl.Tuple{int64(d.Scale), uint32(d.Value)} }

// valueTerm returns the term of any cell.
func valueTerm(v any) any {
	switch v := v.(type) {
	case value:
		return v.term()
	case nil:
		return none.term()
	case string:
		return erl.Latin1(v)
	case bool, *big.Int:
		return v
	case row:
		return pairs(v, valueTerm)
	}
	if fields, ok := asFields(v); ok {
		return pairs(asRow(fields), valueTerm)
	}
	if array, ok := asArray(v); ok {
		items := erl.List{}
		for _, item := range array {
			items = append(items, valueTerm(item))
		}
		return items
	}
	if n, ok := asInteger(v); ok {
		return n
	}
	f, _ := asFloat(v)
	return f
}

// pairs returns the term of a row: pairs of a name, which is an atom, and a value.
func pairs(r row, of func(any) any) erl.List {
	list := erl.List{}
	for _, it := range r {
		list = append(list, erl.Tuple{erl.Atom(it.key), of(it.value)})
	}
	return list
}

// reportTerm is valueTerm where texts are lists of characters.
func reportTerm(v any) any {
	switch v := v.(type) {
	case string:
		return stringTerm(v)
	case row:
		return pairs(v, reportTerm)
	case []any:
		items := erl.List{}
		for _, item := range v {
			items = append(items, reportTerm(item))
		}
		return items
	}
	return valueTerm(v)
}

func asRow(fields leveret.Fields) row {
	r := make(row, len(fields))
	for i, f := range fields {
		r[i] = item{f.Name, f.Value}
	}
	return r
}

// fieldTerms returns the term of an argument table as it is for the broker: with the types.
func fieldTerms(fields leveret.Fields) erl.List {
	triples := erl.List{}
	for _, f := range fields {
		kind, v := typedTerm(f.Value)
		triples = append(triples, erl.Tuple{erl.Latin1(f.Name), erl.Atom(kind), v})
	}
	return triples
}

// typedTerm returns the name RabbitMQ has for the field type of v, and the term of v.
func typedTerm(v any) (kind string, term any) {
	kind, _ = typed(v)
	if fields, ok := asFields(v); ok {
		return kind, fieldTerms(fields)
	}
	if array, ok := asArray(v); ok {
		items := erl.List{}
		for _, item := range array {
			kind, v := typedTerm(item)
			items = append(items, erl.Tuple{erl.Atom(kind), v})
		}
		return kind, items
	}
	switch v := v.(type) {
	case nil:
		return kind, erl.Atom("undefined")
	case []byte:
		return kind, erl.Latin1(v)
	case leveret.Decimal:
		return kind, decimalTerm(v)
	case time.Time:
		return kind, uint64(v.Unix())
	}
	return kind, valueTerm(v)
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
