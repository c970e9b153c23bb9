package doccheck_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// architectureOf has the sections of docs/architecture.md that are about a package, with its directory. The names of files in the
// other sections begin at the root of the module.
var architectureOf = map[string]string{"The listener": "amqpd/", "The log": "internal/journal/"}

// TestArchitectureNamesTheFiles demands that docs/architecture.md names every file of the engine, of the listener and of the log, and
// none that is not there.
func TestArchitectureNamesTheFiles(t *testing.T) {
	page, err := os.ReadFile(root + "docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, section := range strings.Split(string(page), "\n## ") {
		title, _, _ := strings.Cut(section, "\n")
		for _, name := range regexp.MustCompile(`[a-z0-9_/]+\.go\b`).FindAllString(section, -1) {
			if !strings.Contains(name, "/") {
				name = architectureOf[title] + name
			}
			named[name] = true
			if _, err := os.Stat(root + name); err != nil {
				t.Errorf("docs/architecture.md names %s under %q, which is not there", name, title)
			}
		}
	}
	for _, dir := range []string{"", "amqpd/", "internal/journal/"} {
		files, err := filepath.Glob(root + dir + "*.go")
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			name := dir + filepath.Base(file)
			if !strings.HasSuffix(name, "_test.go") && !named[name] {
				t.Errorf("docs/architecture.md does not say what %s is for", name)
			}
		}
	}
}
