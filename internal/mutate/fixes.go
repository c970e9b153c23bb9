package main

import (
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
// the fix; they run on engines without it, through the Go API, or through the listener where that has the fix.
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
			found[i] = m.missedIn(written, filepath.Join(dir, m.name))
		})
	}
	wg.Wait()
	n := 0
	for i, m := range mutants {
		if found[i] == "" {
			fmt.Printf("%-8s not noticed\n", m.name)
			continue
		}
		fmt.Printf("%-8s %s\n", m.name, found[i])
		n++
	}
	fmt.Printf("%d random programs for each release notice %d of %d fixes that are taken back\n", count, n, len(mutants))
	return nil
}

var noticed = regexp.MustCompile(`program \d+ of .* notices`)

// missedIn returns which of the written programs notices first that a fix is gone; empty: none.
func (m mutant) missedIn(written, dir string) string {
	pkg := "."
	for file := range m.files {
		if strings.Contains(filepath.ToSlash(file), "/amqpd/") {
			pkg = "./conformance"
		}
	}
	binary, err := m.buildTests(pkg, dir)
	if err != nil {
		log.Printf("%s: does not build: %v", m.name, err)
		return ""
	}
	defer os.RemoveAll(dir)
	out, err := exec.Command(binary, "-test.run", "^TestPrograms$", "-written", written, "-test.timeout", "0").CombinedOutput()
	if err == nil {
		return ""
	}
	if what := noticed.Find(out); what != nil {
		return string(what)
	}
	return "a program ends in a panic"
}
