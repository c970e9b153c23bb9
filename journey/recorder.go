package journey

import (
	"slices"
	"sync"

	"github.com/leveretmq/leveret"
)

// A Config says what a Recorder keeps. The zero value keeps what happens to the last 10000 messages.
type Config struct {
	Keep func(leveret.EventMessage) bool // the messages to record, asked when they are published; nil: all
	Last int                             // so many messages are kept, and events of each kind; 0: 10000
}

const defaultLast = 10_000

// A Recorder keeps what happens to messages. It is safe for concurrent use.
type Recorder struct {
	keep  func(leveret.EventMessage) bool
	limit int
	stop  func()

	mu       sync.Mutex
	journeys map[messageID]*Journey
	order    []*Journey // as they were published
	events   int        // how many there were
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

// Record records what happens to messages that are published to b from now on, in all its virtual hosts, until Stop.
func Record(b *leveret.Broker, cfg Config) *Recorder {
	r := &Recorder{keep: cfg.Keep, limit: defaultLast, journeys: map[messageID]*Journey{}}
	if cfg.Last > 0 {
		r.limit = cfg.Last
	}
	r.stop = b.Watch(r.hooks())
	return r
}

// Stop ends the recording. What was recorded stays.
func (r *Recorder) Stop() { r.stop() }

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
	if r.keep != nil && !r.keep(e.EventMessage) {
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
	if again, ok := any(e).(leveret.RequeuedEvent); !ok || !j.leaveOut(again.Copy) {
		j.Events, j.numbers = append(j.Events, e), append(j.numbers, r.events)
	}
	if kind == nil {
		return
	}
	if *kind = append(*kind, e); len(*kind) > r.limit {
		*kind = slices.Delete(*kind, 0, len(*kind)-r.limit)
	}
}

// keptEvents is how many events of a message are kept in any case.
const keptEvents = 10_000

// leaveOut takes back the delivery of a copy that is requeued, and reports whether it could: a message that is requeued again and
// again must not fill the memory.
func (j *Journey) leaveOut(copy uint64) bool {
	for i := len(j.Events) - 1; i >= keptEvents; i-- {
		if d, ok := j.Events[i].(leveret.DeliveredEvent); ok && d.Copy == copy {
			j.Events, j.numbers = slices.Delete(j.Events, i, i+1), slices.Delete(j.numbers, i, i+1)
			j.LeftOut++
			return true
		}
	}
	return false
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

// Journeys returns the journeys of the messages that are kept, in the order in which they were published. They do not
// change any more.
func (r *Recorder) Journeys() []*Journey {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*Journey, len(r.order))
	for i, j := range r.order {
		c := *j
		c.Events, c.numbers = slices.Clone(j.Events), slices.Clone(j.numbers)
		all[i] = &c
	}
	return all
}
