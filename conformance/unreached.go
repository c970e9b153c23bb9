package conformance

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Report tells how much the chosen programs reached of the functions, the rules and the pairs of operations, and what none
// of them reached: functions by file, rules, and for each verb the verbs that followed it nowhere.
func (s *Steering) Report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d chosen programs reached", s.chosen)
	missing := ""
	if s.ground != nil {
		for _, pkg := range []string{enginePath, listenerPath} {
			missing += s.unreachedFunctions(&b, pkg)
		}
		missing += s.unreachedRules(&b)
	}
	missing += s.unreachedPairs(&b)
	return b.String() + "; not reached:" + missing
}

// reached reports whether a chosen program executes one of the blocks.
func (s *Steering) reached(p place) bool {
	return slices.ContainsFunc(p.blocks, func(b int) bool { return s.executed[b] })
}

// unreachedFunctions lists the functions of a package, a line for each file, and writes how many were reached.
func (s *Steering) unreachedFunctions(b *strings.Builder, pkg string) string {
	all, missing := 0, map[string][]string{}
	total := 0
	for _, f := range s.ground.functions {
		if path.Dir(f.file) != pkg {
			continue
		}
		total++
		if s.reached(f) {
			all++
		} else {
			missing[f.file] = append(missing[f.file], f.name)
		}
	}
	fmt.Fprintf(b, " %d of %d functions of package %s,", all, total, path.Base(pkg))
	return lines(missing)
}

// unreachedRules lists the rules of which no place was reached, and writes how many were. A rule has a place for each
// comment that names it.
func (s *Steering) unreachedRules(b *strings.Builder) string {
	reached := map[string]bool{}
	for _, r := range s.ground.rules {
		if len(r.blocks) > 0 {
			reached[r.name] = reached[r.name] || s.reached(r)
		}
	}
	var missing []string
	for _, id := range slices.Sorted(maps.Keys(reached)) {
		if !reached[id] {
			missing = append(missing, id)
		}
	}
	fmt.Fprintf(b, " %d of %d rules,", len(reached)-len(missing), len(reached))
	return lines(map[string][]string{"rules": missing})
}

// unreachedPairs lists, for each verb that touched a queue, the verbs that followed nowhere, and writes how many pairs there
// were.
func (s *Steering) unreachedPairs(b *strings.Builder) string {
	all := slices.Sorted(maps.Keys(s.verbs))
	missing := map[string][]string{}
	for _, first := range all {
		for _, second := range all {
			if s.pairs[operations{first, second}] == 0 {
				missing["after "+first] = append(missing["after "+first], second)
			}
		}
	}
	fmt.Fprintf(b, " %d of %d pairs of operations on one queue", len(s.pairs), len(all)*len(all))
	return lines(missing)
}

// lines writes names in lines that begin with what they belong to, those of nothing not at all.
func lines(names map[string][]string) string {
	var b strings.Builder
	for _, of := range slices.Sorted(maps.Keys(names)) {
		if len(names[of]) > 0 {
			fmt.Fprintf(&b, "\n  %s: %s", strings.TrimPrefix(of, path.Dir(enginePath)+"/"), strings.Join(names[of], ", "))
		}
	}
	return b.String()
}
