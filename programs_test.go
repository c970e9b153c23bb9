package leveret_test

import (
	"flag"
	"iter"
	"os"
	"slices"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

var written = flag.String("written", "", "a directory of random programs, which TestRandomPrograms of package conformance has written")

// writtenPrograms yields the random programs that show what the unchanged engine does.
func writtenPrograms(t *testing.T) iter.Seq[*scenario.Script] {
	if *written == "" {
		t.Skip("no random programs: go run ./internal/mutate -programs 300")
	}
	return func(yield func(*scenario.Script) bool) {
		for s, err := range scenario.All(os.DirFS(*written)) {
			if err != nil {
				t.Fatal(err)
			}
			if !yield(s) {
				return
			}
		}
	}
}

// TestPrograms runs random programs on a changed engine (see internal/mutate), until one shows something else.
func TestPrograms(t *testing.T) {
	count := map[leveret.Profile]int{}
	for s := range writtenPrograms(t) {
		p := profileOf(s)
		if count[p]++; differsOn(s, leveret.WithProfile(p)) {
			t.Fatalf("program %d of %s, %s, notices", count[p], scenario.Releases[p], s.Name)
		}
	}
}

// TestProgramsNoticeRules counts the fields of the profile whose change random programs notice, and names the others.
func TestProgramsNoticeRules(t *testing.T) {
	scripts := slices.Collect(writtenPrograms(t))
	for p, release := range scenario.Releases {
		noticed, unnoticed := 0, []string{}
		for _, name := range leveret.RuleNames() {
			if slices.ContainsFunc(scripts, func(s *scenario.Script) bool { return profileOf(s) == p && differs(s, p, name) }) {
				noticed++
			} else {
				unnoticed = append(unnoticed, name)
			}
		}
		t.Logf("%s: random programs notice %d of %d rules; not %v", release, noticed, noticed+len(unnoticed), unnoticed)
	}
}

func profileOf(s *scenario.Script) leveret.Profile {
	if s.Profile == scenario.Releases[leveret.RabbitMQ310] {
		return leveret.RabbitMQ310
	}
	return leveret.RabbitMQ43
}
