package move

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/leveretmq/leveret/internal/address"
)

// Progress is how far the move of a queue is.
type Progress struct {
	Queue        string
	Moved, Found int
}

// A Report is what a job did.
type Report struct {
	Definitions map[string]int       `json:"definitions,omitempty"` // entries by section
	Queues      []*QueueReport       `json:"queues"`
	LeftOut     []string             `json:"left_out,omitempty"`
	Lost        map[address.Loss]int `json:"lost,omitempty"` // messages by what their consumers see otherwise

	Moved       int     `json:"moved"`                 // messages, over all runs of the journal
	Again       int     `json:"sent_again"`            // of these, those that may be at the target twice
	Interrupted int     `json:"interrupted,omitempty"` // messages that were on their way when the run before ended
	Reconnects  int     `json:"reconnects,omitempty"`
	Seconds     float64 `json:"seconds"`

	byName map[string]*QueueReport // those of Queues
}

// A QueueReport is what became of a queue.
type QueueReport struct {
	Name    string   `json:"name"`
	Found   int      `json:"found"` // messages that were ready, and those that came
	Moved   int      `json:"moved"`
	Problem string   `json:"problem,omitempty"` // why it was left as it is
	left    []string // problems of single messages, each once
}

// leave notes why a message was left. The queue is moved all the same.
func (q *QueueReport) leave(problem error) {
	if text := problem.Error(); !slices.Contains(q.left, text) {
		q.left = append(q.left, text)
	}
}

// queue returns the report of a queue.
func (r *Report) queue(name string) *QueueReport {
	if r.byName == nil {
		r.byName = map[string]*QueueReport{}
	}
	q := r.byName[name]
	if q == nil {
		q = &QueueReport{Name: name}
		r.byName[name], r.Queues = q, append(r.Queues, q)
	}
	return q
}

// Whole reports whether each queue was moved.
func (r *Report) Whole() bool {
	return !slices.ContainsFunc(r.Queues, func(q *QueueReport) bool { return q.Problem != "" })
}

// definitions says how many entries of which section there are.
func (r *Report) definitions() string {
	if r.Definitions == nil {
		return ""
	}
	parts := []string{}
	for _, section := range slices.Sorted(maps.Keys(r.Definitions)) {
		parts = append(parts, fmt.Sprintf("%d %s", r.Definitions[section], section))
	}
	return "definitions: " + strings.Join(parts, ", ") + "\n"
}

// Plan is the report of a rehearsal as text.
func (r *Report) Plan() string {
	var b strings.Builder
	b.WriteString(r.definitions())
	total := 0
	for _, q := range r.Queues {
		fmt.Fprintf(&b, "queue %s: %d messages are ready\n", q.Name, q.Found)
		total += q.Found
	}
	for _, what := range r.LeftOut {
		fmt.Fprintf(&b, "left out: %s\n", what)
	}
	fmt.Fprintf(&b, "messages: %d\n", total)
	return b.String()
}

// String is the report as text. Queues without messages are counted only.
func (r *Report) String() string {
	var b strings.Builder
	b.WriteString(r.definitions())
	empty := 0
	for _, q := range r.Queues {
		switch {
		case q.Problem != "":
			fmt.Fprintf(&b, "queue %s: %d messages, and then: %s\n", q.Name, q.Moved, q.Problem)
		case q.Moved == 0:
			empty++
		default:
			fmt.Fprintf(&b, "queue %s: %d messages\n", q.Name, q.Moved)
		}
	}
	if empty > 0 {
		fmt.Fprintf(&b, "queues with nothing to move: %d\n", empty)
	}
	for _, what := range r.LeftOut {
		fmt.Fprintf(&b, "left out: %s\n", what)
	}
	for _, what := range slices.Sorted(maps.Keys(r.Lost)) {
		fmt.Fprintf(&b, "seen otherwise at the target: %s of %d messages\n", what, r.Lost[what])
	}
	fmt.Fprintf(&b, "messages: %d, of which at most %d came twice", r.Moved, r.Again)
	if r.Interrupted > 0 {
		fmt.Fprintf(&b, "; %d were on their way when the run before ended", r.Interrupted)
	}
	if r.Reconnects > 0 {
		fmt.Fprintf(&b, "; connected again %d times", r.Reconnects)
	}
	b.WriteString("\n")
	return b.String()
}
