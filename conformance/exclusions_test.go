package conformance

import (
	"os"
	"strings"
	"testing"

	"github.com/leveretmq/leveret/internal/scenario"
)

// TestExperiments demands that every exclusion states an experiment, and that the programs of testdata/chance are those of
// exclusions.go.
func TestExperiments(t *testing.T) {
	for _, x := range exclusions {
		if x.experiment == "" {
			t.Errorf("%s: no experiment shows the chance", x.name)
		}
	}
	scripts, err := scenario.Load(os.DirFS("testdata/chance"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("exclusions.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		if !strings.Contains(string(source), s.Name) {
			t.Errorf("%s: no exclusion names the experiment", s.Name)
		}
	}
}
