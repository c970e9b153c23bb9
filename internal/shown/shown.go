// Package shown keeps the list of what notices when one rule of the model is changed.
//
// The list is a file, testdata/shown.txt: one line for each switch and release, with its witnesses. A switch is a field
// of the profile (profile.headerHistory) or a mutant of testdata/mutants.txt (softLimit+1). A witness is the name of a
// scenario (dead-letter/cycle) or of a Go test (TestManualClockOrder). The file only tells where to look first: the
// tests that write it demand that a witness notices, in every run.
package shown

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
)

// A Key is a switch on one release. Release is "*" if the witness is a Go test, which may play both.
type Key struct{ Release, Switch string }

// A List is what notices each switch.
type List map[Key][]string

// Read reads a list; a file that does not exist is an empty one.
func Read(file string) (List, error) {
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return List{}, nil
	}
	l := List{}
	for n, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case len(words) < 3:
			return nil, fmt.Errorf("%s:%d: neither a comment nor RELEASE SWITCH WITNESS…", file, n+1)
		default:
			l[Key{words[0], words[1]}] = words[2:]
		}
	}
	return l, err
}

const header = "# What notices when a rule is changed: release, switch, witnesses. Written by the tests that demand it:\n" +
	"#   go test . -run TestEveryRuleIsShown -update        fields of profile.go\n" +
	"#   go run ./internal/mutate -update                   mutants of testdata/mutants.txt\n"

// Write writes a list, sorted.
func (l List) Write(file string) error {
	var lines []string
	for k, witnesses := range l {
		lines = append(lines, k.Release+" "+k.Switch+" "+strings.Join(witnesses, " ")+"\n")
	}
	slices.Sort(lines)
	return os.WriteFile(file, []byte(header+strings.Join(lines, "")), 0o644)
}

// Replace puts the lines of one kind of switch in the place of those that the list has.
func (l List) Replace(kind func(string) bool, by List) {
	for k := range l {
		if kind(k.Switch) {
			delete(l, k)
		}
	}
	for k, witnesses := range by {
		l[k] = witnesses
	}
}

// IsField reports whether a switch is a field of the profile.
func IsField(name string) bool { return strings.HasPrefix(name, FieldPrefix) }

// FieldPrefix begins the switches that are fields of the profile.
const FieldPrefix = "profile."

var numbers = regexp.MustCompile(`^([A-Z]+-\d+[a-z]?(?:, [A-Z]+-\d+[a-z]?)*): `)

// FieldRules returns the numbers of the rules that the comment of each field of the struct "rules" begins with.
func FieldRules(profileFile string) (map[string][]string, error) {
	f, err := parser.ParseFile(token.NewFileSet(), profileFile, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		t, ok := n.(*ast.TypeSpec)
		if !ok || t.Name.Name != "rules" {
			return true
		}
		for _, field := range t.Type.(*ast.StructType).Fields.List {
			m := numbers.FindStringSubmatch(field.Comment.Text())
			for _, name := range field.Names {
				out[name.Name] = nil
				if m != nil {
					out[name.Name] = strings.Split(m[1], ", ")
				}
			}
		}
		return false
	})
	return out, nil
}

// MutantRules returns the numbers of the rules that each const and edit of testdata/mutants.txt is about.
func MutantRules(file string) (map[string][]string, error) {
	text, err := os.ReadFile(file)
	out := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) >= 3 && (words[0] == "const" || words[0] == "edit") {
			out[words[1]] = strings.Split(words[2], ",")
		}
	}
	return out, err
}
