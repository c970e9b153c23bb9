// Package shown keeps the list of what notices when one rule of the model is changed.
//
// The list is a file, testdata/shown.txt: one line for each switch and release, with its witnesses. A switch is a field
// of the profile (profile.headerHistory), a trait of a type of queue (traits.quorum.window), a field of
// definitions' profile (definitions.oldShape), or a mutant of testdata/mutants.txt (softLimit+1). A witness is the name
// of a scenario (dead-letter/cycle) or of a Go test (TestManualClockOrder). The file only tells where to look first:
// the tests that write it demand that a witness notices, in every run.
package shown

import (
	"errors"
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
	"#   go test . -run TestEveryRuleIsShown -update               fields of profile.go, traits of queuetype.go\n" +
	"#   go test ./definitions -run TestEveryRuleIsShown -update   fields of definitions/profile.go\n" +
	"#   go run ./internal/mutate -update                          mutants of testdata/mutants.txt\n"

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

// The beginnings of the names of switches that are fields.
const (
	FieldPrefix       = "profile."     // of the engine's profile
	TraitPrefix       = "traits."      // of the traits of a type of queue
	DefinitionsPrefix = "definitions." // of what differs between releases in definitions
)

// BeginsWith returns a function that reports whether a switch's name has one of the beginnings.
func BeginsWith(prefixes ...string) func(name string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	}
}

// IsField reports whether a switch is a field, and not a mutant of testdata/mutants.txt.
var IsField = BeginsWith(FieldPrefix, TraitPrefix, DefinitionsPrefix)

var numbers = regexp.MustCompile(`^([A-Z]+-\d+[a-z]?(?:, [A-Z]+-\d+[a-z]?)*): `)

// Numbers has the numbers of the rules that the comment of each field of the profile and of the traits begins with.
type Numbers map[string][]string

// Of returns the numbers of a switch's field.
func (n Numbers) Of(name string) []string { return n[Field(name)] }

// Field returns the field that a switch changes: a trait is one field for all types of queue.
func Field(name string) string {
	prefix, field, _ := strings.Cut(name, ".")
	return prefix + "." + field[strings.LastIndex(field, ".")+1:]
}

// FieldRules reads the comments in the module of a directory.
func FieldRules(dir string) (Numbers, error) {
	n := Numbers{}
	return n, errors.Join(
		n.read(dir+"/profile.go", "rules", FieldPrefix),
		n.read(dir+"/queuetype.go", "traits", TraitPrefix),
		n.read(dir+"/definitions/profile.go", "release", DefinitionsPrefix))
}

// read adds the fields of one struct.
func (n Numbers) read(file, structName, prefix string) error {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	ast.Inspect(f, func(node ast.Node) bool {
		t, ok := node.(*ast.TypeSpec)
		if !ok || t.Name.Name != structName {
			return true
		}
		for _, field := range t.Type.(*ast.StructType).Fields.List {
			m := numbers.FindStringSubmatch(field.Comment.Text())
			for _, name := range field.Names {
				n[prefix+name.Name] = nil
				if m != nil {
					n[prefix+name.Name] = strings.Split(m[1], ", ")
				}
			}
		}
		return false
	})
	return nil
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
