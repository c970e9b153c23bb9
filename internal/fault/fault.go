// Package fault puts faults between a broker and the clients that come in by a [Door]: what is on its way in either
// direction is cut into frames and messages, and rules say what happens to which.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/leveretmq/leveret"
)

// A Fault is a rule: at the Nth message On its way that Match accepts, Do something. leverettest.Fault tells what each
// field means.
type Fault struct {
	On    Point
	Match func(leveret.MessageInfo) error // nil: every message
	Nth   int                             // from 1; 0: the first
	Do    Action
	Keep  bool // not only at the Nth message but at each from then on
}

// A Point is where on its way between client and broker a message meets a fault.
type Point uint8

// The points.
const (
	OnPublish Point = iota
	OnConfirm
	OnDeliver
	OnAck
)

// An Action is what a fault does. Code and Text are for CloseChannel and CloseConnection.
type Action struct {
	Kind Kind
	Code leveret.Code
	Text string
}

// A Kind is what an action is.
type Kind uint8

// The kinds. leverettest has a function of the same name for each.
const (
	Nack Kind = iota + 1
	Cut
	CloseChannel
	CloseConnection
	Block
	CancelConsumer
	Stall
	Restart
	KillNode
)

// A rule is a fault that was injected.
type rule struct {
	Fault
	b       *leveret.Broker
	seen    int     // messages that matched
	fired   bool    // it has done something
	blocks  bool    // it has raised the memory alarm
	stalled []*wire // by this fault
}

// rules are those in force, in their order. A leaf: nothing else is locked while it is, but matchers run.
var rules struct {
	mu sync.Mutex
	of map[*leveret.Broker][]*rule
}

// Inject puts a fault between a broker and its clients until lift is called, which also ends what lasts. Of several faults
// at one point the first that is due acts. The error is of a fault that is none.
func Inject(b *leveret.Broker, f Fault) (lift func(), err error) {
	if problem := f.problem(); problem != "" {
		return nil, errors.New(problem)
	}
	if f.Match == nil {
		f.Match = func(leveret.MessageInfo) error { return nil }
	}
	r := &rule{Fault: f, b: b}
	rules.mu.Lock()
	defer rules.mu.Unlock()
	if rules.of == nil {
		rules.of = map[*leveret.Broker][]*rule{}
	}
	rules.of[b] = append(rules.of[b], r)
	return r.lift, nil
}

// problem says what is wrong with a fault.
func (f Fault) problem() string {
	const longest = 255
	switch {
	case f.Do.Kind == 0:
		return "the fault does nothing"
	case f.Do.Kind == Nack && f.On != OnPublish:
		return "Nack is for OnPublish"
	case f.Do.Kind == CancelConsumer && f.On != OnDeliver:
		return "CancelConsumer is for OnDeliver"
	case f.On > OnAck:
		return "there is no such point"
	case f.Nth < 0:
		return fmt.Sprintf("Nth is %d, and is counted from 1", f.Nth)
	case f.Do.Code == 0 && (f.Do.Kind == CloseChannel || f.Do.Kind == CloseConnection):
		return "a close needs a code"
	case len(f.Do.Text) > longest:
		return "the text is longer than 255 octets"
	}
	return ""
}

// lift ends the fault.
func (r *rule) lift() {
	rules.mu.Lock()
	left := slices.DeleteFunc(rules.of[r.b], func(other *rule) bool { return other == r })
	if rules.of[r.b] = left; len(left) == 0 {
		delete(rules.of, r.b)
	}
	stalled, unblocks := r.stalled, r.blocks
	r.stalled, r.blocks = nil, false
	for _, other := range left {
		unblocks = unblocks && !other.blocks
	}
	rules.mu.Unlock()
	for _, w := range stalled {
		w.release()
	}
	if unblocks {
		r.b.SetAlarm(leveret.MemoryAlarm, false)
	}
}

// block raises the alarm for a rule, unless the rule has been lifted.
func (r *rule) block() {
	rules.mu.Lock()
	r.blocks = r.inForceLocked()
	blocks := r.blocks
	rules.mu.Unlock()
	if blocks {
		r.b.SetAlarm(leveret.MemoryAlarm, true)
	}
}

// stall holds a connection for a rule, unless the rule has been lifted: whoever has lifted it may have looked for the
// connection before it was held.
func (r *rule) stall(w *wire) {
	w.hold()
	rules.mu.Lock()
	inForce := r.inForceLocked()
	rules.mu.Unlock()
	if !inForce {
		w.release()
	}
}

// inForceLocked reports whether the rule has not been lifted.
func (r *rule) inForceLocked() bool { return slices.Contains(rules.of[r.b], r) }

// anyRule reports whether a fault of the broker waits at a point.
func anyRule(b *leveret.Broker, on Point) bool {
	rules.mu.Lock()
	defer rules.mu.Unlock()
	return slices.ContainsFunc(rules.of[b], func(r *rule) bool { return r.On == on })
}

// due returns the fault that a message meets at a point, nil if there is none. able says which actions are possible here.
func (w *wire) due(on Point, message func() leveret.MessageInfo, able func(Kind) bool) *rule {
	rules.mu.Lock()
	defer rules.mu.Unlock()
	var m *leveret.MessageInfo
	for _, r := range rules.of[w.b] {
		if r.On != on || r.fired && !r.Keep || !able(r.Do.Kind) {
			continue
		}
		if m == nil {
			info := message()
			m = &info
		}
		if r.Match(*m) != nil {
			continue
		}
		if r.seen++; r.seen < r.Nth {
			continue
		}
		r.fired = true
		if r.Do.Kind == Stall {
			r.stalled = append(r.stalled, w)
		}
		return r
	}
	return nil
}
