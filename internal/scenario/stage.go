package scenario

import (
	"fmt"
	"sort"
)

// A Stage runs statements one at a time, so that what comes next may depend on what was seen. What each shows becomes
// what the script expects.
type Stage struct {
	Script *Script
	run    *run
}

// NewStage begins an empty script.
func NewStage(name string, d Driver) *Stage {
	return &Stage{&Script{Name: name}, newRun(d)}
}

// Do runs one statement and returns what it showed. The error says that it cannot be run; it has left no trace then.
func (s *Stage) Do(line string) ([]string, error) {
	sc := s.Script
	steps, lines := len(sc.Steps), len(sc.lines)
	undo := func(err error) ([]string, error) {
		sc.Steps, sc.lines = sc.Steps[:steps], sc.lines[:lines]
		return nil, err
	}
	sc.lines = append(sc.lines, line)
	if err := sc.line(len(sc.lines), line); err != nil {
		return undo(err)
	}
	if len(sc.Steps) == steps {
		return nil, fmt.Errorf("no statement: %s", line)
	}
	st := sc.Steps[steps]
	got, err := s.run.step(st)
	if err != nil {
		return undo(err)
	}
	for _, r := range releases {
		st.want[r] = got
	}
	return got, nil
}

// An Unseen tells what a channel received that no statement has shown yet.
type Unseen struct {
	Actor     string
	Consumers []string // with deliveries
	Notices   bool     // consumers were cancelled, or the broker closed the channel
}

// Unseen returns the channels that received something, in the order of their names.
func (s *Stage) Unseen() []Unseen {
	var out []Unseen
	for _, conn := range sortedNames(s.run.conns) {
		for _, name := range sortedNames(s.run.conns[conn].channels) {
			u := s.run.conns[conn].channels[name].unseen()
			u.Actor = name
			if conn != "" {
				u.Actor = conn + "." + name
			}
			if u.Notices || len(u.Consumers) > 0 {
				out = append(out, u)
			}
		}
	}
	return out
}

func (s *session) unseen() Unseen {
	s.collect()
	u := Unseen{Notices: s.ch != nil && s.ch.Err() != nil}
	consumers := map[string]bool{}
	for _, e := range s.inbox {
		if e.Delivery == nil {
			u.Notices = true
		} else {
			consumers[e.Delivery.ConsumerTag] = true
		}
	}
	for tag := range consumers {
		u.Consumers = append(u.Consumers, tag)
	}
	sort.Strings(u.Consumers)
	return u
}

// Close ends the stage's connections.
func (s *Stage) Close() { s.run.close() }
