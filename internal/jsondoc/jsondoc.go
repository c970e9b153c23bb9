// Package jsondoc reads JSON documents as RabbitMQ does: integers have no bound, and of a key that an object has twice
// one value counts.
package jsondoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
)

// Counts says which value counts of a key that an object has twice.
type Counts uint8

// Which value counts.
const (
	First Counts = iota // in RabbitMQ 4.3
	Last                // in RabbitMQ 3.10
)

// Decode returns the value that a document is. Its numbers are int64, *big.Int if they are larger, or float64 if they
// have a fraction or an exponent.
func Decode(data []byte, which Counts) (any, error) {
	d := json.NewDecoder(bytes.NewReader(Unique(data, which)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more behind the value")
	}
	return numbers(v)
}

// numbers returns a decoded value with the numbers in it as numbers.
func numbers(v any) (_ any, err error) {
	switch v := v.(type) {
	case json.Number:
		return Number(v)
	case []any:
		for i := range v {
			if v[i], err = numbers(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range v {
			if v[key], err = numbers(v[key]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// Number returns an int64 or a *big.Int for a number without fraction and exponent, a float64 for another one. One that
// is too large for a float64 is an error.
func Number(n json.Number) (any, error) {
	if strings.ContainsAny(n.String(), ".eE") {
		f, err := n.Float64()
		if err != nil {
			return nil, fmt.Errorf("number %s is out of range", n)
		}
		return f, nil
	}
	if i, err := n.Int64(); err == nil {
		return i, nil
	}
	i, _ := new(big.Int).SetString(n.String(), 10)
	return i, nil
}

// Unique returns the document with every key at most once in its object. What is no JSON is returned as it is.
func Unique(data []byte, which Counts) []byte {
	if !json.Valid(data) {
		return data
	}
	return unique(data, which)
}

// unique is Unique for valid JSON. It returns data itself unless there is something to leave out.
func unique(data []byte, which Counts) []byte {
	switch data = bytes.TrimSpace(data); data[0] {
	case '[':
		return uniqueElements(data, which)
	case '{':
		return uniqueMembers(data, which)
	}
	return data
}

func uniqueElements(data []byte, which Counts) []byte {
	var elements []json.RawMessage
	_ = json.Unmarshal(data, &elements) // it is valid
	changed := false
	for i, e := range elements {
		elements[i] = unique(e, which)
		changed = changed || len(elements[i]) != len(e)
	}
	if !changed {
		return data
	}
	return encode(elements)
}

func encode(v any) []byte {
	data, _ := json.Marshal(v) // what is marshalled is valid JSON
	return data
}

// A member of an object.
type member struct {
	key   string
	value json.RawMessage
}

func uniqueMembers(data []byte, which Counts) []byte {
	d := json.NewDecoder(bytes.NewReader(data))
	_, _ = d.Token() // {
	var members []member
	at := map[string]int{}
	changed := false
	for d.More() {
		m := nextMember(d)
		value := unique(m.value, which)
		changed = changed || len(value) != len(m.value)
		m.value = value
		i, again := at[m.key]
		switch changed = changed || again; {
		case !again:
			at[m.key] = len(members)
			members = append(members, m)
		case which == Last:
			members[i] = m
		}
	}
	if !changed {
		return data
	}
	return object(members)
}

func nextMember(d *json.Decoder) (m member) {
	key, _ := d.Token()
	m.key, _ = key.(string)
	_ = d.Decode(&m.value)
	return m
}

func object(members []member) []byte {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, encode(m.key)...), ':'), m.value...)
	}
	return append(out, '}')
}
