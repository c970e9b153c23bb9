package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leveretmq/leveret/internal/compiled"
)

// constantsOf returns the constants that mutants change, each once.
func constantsOf(mutants []mutant) (names []string) {
	for _, m := range mutants {
		if m.constant != "" && !slices.Contains(names, m.constant) {
			names = append(names, m.constant)
		}
	}
	return names
}

// variables puts a variable in the place of each use of one of the constants, in the package in dir and in its tests, and declares the
// variables. The constants are not exported, so nothing else uses them.
func (o overlay) variables(dir string, names []string) error {
	p, err := o.check(dir)
	if err != nil {
		return err
	}
	var declared strings.Builder
	for _, name := range names {
		if _, ok := p.types.Scope().Lookup(name).(*types.Const); !ok || token.IsExported(name) {
			return fmt.Errorf("there is no constant %s, or it is exported", name)
		}
		fmt.Fprintf(&declared, "var %s = mutated(%q, int64(%s))\n", variable(name), name, name)
	}
	for _, f := range p.files {
		if text, changed := p.varied(f, names); changed {
			o[f.path] = text
		}
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
	o.declare(p.dir, p.types.Name(), declared.String())
	return nil
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

// check reads the package in dir with the tests that belong to it, as the overlay has them, and type-checks them.
func (o overlay) check(dir string) (*checked, error) {
	found, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	p := &checked{fset: token.NewFileSet(), info: types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}}
	if p.dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	var parsed []*ast.File
	names := slices.Concat(found.GoFiles, found.TestGoFiles)
	if o[filepath.Join(p.dir, mutatedFile)] != "" {
		names = append(names, mutatedFile)
	}
	for _, name := range names {
		f := source{path: filepath.Join(p.dir, name)}
		if f.text, err = o.text(f.path); err != nil {
			return nil, err
		}
		if f.parsed, err = parser.ParseFile(p.fset, f.path, f.text, parser.SkipObjectResolution); err != nil {
			return nil, err
		}
		p.files, parsed = append(p.files, f), append(parsed, f.parsed)
	}
	lookup, err := compiled.Imports(dir, "-test", ".")
	if err != nil {
		return nil, err
	}
	var all []error
	checker := types.Config{Importer: importer.ForCompiler(p.fset, "gc", importer.Lookup(lookup)), Error: func(err error) { all = append(all, err) }}
	p.types, _ = checker.Check(found.Name, p.fset, parsed, &p.info)
	return p, errors.Join(all...)
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
