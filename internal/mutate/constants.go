package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leveretmq/leveret/internal/compiled"
)

// mutantVariable says in the environment of a test which constant has another value: its name, and +1 or -1.
const mutantVariable = "LEVERET_MUTANT"

// buildConstants compiles the root package's tests with a variable in the place of each constant that a mutant changes. It checks that all
// scenarios pass while the variables have the constants' values: otherwise each mutant would seem to be noticed. The binary is empty if no
// mutant changes a constant.
func buildConstants(mutants []mutant, dir string) (binary string, err error) {
	names := constantsOf(mutants)
	if len(names) == 0 {
		return "", nil
	}
	files, err := variables(".", names)
	if err != nil {
		return "", err
	}
	all := mutant{name: "constants", files: files}
	if binary, err = all.build(filepath.Join(dir, all.name)); err != nil {
		return "", err
	}
	if failed := all.run(binary, "-test.run", "^TestScenarios$"); failed != "" {
		return "", fmt.Errorf("with constants that are variables, and have their values, %s fails", failed)
	}
	return binary, nil
}

// constantsOf returns the constants that mutants change, each once.
func constantsOf(mutants []mutant) (names []string) {
	for _, m := range mutants {
		if m.constant != "" && !slices.Contains(names, m.constant) {
			names = append(names, m.constant)
		}
	}
	return names
}

// variables returns the files of the package in dir, and of its tests, that use one of the constants, with a variable in the place of
// each use, and one more file, which declares the variables. The constants are not exported, so nothing else uses them.
func variables(dir string, names []string) (files map[string]string, err error) {
	p, err := check(dir)
	if err != nil {
		return nil, err
	}
	var declared strings.Builder
	fmt.Fprintf(&declared, "package %s\n\nimport \"os\"\n\n", p.types.Name())
	for _, name := range names {
		if _, ok := p.types.Scope().Lookup(name).(*types.Const); !ok || token.IsExported(name) {
			return nil, fmt.Errorf("there is no constant %s, or it is exported", name)
		}
		fmt.Fprintf(&declared, "var %s = mutated(%q, int64(%s))\n", variable(name), name, name)
	}
	fmt.Fprintf(&declared, `
func mutated(name string, value int64) int64 {
	switch os.Getenv(%q) {
	case name + "+1":
		return value + 1
	case name + "-1":
		return value - 1
	}
	return value
}
`, mutantVariable)
	files = map[string]string{filepath.Join(p.dir, "mutated.go"): declared.String()}
	for _, f := range p.files {
		if text, changed := p.varied(f, names); changed {
			files[f.path] = text
		}
	}
	return files, nil
}

func variable(constant string) string {
	return "mutated" + strings.ToUpper(constant[:1]) + constant[1:]
}

// A checked package is a package with its tests, and what each name in them means.
type checked struct {
	dir   string // absolute
	fset  *token.FileSet
	files []source
	types *types.Package
	info  types.Info
}

type source struct {
	path, text string
	parsed     *ast.File
}

// check reads the package in dir with the tests that belong to it, and type-checks them.
func check(dir string) (*checked, error) {
	found, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	p := &checked{fset: token.NewFileSet(), info: types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}}
	if p.dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	var parsed []*ast.File
	for _, name := range slices.Concat(found.GoFiles, found.TestGoFiles) {
		f := source{path: filepath.Join(p.dir, name)}
		text, err := os.ReadFile(f.path)
		if err != nil {
			return nil, err
		}
		f.text = string(text)
		if f.parsed, err = parser.ParseFile(p.fset, f.path, text, parser.SkipObjectResolution); err != nil {
			return nil, err
		}
		p.files, parsed = append(p.files, f), append(parsed, f.parsed)
	}
	lookup, err := compiled.Imports(dir, "-test", ".")
	if err != nil {
		return nil, err
	}
	checker := types.Config{Importer: importer.ForCompiler(p.fset, "gc", importer.Lookup(lookup))}
	p.types, err = checker.Check(found.Name, p.fset, parsed, &p.info)
	return p, err
}

// varied returns a file with a variable for each use of one of the constants, converted to the type that the constant has there; changed:
// there is such a use.
func (p *checked) varied(f source, names []string) (text string, changed bool) {
	var out strings.Builder
	from := 0
	ast.PreorderStack(f.parsed, nil, func(n ast.Node, within []ast.Node) bool {
		used, ok := n.(*ast.Ident)
		if !ok || !slices.Contains(names, used.Name) {
			return true
		}
		constant, ok := p.info.Uses[used].(*types.Const)
		if !ok || constant.Parent() != p.types.Scope() {
			return true
		}
		at := p.fset.Position(used.Pos()).Offset
		fmt.Fprintf(&out, "%s%s(%s)", f.text[from:at], p.typeOf(used, within), variable(used.Name))
		from = at + len(used.Name)
		return true
	})
	return out.String() + f.text[from:], from > 0
}

// typeOf returns the type of a constant where it is used. A constant in a constant expression has the type of that expression.
func (p *checked) typeOf(used ast.Expr, within []ast.Node) string {
	of := p.info.TypeOf(used)
	for i := len(within) - 1; isUntyped(of) && i >= 0; i-- {
		if e, ok := within[i].(ast.Expr); ok {
			of = p.info.TypeOf(e)
		}
	}
	return types.TypeString(of, p.qualifier)
}

func isUntyped(t types.Type) bool {
	basic, ok := t.(*types.Basic)
	return ok && basic.Info()&types.IsUntyped != 0
}

// qualifier is what stands before the names of another package.
func (p *checked) qualifier(other *types.Package) string {
	if other == p.types {
		return ""
	}
	return other.Name()
}
