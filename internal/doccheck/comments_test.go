package doccheck_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocCommentsNameTheirFunction finds doc comments that were left behind when a function was renamed or
// moved, or when another one was put in between: the first word is another name.
func TestDocCommentsNameTheirFunction(t *testing.T) {
	packages := 0
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		}
		declared := declarations(t, dir)
		if len(declared) > 0 {
			packages++
		}
		for _, stray := range strayComments(declared) {
			t.Error(stray)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if packages < 10 {
		t.Errorf("found only %d packages", packages)
	}
}

// TestStrayComments shows what the check above finds and what not.
func TestStrayComments(t *testing.T) {
	const source = `package p

// first does one thing.
func first() {}

// first does two things.
func second() {}

// third is a type.
// fourth does what its doc says.
func (t third) fourth() {}

type third int

// A third is something else.
type seventh int

// First is another word than first.
func fifth() {}

// wasRenamed does what sixth does.
func sixth() {}

// first does what it should.
func TestFirst() {}

// TestFirst tests something else.
func TestSecond() {}
`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, stray := range strayComments(declarationsOf(file, nil)) {
		found = append(found, stray.name)
	}
	if strings.Join(found, " ") != "second fourth seventh sixth TestSecond" {
		t.Error(found)
	}
}

// A declaration is a function, a method or a type with the first word of its doc comment, "" without one. The doc
// comment of a type may begin with an article.
type declaration struct {
	name, firstWord string
	at              token.Position
}

func (d declaration) String() string {
	return d.at.String() + ": the doc comment of " + d.name + " begins with the name " + d.firstWord
}

// strayComments returns the declarations whose comment begins with the name of another one, or with a word in
// mixed case, which can only be the name of something that there was. A test or an example may begin with the
// name of what it shows.
func strayComments(all []declaration) (stray []declaration) {
	names := map[string]bool{}
	for _, d := range all {
		names[d.name] = true
	}
	for _, d := range all {
		name := names[d.firstWord] || mixedCase.MatchString(d.firstWord)
		shows := testFunction.MatchString(d.name) && !testFunction.MatchString(d.firstWord)
		if d.firstWord != d.name && name && !shows {
			stray = append(stray, d)
		}
	}
	return stray
}

var (
	mixedCase    = regexp.MustCompile(`^[a-z]+[A-Z][A-Za-z]*$`)
	testFunction = regexp.MustCompile(`^(Test|Example|Benchmark|Fuzz)`)
)

// declarations returns what the Go files of a directory declare, tests included.
func declarations(t *testing.T, dir string) (all []declaration) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, declarationsOf(file, positions)...)
	}
	return all
}

func declarationsOf(file *ast.File, positions *token.FileSet) (all []declaration) {
	add := func(name *ast.Ident, doc string) {
		d := declaration{name: name.Name}
		if words := strings.Fields(doc); len(words) > 0 {
			d.firstWord = words[0]
		}
		if positions != nil {
			d.at = positions.Position(name.Pos())
		}
		all = append(all, d)
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(d.Name, d.Doc.Text())
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok {
					doc := cmp.Or(s.Doc, d.Doc).Text()
					add(s.Name, strings.TrimPrefix(strings.TrimPrefix(doc, "A "), "An "))
				}
			}
		}
	}
	return all
}
