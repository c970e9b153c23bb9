package mgmt

import (
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/internal/pcre"
)

// columns returns the columns that the request wants, each as its path of names; nil: all.
func (c *call) columns() (columns [][]string) {
	if !c.params.Has("columns") {
		return nil
	}
	columns = [][]string{}
	for column := range strings.SplitSeq(c.query("columns"), ",") {
		if column != "" {
			columns = append(columns, strings.Split(column, "."))
		}
	}
	return columns
}

// uncutMembers are objects within which no columns are looked for: maps of Erlang, where others are lists of pairs.
var uncutMembers = []string{"metadata", "object_totals"}

// cut returns an object with the columns only; nil: all. An object without any of them is an empty list.
func cut(o object, columns [][]string) any {
	if columns == nil {
		return o
	}
	result := object{}
	for _, column := range columns {
		v, ok := o[column[0]]
		if !ok {
			continue
		}
		if rest := descend(column[0], columns); rest != nil && !slices.Contains(uncutMembers, column[0]) {
			v = within(v, rest)
		}
		result[column[0]] = v
	}
	if len(result) == 0 {
		return []any{}
	}
	return result
}

// descend returns the columns within a member, nil if the whole member is wanted.
func descend(name string, columns [][]string) (rest [][]string) {
	for _, column := range columns {
		switch {
		case column[0] != name:
		case len(column) == 1:
			return nil
		default:
			rest = append(rest, column[1:])
		}
	}
	return rest
}

func within(v any, columns [][]string) any {
	if columns == nil {
		return v
	}
	switch v := v.(type) {
	case object:
		return cut(v, columns)
	case []object:
		all := make([]any, len(v))
		for i := range v {
			all[i] = cut(v[i], columns)
		}
		return all
	}
	return v
}

// at returns the value at a path of names, nil if there is none.
func at(o object, path []string) any {
	v := o[path[0]]
	if len(path) == 1 {
		return v
	}
	switch inner := v.(type) {
	case object:
		return at(inner, path[1:])
	case definitions.Arguments:
		return at(object(inner.Table), path[1:])
	case leveret.Table:
		return at(object(inner), path[1:])
	}
	return nil
}

// nameFilter returns which names a page shows: those that have a text in them or match an expression, in any case. An
// expression that does not compile matches no name, and ok is false.
func nameFilter(want string, isRegex bool) (filter func(string) bool, ok bool) {
	if want == "" {
		return func(string) bool { return true }, true
	}
	if !isRegex {
		want = strings.ToLower(want)
		return func(name string) bool { return strings.Contains(strings.ToLower(name), want) }, true
	}
	re, fault := pcre.Compile("(?i)"+want, pcre.PCRE2)
	if fault != nil {
		return func(string) bool { return false }, false
	}
	return re.Match, true
}
