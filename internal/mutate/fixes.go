package main

import (
	"cmp"
	"fmt"
	"log"
	"regexp"
	"slices"
	"sync"
)

// tryFixes shows which fixes random programs miss when they are taken back. The programs say what the engine does with
// the fix; they run on engines without it, through the Go API, or through the listener where that has the fix. Of the fixes that
// no program can come near it shows whether the wire tests notice.
func tryFixes(count int, names []string, dir string, workers int) error {
	mutants, err := readMutants(fixesFile, ".")
	if err != nil {
		return err
	}
	mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return !wanted(m.name, names) })
	written, err := writePrograms(count, dir)
	if err != nil {
		return err
	}
	t, err := newTests(mutants, dir)
	if err != nil {
		return err
	}
	found := map[string]string{}
	var mu sync.Mutex
	each(mutants, workers, func(m mutant) {
		by, err := t.noticedBy(m, written)
		if err != nil {
			log.Printf("%s: %v", m.name, err)
		}
		mu.Lock()
		found[m.name] = by
		mu.Unlock()
	})
	var byPrograms, byWire tally
	for _, m := range mutants {
		of := &byPrograms
		if m.wire {
			of = &byWire
		}
		of.count(found[m.name])
		fmt.Printf("%-8s %s\n", m.name, cmp.Or(found[m.name], "not noticed"))
	}
	fmt.Printf("%d random programs for each release notice %v fixes that are taken back, the wire tests %v others\n", count, byPrograms, byWire)
	return nil
}

// A tally is how many of some fixes were noticed.
type tally struct{ noticed, all int }

func (t *tally) count(found string) {
	t.all++
	if found != "" {
		t.noticed++
	}
}

func (t tally) String() string { return fmt.Sprintf("%d of %d", t.noticed, t.all) }

var noticed = regexp.MustCompile(`program \d+ of .* notices`)

// noticedBy returns which of the written programs, or which wire test, notices first that a fix is gone; empty: none.
func (t *tests) noticedBy(m mutant, written string) (string, error) {
	pkg, args := m.programs(written)
	out, failed, err := t.run(m.name, pkg, args...)
	if err != nil || !failed {
		return "", err
	}
	if what := noticed.FindString(out); what != "" {
		return what, nil
	}
	if failed := failure.FindAllStringSubmatch(out, -1); m.wire && len(failed) > 0 {
		return failed[len(failed)-1][1], nil
	}
	return "a program ends in a panic", nil
}

// programs are the package of the tests that are to notice a fix that is taken back, and their flags.
func (m mutant) programs(written string) (pkg string, args []string) {
	switch {
	case m.wire:
		return "./amqpd", []string{"-test.run", "^TestWire$"}
	case m.in("amqpd"):
		pkg = "./conformance"
	default:
		pkg = "."
	}
	return pkg, []string{"-test.run", "^TestPrograms$", "-written", written, "-test.timeout", "30m"}
}
