// Package limits reads the limits of users and virtual hosts from JSON, as RabbitMQ does.
package limits

import (
	"errors"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/jsondoc"
)

// Limits are those that a document gives, by name; a negative one is none.
type Limits map[string]int

// The names of limits.
const (
	MaxConnections = "max-connections"
	MaxChannels    = "max-channels"
	MaxQueues      = "max-queues"
)

// OfUser returns the limits of a user: those that are given, and the others as they were.
func (l Limits) OfUser(was leveret.UserLimits) leveret.UserLimits {
	return leveret.UserLimits{MaxConnections: l.or(MaxConnections, was.MaxConnections), MaxChannels: l.or(MaxChannels, was.MaxChannels)}
}

// OfVHost returns the limits of a virtual host: those that are given, and the others as they were.
func (l Limits) OfVHost(was leveret.VHostLimits) leveret.VHostLimits {
	return leveret.VHostLimits{MaxConnections: l.or(MaxConnections, was.MaxConnections), MaxQueues: l.or(MaxQueues, was.MaxQueues)}
}

// NoneOfVHost are the limits of a virtual host that has none.
var NoneOfVHost = leveret.VHostLimits{MaxConnections: leveret.NoLimit, MaxQueues: leveret.NoLimit}

// or returns the limit of that name, or otherwise if the document does not give it.
func (l Limits) or(name string, otherwise int) int {
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

// A Fault is one of RabbitMQ's complaints: a format and the terms that are put in for ~ts and ~tp.
type Fault struct {
	format string
	terms  erl.List
}

// Term is the complaint as RabbitMQ has it before it makes a text.
func (f Fault) Term() any { return erl.Tuple{erl.String(f.format), f.terms} }

// text is the complaint as a text. A term for ~ts is a text itself.
func (f Fault) text(n erl.Notation) string {
	text := f.format
	for _, term := range f.terms {
		at := strings.Index(text, "~t")
		before, directive, behind := text[:at], text[at:at+3], text[at+3:]
		if name, ok := term.(erl.Binary); ok && directive == "~ts" {
			text = before + string(name) + behind
		} else {
			text = n.Behind(before, term) + behind
		}
	}
	return text
}

// Members returns the members of a parameter's value, which is called name, and what is wrong if that is no object. A list has none, and
// what is in the list is unknown.
func Members(value any, name string, n erl.Notation) (members map[string]any, wrong string) {
	switch v := value.(type) {
	case map[string]any:
		return v, ""
	case []any:
		if len(v) > 0 {
			wrong = Unrecognised(erl.JSON(v), name, n)
		}
		return nil, wrong
	}
	return nil, n.Behind(name+" not a list ", erl.JSON(value))
}

// Unrecognised is RabbitMQ's complaint about members that the parameter called name cannot have.
func Unrecognised(terms any, name string, n erl.Notation) string {
	return n.Behind("Unrecognised terms ", terms) + " in " + name
}

// Parse returns those of a document's limits that have one of the names, and what is wrong: first one complaint about
// all other names, then one for each value that is not an integer, in the order of the names. Kind is what RabbitMQ
// calls such limits.
func Parse(given map[string]any, kind string, names ...string) (parsed Limits, wrong []Fault) {
	parsed = Limits{}
	var unknown erl.List
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			unknown = append(unknown, erl.Tuple{erl.Binary(name), erl.JSON(given[name])})
		}
	}
	for _, name := range names {
		v, has := given[name]
		n, whole := integer(v)
		switch {
		case !has:
		case whole:
			parsed[name] = n
		default:
			wrong = append(wrong, Fault{"~ts should be a number, actually was ~tp", erl.List{erl.Binary(name), erl.JSON(v)}})
		}
	}
	if unknown != nil {
		wrong = slices.Insert(wrong, 0, Fault{"Unrecognised terms ~tp in ~ts", erl.List{unknown, erl.Binary(kind)}})
	}
	return parsed, wrong
}

// Text is all complaints, one line each, with terms in the notation.
func Text(wrong []Fault, n erl.Notation) string {
	lines := make([]string, len(wrong))
	for i, f := range wrong {
		lines[i] = f.text(n)
	}
	return strings.Join(lines, "\n")
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
