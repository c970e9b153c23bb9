package conformance

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leveretmq/leveret/internal/executed"
)

// The ground is what programs can reach: the functions of the engine and of its listener, and the rules that their
// comments name.
type ground struct {
	code      *executed.Code
	total     int    // blocks
	engine    []bool // by block: the block is one of the engine
	functions []place
	rules     []place
}

// A place is reached when one of its blocks is executed.
type place struct {
	name, file string
	blocks     []int
}

// enginePath is the engine's import path, listenerPath that of its listener.
const (
	enginePath   = "github.com/leveretmq/leveret"
	listenerPath = enginePath + "/amqpd"
)

// openGround reads the ground. The comments are those of the source files in the module's directory.
func openGround(root string) (*ground, error) {
	code, err := executed.Open()
	if err != nil {
		return nil, err
	}
	g := &ground{code: code}
	byFile := map[string][]executed.Block{}
	for _, f := range code.Functions {
		for range f.Blocks {
			g.engine = append(g.engine, f.Package == enginePath)
		}
		if f.Package != enginePath && f.Package != listenerPath {
			continue
		}
		byFile[f.File] = append(byFile[f.File], f.Blocks...)
		if !f.Literal {
			g.functions = append(g.functions, place{f.Name, f.File, numbers(f.Blocks)})
		}
	}
	g.total = len(g.engine)
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		text, err := os.ReadFile(filepath.Join(root, strings.TrimPrefix(file, enginePath)))
		if err != nil {
			return nil, err
		}
		found, err := rulesOf(file, text, byFile[file])
		if err != nil {
			return nil, err
		}
		g.rules = append(g.rules, found...)
	}
	return g, nil
}

// during returns the blocks that are executed while f runs. Nothing else must run at the time. Without a ground f just runs.
func (g *ground) during(f func() error) ([]int, error) {
	if g == nil {
		return nil, f()
	}
	before, err := g.code.Counts()
	if err != nil {
		return nil, err
	}
	if err := f(); err != nil {
		return nil, err
	}
	after, err := g.code.Counts()
	var out []int
	for b := range after {
		if after[b] != before[b] {
			out = append(out, b)
		}
	}
	return out, err
}

// rulesOf returns the rules that stand in comments of a source file's functions. A rule in a doc comment is reached with the
// function, a rule within the function with the statement that the comment stands at.
func rulesOf(file string, text []byte, blocks []executed.Block) ([]place, error) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out []place
	add := func(comment *ast.CommentGroup, blocks []executed.Block) {
		for _, id := range RuleNumbers(comment.Text()) {
			out = append(out, place{id, file, numbers(blocks)})
		}
	}
	for _, d := range tree.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		from, to := files.Position(f.Body.Pos()), files.Position(f.Body.End())
		own := slices.DeleteFunc(slices.Clone(blocks), func(b executed.Block) bool { return b.From < from.Line || b.To > to.Line })
		add(f.Doc, own)
		for _, c := range tree.Comments {
			if at := files.Position(c.Pos()); from.Offset < at.Offset && at.Offset < to.Offset {
				if alone(text, at) {
					at.Line = files.Position(c.End()).Line + 1
				}
				add(c, innermost(at.Line, own))
			}
		}
	}
	return out, nil
}

// alone reports whether nothing but space stands before a comment on its line. Such a comment is about the next line.
func alone(text []byte, comment token.Position) bool {
	return len(bytes.TrimSpace(text[comment.Offset-(comment.Column-1):comment.Offset])) == 0
}

// innermost returns the block of a line that begins last; none if the line belongs to no block.
func innermost(line int, blocks []executed.Block) []executed.Block {
	var found []executed.Block
	for _, b := range blocks {
		if b.From <= line && line <= b.To && (found == nil || b.From >= found[0].From) {
			found = []executed.Block{b}
		}
	}
	return found
}

func numbers(blocks []executed.Block) []int {
	out := make([]int, len(blocks))
	for i, b := range blocks {
		out[i] = b.Number
	}
	return out
}
