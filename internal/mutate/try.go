package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// try builds the mutant in a directory of its own and returns the first test that fails, empty if none does. A changed constant needs
// no build of its own: constants is the binary of all of them.
func (m mutant) try(dir, constants string, remembered []string) (witness string, err error) {
	binary := constants
	if m.constant == "" {
		if binary, err = m.build(dir); err != nil {
			return "", err
		}
		defer os.Remove(binary)
	}
	for _, w := range remembered {
		if failed := m.run(binary, "-test.run", pattern(w)); failed != "" {
			return failed, nil
		}
	}
	if failed := m.run(binary, "-test.run", "^TestScenarios$"); failed != "" {
		return failed, nil
	}
	return m.run(binary, "-test.skip", "^(TestScenarios|TestEveryRuleIsShown)$", "-test.failfast"), nil
}

// build compiles the root package's tests with the mutant's files in the place of the tree's.
func (m mutant) build(dir string) (binary string, err error) { return m.buildTests(".", dir) }

// buildTests compiles the tests of a package.
func (m mutant) buildTests(pkg, dir string) (binary string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	replaced := map[string]string{}
	for original, text := range m.files {
		file := filepath.Join(dir, fmt.Sprintf("mutant%d.go", len(replaced)))
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return "", err
		}
		replaced[original] = file
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": replaced})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, replace, 0o644); err != nil {
		return "", err
	}
	binary = filepath.Join(dir, "mutant.test")
	out, err := exec.Command("go", "test", "-overlay", overlay, "-ldflags=-s -w", "-c", "-o", binary, pkg).CombinedOutput()
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
func (m mutant) run(binary string, args ...string) (failed string) {
	tests := exec.Command(binary, append(args, "-test.timeout", "60s")...)
	if m.constant != "" {
		tests.Env = append(os.Environ(), mutantVariable+"="+m.name)
	}
	out, err := tests.CombinedOutput()
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
