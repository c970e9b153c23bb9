package scenario

import (
	"sort"

	"github.com/leveretmq/leveret"
)

// FieldsOf returns a table value as an ordered list; a Go map reads in the order of its keys.
func FieldsOf(v any) (leveret.Fields, bool) {
	switch t := v.(type) {
	case leveret.Fields:
		return t, true
	case leveret.Table:
		return sorted(t), true
	case map[string]any:
		return sorted(t), true
	}
	return nil, false
}

func sorted(t map[string]any) leveret.Fields {
	out := leveret.Fields{}
	for k, v := range t {
		out = append(out, leveret.Field{Name: k, Value: v})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// TableOf returns fields as a Table; of duplicate names the first counts.
func TableOf(f leveret.Fields) leveret.Table {
	if f == nil {
		return nil
	}
	t := leveret.Table{}
	for _, e := range f {
		if _, dup := t[e.Name]; !dup {
			t[e.Name] = e.Value
		}
	}
	return t
}

func lookup(f leveret.Fields, name string) (any, bool) {
	for _, e := range f {
		if e.Name == name {
			return e.Value, true
		}
	}
	return nil, false
}
