package definitions

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/jsondoc"
	"github.com/leveretmq/leveret/internal/limits"
)

// How values go into definitions and come out again. JSON has fewer types than AMQP: integers lose
// their width, texts and bytes become one, a value that JSON cannot express is "undefined".

// Arguments are a table of arguments or a policy's definition. In JSON the values have no field
// types: on the way back an integral number is an int64, or a *big.Int if it is larger, another number a float64, a
// text a string.
// Rules: J-6, J-7.
type Arguments struct{ leveret.Table }

// MarshalJSON writes the values without their types.
// Rules: J-6.
func (t Arguments) MarshalJSON() ([]byte, error) {
	m := make(map[string]any, len(t.Table))
	for _, key := range slices.Sorted(maps.Keys(t.Table)) {
		m[key] = plainValue(t.Table[key])
	}
	return json.Marshal(m)
}

// ArgumentsOf returns arguments as a client gave them. Of a name that occurs twice the last counts.
// Rules: J-6.
func ArgumentsOf(f leveret.Fields) Arguments { return Arguments{lastOf(f)} }

// lastOf returns fields as a table. Of a name that occurs twice the last counts, as in a JSON object that RabbitMQ
// writes.
// Rules: J-6.
func lastOf(f leveret.Fields) leveret.Table {
	t := make(leveret.Table, len(f))
	for _, field := range f {
		t[field.Name] = lastWithin(field.Value)
	}
	return t
}

// lastWithin is lastOf for the tables within a value.
func lastWithin(v any) any {
	switch v := v.(type) {
	case leveret.Fields:
		return lastOf(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = lastWithin(v[i])
		}
		return list
	}
	return v
}

// plainValue returns what encoding/json writes for a value.
func plainValue(v any) any {
	switch v := v.(type) {
	case nil:
		return "undefined"
	case string:
		return plainText(v)
	case []byte:
		return plainText(string(v))
	case time.Time:
		return uint64(v.Unix()) // RabbitMQ reads timestamps and decimals without a sign
	case time.Duration:
		return v.Milliseconds()
	case float32:
		return plainFloat(float64(v))
	case float64:
		return plainFloat(v)
	case leveret.Decimal:
		// RabbitMQ writes the digits behind the scale, whatever number that makes.
		return json.RawMessage(fmt.Sprintf("%d.%d", v.Scale, uint32(v.Value)))
	case *big.Int:
		return json.RawMessage(v.String())
	case json.Number:
		return json.RawMessage(v)
	}
	return plainComposite(v)
}

// plainComposite is plainValue for arrays and tables.
func plainComposite(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plainValue(v[i])
		}
		return list
	case leveret.Table:
		return Arguments{v}
	case map[string]any:
		return Arguments{v}
	case leveret.Fields:
		return Arguments{v.Table()}
	}
	return v
}

// plainText returns a text, and for bytes that are none RabbitMQ's explanation.
// Rules: J-6.
func plainText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return "Not UTF-8, base64 is: " + base64.StdEncoding.EncodeToString([]byte(s))
}

// plainFloat keeps a floating-point number one: without a fraction it would come back as
// an integer.
func plainFloat(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "undefined"
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	mantissa, exponent, scientific := strings.Cut(s, "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	if scientific {
		mantissa += "e" + exponent
	}
	return json.RawMessage(mantissa)
}

var errNull = errors.New("null_not_allowed")

// UnmarshalJSON reads arguments. Where a name occurs twice the first counts.
// Rules: J-7, J-11.
func (t *Arguments) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := readValue(d)
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case leveret.Table:
		t.Table = v
	case []any:
		if len(v) > 0 { // an empty list is what some tools make of an empty table
			return errors.New("arguments are not an object")
		}
		t.Table = leveret.Table{}
	default:
		return errors.New("arguments are not an object")
	}
	return nil
}

func readValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case nil:
		return nil, errNull
	case json.Number:
		return jsondoc.Number(token)
	case json.Delim:
		if token == '[' {
			return readArray(d)
		}
		return readTable(d)
	}
	return token, nil
}

func readArray(d *json.Decoder) (any, error) {
	list := []any{}
	for d.More() {
		v, err := readValue(d)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.Token()
	return list, err
}

func readTable(d *json.Decoder) (any, error) {
	table := leveret.Table{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := readValue(d)
		if err != nil {
			return nil, err
		}
		if _, again := table[key.(string)]; !again {
			table[key.(string)] = v
		}
	}
	_, err := d.Token()
	return table, err
}

// Tags are a list of tags. Older files have them in one string, separated by commas.
// Rules: J-3.
type Tags []string

// newTags returns the tags for an entry, which has a list even if it is empty.
func newTags(tags []string) *Tags {
	t := append(Tags{}, tags...)
	return &t
}

// UnmarshalJSON reads a list, or a string of names separated by commas.
func (t *Tags) UnmarshalJSON(data []byte) error {
	var list []string
	if json.Unmarshal(data, &list) == nil {
		*t = append(Tags{}, list...)
		return nil
	}
	var joined string
	if json.Unmarshal(data, &joined) != nil {
		return errors.New("tags are neither a list nor a string")
	}
	*t = append(Tags{}, jsondoc.VHostTags(joined)...)
	return nil
}

// UnmarshalJSON reads an entry, and notes whether it has a type: RabbitMQ tells one without a type, one with null and
// one with an empty text apart.
// Rules: J-9.
func (e *Exchange) UnmarshalJSON(data []byte) error {
	type entry Exchange
	var plain entry
	if err := json.Unmarshal(data, &plain); err != nil {
		return err
	}
	*e = Exchange(plain)
	var given struct{ Type json.RawMessage }
	_ = json.Unmarshal(data, &given) // it was read once
	switch {
	case given.Type == nil:
		e.typeless = "undefined"
	case e.Type == "":
		e.typeless = strings.Trim(string(given.Type), `"`)
	}
	return nil
}

// Priority is a policy's priority. Whole numbers are written without a fraction.
type Priority float64

// MarshalJSON writes whole numbers as RabbitMQ does.
func (p Priority) MarshalJSON() ([]byte, error) {
	if f := float64(p); f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return fmt.Appendf(nil, "%d", int64(f)), nil
	}
	return json.Marshal(float64(p))
}

// Limits are the limits of a user or a virtual host by their names: int64, or whatever else a
// document has. An empty list in JSON is no limits too, as RabbitMQ writes those that were cleared.
type Limits map[string]any

// newLimits returns two limits, less those that are not set.
func newLimits(name1 string, n1 int, name2 string, n2 int) Limits {
	l := Limits{}
	if n1 != leveret.NoLimit {
		l[name1] = n1
	}
	if n2 != leveret.NoLimit {
		l[name2] = n2
	}
	return l
}

// UnmarshalJSON reads an entry. RabbitMQ does not look at its limits: those that are no limits are none. It tells a
// tracing that is null from none.
// Rules: J-3.
func (e *VHost) UnmarshalJSON(data []byte) error {
	type entry VHost
	var plain struct {
		entry
		Limits  json.RawMessage `json:"limits"`
		Tracing json.RawMessage `json:"tracing"`
	}
	if err := json.Unmarshal(data, &plain); err != nil {
		return err
	}
	*e = VHost(plain.entry)
	e.nullTracing = string(plain.Tracing) == "null"
	if plain.Tracing != nil {
		if err := json.Unmarshal(plain.Tracing, &e.Tracing); err != nil {
			return err
		}
	}
	if plain.Limits != nil {
		_ = e.Limits.UnmarshalJSON(plain.Limits)
	}
	return nil
}

// UnmarshalJSON reads an object or an empty list.
func (l *Limits) UnmarshalJSON(data []byte) error {
	*l = nil
	var none []any
	if json.Unmarshal(data, &none) == nil && len(none) == 0 {
		if none != nil {
			*l = Limits{}
		}
		return nil
	}
	given, err := limits.Read(data)
	if err != nil {
		return err
	}
	*l = given
	return nil
}
