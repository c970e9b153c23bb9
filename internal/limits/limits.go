// Package limits reads the limits of users and virtual hosts from JSON, as RabbitMQ does.
package limits

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/leveretmq/leveret/internal/erl"
)

// Limits are those that a document gives, by name; -1 is none.
type Limits map[string]int

// Or returns the limit of that name, or otherwise if the document does not give it.
func (l Limits) Or(name string, otherwise int) int {
	if n, ok := l[name]; ok {
		return n
	}
	return otherwise
}

// Read decodes a JSON object. Its numbers are int64, *big.Int or float64.
func Read(data []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var object map[string]any
	if err := d.Decode(&object); err != nil {
		return nil, errors.New("limits are not an object")
	}
	for name, v := range object {
		object[name] = number(v)
	}
	return object, nil
}

// number returns a decoded value with the numbers in it as numbers.
func number(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if n, ok := new(big.Int).SetString(v.String(), 10); ok {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = number(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = number(v[key])
		}
	}
	return v
}

// Parse returns those of a document's limits that have one of the names. Wrong are RabbitMQ's
// complaints: first one about all other names, then one for each value that is not an integer, in
// the order of the names. Kind is what RabbitMQ calls such limits.
func Parse(given map[string]any, kind string, names ...string) (parsed Limits, wrong []string) {
	parsed = Limits{}
	var unknown erl.List
	for _, name := range slices.Sorted(maps.Keys(given)) {
		v := given[name]
		n, whole := integer(v)
		switch {
		case !slices.Contains(names, name):
			unknown = append(unknown, erl.Tuple{erl.Binary(name), erl.JSON(v)})
		case !whole:
			wrong = append(wrong, name+" should be a number, actually was "+erl.JSONText(v))
		default:
			parsed[name] = max(n, -1)
		}
	}
	if unknown != nil {
		wrong = slices.Insert(wrong, 0, "Unrecognised terms "+erl.Format(unknown, 0)+" in "+kind)
	}
	return parsed, wrong
}

// integer returns an integer, the largest or smallest there is for one that is beyond it.
func integer(v any) (int, bool) {
	switch v := v.(type) {
	case int64:
		return int(v), true
	case *big.Int:
		return v.Sign() * math.MaxInt, true
	}
	return 0, false
}
