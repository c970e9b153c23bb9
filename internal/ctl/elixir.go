package ctl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/leveretmq/leveret/internal/erl"
)

// rabbitmqctl shows some refusals in Elixir's notation.

// badMap is the refusal of a value that should be an object.
func badMap(v any) string { return "{:badmap, " + inspected(v) + "}" }

// inspected is decoded JSON as Elixir writes it.
func inspected(v any) string {
	switch v := v.(type) {
	case nil:
		return ":null"
	case string:
		return inspectedText(v)
	case []any:
		items := make([]string, len(v))
		for i := range v {
			items[i] = inspected(v[i])
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]any:
		var members []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			members = append(members, inspectedText(name)+" => "+inspected(v[name]))
		}
		return "%{" + strings.Join(members, ", ") + "}"
	}
	return erl.Unicode.Format(erl.JSON(v), 0)
}

// inspectedText is a binary as Elixir writes it: as text if it is printable.
func inspectedText(s string) string {
	isControl := func(r rune) bool { return r > 0x7f && r < 0xa0 || r < ' ' && !(r >= '\a' && r <= '\r' || r == 0x1b) }
	if strings.ContainsFunc(s, isControl) {
		octets := strings.Fields(strings.Trim(fmt.Sprint([]byte(s)), "[]"))
		return "<<" + strings.Join(octets, ", ") + ">>"
	}
	return strings.ReplaceAll(quoted(s), "#{", `\#{`)
}
