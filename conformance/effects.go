package conformance

import (
	"slices"
	"time"

	"github.com/leveretmq/leveret"
)

// effects is what one statement led to in the engine.
type effects struct {
	arrivals []arrival
	deaths   []death
	requeued []string
	acked    []string            // queues
	served   map[string][]string // queues that delivered, by channel
	sources  map[string]string   // of deliveries, by consumer tag: the queue
	numbers  map[string]span     // of deliveries, by channel
	messages []delivered         // to consumers, in order
	touched  []string            // queues, in the order in which something happened to them
	deleted  []string            // queues
	expired  []string            // queues, among the deleted ones
	left     []departure         // of consumers
	endless  bool                // dead letters went round without end
	last     time.Time           // of the last effect

	origins map[string][]string // where what a queue is about to get comes from
}

// An arrival is a message that came to a queue from another one, or from a publisher: then the origin is empty.
type arrival struct {
	queue, origin string
	at            time.Time
}

// A departure is a consumer that has left its queue.
type departure struct{ queue, tag string }

func (e *effects) forget() {
	*e = effects{served: map[string][]string{}, sources: map[string]string{}, numbers: map[string]span{}, origins: map[string][]string{}}
}

func (e *effects) touch(queue string, at time.Time) {
	e.last = at
	if !slices.Contains(e.touched, queue) {
		e.touched = append(e.touched, queue)
	}
}

func (e *effects) sent(origin string, queues []string) {
	for _, q := range queues {
		e.origins[q] = append(e.origins[q], origin)
	}
}

func (e *effects) arrived(queue string, at time.Time) {
	e.touch(queue, at)
	origin := "?" // a pending dead letter
	if from := e.origins[queue]; len(from) > 0 {
		origin, e.origins[queue] = from[0], from[1:]
	}
	e.arrivals = append(e.arrivals, arrival{queue, origin, at})
}

// A delivered is a message that a consumer got.
type delivered struct{ tag, body string }

func (e *effects) delivered(d leveret.DeliveredEvent) {
	actor := actorOf(d.ConsumerTag)
	e.messages = append(e.messages, delivered{d.ConsumerTag, string(d.Body)})
	if !slices.Contains(e.served[actor], d.Queue) {
		e.served[actor] = append(e.served[actor], d.Queue)
	}
	e.sources[d.ConsumerTag] = d.Queue
	e.numbers[actor] = e.numbers[actor].with(d.DeliveryTag)
}

// A death is a message that died in a queue.
type death struct {
	queue    string
	reason   leveret.Reason
	priority int  // -1: none
	expires  bool // the message had an expiration
	at       time.Time
}

func (e *effects) died(queue string, m leveret.EventMessage, reason leveret.Reason) {
	e.touch(queue, m.Time)
	d := death{queue: queue, reason: reason, priority: -1, at: m.Time}
	d.expires = m.Properties.Has()&leveret.PropExpiration != 0
	if m.Properties.Has()&leveret.PropPriority != 0 {
		d.priority = int(m.Properties.Priority)
	}
	e.deaths = append(e.deaths, d)
}

func (e *effects) events() leveret.Events {
	return leveret.Events{
		Published: func(p leveret.PublishedEvent) { e.sent("", p.Queues) },
		Enqueued:  func(n leveret.EnqueuedEvent) { e.arrived(n.Queue, n.Time) },
		Refused:   func(n leveret.RefusedEvent) { e.arrived(n.Queue, n.Time) },
		DeadLettered: func(n leveret.DeadLetteredEvent) {
			e.died(n.Queue, n.EventMessage, n.Reason)
			e.sent(n.Queue, n.Queues)
		},
		Dropped: func(n leveret.DroppedEvent) {
			e.endless = e.endless || n.Cause == leveret.CauseCycle && n.Target == ""
			if n.Queue != "" {
				e.died(n.Queue, n.EventMessage, n.Reason)
			}
			if n.Cause == leveret.CauseCycle && len(e.origins[n.Target]) > 0 {
				e.origins[n.Target] = e.origins[n.Target][1:]
			}
		},
		QueueDeleted: func(n leveret.QueueEvent) {
			e.touch(n.Queue, n.Time)
			e.deleted = append(e.deleted, n.Queue)
			if n.Cause == leveret.CauseQueueExpired {
				e.expired = append(e.expired, n.Queue)
			}
		},
		Acked: func(n leveret.AckedEvent) {
			e.touch(n.Queue, n.Time) // a quorum queue's getters are counted until then
			e.acked = append(e.acked, n.Queue)
		},
		ConsumerRemoved: func(n leveret.ConsumerEvent) {
			e.touch(n.Queue, n.Time)
			e.left = append(e.left, departure{n.Queue, n.Tag})
		},
		Requeued: func(n leveret.RequeuedEvent) {
			e.touch(n.Queue, n.Time)
			e.requeued = append(e.requeued, n.Queue)
		},
		Delivered: func(n leveret.DeliveredEvent) {
			e.touch(n.Queue, n.Time)
			if n.ConsumerTag != "" {
				e.delivered(n)
			}
		},
	}
}
