package erl

import (
	"maps"
	"math/big"
	"slices"
	"strings"
)

// JSON returns the term that RabbitMQ makes of a decoded JSON value: null, true and false are atoms,
// a string is a binary, an object a list of pairs in the order of the keys.
func JSON(v any) any {
	switch v := v.(type) {
	case nil:
		return Atom("null")
	case string:
		return Binary(v)
	case *big.Int:
		return Text(v.String())
	case map[string]any:
		pairs := make(List, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			pairs = append(pairs, Tuple{Binary(key), JSON(v[key])})
		}
		return pairs
	case []any:
		list := make(List, len(v))
		for i := range v {
			list[i] = JSON(v[i])
		}
		return list
	}
	return v
}

// JSONText prints a decoded JSON value. An object is printed as a map, on one line.
func JSONText(v any) string {
	object, ok := v.(map[string]any)
	if !ok {
		return Format(JSON(v), 0)
	}
	entries := make([]string, 0, len(object))
	for _, key := range slices.Sorted(maps.Keys(object)) {
		entries = append(entries, Format(Binary(key), 0)+" => "+JSONText(object[key]))
	}
	return "#{" + strings.Join(entries, ",") + "}"
}
