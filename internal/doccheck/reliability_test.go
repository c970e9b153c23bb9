package doccheck_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReliabilityNamesWhatIsThere demands that every test, benchmark, fuzz target, example, command and file that
// docs/reliability.md names is there, and that each of its rows names one.
func TestReliabilityNamesWhatIsThere(t *testing.T) {
	page, err := os.ReadFile(root + "docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	c := &claims{t: t, functions: map[string]map[string]bool{}}
	for line := range strings.Lines(string(page)) {
		switch {
		case strings.HasPrefix(line, "    "):
			c.command(line)
		case strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| ---") && !headOfATable.MatchString(line):
			c.row(line)
		}
		for _, quoted := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(line, -1) {
			switch {
			case isCommand.MatchString(quoted[1]):
				c.command(quoted[1])
			case strings.HasPrefix(quoted[1], "--"): // of leveret serve
				c.leveretCommand(strings.Fields("leveret serve " + quoted[1]))
			}
		}
		for _, link := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(line, -1) {
			c.file("docs/" + link[1])
		}
	}
	c.everyFuzzTarget(string(page))
	if c.named < 200 {
		t.Errorf("found only %d names", c.named)
	}
}

var (
	headOfATable = regexp.MustCompile(`^\| (what is tried|input) \|`)
	isCommand    = regexp.MustCompile(`^(leveret|go (run|test)|\.ci/run) .`)
	// inCell finds, one by one, what a cell names: a package, by its directory or as the root, a file, or a function of the
	// package before it, with the name of one of its cases.
	inCell     = regexp.MustCompile("`([a-z0-9/.-]+)`|\\bthe root\\b|\\b((?:Test|Fuzz|Benchmark|Example)[A-Z_a-z0-9]+)((?:/[a-z0-9-]+)*)")
	flagOfLine = regexp.MustCompile(` --?([a-z][a-z-]*)`)
)

// claims checks what a page claims to be there.
type claims struct {
	t         *testing.T
	named     int
	functions map[string]map[string]bool // by the directory of their package
}

// row checks the last cell of a row.
func (c *claims) row(line string) {
	cells := strings.Split(strings.TrimSuffix(strings.TrimSpace(line), "|"), "|")
	shown := cells[len(cells)-1]
	dir, found := "", 0
	for _, m := range inCell.FindAllStringSubmatch(shown, -1) {
		path, function, branch := m[1], m[2], strings.TrimPrefix(m[3], "/")
		switch {
		case function != "":
			found++
			c.function(dir, function, branch)
		case filepath.Ext(path) != "":
			found++
			c.file(path)
		case path == "":
			dir = "."
		default:
			dir = path
		}
	}
	if found == 0 {
		c.t.Errorf("nothing shows this row: %s", line)
	}
	c.named += found
}

// everyFuzzTarget checks that the page has all fuzz targets of the module.
func (c *claims) everyFuzzTarget(page string) {
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		for name := range c.tests(strings.TrimPrefix(path, root)) {
			if strings.HasPrefix(name, "Fuzz") && !regexp.MustCompile(`\b`+name+`\b`).MatchString(page) {
				c.t.Errorf("the fuzz target %s is not named", name)
			}
		}
		return nil
	})
	if err != nil {
		c.t.Error(err)
	}
}

// function checks that the package has a test function and, if a case of it is named, that its files have the name.
func (c *claims) function(dir, name, branch string) {
	if dir == "" || !c.tests(dir)[name] {
		c.t.Errorf("there is no %s in the package %q", name, dir)
	}
	if branch != "" && !strings.Contains(c.source(dir, "*_test.go"), `"`+branch+`"`) {
		c.t.Errorf("%s in %s has no case %q", name, dir, branch)
	}
}

func (c *claims) file(path string) {
	if _, err := os.Stat(root + path); err != nil {
		c.t.Error(err)
	}
}

// tests returns the names of the functions in a package's tests.
func (c *claims) tests(dir string) map[string]bool {
	if c.functions[dir] == nil {
		all := map[string]bool{}
		files, _ := filepath.Glob(root + dir + "/*_test.go")
		for _, file := range files {
			syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				c.t.Fatal(err)
			}
			for _, d := range syntax.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
					all[f.Name.Name] = true
				}
			}
		}
		c.functions[dir] = all
	}
	return c.functions[dir]
}

// source returns the text of some of the files in a directory.
func (c *claims) source(dir, pattern string) string {
	files, err := filepath.Glob(root + dir + "/" + pattern)
	if err != nil || len(files) == 0 {
		c.t.Errorf("there is no %s in %s", pattern, dir)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			c.t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// command checks that a command line has a program, and the program what the line gives it.
func (c *claims) command(line string) {
	c.named++
	line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
	words := strings.Fields(line)
	for len(words) > 1 && strings.Contains(words[0], "=") { // variables
		words = words[1:]
	}
	switch words[0] {
	case "go":
		c.goCommand(words)
	case ".ci/run":
		if check := regexp.MustCompile(`(?m)^check "[^"]*` + words[1]); !check.MatchString(c.source(".ci", "run")) {
			c.t.Errorf("no check has %s in its name: %s", words[1], line)
		}
	case "leveret":
		c.leveretCommand(words)
	default:
		c.t.Errorf("an unknown command: %s", line)
	}
}

// goCommand checks the package, the names and the flags of a go run or go test.
func (c *claims) goCommand(words []string) {
	i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "./") })
	if i < 0 {
		c.t.Errorf("%q has no package", words)
		return
	}
	dir := strings.TrimSuffix(words[i], "...")
	c.file(dir)
	if words[1] == "run" {
		c.flags(strings.Join(words[i:], " "), c.source(dir, "*.go"))
		return
	}
	for at, word := range words {
		if word != "-run" && word != "-bench" && word != "-fuzz" {
			continue
		}
		part := strings.Trim(words[at+1], "'^$")
		if !slices.ContainsFunc(slices.Collect(maps.Keys(c.tests(dir))), func(name string) bool { return strings.Contains(name, part) }) {
			c.t.Errorf("%s has no function with %q in its name", dir, part)
		}
	}
}

// leveretCommand checks that leveret has the command, and flags and options of this name.
func (c *claims) leveretCommand(words []string) {
	given, source := strings.Join(words[1:], " "), c.source("cmd/leveret", "*.go")
	if !strings.Contains(source, `"`+words[1]+`"`) {
		c.t.Errorf("leveret has no command %s", words[1])
	}
	if words[1] == "ctl" {
		source = c.source("internal/ctl", "*.go")
		if len(words) > 2 && !strings.HasPrefix(words[2], "-") && !strings.Contains(source, `"`+words[2]+`"`) {
			c.t.Errorf("leveret ctl has no command %s", words[2])
		}
	}
	c.flags(given, source)
}

// flags checks that a source has the flags of a line as strings.
func (c *claims) flags(line, source string) {
	for _, f := range flagOfLine.FindAllStringSubmatch(line, -1) {
		if !strings.Contains(source, `"`+f[1]+`"`) {
			c.t.Errorf("there is no flag %s: %s", f[1], line)
		}
	}
}
