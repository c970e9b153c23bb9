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

const rulesFile = "../docs/rules.md"

// A rulesLine is the end of a doc comment, the one form in which declarations name rules.
var (
	rulesWord = regexp.MustCompile(`^// Rules?:`)
	rulesLine = regexp.MustCompile(`^// Rules: [A-Z]+-\d+[a-d]?(?:, [A-Z]+-\d+[a-d]?)*\.$`)
)

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
	for _, number := range conformance.RuleNumbers(book.text) {
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
		case r.Absent == "" && (!there || strings.Contains(at, "_test.go")):
			t.Errorf("no function holds %s (%s): write // Rules: %s. above it, or say *Not in leveret:* and why in %s", r.ID, r.Title, r.ID, rulesFile)
		}
	}
}

// rulePlaces returns, for each number in a comment of the module's Go code, a place where it stands; one outside of
// tests if there is one.
func rulePlaces(t *testing.T) map[string]string {
	places := map[string]string{}
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != ".." && (e.Name() == "testdata" || e.Name()[0] == '.' || isModule(path)):
			return fs.SkipDir
		case filepath.Ext(path) != ".go" || path == "../profile.go": // which names the rules that differ and holds none
			return nil
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, c := range f.Comments {
			for i, line := range c.List {
				last := i == len(c.List)-1 || strings.HasPrefix(c.List[i+1].Text, "//go:")
				if rulesWord.MatchString(line.Text) && (!last || !rulesLine.MatchString(line.Text)) {
					t.Errorf("%s: rules are the last line of a comment, such as // Rules: DL-9, DL-15.", files.Position(line.Pos()))
				}
			}
			for _, number := range conformance.RuleNumbers(c.Text()) {
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
