package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A mutant is the model with one change: of a constant, or of lines.
type mutant struct {
	name     string
	rules    []string // their numbers
	constant string   // the one that changes; then there are no edits
	edits    []edit
	wire     bool // no random program can come near it: the wire tests of amqpd are to notice
}

// An edit is a change of a file.
type edit struct {
	file string // absolute
	change
}

// A change replaces the bytes of a source from one offset to another.
type change struct {
	from, to int
	text     string
}

// in reports whether the mutant changes a package, given by the last element of its directory.
func (m mutant) in(pkg string) bool {
	return slices.ContainsFunc(m.edits, func(e edit) bool { return filepath.Base(filepath.Dir(e.file)) == pkg })
}

// readMutants reads the list and makes its mutants of the sources in dir.
func readMutants(list, dir string) ([]mutant, error) {
	f, err := os.Open(list)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &listReader{dir: dir}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if err := r.line(lines.Text()); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", list, n, err)
		}
	}
	return r.mutants, errors.Join(lines.Err(), r.finish())
}

// A listReader reads the list line by line.
type listReader struct {
	dir      string
	mutants  []mutant
	file     string // of the edit whose lines are being read; empty: none
	old, new string
}

var errNoMutant = errors.New("neither const NAME RULES nor edit NAME RULES FILE nor wire NAME RULES FILE")

func (r *listReader) line(text string) error {
	if r.file != "" && strings.HasPrefix(text, "-") {
		r.old += strings.TrimPrefix(text[1:], " ") + "\n"
		return nil
	}
	if r.file != "" && strings.HasPrefix(text, "+") {
		r.new += strings.TrimPrefix(text[1:], " ") + "\n"
		return nil
	}
	if err := r.finish(); err != nil {
		return err
	}
	words := strings.Fields(text)
	if len(words) == 0 || words[0] == "#" {
		return nil
	}
	if len(words) < 3 {
		return errNoMutant
	}
	m := mutant{name: words[1], rules: strings.Split(words[2], ","), wire: words[0] == "wire"}
	switch {
	case words[0] == "const" && len(words) == 3:
		for _, change := range []string{"+1", "-1"} {
			r.mutants = append(r.mutants, mutant{name: m.name + change, rules: m.rules, constant: m.name})
		}
	case (words[0] == "edit" || words[0] == "wire") && len(words) == 4:
		r.file = filepath.Join(r.dir, words[3])
		if last := len(r.mutants) - 1; last < 0 || r.mutants[last].name != m.name {
			r.mutants = append(r.mutants, m)
		}
	default:
		return errNoMutant
	}
	return nil
}

// finish gives the last mutant the edit that has been read, if there is one.
func (r *listReader) finish() error {
	if r.file == "" {
		return nil
	}
	file, err := filepath.Abs(r.file)
	if err != nil {
		return err
	}
	source, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	of := &r.mutants[len(r.mutants)-1]
	if n := strings.Count(string(source), r.old); n != 1 || r.old == "" {
		return fmt.Errorf("%s: the lines to replace stand %d times in %s", of.name, n, filepath.Base(file))
	}
	at := strings.Index(string(source), r.old)
	of.edits = append(of.edits, edit{file, change{at, at + len(r.old), r.new}})
	r.file, r.old, r.new = "", "", ""
	return nil
}
