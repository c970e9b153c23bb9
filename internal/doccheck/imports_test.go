package doccheck_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestImportGroups asks for two groups of imports in every file, each sorted: the standard library, then all others.
func TestImportGroups(t *testing.T) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		if got := importGroups(file, positions); !wellGrouped(got) {
			t.Errorf("%s: imports are not the standard library's, then all others: %q", path, got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// importGroups returns the paths that a file imports, by the groups that empty lines make.
func importGroups(file *ast.File, positions *token.FileSet) (groups [][]string) {
	last := 0
	for _, i := range file.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		line := positions.Position(i.Pos()).Line
		if len(groups) == 0 || line > last+1 {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], path)
		last = line
	}
	return groups
}

func wellGrouped(groups [][]string) bool {
	for i, paths := range groups {
		if i > 1 || i == 1 && !external(paths[0]) || !slices.IsSorted(paths) {
			return false
		}
		if slices.ContainsFunc(paths, external) && !external(paths[0]) {
			return false
		}
	}
	return len(groups) < 2 || !external(groups[0][0])
}

// external reports whether a package is not of the standard library.
func external(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".")
}

func TestWellGrouped(t *testing.T) {
	for _, good := range [][][]string{nil, {{"fmt", "os"}}, {{"a.b/c"}}, {{"fmt", "os"}, {"a.b/c", "a.b/d"}}} {
		if !wellGrouped(good) {
			t.Error(good)
		}
	}
	for _, bad := range [][][]string{
		{{"os", "fmt"}}, {{"fmt", "a.b/c"}}, {{"a.b/c"}, {"fmt"}}, {{"fmt"}, {"a.b/c"}, {"a.b/d"}}, {{"fmt"}, {"os"}},
	} {
		if wellGrouped(bad) {
			t.Error(bad)
		}
	}
}
