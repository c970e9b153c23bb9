package doccheck

import (
	"go/ast"
	"go/build/constraint"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/leveretmq/leveret/internal/compiled"
	"github.com/leveretmq/leveret/internal/race"
	"github.com/stretchr/testify/require"
)

// TestFieldsAreRead finds unexported fields of structs that are written and never read: a rule without a reader is not
// kept.
func TestFieldsAreRead(t *testing.T) {
	if race.Enabled {
		t.Skip("the test has no races, and the module would be compiled again without the detector of races")
	}
	imports, err := compiled.Imports("../..", "./...")
	require.NoError(t, err)
	for _, dir := range []string{"", "amqpd", "control", "definitions", "graph", "leverettest", "lint", "mgmt", "conformance", "internal/scenario", "cmd/leveret",
		"internal/ctl", "internal/pcre", "internal/erl", "internal/fifo", "internal/journal", "internal/places", "internal/record", "internal/schedule", "internal/tags", "internal/topic"} {
		t.Run("/"+dir, func(t *testing.T) {
			t.Parallel()
			for _, field := range unreadFields(t, imports, filepath.Join("../..", dir)) {
				t.Errorf("%s is written and never read", field)
			}
		})
	}
}

// unreadFor are fields that only a person reads, and why.
var unreadFor = map[string]string{"why": "each exclusion from a comparison states its reason"}

// unreadFields returns the fields of a package's structs that none of its files reads, tests left out.
func unreadFields(t *testing.T, imports compiled.Lookup, dir string) (unread []string) {
	fset := token.NewFileSet()
	files := sources(t, fset, dir)
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Types: map[ast.Expr]types.TypeAndValue{},
		Instances: map[*ast.Ident]types.Instance{}}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", importer.Lookup(imports))}
	_, err := conf.Check(dir, fset, files, info)
	require.NoError(t, err)
	read := map[types.Object]bool{}
	for _, at := range info.Types {
		if m, ok := at.Type.(*types.Map); ok {
			readWhole(m.Key(), read)
		}
	}
	for _, instance := range info.Instances { // slices.Contains and the like compare
		for arg := range instance.TypeArgs.Types() {
			readWhole(arg, read)
		}
	}
	for _, f := range files {
		written := writtenSelectors(f)
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				readSelection(info, s, written[s], read)
			}
			return true
		})
	}
	for id, o := range info.Defs {
		v, ok := o.(*types.Var)
		if !ok || !v.IsField() || v.Exported() || v.Embedded() || read[v] {
			continue
		}
		if _, reason := unreadFor[v.Name()]; reason {
			continue
		}
		unread = append(unread, fset.Position(id.Pos()).String()+": "+v.Name())
	}
	return unread
}

// readWhole marks the fields of a struct that is compared as a whole: as the key of a map, say.
func readWhole(t types.Type, read map[types.Object]bool) {
	s, ok := t.Underlying().(*types.Struct)
	if !ok || !types.Comparable(t) {
		return
	}
	for field := range s.Fields() {
		read[field] = true
	}
}

// readSelection marks the fields on the way of a selector, and the last one unless the selector is only written.
func readSelection(info *types.Info, s *ast.SelectorExpr, written bool, read map[types.Object]bool) {
	sel := info.Selections[s]
	if sel == nil {
		return
	}
	if sel.Kind() == types.FieldVal && !written {
		read[origin(sel.Obj())] = true
	}
}

// origin returns the field of the generic type for one of its instances.
func origin(o types.Object) types.Object {
	if v, ok := o.(*types.Var); ok {
		return v.Origin()
	}
	return o
}

// writtenSelectors are the left sides of plain assignments.
func writtenSelectors(f *ast.File) map[*ast.SelectorExpr]bool {
	written := map[*ast.SelectorExpr]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN {
			return true
		}
		for _, left := range a.Lhs {
			if s, ok := left.(*ast.SelectorExpr); ok {
				written[s] = true
			}
		}
		return true
	})
	return written
}

func sources(t *testing.T, fset *token.FileSet, dir string) (files []*ast.File) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		require.NoError(t, err)
		if builds(f) {
			files = append(files, f)
		}
	}
	require.NotEmpty(t, files)
	return files
}

// builds reports whether a file is built on the machine at hand.
func builds(f *ast.File) bool {
	for _, g := range f.Comments {
		for _, c := range g.List {
			if !constraint.IsGoBuild(c.Text) {
				continue
			}
			x, err := constraint.Parse(c.Text)
			return err == nil && x.Eval(func(tag string) bool {
				return tag == runtime.GOOS || tag == runtime.GOARCH || tag == "unix" && runtime.GOOS != "windows"
			})
		}
	}
	return true
}
