package doccheck_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// root is the directory of the module.
const root = "../../"

// TestReadmeQuotesWhatRuns asks for each quotation of the README in the file that it names, which
// the tests run. A quotation of an Example's output is one of its comments.
func TestReadmeQuotesWhatRuns(t *testing.T) {
	readme, err := os.ReadFile(root + "README.md")
	if err != nil {
		t.Fatal(err)
	}
	quotations := regexp.MustCompile("(?s)<!-- (\\S+) -->\n```(?:go)?\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(quotations) < 3 {
		t.Errorf("found only %d quotations", len(quotations))
	}
	for _, q := range quotations {
		name, text := q[1], q[2]
		source, err := os.ReadFile(root + name)
		if err != nil {
			t.Error(err)
			continue
		}
		output := "\t// " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n\t// ") + "\n"
		if !strings.Contains(string(source), text) && !strings.Contains(string(source), output) {
			t.Errorf("%s does not have what the README quotes:\n%s", name, text)
		}
	}
}

// TestReadmeLinks asks for every file that the README and CONTRIBUTING link to.
func TestReadmeLinks(t *testing.T) {
	for _, page := range []string{"README.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(root + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^):]+)\)`).FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(root + link[1]); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}
