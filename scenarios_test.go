package leveret_test

import (
	"os"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

// TestScenarios runs every scenario script against the Go API, on virtual time, as each release. The same scripts run
// against real brokers in package conformance.
func TestScenarios(t *testing.T) {
	scripts, err := scenario.Load(os.DirFS("testdata/scenarios"))
	if err != nil {
		t.Fatal(err)
	}
	for profile, release := range scenario.Releases {
		t.Run(release, func(t *testing.T) {
			for _, s := range scripts {
				if s.For(release, "go") {
					t.Run(s.Name, func(t *testing.T) {
						t.Parallel()
						runScript(t, s, profile)
					})
				}
			}
		})
	}
}

func runScript(t *testing.T, s *scenario.Script, p leveret.Profile) {
	driver := scenario.NewDirect(p)
	defer driver.Close()
	l, err := scenario.Run(s, driver)
	if err != nil {
		t.Fatal(err)
	}
	if diff := l.Diff(); diff != "" {
		t.Error("\n" + diff)
	}
	if err := driver.Broker.Check(); err != nil {
		t.Error(err)
	}
}
