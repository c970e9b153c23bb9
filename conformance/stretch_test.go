package conformance

import (
	"testing"

	"github.com/leveretmq/leveret/internal/scenario"
)

func TestStretched(t *testing.T) {
	script, err := scenario.Parse("random", "declare queue q x-message-ttl=1000 x-expires=5000000 x-consumer-timeout=1000\n@p publish q m expiration=1000\nadvance 1300ms\nadvance 20ms\ncount q -> q=0\n")
	if err != nil {
		t.Fatal(err)
	}
	long, err := stretched(script)
	if err != nil {
		t.Fatal(err)
	}
	const want = "declare queue q x-message-ttl=8000 x-expires=5000000 x-consumer-timeout=8000\n@p publish q m expiration=8000\nadvance 10400ms\nadvance 20ms\ncount q -> q=0\n"
	if got := long.Text(); got != want {
		t.Errorf("stretched:\n%s", got)
	}
}

// Programs with longer times show what they show with short ones.
func TestStretchedProgramsAreTheSame(t *testing.T) {
	for profile, release := range scenario.Releases {
		listener := side{name: "listener", open: func() (scenario.Driver, error) { return Listener(profile) }, tries: 1}
		seen, timed := newCoverage(""), 0
		for seed := uint64(1); timed < 20; seed++ {
			g := compose(profile, seed, seen)
			script := g.finish()
			g.end()
			if !timedProgram(script) {
				continue
			}
			timed++
			long, err := stretched(script)
			if err != nil {
				t.Fatal(release, seed, err)
			}
			if d := listener.differs(long); d != nil {
				t.Error(release, seed, d)
			}
		}
	}
}
