package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tryPrograms shows how much random programs notice: they are written down as the engine runs them, and then run on
// engines that are changed in one rule of the profile, or in one operator, each.
func tryPrograms(count, sample int, seed uint64, dir string) error {
	written, err := writePrograms(count, dir)
	if err != nil {
		return err
	}
	out, err := goTest(".", "^TestProgramsNoticeRules$", "-written", written)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if at := strings.Index(line, ": random programs notice"); at >= 0 {
			fmt.Print(strings.TrimSpace(line[strings.Index(line, " ")+1:]), "\n")
		}
	}
	mutants, err := sampleMutants(".", sample, seed)
	if err != nil {
		return err
	}
	t, err := newTests(mutants, dir)
	if err != nil {
		return err
	}
	noticed := 0
	for _, m := range mutants {
		pkg, args := m.programs(written)
		_, failed, err := t.run(m.name, pkg, args...)
		if err != nil {
			return err
		}
		if failed {
			noticed++
		} else {
			fmt.Printf("not noticed: %s\n", m.name)
		}
	}
	fmt.Printf("%d random programs for each release notice %d of %d changed operators (-sample-seed %d)\n", count, noticed, len(mutants), seed)
	return nil
}

// writePrograms writes random programs for each release into a directory of dir.
func writePrograms(count int, dir string) (written string, err error) {
	written = filepath.Join(dir, "programs")
	if err := os.MkdirAll(written, 0o755); err != nil {
		return "", err
	}
	if out, err := goTest("./conformance", "^TestRandomPrograms$", "-programs", fmt.Sprint(count), "-write", written); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return written, nil
}

func goTest(pkg, name string, args ...string) ([]byte, error) {
	return exec.Command("go", append([]string{"test", "-count=1", "-v", "-run", name, pkg, "-args"}, args...)...).CombinedOutput()
}
