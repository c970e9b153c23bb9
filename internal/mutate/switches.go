package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// overlay are files by their absolute paths, in the place of those of the tree or beside them.
type overlay map[string]string

// text returns a file as the overlay has it, or the tree.
func (o overlay) text(file string) (string, error) {
	if text, ok := o[file]; ok {
		return text, nil
	}
	text, err := os.ReadFile(file)
	return string(text), err
}

// mutatedFile declares the variables of mutants in each package.
const mutatedFile = "mutated.go"

// mutantVariable names the mutant in the environment of a test.
const mutantVariable = "LEVERET_MUTANT"

// declare adds lines to a package's mutatedFile.
func (o overlay) declare(dir, pkg, lines string) {
	file := filepath.Join(dir, mutatedFile)
	if o[file] == "" {
		o[file] = fmt.Sprintf("package %s\n\nimport \"os\"\n", pkg)
	}
	o[file] += "\n" + lines
}

// switches puts all edits of the mutants into the overlay, so that one build has them all: each function with an edit gets a copy for
// each mutant of it, with the mutant's edits, and calls that copy if the environment names the mutant.
func (o overlay) switches(mutants []mutant) error {
	byFile := map[string][]switched{}
	for i, m := range mutants {
		for _, e := range m.edits {
			byFile[e.file] = append(byFile[e.file], switched{number: i, name: m.name, edit: e})
		}
	}
	declared := map[string]bool{}
	for file, edits := range byFile {
		text, err := o.text(file)
		if err != nil {
			return err
		}
		f := &editedFile{fset: token.NewFileSet(), text: text}
		if f.parsed, err = parser.ParseFile(f.fset, file, text, parser.SkipObjectResolution); err != nil {
			return err
		}
		if o[file], err = f.withCopies(edits); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		dir := filepath.Dir(file)
		for _, e := range edits {
			if key := dir + e.variable(); !declared[key] {
				declared[key] = true
				o.declare(dir, f.parsed.Name.Name, fmt.Sprintf("var %s = os.Getenv(%q) == %q\n", e.variable(), mutantVariable, e.name))
			}
		}
	}
	return nil
}

// switched is an edit of a mutant with its number.
type switched struct {
	number int
	name   string
	edit
}

func (s switched) variable() string { return fmt.Sprintf("mutated%d", s.number) }

// An editedFile is a source file whose functions get mutated copies.
type editedFile struct {
	fset   *token.FileSet
	text   string
	parsed *ast.File
	copies strings.Builder
}

func (f *editedFile) offset(p token.Pos) int { return f.fset.Position(p).Offset }

// withCopies returns the text of the file with a copy for each function and mutant, and with the switch to it.
func (f *editedFile) withCopies(edits []switched) (string, error) {
	type copied struct {
		of     *ast.FuncDecl
		mutant int
	}
	changes := map[copied][]change{}
	mutants := map[*ast.FuncDecl][]switched{} // the first edit of each
	for _, e := range edits {
		of := f.function(e.from, e.to)
		if of == nil {
			return "", fmt.Errorf("%s: the change is not inside one function", e.name)
		}
		key := copied{of, e.number}
		if changes[key] == nil {
			mutants[of] = append(mutants[of], e)
		}
		changes[key] = append(changes[key], e.change)
	}
	var all []change
	for of, some := range mutants {
		header := f.named(of)
		calls := ""
		for _, e := range some {
			name := of.Name.Name + "Mutated" + fmt.Sprint(e.number)
			rename := change{f.offset(of.Name.Pos()), f.offset(of.Name.End()), name}
			f.copies.WriteString("\n" + apply(f.text, f.offset(of.Pos()), f.offset(of.End()), slices.Concat(header, changes[copied{of, e.number}], []change{rename})) + "\n")
			calls += f.call(of, e.variable(), name)
		}
		all = append(all, header...)
		start := f.offset(of.Body.Lbrace) + 1
		all = append(all, change{start, start, calls})
	}
	return apply(f.text, 0, len(f.text), all) + f.copies.String(), nil
}

// function returns the function whose body has what is between two offsets; nil: there is none.
func (f *editedFile) function(from, to int) *ast.FuncDecl {
	for _, d := range f.parsed.Decls {
		if of, ok := d.(*ast.FuncDecl); ok && of.Body != nil && f.offset(of.Body.Lbrace) < from && to <= f.offset(of.Body.Rbrace) {
			return of
		}
	}
	return nil
}

// named returns the changes that give each parameter of a function, and its receiver, a name.
func (f *editedFile) named(of *ast.FuncDecl) (out []change) {
	eachParameter(of, func(field *ast.Field, i int, name string) {
		at, end := f.offset(field.Type.Pos()), f.offset(field.Type.Pos())
		text := name + " "
		if len(field.Names) > 0 {
			at, end, text = f.offset(field.Names[i].Pos()), f.offset(field.Names[i].End()), name
		}
		out = append(out, change{at, end, text})
	})
	return out
}

// call is the statement that calls a mutated copy of a function in its place.
func (f *editedFile) call(of *ast.FuncDecl, variable, name string) string {
	var arguments []string
	eachParameter(of, func(field *ast.Field, _ int, argument string) {
		if _, variadic := field.Type.(*ast.Ellipsis); variadic {
			argument += "..."
		}
		arguments = append(arguments, argument)
	})
	if of.Recv != nil {
		name = arguments[0] + "." + name
		arguments = arguments[1:]
	}
	call := name + "(" + strings.Join(arguments, ", ") + ")"
	if of.Type.Results == nil {
		return fmt.Sprintf(" if %s { %s; return }; ", variable, call)
	}
	return fmt.Sprintf(" if %s { return %s }; ", variable, call)
}

// eachParameter calls do with the receiver of a function and with its parameters, each with a name that is not blank.
func eachParameter(of *ast.FuncDecl, do func(field *ast.Field, i int, name string)) {
	n := 0
	for _, list := range []*ast.FieldList{of.Recv, of.Type.Params} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for i := range max(len(field.Names), 1) {
				name := fmt.Sprintf("unnamed%d", n)
				if len(field.Names) > 0 && field.Names[i].Name != "_" {
					name = field.Names[i].Name
				}
				do(field, i, name)
				n++
			}
		}
	}
}

// apply returns the text between two offsets with changes.
func apply(text string, from, to int, changes []change) string {
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.from, b.from) })
	var out strings.Builder
	for _, c := range changes {
		out.WriteString(text[from:c.from] + c.text)
		from = c.to
	}
	return out.String() + text[from:to]
}
