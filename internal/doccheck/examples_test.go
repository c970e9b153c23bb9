package doccheck_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryOperationHasAnExample asks for an Example with output for each exported function and
// method.
func TestEveryOperationHasAnExample(t *testing.T) {
	for dir, least := range map[string]int{".": 100, "amqpd": 3, "control": 4, "definitions": 3, "graph": 5, "journey": 18, "leverettest": 3, "lint": 2, "mgmt": 1, "trace": 3} {
		operations, examples := functions(t, filepath.Join(root, dir))
		for name := range operations {
			if !examples[name] {
				t.Errorf("%s: there is no Example%s with output", dir, name)
			}
		}
		if len(operations) < least {
			t.Errorf("%s: found only %d exported operations", dir, len(operations))
		}
	}
}

// functions returns the exported operations of a package by the names that their Examples have to
// have, and the names of its Examples with output.
func functions(t *testing.T, dir string) (operations, examples map[string]bool) {
	operations, examples = map[string]bool{}, map[string]bool{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		test := strings.HasSuffix(file, "_test.go")
		for _, declaration := range syntax.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			switch {
			case !ok:
			case test && strings.HasPrefix(f.Name.Name, "Example") && hasOutput(syntax, f):
				examples[strings.TrimPrefix(f.Name.Name, "Example")] = true
			case !test && operation(f) != "":
				operations[operation(f)] = true
			}
		}
	}
	return operations, examples
}

// operation returns what an Example for f is named after; empty if f is not exported.
func operation(f *ast.FuncDecl) string {
	if !f.Name.IsExported() {
		return ""
	}
	if f.Recv == nil {
		return f.Name.Name
	}
	switch f.Name.Name {
	case "MarshalJSON", "UnmarshalJSON", "Error", "Unwrap": // called by encoding/json and errors
		return ""
	}
	receiver := f.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver = pointer.X
	}
	if name, ok := receiver.(*ast.Ident); ok && name.IsExported() {
		return name.Name + "_" + f.Name.Name
	}
	return ""
}

func hasOutput(file *ast.File, f *ast.FuncDecl) bool {
	for _, comment := range file.Comments {
		if f.Body.Pos() < comment.Pos() && comment.End() < f.Body.End() && strings.HasPrefix(comment.Text(), "Output:") {
			return true
		}
	}
	return false
}
