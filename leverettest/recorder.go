package leverettest

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/leveretmq/leveret"
)

// A Recorder keeps what happens to messages. It is safe for concurrent use.
type Recorder struct {
	keep  func(leveret.EventMessage) bool
	limit int

	mu       sync.Mutex
	journeys map[messageID]*Journey
	order    []*Journey         // as they were published
	events   int                // how many there were
	told     map[messageID]bool // whose journeys were printed
	ledger   ledger
}

type messageID struct {
	vhost  string
	number uint64
}

// ledger are the events by their kind.
type ledger struct {
	published    []leveret.PublishedEvent
	returned     []leveret.ReturnedEvent
	acked        []leveret.AckedEvent
	requeued     []leveret.RequeuedEvent
	rejected     []leveret.RejectedEvent
	deadLettered []leveret.DeadLetteredEvent
	dropped      []leveret.DroppedEvent
}

// A RecordOption says what a Recorder keeps.
type RecordOption func(*Recorder)

// KeepIf has only those messages recorded for which keep returns true when they are published.
func KeepIf(keep func(leveret.EventMessage) bool) RecordOption {
	return func(r *Recorder) { r.keep = keep }
}

// KeepLast has the journeys of the last n messages kept, and as many events of each kind. Default: 10000. What is older
// is forgotten.
func KeepLast(n int) RecordOption { return func(r *Recorder) { r.limit = max(n, 1) } }

// recorders are those of the brokers that are recorded, so that assertions find them.
var recorders sync.Map // *leveret.Broker to *Recorder

// Record records what happens to messages that are published from now on, until the test ends. If the test fails, the
// journeys of the messages that were lost, or are in a queue still, and what is in the queues are printed.
//
// Assertions on the broker print the journeys concerned when they fail. A broker that is not recorded is as fast as
// ever.
func Record(t T, b *leveret.Broker, opts ...RecordOption) *Recorder {
	r := &Recorder{keep: func(leveret.EventMessage) bool { return true }, limit: 10_000, journeys: map[messageID]*Journey{},
		told: map[messageID]bool{}}
	for _, o := range opts {
		o(r)
	}
	stop := b.Watch(r.hooks())
	recorders.Store(b, r)
	t.Cleanup(func() {
		t.Helper()
		if t.Failed() {
			b.Settle()
			t.Logf("leveret: queues:\n%s", queueTable(b))
			if text := r.tell(r.journeysIf((*Journey).unsettled)); text != "" {
				t.Logf("leveret: messages that were lost, or that are in a queue:\n%s", text)
			}
		}
		stop()
		recorders.CompareAndDelete(b, r)
	})
	return r
}

// recorderOf returns the broker's recorder, nil if it has none.
func recorderOf(b *leveret.Broker) *Recorder {
	r, _ := recorders.Load(b)
	rec, _ := r.(*Recorder)
	return rec
}

// hooks are what the recorder listens to.
func (r *Recorder) hooks() leveret.Events {
	return leveret.Events{
		Published: func(e leveret.PublishedEvent) {
			r.begin(e)
			note(r, e, e.EventMessage, &r.ledger.published)
		},
		Returned:     func(e leveret.ReturnedEvent) { note(r, e, e.EventMessage, &r.ledger.returned) },
		Enqueued:     func(e leveret.EnqueuedEvent) { note(r, e, e.EventMessage, nil) },
		Refused:      func(e leveret.RefusedEvent) { note(r, e, e.EventMessage, nil) },
		Delivered:    func(e leveret.DeliveredEvent) { note(r, e, e.EventMessage, nil) },
		Acked:        func(e leveret.AckedEvent) { note(r, e, e.EventMessage, &r.ledger.acked) },
		Requeued:     func(e leveret.RequeuedEvent) { note(r, e, e.EventMessage, &r.ledger.requeued) },
		Rejected:     func(e leveret.RejectedEvent) { note(r, e, e.EventMessage, &r.ledger.rejected) },
		DeadLettered: func(e leveret.DeadLetteredEvent) { note(r, e, e.EventMessage, &r.ledger.deadLettered) },
		Dropped:      func(e leveret.DroppedEvent) { note(r, e, e.EventMessage, &r.ledger.dropped) },
	}
}

// begin makes the journey of a message that is published.
func (r *Recorder) begin(e leveret.PublishedEvent) {
	if !r.keep(e.EventMessage) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	j := &Journey{VHost: e.VHost, Message: e.Message, Properties: e.Properties, Body: e.Body}
	r.journeys[messageID{e.VHost, e.Message}] = j
	r.order = append(r.order, j)
	if len(r.order) > r.limit {
		delete(r.journeys, messageID{r.order[0].VHost, r.order[0].Message})
		r.order[0] = nil
		r.order = r.order[1:]
	}
}

// note adds e to its message's journey, and to the events of its kind if these are kept.
func note[E any](r *Recorder, e E, m leveret.EventMessage, kind *[]E) {
	r.mu.Lock()
	defer r.mu.Unlock()
	j := r.journeys[messageID{m.VHost, m.Message}]
	if j == nil {
		return
	}
	r.events++
	j.Events, j.numbers = append(j.Events, e), append(j.numbers, r.events)
	if kind == nil {
		return
	}
	if *kind = append(*kind, e); len(*kind) > r.limit {
		*kind = slices.Delete(*kind, 0, len(*kind)-r.limit)
	}
}

// Published returns the publishes of the messages that are kept, in their order, as the following methods do the other
// events.
func (r *Recorder) Published() []leveret.PublishedEvent { return eventsOf(r, &r.ledger.published) }

// Returned returns what came back to its publisher.
func (r *Recorder) Returned() []leveret.ReturnedEvent { return eventsOf(r, &r.ledger.returned) }

// Acked returns the acknowledgements.
func (r *Recorder) Acked() []leveret.AckedEvent { return eventsOf(r, &r.ledger.acked) }

// Requeued returns what went back into a queue.
func (r *Recorder) Requeued() []leveret.RequeuedEvent { return eventsOf(r, &r.ledger.requeued) }

// Rejected returns what was rejected without requeue.
func (r *Recorder) Rejected() []leveret.RejectedEvent { return eventsOf(r, &r.ledger.rejected) }

// DeadLettered returns the deaths that led to a dead-letter exchange.
func (r *Recorder) DeadLettered() []leveret.DeadLetteredEvent {
	return eventsOf(r, &r.ledger.deadLettered)
}

// Dropped returns the losses.
func (r *Recorder) Dropped() []leveret.DroppedEvent { return eventsOf(r, &r.ledger.dropped) }

func eventsOf[E any](r *Recorder, kind *[]E) []E {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(*kind)
}

// Journeys returns the journeys of the messages that all matchers accept, in the order in which they were published.
func (r *Recorder) Journeys(matchers ...Matcher) []*Journey {
	return r.journeysIf(func(j *Journey) bool { return matches(j.published(), matchers) == nil })
}

// Journey returns the journey of the first message that all matchers accept, nil if there is none.
func (r *Recorder) Journey(matchers ...Matcher) *Journey {
	if js := r.Journeys(matchers...); len(js) > 0 {
		return js[0]
	}
	return nil
}

// tell returns the stories of journeys that were not told yet, at most twenty.
func (r *Recorder) tell(js []*Journey) string {
	const most = 20
	r.mu.Lock()
	defer r.mu.Unlock()
	var out strings.Builder
	for i, j := range js {
		if i == most {
			fmt.Fprintf(&out, "and %d more\n", len(js)-most)
			break
		}
		if id := (messageID{j.VHost, j.Message}); !r.told[id] {
			r.told[id] = true
			out.WriteString(j.String())
		}
	}
	return out.String()
}

// journeysIf returns copies of some journeys, which do not change any more.
func (r *Recorder) journeysIf(wanted func(*Journey) bool) []*Journey {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []*Journey
	for _, j := range r.order {
		c := *j
		c.Events = slices.Clone(j.Events)
		if wanted(&c) {
			out = append(out, &c)
		}
	}
	return out
}
