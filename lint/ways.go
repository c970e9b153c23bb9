package lint

import (
	"maps"
	"slices"

	"github.com/leveretmq/leveret"
)

// Where dead letters go is asked of a broker in which every message dies at once, by a TTL of zero, wherever it comes.
// One publish so shows the whole way, as the engine routes it and as its cycle rule ends it.

// A ways is that broker.
type ways struct {
	b    *leveret.Broker
	trip trip // the one that is under way
}

// A trip is what happened to one message and its dead letters.
type trip struct {
	places map[uint64]leveret.EnqueuedEvent // the copies, by number
	deaths []leveret.DeadLetteredEvent
	drops  []leveret.DroppedEvent
}

// newWays makes the broker. No queue keeps a dead letter, refuses one or has room for it.
func (s *site) newWays(v vhost) (*ways, error) {
	d := *s.defs
	d.Queues = slices.Clone(d.Queues)
	for i := range d.Queues {
		e := &d.Queues[i]
		if e.VHost == v.Name() {
			e.Arguments.Table = deadly(e.Arguments.Table, v.kindOf(e.Name))
		}
	}
	w := &ways{}
	var err error
	w.b, err = s.brokerOf(&d, leveret.WithEvents(leveret.Events{
		Enqueued:     func(e leveret.EnqueuedEvent) { w.trip.places[e.Copy] = e },
		DeadLettered: func(e leveret.DeadLetteredEvent) { w.trip.deaths = append(w.trip.deaths, e) },
		Dropped:      func(e leveret.DroppedEvent) { w.trip.drops = append(w.trip.drops, e) },
	}))
	return w, err
}

// deadly are a queue's arguments with which its messages die at once.
// Rules: T-9, DL-28, P-17.
func deadly(args leveret.Table, kind leveret.QueueType) leveret.Table {
	args = maps.Clone(args)
	if args == nil {
		args = leveret.Table{}
	}
	args[leveret.ArgMessageTTL] = 0
	args[leveret.ArgOverflow] = leveret.OverflowDropHead
	delete(args, leveret.ArgMaxLength)
	delete(args, leveret.ArgMaxLengthBytes)
	if kind == leveret.QueueTypeQuorum {
		args[leveret.ArgDeadLetterStrategy] = leveret.DeadLetterAtMostOnce
	}
	return args
}

// kindOf returns the type of a queue, the empty one if there is no such queue.
func (v vhost) kindOf(queue string) leveret.QueueType { return v.named[queue].Type }

// probe is the exchange that messages are published to. It leads to one queue at a time, and is not in the file.
const probe = "leveret.lint"

// follow has a message come to a queue with a routing key, and tells what happens.
func (w *ways) follow(vhost, queue, key string) (trip, error) {
	v, err := w.b.VHost(vhost)
	if err != nil {
		return trip{}, err
	}
	if _, err := v.DeclareExchange(probe, leveret.Fanout, leveret.ExchangeConfig{}); err != nil {
		return trip{}, err
	}
	if err := v.BindQueue(queue, probe, "", nil); err != nil {
		return trip{}, err
	}
	defer func() { _ = v.UnbindQueue(queue, probe, "", nil) }()
	w.trip = trip{places: map[uint64]leveret.EnqueuedEvent{}}
	if _, err := v.Publish(probe, key, leveret.Message{}); err != nil {
		return trip{}, err
	}
	w.b.Settle()
	return w.trip, nil
}

// circle returns the queues through which a dead letter came round that the cycle rule dropped, first the target.
func (t trip) circle(d leveret.DroppedEvent) (queues []string) {
	for at, known := t.places[d.Parent]; known; at, known = t.places[at.Parent] {
		queues = append(queues, at.Queue)
		if at.Queue == d.Target {
			break
		}
	}
	slices.Reverse(queues)
	return queues
}
