package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A mutant is the package with one change: of a constant, or of one source file or several.
type mutant struct {
	name     string
	constant string            // the one that changes; then there are no files
	files    map[string]string // the changed text of each, by its absolute path
	wire     bool              // no random program can come near it: the wire tests of amqpd are to notice
}

func newMutant(name, file, text string) mutant {
	return mutant{name: name, files: map[string]string{file: text}}
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
	dir     string
	mutants []mutant
	edit    *edit // whose lines are being read
}

type edit struct {
	name, file, old, new string
	wire                 bool
}

func (r *listReader) line(text string) error {
	if r.edit != nil && strings.HasPrefix(text, "-") {
		r.edit.old += strings.TrimPrefix(text[1:], " ") + "\n"
		return nil
	}
	if r.edit != nil && strings.HasPrefix(text, "+") {
		r.edit.new += strings.TrimPrefix(text[1:], " ") + "\n"
		return nil
	}
	if err := r.finish(); err != nil {
		return err
	}
	switch words := strings.Fields(text); {
	case len(words) == 0 || words[0] == "#":
		return nil
	case words[0] == "const" && len(words) == 3:
		r.mutants = append(r.mutants, mutant{name: words[1] + "+1", constant: words[1]}, mutant{name: words[1] + "-1", constant: words[1]})
		return nil
	case (words[0] == "edit" || words[0] == "wire") && len(words) == 4:
		r.edit = &edit{name: words[1], file: words[3], wire: words[0] == "wire"}
		return nil
	}
	return errors.New("neither const NAME RULES nor edit NAME RULES FILE nor wire NAME RULES FILE")
}

// finish makes the mutant of the edit that has been read.
func (r *listReader) finish() error {
	e := r.edit
	r.edit = nil
	if e == nil {
		return nil
	}
	file, err := filepath.Abs(filepath.Join(r.dir, e.file))
	if err != nil {
		return err
	}
	source, err := r.source(e.name, file)
	if err != nil {
		return err
	}
	if n := strings.Count(source, e.old); n != 1 || e.old == "" {
		return fmt.Errorf("%s: the lines to replace stand %d times in %s", e.name, n, e.file)
	}
	changed := strings.Replace(source, e.old, e.new, 1)
	last := len(r.mutants) - 1
	if last < 0 || r.mutants[last].name != e.name {
		r.mutants = append(r.mutants, newMutant(e.name, file, changed))
		last++
	}
	r.mutants[last].files[file], r.mutants[last].wire = changed, e.wire
	return nil
}

// source returns a file as the mutant has it so far, if that is the last one.
func (r *listReader) source(name, file string) (string, error) {
	if last := len(r.mutants) - 1; last >= 0 && r.mutants[last].name == name {
		if text, changed := r.mutants[last].files[file]; changed {
			return text, nil
		}
	}
	source, err := os.ReadFile(file)
	return string(source), err
}
