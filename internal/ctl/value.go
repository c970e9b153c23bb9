package ctl

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
)

// A value is one cell of a listing, with its three notations. Strings, booleans, integers and
// floating-point numbers stand for themselves.
type value interface {
	plain() string // as tables show it
	json() any     // as JSON shows it, to be marshalled
	term() any     // the term it is for Erlang
}

// An item is a named value; a row is one object's items in the order of the columns.
type item struct {
	key   string
	value any
}

type row []item

// A word is a text that is an atom for Erlang, such as the type of a queue.
type word string

// A wordPair is a tuple of two words: a state, and the one before it.
type wordPair [2]word

func (p wordPair) plain() string { return "{" + string(p[0]) + ", " + string(p[1]) + "}" }
func (p wordPair) json() any     { return []string{string(p[0]), string(p[1])} }
func (p wordPair) term() any     { return erl.Tuple{p[0].term(), p[1].term()} }

// none is what RabbitMQ shows for what does not apply, or is not known.
const none = word("")

func (w word) plain() string { return string(w) }
func (w word) json() any     { return string(w) }
func (w word) term() any     { return erl.Atom(w) }

// orNone is a name that there may not be.
func orNone(s string) any {
	if s == "" {
		return none
	}
	return s
}

// A pid stands for RabbitMQ's process ids, which name connections and channels.
type pid struct {
	node       string
	connection uint64
	channel    uint16 // 0: the connection itself
}

func (p pid) plain() string {
	return fmt.Sprintf("<%s.1.%d.%d>", p.node, p.connection, p.channel)
}

func (p pid) json() any { return fmt.Sprintf("Pid(#PID<1.%d.%d>)", p.connection, p.channel) }
func (p pid) term() any { return erl.Text(fmt.Sprintf("<1.%d.%d>", p.connection, p.channel)) }

// parsePid reads what plain wrote.
func parsePid(s string) (p pid, ok bool) {
	inner, opened := strings.CutPrefix(s, "<")
	inner, closed := strings.CutSuffix(inner, ">")
	parts := strings.Split(inner, ".")
	if n := len(parts); !opened || !closed || n < 4 {
		return p, false
	}
	parts = parts[len(parts)-3:]
	connection, err1 := strconv.ParseUint(parts[1], 10, 64)
	channel, err2 := strconv.ParseUint(parts[2], 10, 16)
	_, err3 := strconv.ParseUint(parts[0], 10, 64)
	p = pid{connection: connection, channel: uint16(channel)}
	p.node = strings.TrimSuffix(inner, "."+strings.Join(parts, "."))
	return p, err1 == nil && err2 == nil && err3 == nil && p.node != ""
}

// arguments are an AMQP table with the types of its fields.
type arguments leveret.Fields

func (a arguments) plain() string { return oneLine(argumentTerm(leveret.Fields(a))) }
func (a arguments) json() any     { return typedFields(leveret.Fields(a)) }
func (a arguments) term() any     { return fieldTerms(leveret.Fields(a)) }

func typedFields(fields leveret.Fields) []any {
	triples := []any{}
	for _, f := range fields {
		kind, v := typed(f.Value)
		triples = append(triples, []any{f.Name, kind, v})
	}
	return triples
}

// typed returns the name RabbitMQ has for the field type of v, and v for JSON. An array loses
// all but its last item of each type there, because rabbitmqctl takes it for an object.
func typed(v any) (kind string, out any) {
	if fields, ok := asFields(v); ok {
		return "table", typedFields(fields)
	}
	if array, ok := asArray(v); ok {
		if len(array) == 0 {
			return "array", []any{}
		}
		object := map[string]any{}
		for _, item := range array {
			kind, v := typed(item)
			object[kind] = v
		}
		return "array", object
	}
	switch v := v.(type) {
	case nil:
		return "void", "undefined"
	case string:
		return "longstr", textOrBase64([]byte(v))
	case []byte:
		return "binary", textOrBase64(v)
	case bool:
		return "bool", v
	case leveret.Decimal:
		return "decimal", []any{v.Scale, uint32(v.Value)} // RabbitMQ reads decimals and timestamps without a sign
	case time.Time:
		return "timestamp", uint64(v.Unix())
	case *big.Int:
		return "long", v
	}
	if f, ok := asFloat(v); ok {
		return floatKind(v), jsonFloat(f)
	}
	n, _ := asInteger(v)
	return integerKind(v), n
}

func textOrBase64(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return base64.StdEncoding.EncodeToString(b)
}

func floatKind(v any) string {
	if _, ok := v.(float32); ok {
		return "float"
	}
	return "double"
}

func integerKind(v any) string {
	switch v.(type) {
	case int8:
		return "byte"
	case uint8:
		return "unsignedbyte"
	case int16:
		return "short"
	case uint16:
		return "unsignedshort"
	case int32:
		return "signedint"
	case uint32:
		return "unsignedint"
	}
	return "long"
}

// jsonFloat is a number that stays one with a fraction in JSON, as Erlang writes it.
type jsonFloat float64

func (f jsonFloat) MarshalJSON() ([]byte, error) { return []byte(oneLine(float64(f))), nil }

// definition is a policy's definition as listings of queues show it.
type definition leveret.Table

func (d definition) plain() string {
	if len(d) == 0 {
		return "#{}"
	}
	var pairs []string
	for _, f := range sortedFields(leveret.Table(d)) {
		pairs = append(pairs, "{"+oneLine(erl.Binary(f.Name))+", "+plainText(f.Value)+"}")
	}
	return "[" + strings.Join(pairs, ", ") + "]"
}

func (d definition) json() any {
	object := map[string]any{}
	for name, v := range d {
		object[name] = v
	}
	return object
}

func (d definition) term() any {
	if len(d) == 0 {
		return erl.Text("#{}")
	}
	pairs := erl.List{}
	for _, f := range sortedFields(leveret.Table(d)) {
		pairs = append(pairs, erl.Tuple{erl.Latin1(f.Name), valueTerm(f.Value)})
	}
	return pairs
}

// document is a policy's definition as listings of policies show it: as a JSON text.
func document(t leveret.Table) string {
	if t == nil {
		t = leveret.Table{}
	}
	return marshal(jsonNumbers(map[string]any(t)))
}

// address is an IP address; the zero value shows as nothing.
type address struct{ netip.Addr }

func (a address) plain() string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

func (a address) json() any {
	if !a.IsValid() {
		return ""
	}
	numbers := []int{}
	if a.Is4() {
		for _, b := range a.AsSlice() {
			numbers = append(numbers, int(b))
		}
		return numbers
	}
	for pair := range slices.Chunk(a.AsSlice(), 2) {
		numbers = append(numbers, int(pair[0])<<8|int(pair[1]))
	}
	return numbers
}

func (a address) term() any {
	numbers, ok := a.json().([]int)
	if !ok {
		return none.term()
	}
	return tuple(numbers).term()
}

// tuple is an Erlang tuple of integers, such as a protocol version.
type tuple []int

func (t tuple) plain() string { return oneLine(t.term()) }
func (t tuple) json() any     { return []int(t) }

func (t tuple) term() any {
	term := erl.Tuple{}
	for _, n := range t {
		term = append(term, n)
	}
	return term
}

// names is a list of names, such as a user's tags.
type names []string

func (n names) plain() string { return "[" + strings.Join(n, ", ") + "]" }
func (n names) json() any     { return append([]string{}, n...) }

func (n names) term() any {
	atoms := erl.List{}
	for _, name := range n {
		atoms = append(atoms, erl.Atom(name))
	}
	return atoms
}

// plainText returns any cell's text for a table.
func plainText(v any) string {
	switch v := v.(type) {
	case value:
		return v.plain()
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case nil:
		return ""
	}
	if n, ok := asInteger(v); ok {
		return strconv.FormatInt(n, 10)
	}
	if f, ok := asFloat(v); ok {
		return oneLine(f)
	}
	return fmt.Sprint(v)
}

// jsonValue returns any cell for JSON.
func jsonValue(v any) any {
	switch v := v.(type) {
	case value:
		return v.json()
	case nil:
		return ""
	case string:
		return textOrBase64([]byte(v))
	case float64:
		return jsonFloat(v)
	}
	return v
}

// marshal writes JSON without escaping what is special in HTML only.
func marshal(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("a value has no JSON: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// jsonNumbers returns decoded JSON in which a floating-point number stays one when it is written.
func jsonNumbers(v any) any {
	switch v := v.(type) {
	case float64:
		return jsonFloat(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = jsonNumbers(v[i])
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			object[name] = jsonNumbers(member)
		}
		return object
	}
	return v
}

// MarshalJSON writes a row as an object whose members are in the order of the columns.
func (r row) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, it := range r {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(marshal(it.key) + ":" + marshal(jsonValue(it.value)))
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}
