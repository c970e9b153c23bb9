package lint_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/lint"
)

// FuzzCheck lints any document, and explains the queues that it has. What is refused is a finding or a syntax error, and
// the findings are the same when they are asked for again.
func FuzzCheck(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || files == nil {
		f.Fatal(files, err)
	}
	exported, err := filepath.Glob("../definitions/testdata/*.json")
	if err != nil || exported == nil {
		f.Fatal(exported, err)
	}
	for _, file := range append(files, exported...) {
		document, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(document, false)
		f.Add(document, true)
	}
	f.Fuzz(func(t *testing.T, document []byte, old bool) {
		release := leveret.RabbitMQ43
		if old {
			release = leveret.RabbitMQ310
		}
		found, err := lint.Check(document, release)
		if err != nil {
			refusedAsSyntax(t, err)
			return
		}
		if again, _ := lint.Check(document, release); !slices.Equal(found, again) {
			t.Errorf("found %v\nand then %v", found, again)
		}
		d, err := definitions.Parse(document)
		if err != nil {
			return
		}
		for _, q := range d.Queues[:min(len(d.Queues), 5)] {
			if e, err := lint.Explain(document, release, q.VHost, q.Name); err == nil && e.String() == "" {
				t.Errorf("nothing is said about %q", q.Name)
			}
		}
	})
}

// FuzzCompare compares any document with the one in testdata/diff, and with itself: what is compared is told the same
// way twice, and a document does not differ from itself.
func FuzzCompare(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || files == nil {
		f.Fatal(files, err)
	}
	for _, file := range append(files, "testdata/diff/new.json") {
		document, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(document)
	}
	old, err := os.ReadFile("testdata/diff/old.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		if c, err := lint.Compare(document, document, leveret.RabbitMQ43); err == nil && len(c.Changes) > 0 {
			t.Errorf("it differs from itself:\n%s", c)
		}
		c, err := lint.Compare(old, document, leveret.RabbitMQ43)
		if err != nil {
			return
		}
		if again, err := lint.Compare(old, document, leveret.RabbitMQ43); err != nil || c.String() != again.String() {
			t.Errorf("%v: told\n%s\nand then\n%s", err, c, again)
		}
	})
}

func refusedAsSyntax(t *testing.T, err error) {
	var syntax *definitions.SyntaxError
	if !errors.As(err, &syntax) {
		t.Errorf("%v is no syntax error", err)
	}
}
