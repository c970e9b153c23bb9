package journey

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/phrase"
)

// String tells the story.
func (j *Journey) String() string {
	first := j.Events[0].(leveret.PublishedEvent)
	s := story{start: first.Time, depth: map[uint64]int{}}
	fmt.Fprintf(&s, "message %d%s\n", j.Message, j.label())
	for _, e := range j.Events {
		s.tell(e)
	}
	if j.LeftOut > 0 {
		fmt.Fprintf(&s, "%12s  %d more deliveries were requeued\n", "", j.LeftOut)
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
	return out + ", " + phrase.Body(j.Body)
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
		s.line("", e.Time, 0, "published to %s with key %q → %s", phrase.Exchange(e.Exchange), e.RoutingKey, phrase.Queues(e.Queues))
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
			phrase.Exchange(e.Exchange), e.RoutingKey, phrase.Queues(e.Queues))
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
		return fmt.Sprintf("%s led to no queue with key %q", phrase.Exchange(e.Exchange), e.RoutingKey)
	case leveret.CauseNoDeadLetterExchange:
		return fmt.Sprintf("died in %s (%s), which has no dead-letter exchange", e.Queue, e.Reason)
	case leveret.CauseExchangeMissing:
		return fmt.Sprintf("died in %s (%s), whose dead-letter exchange does not exist", e.Queue, e.Reason)
	case leveret.CauseDeadLetterUnroutable:
		return fmt.Sprintf("%s, the dead-letter exchange, led to no queue with key %q", phrase.Exchange(e.Exchange), e.RoutingKey)
	case leveret.CauseCycle:
		return fmt.Sprintf("it would have gone to %s again, without having been rejected on the way", cmp.Or(e.Target, "the same queues"))
	case leveret.CauseRefused:
		return fmt.Sprintf("%s is full and refuses it", e.Target)
	case leveret.CausePurged:
		return fmt.Sprintf("%s was purged", e.Queue)
	}
	return fmt.Sprintf("%s (%s)", e.Cause, e.Queue)
}

func receiver(d leveret.EventDelivery) string {
	if d.ConsumerTag == "" {
		return "basic.get"
	}
	return fmt.Sprintf("consumer %q", d.ConsumerTag)
}

// Timeline tells what happened to several messages, in the order in which it happened. Each line begins with the
// message's number. The journeys are of one recorder.
func Timeline(journeys []*Journey) string {
	type moment struct {
		number int
		line   string
	}
	var all []moment
	var start time.Time
	for i, j := range journeys {
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
