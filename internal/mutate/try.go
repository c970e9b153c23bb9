package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// try builds the mutant in a directory of its own and returns the first test that fails, empty if none does.
func (m mutant) try(dir string, remembered []string) (witness string, err error) {
	binary, err := m.build(dir)
	if err != nil {
		return "", err
	}
	defer os.Remove(binary)
	for _, w := range remembered {
		if failed := run(binary, "-test.run", pattern(w)); failed != "" {
			return failed, nil
		}
	}
	if failed := run(binary, "-test.run", "^TestScenarios$"); failed != "" {
		return failed, nil
	}
	return run(binary, "-test.skip", "^(TestScenarios|TestEveryRuleIsShown)$", "-test.failfast"), nil
}

// build compiles the root package's tests with the mutant in the place of its file.
func (m mutant) build(dir string) (binary string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	file, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {m.file: file}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(file, []byte(m.text), 0o644), os.WriteFile(overlay, replace, 0o644)); err != nil {
		return "", err
	}
	binary = filepath.Join(dir, "root.test")
	out, err := exec.Command("go", "test", "-overlay", overlay, "-ldflags=-s -w", "-c", "-o", binary, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
}

// pattern is what -test.run takes for a witness: a scenario, or the name of a Go test.
func pattern(witness string) string {
	if strings.HasPrefix(witness, "Test") || strings.HasPrefix(witness, "Example") {
		return "^" + regexp.QuoteMeta(witness) + "$"
	}
	parts := strings.Split(witness, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return "^TestScenarios$/./" + strings.Join(parts, "/")
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// run runs tests and returns the witness that failed. A test binary that panics or hangs has no name for it.
func run(binary string, args ...string) (failed string) {
	out, err := exec.Command(binary, append(args, "-test.timeout", "60s")...).CombinedOutput()
	if err == nil {
		return ""
	}
	failed = "panic"
	for _, m := range failure.FindAllStringSubmatch(string(out), -1) {
		failed = m[1]
		if rest, ok := strings.CutPrefix(m[1], "TestScenarios/"); ok && strings.Count(rest, "/") == 2 {
			_, scenario, _ := strings.Cut(rest, "/")
			return scenario
		}
	}
	return failed
}
