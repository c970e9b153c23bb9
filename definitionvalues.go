package leveret

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// How the values of tables go into definitions and come out again. JSON has fewer types than
// AMQP: integers lose their width, texts and bytes become one, what is not known is "undefined".

// definitionValue returns what encoding/json writes for a value.
func definitionValue(v any) any {
	switch v := v.(type) {
	case nil:
		return "undefined"
	case string:
		return definitionText(v)
	case []byte:
		return definitionText(string(v))
	case time.Time:
		return v.Unix()
	case time.Duration:
		return v.Milliseconds()
	case float32:
		return definitionFloat(float64(v))
	case float64:
		return definitionFloat(v)
	case Decimal:
		// RabbitMQ writes the digits behind the scale, whatever number that makes.
		return json.RawMessage(strconv.Itoa(int(v.Scale)) + "." + strings.TrimPrefix(strconv.Itoa(int(v.Value)), "-"))
	case *big.Int:
		return json.RawMessage(v.String())
	case json.Number:
		return json.RawMessage(v)
	}
	return definitionComposite(v)
}

func definitionComposite(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = definitionValue(v[i])
		}
		return list
	case Table:
		return argumentTable{v}
	case map[string]any:
		return argumentTable{v}
	case Fields:
		return argumentTable{v.Table()}
	}
	return v
}

func definitionText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return "Not UTF-8, base64 is: " + base64.StdEncoding.EncodeToString([]byte(s))
}

// definitionFloat keeps a floating-point number one: without a fraction it would come back as
// an integer.
func definitionFloat(f float64) any {
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

// UnmarshalJSON reads arguments: numbers without a fraction become int64, others float64.
// Where a name occurs twice the first counts.
func (t *argumentTable) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := readValue(d)
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case Table:
		t.Table = v
	case []any:
		if len(v) > 0 { // an empty list is what some tools make of an empty table
			return errors.New("arguments are not an object")
		}
		t.Table = Table{}
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
		return readNumber(token)
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
	table := Table{}
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

func readNumber(n json.Number) (any, error) {
	if strings.ContainsAny(n.String(), ".eE") {
		f, err := n.Float64()
		if err != nil {
			return nil, fmt.Errorf("number %s is out of range", n)
		}
		return f, nil
	}
	i, err := n.Int64()
	if err != nil {
		return nil, fmt.Errorf("number %s is out of range", n)
	}
	return i, nil
}

// UnmarshalJSON reads a list, or a string of names separated by commas.
func (t *tagList) UnmarshalJSON(data []byte) error {
	var list []string
	if json.Unmarshal(data, &list) == nil {
		*t = append(tagList{}, list...)
		return nil
	}
	var joined string
	if json.Unmarshal(data, &joined) != nil {
		return errors.New("tags are neither a list nor a string")
	}
	*t = tagList{}
	for _, tag := range strings.Split(joined, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			*t = append(*t, tag)
		}
	}
	return nil
}
