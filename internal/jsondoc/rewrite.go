package jsondoc

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"slices"

	"github.com/leveretmq/leveret/internal/erl"
)

// Rewrite returns a document as RabbitMQ writes it when it has read it: without spaces, the members of objects in the
// order of their keys, numbers with a fraction or an exponent in Erlang's notation, such as 1.0e5.
func Rewrite(data []byte) ([]byte, error) {
	v, err := Decode(data, First)
	if err != nil {
		return nil, err
	}
	return appendValue(nil, v), nil
}

func appendValue(to []byte, v any) []byte {
	switch v := v.(type) {
	case float64:
		return append(to, erl.Unicode.Format(v, 0)...)
	case *big.Int:
		return v.Append(to, 10)
	case []any:
		to = append(to, '[')
		for i, element := range v {
			to = appendValue(appendComma(to, i), element)
		}
		return append(to, ']')
	case map[string]any:
		to = append(to, '{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			to = append(appendPlain(appendComma(to, i), key), ':')
			to = appendValue(to, v[key])
		}
		return append(to, '}')
	}
	return appendPlain(to, v)
}

func appendComma(to []byte, i int) []byte {
	if i == 0 {
		return to
	}
	return append(to, ',')
}

// appendPlain appends a text, an integer, a truth value or null.
func appendPlain(to []byte, v any) []byte {
	b := bytes.NewBuffer(to)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // such a value can be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
