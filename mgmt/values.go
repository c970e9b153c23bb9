package mgmt

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// Values that JSON shows in a way of their own.

// A decimal is a number that RabbitMQ has computed. It has a point, also if it is a whole one.
type decimal float64

// MarshalJSON writes a decimal; what is no number is null.
func (d decimal) MarshalJSON() ([]byte, error) {
	if f := float64(d); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	text := strconv.AppendFloat(nil, float64(d), 'f', -1, 64)
	if !bytes.ContainsRune(text, '.') {
		text = append(text, ".0"...)
	}
	return text, nil
}

// A costly value is found only if it is shown, because it takes long.
type costly func() any

// isNull reports whether a value is null in JSON.
func isNull(v any) bool {
	if f, ok := v.(costly); ok {
		v = f()
	}
	return v == nil
}

// MarshalJSON writes the value.
func (v costly) MarshalJSON() ([]byte, error) { return json.Marshal(v()) }
