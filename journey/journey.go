package journey

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
)

// A Journey is what happened to one message, through all its copies and deaths. Its String tells the story: a line an
// event, each copy under the one it was made from, a loss marked at the beginning of its line.
type Journey struct {
	VHost      string
	Message    uint64              // its number, see leveret.EventMessage
	Properties *leveret.Properties // as published; nil: none
	Body       []byte
	Events     []any // of leveret's event types, from the PublishedEvent on
	// LeftOut counts deliveries that were requeued and are not among Events: after the first 10000 events those are not kept.
	LeftOut int

	numbers []int // of the events, among those of all messages
}

// A Place is where a copy of a message is.
type Place struct {
	Queue       string `json:"queue"`
	Copy        uint64 `json:"copy"`
	Unacked     bool   `json:"unacked"`                // delivered, and not settled
	ConsumerTag string `json:"consumer_tag,omitempty"` // of the delivery; empty for basic.get
}

// Published describes the message as it was published.
func (j *Journey) Published() leveret.MessageInfo {
	e := j.Events[0].(leveret.PublishedEvent)
	return leveret.MessageInfo{Exchange: e.Exchange, RoutingKey: e.RoutingKey, Properties: e.Properties, Body: e.Body}
}

// Lost returns the losses of the message's copies.
func (j *Journey) Lost() []leveret.DroppedEvent {
	var lost []leveret.DroppedEvent
	for _, e := range j.Events {
		if d, ok := e.(leveret.DroppedEvent); ok {
			lost = append(lost, d)
		}
	}
	return lost
}

// In returns where copies of the message are now, in the order in which they came there.
func (j *Journey) In() []Place {
	var places []Place
	at := func(copy uint64) int {
		return slices.IndexFunc(places, func(p Place) bool { return p.Copy == copy })
	}
	gone := func(copy uint64) {
		if i := at(copy); i >= 0 {
			places = slices.Delete(places, i, i+1)
		}
	}
	held := func(copy uint64, unacked bool, tag string) {
		if i := at(copy); i >= 0 {
			places[i].Unacked, places[i].ConsumerTag = unacked, tag
		}
	}
	for _, e := range j.Events {
		switch e := e.(type) {
		case leveret.EnqueuedEvent:
			places = append(places, Place{Queue: e.Queue, Copy: e.Copy})
		case leveret.DeliveredEvent:
			held(e.Copy, true, e.ConsumerTag)
		case leveret.RequeuedEvent:
			held(e.Copy, false, "")
		case leveret.RejectedEvent:
			held(e.Copy, false, "")
		case leveret.AckedEvent:
			gone(e.Copy)
		case leveret.DeadLetteredEvent:
			gone(e.Copy)
		case leveret.DroppedEvent:
			gone(e.Copy)
		}
	}
	return places
}

// Deaths returns how often the message died, in all its copies, by queue and reason, in the order of the first.
func (j *Journey) Deaths() []leveret.Death {
	var deaths []leveret.Death
	died := func(e leveret.EventMessage, queue string, reason leveret.Reason) {
		i := slices.IndexFunc(deaths, func(d leveret.Death) bool { return d.Queue == queue && d.Reason == reason })
		if i < 0 {
			deaths, i = append(deaths, leveret.Death{Queue: queue, Reason: reason, Time: e.Time}), len(deaths)
		}
		deaths[i].Count++
	}
	for _, e := range j.Events {
		switch e := e.(type) {
		case leveret.DeadLetteredEvent:
			died(e.EventMessage, e.Queue, e.Reason)
		case leveret.DroppedEvent:
			if e.Reason != "" && e.Copy != 0 {
				died(e.EventMessage, e.Queue, e.Reason)
			}
		}
	}
	return deaths
}

// Ends says how many copies of a message ended in which way, or have not.
type Ends struct {
	Acked    int `json:"acked"`
	Waiting  int `json:"waiting"` // in a queue
	Lost     int `json:"lost"`
	Refused  int `json:"refused"`  // kept out by a queue that is full: the publisher hears of it
	Returned int `json:"returned"` // mandatory, and given back to the publisher: 1 or 0
}

// Ends counts the ends of the message's copies.
func (j *Journey) Ends() Ends {
	ends := Ends{Waiting: len(j.In()), Lost: len(j.Lost())}
	died := map[uint64]bool{} // those that went on, though a queue refused them, and dead letters, which are dropped
	for _, e := range j.Events {
		switch e := e.(type) {
		case leveret.DeadLetteredEvent:
			died[e.Copy] = true
		case leveret.DroppedEvent:
			died[e.Copy] = true
		}
	}
	for _, e := range j.Events {
		switch e := e.(type) {
		case leveret.AckedEvent:
			ends.Acked++
		case leveret.ReturnedEvent:
			ends.Returned++
		case leveret.RefusedEvent:
			if e.Parent == 0 && !died[e.Copy] {
				ends.Refused++
			}
		}
	}
	return ends
}

// Well reports whether no copy was lost, refused or returned.
func (e Ends) Well() bool { return e.Lost+e.Refused+e.Returned == 0 }

// String says it in a line, such as "1 acknowledged, 1 lost".
func (e Ends) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		text string
	}{{e.Acked, "acknowledged"}, {e.Waiting, "in a queue"}, {e.Lost, "lost"}, {e.Refused, "refused"}, {e.Returned, "returned"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.text))
		}
	}
	if parts == nil {
		return "nothing is left"
	}
	return strings.Join(parts, ", ")
}
