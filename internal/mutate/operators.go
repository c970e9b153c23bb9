package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// operators are what a condition or a comparison becomes in a mutant.
var operators = map[token.Token]string{
	token.LAND: "||", token.LOR: "&&", token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
}

// sampleMutants makes n mutants by changing one operator each, in functions of the package in dir that hold rules.
func sampleMutants(dir string, n int, seed uint64) ([]mutant, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		made, err := operatorMutants(file)
		if err != nil {
			return nil, err
		}
		all = append(all, made...)
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))], nil
}

// operatorMutants makes all mutants of one file.
func operatorMutants(file string) ([]mutant, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	var out []mutant
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !strings.Contains(f.Doc.Text(), "Rules:") {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if c, ok := operatorChange(fset, n); ok {
				at := fset.Position(n.Pos())
				name := fmt.Sprintf("%s:%d: %s becomes %s", filepath.Base(file), at.Line, source[c.from:c.to], c.text)
				out = append(out, mutant{name: name, edits: []edit{{absolute, c}}})
			}
			return true
		})
	}
	return out, nil
}

// operatorChange returns what becomes of a node; ok: something does.
func operatorChange(fset *token.FileSet, n ast.Node) (c change, ok bool) {
	offset := func(p token.Pos) int { return fset.Position(p).Offset }
	switch n := n.(type) {
	case *ast.BinaryExpr:
		text, ok := operators[n.Op]
		return change{offset(n.OpPos), offset(n.OpPos) + len(n.Op.String()), text}, ok
	case *ast.UnaryExpr:
		return change{offset(n.OpPos), offset(n.OpPos) + 1, ""}, n.Op == token.NOT
	case *ast.IncDecStmt:
		return change{offset(n.TokPos), offset(n.TokPos) + 2, map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok]}, true
	}
	return change{}, false
}
