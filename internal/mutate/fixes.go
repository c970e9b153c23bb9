package main

import (
	"cmp"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
	found := make([]string, len(mutants))
	var wg sync.WaitGroup
	slots := make(chan bool, workers)
	for i, m := range mutants {
		slots <- true
		wg.Go(func() {
			defer func() { <-slots }()
			found[i] = m.noticedBy(written, filepath.Join(dir, m.name))
		})
	}
	wg.Wait()
	var byPrograms, byWire tally
	for i, m := range mutants {
		of := &byPrograms
		if m.wire {
			of = &byWire
		}
		of.count(found[i])
		fmt.Printf("%-8s %s\n", m.name, cmp.Or(found[i], "not noticed"))
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
func (m mutant) noticedBy(written, dir string) string {
	pkg, test := m.tests()
	binary, err := m.buildTests(pkg, dir)
	if err != nil {
		log.Printf("%s: does not build: %v", m.name, err)
		return ""
	}
	defer os.RemoveAll(dir)
	tests := exec.Command(binary, "-test.run", test, "-written", written, "-test.timeout", "0")
	if m.wire {
		tests = exec.Command(binary, "-test.run", test)
	}
	tests.Dir = pkg
	out, err := tests.CombinedOutput()
	if err == nil {
		return ""
	}
	if what := noticed.Find(out); what != nil {
		return string(what)
	}
	if failed := failure.FindAllStringSubmatch(string(out), -1); m.wire && len(failed) > 0 {
		return failed[len(failed)-1][1]
	}
	return "a program ends in a panic"
}

// tests are the package and the name of the tests that are to notice.
func (m mutant) tests() (pkg, test string) {
	if m.wire {
		return "./amqpd", "^TestWire$"
	}
	for file := range m.files {
		if strings.Contains(filepath.ToSlash(file), "/amqpd/") {
			return "./conformance", "^TestPrograms$"
		}
	}
	return ".", "^TestPrograms$"
}
