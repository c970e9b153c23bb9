package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leveretmq/leveret/internal/compiled"
)

// mutantVariable says in the environment of a test which constant has another value: its name, and +1 or -1.
const mutantVariable = "LEVERET_MUTANT"

// buildConstants compiles the root package's tests with all constants of the mutants as variables. Without a mutant these tests pass,
// which it checks, as otherwise each would seem to be noticed. There is nothing to build if no mutant is of a constant.
func buildConstants(mutants []mutant, dir string) (binary string, err error) {
	var names []string
	for _, m := range mutants {
		if m.constant != "" && !slices.Contains(names, m.constant) {
			names = append(names, m.constant)
		}
	}
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

// variables returns the files of the package in dir, and of its tests, in which constants are used, with a variable in the place of each
// use, and a file that declares the variables.
func variables(dir string, names []string) (files map[string]string, err error) {
	p, err := check(dir)
	if err != nil {
		return nil, err
	}
	files = map[string]string{}
	var declared strings.Builder
	fmt.Fprintf(&declared, "package %s\n\nimport \"os\"\n\n", p.types.Name())
	for _, name := range names {
		if _, ok := p.types.Scope().Lookup(name).(*types.Const); !ok {
			return nil, fmt.Errorf("there is no constant %s", name)
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
	files[filepath.Join(filepath.Dir(p.files[0].path), "mutated.go")] = declared.String()
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

// A checked package is what the compiler knows of a package with its tests.
type checked struct {
	fset  *token.FileSet
	files []source
	types *types.Package
	info  types.Info
}

type source struct {
	path, text string
	parsed     *ast.File
}

// check reads the package in dir with the tests that belong to it, and finds what each name means.
func check(dir string) (*checked, error) {
	var listed struct {
		Dir, ImportPath      string
		GoFiles, TestGoFiles []string
	}
	out, err := exec.Command("go", "list", "-json=Dir,ImportPath,GoFiles,TestGoFiles", dir).Output()
	if err == nil {
		err = json.Unmarshal(out, &listed)
	}
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", dir, err)
	}
	p := &checked{fset: token.NewFileSet(), info: types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}}
	var parsed []*ast.File
	for _, name := range slices.Concat(listed.GoFiles, listed.TestGoFiles) {
		f := source{path: filepath.Join(listed.Dir, name)}
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
	imports := types.Config{Importer: importer.ForCompiler(p.fset, "gc", importer.Lookup(lookup))}
	p.types, err = imports.Check(listed.ImportPath, p.fset, parsed, &p.info)
	return p, err
}

// varied returns a file with a variable for each use of one of the constants, in the type that the constant has there; changed: there is
// such a use.
func (p *checked) varied(f source, names []string) (text string, changed bool) {
	var out strings.Builder
	from := 0
	ast.Inspect(f.parsed, func(n ast.Node) bool {
		used, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		constant, ok := p.info.Uses[used].(*types.Const)
		if !ok || constant.Parent() != p.types.Scope() || !slices.Contains(names, constant.Name()) {
			return true
		}
		at := p.fset.Position(used.Pos()).Offset
		of := types.TypeString(p.info.Types[used].Type, func(other *types.Package) string {
			if other == p.types {
				return ""
			}
			return other.Name()
		})
		fmt.Fprintf(&out, "%s%s(%s)", f.text[from:at], of, variable(constant.Name()))
		from = at + len(used.Name)
		return true
	})
	return out.String() + f.text[from:], from > 0
}
