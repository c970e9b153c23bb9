package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// A Log is everything a run showed, in one canonical form: two drivers behave the same for a script if their logs
// read the same.
type Log struct {
	Script  *Script
	Release string
	Entries []Entry
	Frames  []string // what the broker sent, of a driver whose connections are Framed
}

// An Entry is what one step showed.
type Entry struct {
	Step *Step
	Got  []string
}

// Diff describes where the log differs from what the script expects; empty: nowhere.
func (l *Log) Diff() string {
	var b strings.Builder
	for _, e := range l.Entries {
		if want := e.Step.Want(l.Release); !slices.Equal(want, e.Got) {
			fmt.Fprintf(&b, "%s.txt:%d [%s] %s\n%s%s", l.Script.Name, e.Step.Line, l.Release, e.Step.text,
				observed("  want -> ", want), observed("  got  -> ", e.Got))
		}
	}
	return b.String()
}

// Report writes what a statement showed, with the number of its line. What differs from what the script expects is
// marked, and both are written.
func (l *Log) Report(e Entry) string {
	const indent = "        "
	want := e.Step.Want(l.Release)
	if l.Differs(e) {
		return fmt.Sprintf("%s %4d  %s\n%s%s", differenceMark, e.Step.Line, e.Step.text, observed(indent+"want -> ", want),
			observed(indent+"got  -> ", e.Got))
	}
	shown := ""
	if len(e.Got) > 0 {
		shown = observed(indent+"-> ", e.Got)
	}
	return fmt.Sprintf("  %4d  %s\n%s", e.Step.Line, e.Step.text, shown)
}

const differenceMark = "✗"

// Differs reports whether a statement showed something else than the script expects, if that expects anything.
func (l *Log) Differs(e Entry) bool {
	return l.Script.Expects() && !slices.Equal(e.Step.Want(l.Release), e.Got)
}

// String writes the log: each statement with what it showed.
func (l *Log) String() string {
	var b strings.Builder
	for _, e := range l.Entries {
		b.WriteString(e.Step.text + "\n")
		if len(e.Got) > 0 {
			b.WriteString(observed("  -> ", e.Got))
		}
	}
	return b.String()
}

// Shown writes the statements that showed something, with what they showed.
func (l *Log) Shown() string {
	var b strings.Builder
	for _, e := range l.Entries {
		if len(e.Got) > 0 {
			b.WriteString(e.Step.text + " -> " + strings.Join(e.Got, " | ") + "\n")
		}
	}
	return b.String()
}
