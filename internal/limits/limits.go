// Package limits reads the limits of users and virtual hosts from JSON, as RabbitMQ does.
package limits

import (
	"errors"
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/jsondoc"
)

// Limits are those that a document gives, by name; a negative one is none.
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
	v, err := jsondoc.Decode(data, jsondoc.First)
	if object, ok := v.(map[string]any); ok && err == nil {
		return object, nil
	}
	return nil, errors.New("limits are not an object")
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
			wrong = append(wrong, name+" should be a number, actually was "+erl.Format(erl.JSON(v), 0))
		default:
			parsed[name] = n
		}
	}
	if unknown != nil {
		wrong = slices.Insert(wrong, 0, "Unrecognised terms "+erl.Format(unknown, 0)+" in "+kind)
	}
	return parsed, wrong
}

// integer returns an integer, math.MaxInt or its negative for one that is beyond. So none is leveret.NoLimit.
func integer(v any) (int, bool) {
	switch v := v.(type) {
	case int64:
		return int(max(v, -math.MaxInt)), true
	case *big.Int:
		return v.Sign() * math.MaxInt, true
	}
	return 0, false
}
