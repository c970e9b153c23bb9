package erl

import (
	"maps"
	"slices"
)

// JSON returns the term that RabbitMQ makes of a decoded JSON value: null, true and false are atoms,
// a string is a binary, an object a map.
func JSON(v any) any {
	switch v := v.(type) {
	case nil:
		return Atom("null")
	case string:
		return Binary(v)
	case map[string]any:
		pairs := make(Map, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			pairs = append(pairs, Pair{Binary(key), JSON(v[key])})
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
