package conformance_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/leveretmq/leveret/conformance"
	"github.com/leveretmq/leveret/internal/scenario"
	"github.com/stretchr/testify/require"
)

// untagged are rules that code holds at a function which does not name them yet.
var untagged = strings.Fields(`
	E-1 E-4 E-8 M-4 M-16 X-1 X-2 X-3 X-4 X-5 X-6 X-7 X-9 X-10 X-11 X-17 X-18 X-19 X-30a X-32 X-33 X-34 X-35 X-36
	Q-1 Q-3 Q-4 Q-5 Q-6 Q-7 Q-8 Q-9 Q-10 Q-11 Q-12 Q-13 Q-14 Q-15 Q-16 Q-17 Q-18 Q-19 Q-20 Q-21 Q-22 Q-23 Q-24
	Q-26 Q-27 Q-29 Q-30 Q-32 Q-34 Q-35 Q-36 Q-37 Q-38 Q-39 Q-40 Q-41 D-1 D-2 D-3 D-4 D-5 D-6 D-7 D-8 D-9 D-10 D-11
	D-12 D-12a D-12b D-12c D-12d D-16 D-17 D-18 D-19 D-20 D-21 D-22 D-23 D-24 D-25 D-26 D-27 D-28 D-29 D-30a D-31
	D-32 D-33 D-35 D-36 D-38 D-39 D-40 D-41 D-42 D-43 T-1 T-2 T-3 T-4 T-5 T-6 T-7 T-8 T-9 T-10 T-11 T-12 T-13 T-15
	T-16 T-17 L-1 L-2 L-3 L-4 L-5 L-6 L-7 L-8 L-9 L-10 L-11 L-12 L-13 L-15 L-16 L-17 L-18 L-19 DL-1 DL-2 DL-3 DL-4
	DL-5 DL-6 DL-7 DL-9 DL-10 DL-16 DL-28 DL-29 DL-30 DL-31 DL-32 DL-33 DL-34 DL-35 P-1 P-2 P-3 P-4 P-5 P-6 P-7
	P-8 P-9 P-10 P-11 P-12 P-13 P-14 P-15 P-17 P-18 P-19 P-20 A-1 A-2 A-3 A-4 A-7 A-8 A-10 A-11 C-1 C-6 C-7 C-8
	C-10 C-11 C-12 C-13 C-18 J-1 J-2 J-3 J-4 J-5 J-6 J-7 J-8 J-9 J-10 O-4
`)

const rulesFile = "../docs/rules.md"

// A ruleNumber is a rule's number wherever it stands: DL-24, D-12a.
var ruleNumber = regexp.MustCompile(`\b(?:E|M|X|Q|D|T|L|DL|P|A|C|J|O|V|H)-\d+[a-d]?\b`)

// A ruleBook is docs/rules.md.
type ruleBook struct {
	text  string
	rules []conformance.Rule
}

func readRules(t *testing.T) ruleBook {
	t.Helper()
	text, err := os.ReadFile(rulesFile)
	require.NoError(t, err)
	return ruleBook{string(text), conformance.ParseRules(string(text))}
}

// knows reports whether a number has a text: a rule's, a difference's between releases or a hint's.
func (b ruleBook) knows(number string) bool {
	return slices.ContainsFunc(b.rules, func(r conformance.Rule) bool { return r.ID == number }) ||
		strings.Contains(b.text, "\n| "+number+" |") || strings.Contains(b.text, "\n- **"+number+"**")
}

func readScripts(t *testing.T) []*scenario.Script {
	t.Helper()
	scripts, err := scenario.Load(os.DirFS("../testdata/scenarios"))
	require.NoError(t, err)
	return scripts
}

func TestRulesText(t *testing.T) {
	book, shown := readRules(t), map[string][]string{}
	require.NotEmpty(t, book.rules)
	for _, s := range readScripts(t) {
		shown[s.Name] = s.Rules
	}
	seen := map[string]bool{}
	for _, r := range book.rules {
		if seen[r.ID] {
			t.Errorf("%s: %s is there twice", rulesFile, r.ID)
		}
		seen[r.ID] = true
		if r.Unseen == "" && len(r.Named) == 0 {
			t.Errorf("%s: %s ends neither in scenarios, as in [`limit/zero`], nor in *No scenario:* with the reason and [L] or [C]", rulesFile, r.ID)
		}
		for _, name := range r.Named {
			if rules, ok := shown[name]; !ok {
				t.Errorf("%s: %s names the scenario %s, which there is not", rulesFile, r.ID, name)
			} else if !slices.Contains(rules, r.ID) {
				t.Errorf("%s: %s names the scenario %s, whose first line does not name the rule", rulesFile, r.ID, name)
			}
		}
	}
	for _, number := range ruleNumber.FindAllString(book.text, -1) {
		if !book.knows(number) {
			t.Errorf("%s: the text refers to %s, which is not there", rulesFile, number)
		}
	}
}

func TestRulesHaveScenarios(t *testing.T) {
	book, shown := readRules(t), map[string]string{}
	for _, s := range readScripts(t) {
		for _, number := range s.Rules {
			shown[number] = s.Name
			if !book.knows(number) {
				t.Errorf("testdata/scenarios/%s.txt shows %s, which is not in %s", s.Name, number, rulesFile)
			}
		}
	}
	for _, r := range book.rules {
		switch name := shown[r.ID]; {
		case name == "" && r.Unseen == "":
			t.Errorf("no scenario shows %s (%s): name the rule in the first line of one, or say *No scenario:* and why in %s", r.ID, r.Title, rulesFile)
		case name != "" && r.Unseen != "":
			t.Errorf("%s says that no scenario can show %s; %s says that it does", rulesFile, r.ID, name)
		}
	}
}

func TestRulesHaveCode(t *testing.T) {
	book, places := readRules(t), rulePlaces(t)
	for number, at := range places {
		if !book.knows(number) {
			t.Errorf("%s: %s is not in %s", at, number, rulesFile)
		}
	}
	for _, r := range book.rules {
		at, there := places[r.ID]
		switch {
		case r.Absent != "" && there && !strings.Contains(at, "_test.go"):
			t.Errorf("%s names %s, which is *Not in leveret* in %s", at, r.ID, rulesFile)
		case r.Absent == "" && (!there || strings.Contains(at, "_test.go")) && !slices.Contains(untagged, r.ID):
			t.Errorf("no function holds %s (%s): write // Rules: %s. above it, or say *Not in leveret:* and why in %s", r.ID, r.Title, r.ID, rulesFile)
		}
	}
}

// rulePlaces returns, for each number in a comment of the module's Go code, a place where it stands; one outside of tests if
// there is one.
func rulePlaces(t *testing.T) map[string]string {
	places := map[string]string{}
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != ".." && (e.Name() == "testdata" || e.Name()[0] == '.' || isModule(path)):
			return fs.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, c := range f.Comments {
			for _, number := range ruleNumber.FindAllString(c.Text(), -1) {
				if was, there := places[number]; !there || strings.Contains(was, "_test.go") {
					places[number] = files.Position(c.Pos()).String()
				}
			}
		}
		return nil
	})
	require.NoError(t, err)
	return places
}

// isModule reports whether the directory is a module of its own.
func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}
