package leverettest

import (
	"slices"
	"sync"

	"github.com/leveretmq/leveret"
)

// A Fault is a rule: at the Nth message On its way that Match accepts, Do something.
//
// Messages are counted from the time that the fault is injected, over all connections of Dial, Dialer and URL together.
// Of a message nothing but exchange, routing key, properties, body and Redelivered is known. A matcher must not use the
// broker or a client.
type Fault struct {
	On    Point
	Match Matcher // nil: every message
	Nth   int     // from 1; 0: the first
	Do    Action
	Keep  bool // not only at the Nth message but at each from then on
}

// A Point is where on its way between client and broker a message meets a fault.
type Point uint8

// The points. What a fault prevents has not happened for the side that it was on its way to. OnAck knows messages that were
// delivered after the fault was injected.
const (
	OnPublish Point = iota // a client has sent the message (basic.publish); the broker has not got it
	OnConfirm              // the broker has taken or refused the message; its publisher does not know (basic.ack, basic.nack)
	OnDeliver              // the broker has delivered the message (basic.deliver, basic.get-ok); the client has not got it
	OnAck                  // a client has settled the message (basic.ack, nack, reject); the broker does not know
)

// An Action is what a fault does.
type Action struct {
	kind actionKind
	code leveret.Code
	text string
}

type actionKind uint8

const (
	doNothing actionKind = iota
	doNack
	doCut
	doCloseChannel
	doCloseConnection
	doBlock
	doCancel
	doStall
)

// Nack refuses a publish: the broker does not get the message, and the client gets basic.nack. Other confirms keep their
// numbers. It is for OnPublish, and leaves channels alone that are not in confirm mode.
func Nack() Action { return Action{kind: doNack} }

// Cut ends the connection without a word, in place of what the message was to bring: a publish, a confirm, a delivery or
// an acknowledgement is lost. What was sent before arrives.
func Cut() Action { return Action{kind: doCut} }

// CloseChannel closes the message's channel as the broker does (channel.close), in place of what the message was to
// bring. The text is what the client reads, of at most 255 octets, such as "PRECONDITION_FAILED - unknown delivery tag 7".
func CloseChannel(code leveret.Code, text string) Action {
	return Action{kind: doCloseChannel, code: code, text: text}
}

// CloseConnection closes the message's connection as the broker does (connection.close), in place of what the message
// was to bring. The text is what the client reads, of at most 255 octets, such as "CONNECTION_FORCED - shutdown".
func CloseConnection(code leveret.Code, text string) Action {
	return Action{kind: doCloseConnection, code: code, text: text}
}

// Block raises the broker's memory alarm: all connections that publish are blocked from this message on, until the fault
// is lifted. See [leveret.Broker.SetMemoryLimit].
func Block() Action { return Action{kind: doBlock} }

// CancelConsumer ends the consumer that gets the message, as the broker does when the queue has gone (basic.cancel). The
// message arrives, and so does what the broker has delivered before it knows. It is for OnDeliver, and leaves basic.get alone.
func CancelConsumer() Action { return Action{kind: doCancel} }

// Stall lets nothing through from this message on, in neither direction, until the fault is lifted or the connection is
// closed. Nobody is told: heartbeats notice in time.
func Stall() Action { return Action{kind: doStall} }

// A rule is a fault that was injected.
type rule struct {
	Fault
	b       *leveret.Broker
	seen    int     // messages that matched
	fired   bool    // it has done something
	limit   *int64  // the memory limit that was, of a fault that has raised the alarm
	stalled []*wire // by this fault
}

// rules are those in force, in their order. A leaf: nothing else is locked while it is, but matchers run.
var rules struct {
	mu sync.Mutex
	of map[*leveret.Broker][]*rule
}

// Inject puts a fault between the broker and its clients, until the test ends or lift is called. lift also ends what
// lasts: a stalled connection goes on with all that was kept back, and what Block has blocked is unblocked.
//
// Of several faults at one point the first that is due acts. The test ends if the action is not for the point.
func Inject(t T, b *leveret.Broker, f Fault) (lift func()) {
	t.Helper()
	if problem := f.problem(); problem != "" {
		t.Fatalf("leveret: Inject: %s", problem)
	}
	if f.Match == nil {
		f.Match = Any()
	}
	r := &rule{Fault: f, b: b}
	rules.mu.Lock()
	defer rules.mu.Unlock()
	if rules.of == nil {
		rules.of = map[*leveret.Broker][]*rule{}
	}
	rules.of[b] = append(rules.of[b], r)
	t.Cleanup(r.lift)
	return r.lift
}

// problem says what is wrong with a fault.
func (f Fault) problem() string {
	const longest = 255
	switch {
	case f.Do.kind == doNothing:
		return "the fault does nothing"
	case f.Do.kind == doNack && f.On != OnPublish:
		return "Nack is for OnPublish"
	case f.Do.kind == doCancel && f.On != OnDeliver:
		return "CancelConsumer is for OnDeliver"
	case f.On > OnAck:
		return "there is no such point"
	case len(f.Do.text) > longest:
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
	stalled, limit := r.stalled, r.limit
	r.stalled, r.limit = nil, nil
	rules.mu.Unlock()
	for _, w := range stalled {
		w.up.release()
		w.down.release()
	}
	if limit != nil {
		r.b.SetMemoryLimit(*limit)
	}
}

// block raises the alarm for a rule, unless the rule has been lifted.
func (r *rule) block() {
	limit := r.b.Memory().Limit
	rules.mu.Lock()
	inForce := slices.Contains(rules.of[r.b], r)
	if inForce && r.limit == nil {
		r.limit = &limit
	}
	rules.mu.Unlock()
	if inForce {
		r.b.SetMemoryLimit(-1)
	}
}

// anyRule reports whether a fault of the broker waits at a point.
func anyRule(b *leveret.Broker, on Point) bool {
	rules.mu.Lock()
	defer rules.mu.Unlock()
	return slices.ContainsFunc(rules.of[b], func(r *rule) bool { return r.On == on })
}

// due returns the fault that a message meets at a point, nil if there is none. able says which actions are possible here.
func (w *wire) due(on Point, message func() leveret.MessageInfo, able func(actionKind) bool) *rule {
	rules.mu.Lock()
	defer rules.mu.Unlock()
	var m *leveret.MessageInfo
	for _, r := range rules.of[w.b] {
		if r.On != on || r.fired && !r.Keep || !able(r.Do.kind) {
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
		if r.Do.kind == doStall {
			r.stalled = append(r.stalled, w)
		}
		return r
	}
	return nil
}
