package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/leveretmq/leveret/internal/scenario"
	"github.com/leveretmq/leveret/internal/shown"
)

// tests are builds of packages' tests with all mutants in them. The environment of a test says which mutant it has.
type tests struct {
	overlay  string // the file for go test -overlay
	dir      string // where the binaries are
	mu       sync.Mutex
	binaries map[string]string // by package
}

// newTests prepares builds with all the mutants.
func newTests(mutants []mutant, dir string) (*tests, error) {
	o := overlay{}
	if err := o.switches(mutants); err != nil {
		return nil, err
	}
	if names := constantsOf(mutants); len(names) > 0 {
		if err := o.variables(".", names); err != nil {
			return nil, err
		}
	}
	return o.tests(dir)
}

// tests writes the overlay down.
func (o overlay) tests(dir string) (*tests, error) {
	replaced := map[string]string{}
	for original, text := range o {
		file := filepath.Join(dir, fmt.Sprintf("source%d.go", len(replaced)))
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return nil, err
		}
		replaced[original] = file
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": replaced})
	if err != nil {
		return nil, err
	}
	t := &tests{overlay: filepath.Join(dir, "overlay.json"), dir: dir, binaries: map[string]string{}}
	return t, os.WriteFile(t.overlay, replace, 0o644)
}

// binary returns the tests of a package. They are built when they are first asked for.
func (t *tests) binary(pkg string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.binaries[pkg] == "" {
		binary := filepath.Join(t.dir, fmt.Sprintf("tests%d", len(t.binaries)))
		out, err := exec.Command("go", "test", "-overlay", t.overlay, "-ldflags=-s -w", "-c", "-o", binary, pkg).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%w\n%s", err, out)
		}
		t.binaries[pkg] = binary
	}
	return t.binaries[pkg], nil
}

// run runs tests of a package with a mutant, empty for none, and returns what they print; failed: not all passed.
func (t *tests) run(mutant, pkg string, args ...string) (out string, failed bool, err error) {
	binary, err := t.binary(pkg)
	if err != nil {
		return "", false, err
	}
	command := exec.Command(binary, args...)
	command.Dir = pkg
	command.Env = append(os.Environ(), mutantVariable+"="+mutant)
	printed, err := command.CombinedOutput()
	return string(printed), err != nil, nil
}

// failures runs tests of a package and returns the names of those that failed.
func (t *tests) failures(mutant, pkg string, args ...string) (names []string, err error) {
	out, failed, err := t.run(mutant, pkg, append(args, "-test.timeout", "5m")...)
	if err != nil || !failed {
		return nil, err
	}
	for _, m := range failure.FindAllStringSubmatch(out, -1) {
		names = append(names, m[1])
	}
	if names == nil || strings.Contains(out, "panic: test timed out") {
		return nil, fmt.Errorf("the tests end with:\n%s", lastLines(out, 20))
	}
	return names, nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// A player is a test that plays all scenarios.
type player struct{ pkg, test string }

// player returns who plays the scenarios for a mutant: through the Go API or, if the mutant is of the listener, through that.
func (m mutant) player() player {
	if m.in("amqpd") {
		return player{"./conformance", "TestListener"}
	}
	return player{".", "TestScenarios"}
}

// played returns the scenarios among the names of tests that failed, by release.
func (p player) played(failed []string) map[string][]string {
	out := map[string][]string{}
	for _, name := range failed {
		if parts := strings.SplitN(name, "/", 3); parts[0] == p.test && len(parts) == 3 && strings.Contains(parts[2], "/") {
			out[parts[1]] = append(out[parts[1]], parts[2])
		}
	}
	return out
}

// pattern is what -test.run takes for scenarios.
func (p player) pattern(scenarios []string) string {
	var dirs, names []string
	for _, s := range scenarios {
		dir, name, _ := strings.Cut(s, "/")
		dirs, names = append(dirs, regexp.QuoteMeta(dir)), append(names, regexp.QuoteMeta(name))
	}
	return fmt.Sprintf("^%s$/./^(%s)$/^(%s)$", p.test, strings.Join(dirs, "|"), strings.Join(names, "|"))
}

// try returns what notices the mutant: on each release a scenario, one that names a rule of the mutant if there is one, or else another
// test, which has no release. What noticed last time is asked first.
func (t *tests) try(m mutant, remembered shown.List, scripts []*scenario.Script) (shown.List, error) {
	if of := m.remembered(remembered); len(of) > 0 {
		found, err := t.again(m, of)
		if err != nil || len(found) == len(of) {
			return found, err
		}
	}
	player := m.player()
	for _, pattern := range []string{player.pattern(m.scenarios(scripts)), "^" + player.test + "$"} {
		failed, err := t.failures(m.name, player.pkg, "-test.run", pattern)
		if err != nil {
			return nil, err
		}
		found := shown.List{}
		for release, names := range player.played(failed) {
			slices.Sort(names)
			found[shown.Key{Release: release, Switch: m.name}] = names[:1]
		}
		if len(found) > 0 {
			return found, nil
		}
		if failed != nil { // it is not known which scenario ended so
			return nil, fmt.Errorf("the scenarios end with %v", failed)
		}
	}
	witness, err := t.other(m)
	if witness == "" {
		return nil, err
	}
	return shown.List{shown.Key{Release: anyRelease, Switch: m.name}: {witness}}, nil
}

// scenarios are those that name a rule of the mutant.
func (m mutant) scenarios(scripts []*scenario.Script) (names []string) {
	for _, s := range scripts {
		if slices.ContainsFunc(s.Rules, func(r string) bool { return slices.Contains(m.rules, r) }) {
			names = append(names, s.Name)
		}
	}
	return names
}

// anyRelease stands for the release where a test that is no scenario notices.
const anyRelease = "*"

// remembered returns the lines of the list about the mutant.
func (m mutant) remembered(list shown.List) shown.List {
	out := shown.List{}
	for key, witnesses := range list {
		if key.Switch == m.name {
			out[key] = witnesses
		}
	}
	return out
}

// again returns the lines whose witnesses notice the mutant again.
func (t *tests) again(m mutant, lines shown.List) (shown.List, error) {
	player := m.player()
	found := shown.List{}
	var scenarios []string
	for key, witnesses := range lines {
		if key.Release != anyRelease {
			scenarios = append(scenarios, witnesses...)
			continue
		}
		failed, err := t.failures(m.name, m.pkg(), "-test.run", "^"+regexp.QuoteMeta(witnesses[0])+"$")
		if err != nil {
			return nil, err
		}
		if failed != nil {
			found[key] = witnesses
		}
	}
	if scenarios == nil {
		return found, nil
	}
	failed, err := t.failures(m.name, player.pkg, "-test.run", player.pattern(scenarios))
	for release, names := range player.played(failed) {
		key := shown.Key{Release: release, Switch: m.name}
		if slices.ContainsFunc(lines[key], func(witness string) bool { return slices.Contains(names, witness) }) {
			found[key] = lines[key]
		}
	}
	return found, err
}

// pkg is the package whose tests are asked when no scenario notices.
func (m mutant) pkg() string {
	for _, pkg := range []string{"amqpd", "definitions"} {
		if m.in(pkg) {
			return "./" + pkg
		}
	}
	return "."
}

// other returns a test of the mutant's package, other than the scenarios, that notices it: the test fails alone, too, and passes without
// the mutant.
func (t *tests) other(m mutant) (string, error) {
	failed, err := t.failures(m.name, m.pkg(), "-test.skip", "^(TestScenarios|TestEveryRuleIsShown)$", "-test.failfast")
	if err != nil || failed == nil {
		return "", err
	}
	witness, _, _ := strings.Cut(failed[len(failed)-1], "/")
	for _, name := range []string{m.name, ""} {
		failed, err := t.failures(name, m.pkg(), "-test.run", "^"+regexp.QuoteMeta(witness)+"$")
		if err != nil {
			return "", err
		}
		if (failed != nil) != (name == m.name) {
			return "", fmt.Errorf("%s fails now and then", witness)
		}
	}
	return witness, nil
}

// healthy checks that all scenarios pass without a mutant: otherwise each mutant would seem to be noticed.
func (t *tests) healthy(p player) error {
	failed, err := t.failures("", p.pkg, "-test.run", "^"+p.test+"$")
	if failed != nil {
		return fmt.Errorf("without a mutant %v fail", failed)
	}
	return err
}
