package mgmt_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A shape is the fields of an answer with the JSON types of their values. The fields of an item of a list stand behind
// [], those of all items together.
type shape map[string][]string

func shapeOf(v any) shape {
	s := shape{}
	s.add("", v)
	return s
}

func (s shape) add(path string, v any) {
	kind := fmt.Sprintf("%T", v)
	switch v := v.(type) {
	case nil:
		kind = "null"
	case map[string]any:
		kind = "object"
		for key, member := range v {
			s.add(path+"."+key, member)
		}
	case []any:
		kind = "list"
		for _, item := range v {
			s.add(path+"[]", item)
		}
	}
	if !slices.Contains(s[path], kind) {
		s[path] = append(s[path], kind)
	}
}

// differences lists how the fields of ours are others than those of RabbitMQ. A field that RabbitMQ shows as null may
// have any type, and nothing is asked of what stands below a name in free, because it is named by users.
func differences(want, ours shape, except func(path string) bool) (all []string) {
	for _, path := range slices.Sorted(maps.Keys(want)) {
		got, ok := ours[path]
		switch {
		case except(path):
		case !ok:
			all = append(all, "without "+path)
		case !slices.Contains(want[path], "null") && !slices.Contains(got, "null") && !overlap(want[path], got):
			all = append(all, fmt.Sprintf("%s is %s, not %s", path, strings.Join(got, "/"), strings.Join(want[path], "/")))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(ours)) {
		if _, ok := want[path]; !ok && !except(path) {
			all = append(all, "with "+path)
		}
	}
	return all
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}
