package doccheck_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestArchitectureNamesTheFiles demands that docs/architecture.md names every file of the engine, and none that is not
// there.
func TestArchitectureNamesTheFiles(t *testing.T) {
	page, err := os.ReadFile(root + "docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, name := range regexp.MustCompile(`[a-z0-9/]+\.go\b`).FindAllString(string(page), -1) {
		named[name] = true
		if _, err := os.Stat(root + name); err != nil {
			t.Errorf("docs/architecture.md names %s, which is not there", name)
		}
	}
	files, err := filepath.Glob(root + "*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if name := filepath.Base(file); !strings.HasSuffix(name, "_test.go") && !named[name] {
			t.Errorf("docs/architecture.md does not say what %s is for", name)
		}
	}
}
