package leverettest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

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

	numbers []int // of the events, among those of all messages
}

// A Place is where a copy of a message is.
type Place struct {
	Queue       string
	Copy        uint64
	Unacked     bool   // delivered, and not settled
	ConsumerTag string // of the delivery; empty for basic.get
}

// published describes the message as it was published, for matchers.
func (j *Journey) published() leveret.MessageInfo {
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

// unsettled reports whether the message was lost, or is in a queue.
func (j *Journey) unsettled() bool { return len(j.Lost()) > 0 || len(j.In()) > 0 }

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

// String tells the story.
func (j *Journey) String() string {
	first := j.Events[0].(leveret.PublishedEvent)
	s := story{start: first.Time, depth: map[uint64]int{}}
	fmt.Fprintf(&s, "message %d%s\n", j.Message, j.label())
	for _, e := range j.Events {
		s.tell(e)
	}
	for _, p := range j.In() {
		s.rest(p)
	}
	return s.String()
}

// label names the message as a reader knows it.
func (j *Journey) label() string {
	out := ""
	if p := j.Properties; p != nil {
		if p.MessageID != "" {
			out += fmt.Sprintf(", message-id %q", p.MessageID)
		}
		if p.CorrelationID != "" {
			out += fmt.Sprintf(", correlation-id %q", p.CorrelationID)
		}
	}
	return out + ", " + shortBody(j.Body)
}

// shortBody shows the beginning of a body.
func shortBody(body []byte) string {
	const most = 60
	if len(body) <= most {
		return fmt.Sprintf("%q", body)
	}
	return fmt.Sprintf("%q… (%d bytes)", body[:most], len(body))
}

// A story is the text of a journey that is being written.
type story struct {
	strings.Builder
	start time.Time
	depth map[uint64]int // of each copy: how many deaths lie before it
}

const lossMark = "✗"

// line writes a line about a copy.
func (s *story) line(mark string, at time.Time, depth int, format string, args ...any) {
	fmt.Fprintf(s, "%1s %10s  %s%s\n", mark, at.Sub(s.start), strings.Repeat("   ", depth), fmt.Sprintf(format, args...))
}

func (s *story) tell(e any) {
	switch e := e.(type) {
	case leveret.PublishedEvent:
		s.line("", e.Time, 0, "published to %s with key %q → %s", exchangeName(e.Exchange), e.RoutingKey, queueList(e.Queues))
	case leveret.ReturnedEvent:
		s.line(lossMark, e.Time, 0, "returned to its publisher: no queue")
	case leveret.EnqueuedEvent:
		if e.Parent != 0 {
			s.depth[e.Copy] = s.depth[e.Parent] + 1
		}
		s.line("", e.Time, s.depth[e.Copy], "enqueued in %s", e.Queue)
	case leveret.RefusedEvent:
		s.line(lossMark, e.Time, s.below(e.Parent), "refused by %s, which is full", e.Queue)
	case leveret.DeliveredEvent:
		again := ""
		if e.Redelivered {
			again = ", redelivered"
		}
		s.line("", e.Time, s.depth[e.Copy], "delivered from %s to %s%s", e.Queue, receiver(e.EventDelivery), again)
	case leveret.AckedEvent:
		s.line("", e.Time, s.depth[e.Copy], "acknowledged in %s", e.Queue)
	case leveret.RequeuedEvent:
		s.line("", e.Time, s.depth[e.Copy], "requeued in %s", e.Queue)
	case leveret.RejectedEvent:
		s.line("", e.Time, s.depth[e.Copy], "rejected in %s", e.Queue)
	case leveret.DeadLetteredEvent:
		s.line("", e.Time, s.depth[e.Copy], "died in %s (%s) → %s with key %q → %s", e.Queue, e.Reason,
			exchangeName(e.Exchange), e.RoutingKey, queueList(e.Queues))
	case leveret.DroppedEvent:
		s.lost(e)
	}
}

// below is the depth of what was made from a copy; 0 for what was published.
func (s *story) below(parent uint64) int {
	if parent == 0 {
		return 0
	}
	return s.depth[parent] + 1
}

func (s *story) lost(e leveret.DroppedEvent) {
	depth := s.depth[e.Copy]
	if e.Copy == 0 {
		depth = s.below(e.Parent)
	}
	s.line(lossMark, e.Time, depth, "LOST: %s", lossText(e))
}

// rest tells where a copy is at the end.
func (s *story) rest(p Place) {
	where := "ready"
	if p.Unacked {
		where = "unacknowledged by " + receiver(leveret.EventDelivery{ConsumerTag: p.ConsumerTag})
	}
	fmt.Fprintf(s, "%12s  %sis in %s, %s\n", "now", strings.Repeat("   ", s.depth[p.Copy]), p.Queue, where)
}

// lossText says why a message was lost, in the words of somebody who looks for the mistake.
func lossText(e leveret.DroppedEvent) string {
	switch e.Cause {
	case leveret.CauseUnroutable:
		return fmt.Sprintf("%s led to no queue with key %q", exchangeName(e.Exchange), e.RoutingKey)
	case leveret.CauseNoDeadLetterExchange:
		return fmt.Sprintf("died in %s (%s), which has no dead-letter exchange", e.Queue, e.Reason)
	case leveret.CauseExchangeMissing:
		return fmt.Sprintf("died in %s (%s), whose dead-letter exchange does not exist", e.Queue, e.Reason)
	case leveret.CauseDeadLetterUnroutable:
		return fmt.Sprintf("%s, the dead-letter exchange, led to no queue with key %q", exchangeName(e.Exchange), e.RoutingKey)
	case leveret.CauseCycle:
		return fmt.Sprintf("it would have gone to %s again, without having been rejected on the way", cmp.Or(e.Target, "the same queues"))
	case leveret.CauseRefused:
		return fmt.Sprintf("%s is full and refuses it", e.Target)
	case leveret.CausePurged:
		return fmt.Sprintf("%s was purged", e.Queue)
	}
	return fmt.Sprintf("%s (%s)", e.Cause, e.Queue)
}

func exchangeName(name string) string {
	if name == "" {
		return "the default exchange"
	}
	return fmt.Sprintf("exchange %q", name)
}

func queueList(names []string) string {
	if len(names) == 0 {
		return "no queue"
	}
	return strings.Join(names, ", ")
}

func receiver(d leveret.EventDelivery) string {
	if d.ConsumerTag == "" {
		return "basic.get"
	}
	return fmt.Sprintf("consumer %q", d.ConsumerTag)
}

// queueTable lists what is in the queues of all virtual hosts.
func queueTable(b *leveret.Broker) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "vhost\tqueue\tready\tunacked\tconsumers")
	for _, info := range b.VHosts() {
		v, err := b.VHost(info.Name)
		if err != nil {
			continue
		}
		for _, q := range v.Queues() {
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\n", info.Name, q.Name, q.Ready, q.Unacked, q.Consumers)
		}
	}
	w.Flush()
	return out.String()
}

// Timeline tells what happened to all messages, or to those that all matchers accept, in the order in which it
// happened. Each line begins with the message's number.
func (r *Recorder) Timeline(matchers ...Matcher) string {
	type moment struct {
		number int
		line   string
	}
	var all []moment
	var start time.Time
	for i, j := range r.Journeys(matchers...) {
		if i == 0 {
			start = j.Events[0].(leveret.PublishedEvent).Time
		}
		s := story{start: start, depth: map[uint64]int{}}
		for i, e := range j.Events {
			s.Reset()
			s.tell(e)
			all = append(all, moment{j.numbers[i], fmt.Sprintf("%6d %s", j.Message, s.String())})
		}
	}
	slices.SortFunc(all, func(a, b moment) int { return a.number - b.number })
	var out strings.Builder
	for _, m := range all {
		out.WriteString(m.line)
	}
	return out.String()
}
