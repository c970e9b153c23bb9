package graph

import (
	"fmt"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
)

// OfEvents describes what happened to one message, from its events in their order: those of leveret's event types that
// hooks of [leveret.Broker.Watch] were called with, or the Events of a journey of package leverettest. Each copy is a
// node, with what happened to it in its queue; arrows lead to the copies that were made of it when it died, or to its
// loss. Times count from the first event. Events of other messages and other types are left out.
func OfEvents(events []any) *Graph {
	j := journey{copies: map[uint64]int{}, deaths: map[uint64]leveret.DeadLetteredEvent{}, dies: map[uint64]bool{}}
	j.findDeaths(events)
	for _, e := range events {
		j.tell(e)
	}
	return &j.Graph
}

// A journey is a graph that is being made of events.
type journey struct {
	Graph
	message uint64
	start   time.Time
	copies  map[uint64]int // the node of each copy
	deaths  map[uint64]leveret.DeadLetteredEvent
	dies    map[uint64]bool // the copies that died or were lost, those that a queue refused included
}

// findDeaths notes which copies died, and why: with the at-least-once strategy that is told after what came of it.
func (j *journey) findDeaths(events []any) {
	for _, e := range events {
		switch e := e.(type) {
		case leveret.DeadLetteredEvent:
			j.deaths[e.Copy], j.dies[e.Copy] = e, true
		case leveret.DroppedEvent:
			j.dies[e.Copy] = true
		}
	}
}

func (j *journey) tell(e any) {
	switch e := e.(type) {
	case leveret.PublishedEvent:
		j.published(e)
	case leveret.ReturnedEvent:
		j.end(e.EventMessage, 0, "returned to its publisher")
	case leveret.EnqueuedEvent:
		j.copy(e.EventMessage, e.Parent, e.Copy, e.Queue, "enqueued")
	case leveret.DeliveredEvent:
		j.note(e.EventMessage, e.Copy, "delivered")
	case leveret.AckedEvent:
		j.note(e.EventMessage, e.Copy, "acknowledged ✓")
	case leveret.RequeuedEvent:
		j.note(e.EventMessage, e.Copy, "requeued")
	case leveret.RejectedEvent:
		j.note(e.EventMessage, e.Copy, "rejected")
	case leveret.RefusedEvent:
		j.refused(e)
	case leveret.DeadLetteredEvent:
		if e.Reason != leveret.Rejected {
			j.note(e.EventMessage, e.Copy, string(e.Reason))
		}
	case leveret.DroppedEvent:
		j.dropped(e)
	}
}

func (j *journey) published(e leveret.PublishedEvent) {
	if len(j.Nodes) > 0 {
		return
	}
	j.message, j.start, j.Title = e.Message, e.Time, fmt.Sprintf("message %d", e.Message)
	if e.Properties != nil && e.Properties.MessageID != "" {
		j.Title += ", " + e.Properties.MessageID
	}
	j.Nodes = append(j.Nodes, Node{Kind: Publisher, Name: "published", Details: []string{"to " + exchangeName(e.Exchange), "key " + e.RoutingKey}})
}

func exchangeName(name string) string {
	if name == "" {
		return "the default exchange"
	}
	return name
}

// foreign reports whether an event is not of the message, or came before its publish.
func (j *journey) foreign(m leveret.EventMessage) bool {
	return len(j.Nodes) == 0 || m.Message != j.message
}

func (j *journey) at(m leveret.EventMessage) string { return m.Time.Sub(j.start).String() }

// copy adds the node of a copy.
func (j *journey) copy(m leveret.EventMessage, parent, copy uint64, queue, what string) {
	if j.foreign(m) {
		return
	}
	j.copies[copy] = len(j.Nodes)
	j.Nodes = append(j.Nodes, Node{Kind: Queue, Name: queue, Details: []string{j.at(m) + " " + what}})
	j.arrow(parent, j.copies[copy])
}

// refused has a node of its own: what dies in a queue that refused it goes on from there.
func (j *journey) refused(e leveret.RefusedEvent) {
	switch {
	case j.dies[e.Copy]:
		j.copy(e.EventMessage, e.Parent, e.Copy, e.Queue, "refused")
	case e.Parent != 0:
		j.note(e.EventMessage, e.Parent, "refused by "+e.Queue)
	default:
		j.end(e.EventMessage, 0, "refused by "+e.Queue)
	}
}

// arrow leads from the copy that died, or from the publish, to a node.
func (j *journey) arrow(parent uint64, to int) {
	edge := Edge{To: to, Kind: Binding}
	if from, ok := j.copies[parent]; ok {
		edge.From, edge.Kind = from, DeadLetter
		if d, ok := j.deaths[parent]; ok {
			edge.Labels = []string{string(d.Reason), "to " + exchangeName(d.Exchange), "key " + d.RoutingKey}
		}
	}
	if j.Nodes[to].Kind == Lost {
		edge.Kind = Loss
	}
	j.Edges = append(j.Edges, edge)
}

// note writes what happened on the copy's node.
func (j *journey) note(m leveret.EventMessage, copy uint64, what string) {
	i, ok := j.copies[copy]
	if !ok || j.foreign(m) {
		return
	}
	j.Nodes[i].Details = append(j.Nodes[i].Details, j.at(m)+" "+what)
}

// end adds a node where the message did not go on.
func (j *journey) end(m leveret.EventMessage, parent uint64, what ...string) {
	if j.foreign(m) {
		return
	}
	what[0] = j.at(m) + " " + what[0]
	j.Nodes = append(j.Nodes, Node{Kind: Lost, Name: "lost", Details: what})
	j.arrow(parent, len(j.Nodes)-1)
}

func (j *journey) dropped(e leveret.DroppedEvent) {
	last := e.Copy
	if last == 0 {
		last = e.Parent
	}
	lines := []string{strings.ReplaceAll(string(e.Cause), "_", " ")}
	if e.Reason != "" {
		lines = append(lines, "when it died: "+string(e.Reason))
	}
	if e.Target != "" {
		lines = append(lines, "on its way to "+e.Target)
	}
	j.end(e.EventMessage, last, lines...)
}
