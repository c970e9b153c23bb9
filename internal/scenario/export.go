package scenario

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// export shows the definitions of the run's virtual host: the names on the top level, then each element. JSON reads in
// the order of its names.
func export(r *run, s *session, w *words) ([]string, error) {
	w.done()
	text, err := r.driver.Export()
	if err != nil {
		return r.outcome(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	out := []string{"names=" + formatNested(sortedNames(all))}
	for _, section := range []string{"exchanges", "queues", "bindings", "policies", "parameters"} {
		var elements []map[string]any
		if err := json.Unmarshal(all[section], &elements); err != nil {
			return nil, fmt.Errorf("%s: %w", section, err)
		}
		lines := make([]string, 0, len(elements))
		for _, e := range elements {
			line, _ := json.Marshal(e) // what was JSON can be JSON again
			lines = append(lines, section+" "+strings.ReplaceAll(string(line), r.driver.VHost(), "/"))
		}
		sort.Strings(lines)
		out = append(out, lines...)
	}
	return out, nil
}
