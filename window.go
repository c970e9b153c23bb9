package leveret

import (
	"cmp"
	"maps"
	"slices"

	"github.com/leveretmq/leveret/internal/ring"
)

// The window of a channel, which basic.qos with global sets: one prefetch for all consumers of the channel. Consumers that wait
// for room in the window are remembered. // D-27

// setWindowLocked sets the channel's window; 0: none. A new one counts all that the channel holds, a changed one goes
// on counting.
// Rules: D-27.
func (ch *Channel) setWindowLocked(n int) {
	switch {
	case n == 0:
		ch.volume = 0
	case ch.window == 0:
		ch.volume = ch.held
	}
	ch.window = n
	ch.unstallLocked()
}

// stallLocked remembers a consumer that waits for room in the channel's window, if there is one. A consumer whose own window is
// full does not wait for the channel's.
// Rules: D-27.
func (ch *Channel) stallLocked(c *Consumer) {
	if ch.window > 0 && c.q.traits.channelWindow && !c.windowFullLocked() {
		ch.stalled.add(c)
	}
}

// makeRoomLocked takes settled deliveries out of the channel's window before their queue goes on. If consumers wait for
// room in the window, the queue does not deliver to the channel until it hears from the window: see unstallLocked.
// Rules: D-27.
func (ch *Channel) makeRoomLocked() {
	if ch.settled > 0 && ch.stalled.none() {
		ch.countSettledLocked()
	}
}

func (ch *Channel) countSettledLocked() {
	if ch.volume != 0 { // with several settled at once it may get below 0
		ch.volume -= ch.settled
	}
	ch.settled = 0
}

// unstallLocked takes settled deliveries out of the channel's window and lets the consumers go on that wait for room in
// it. Their queues know of the settlement already: a consumer that waited for room in its own window has got its
// messages before the channel has room again.
// Rules: D-27.
func (ch *Channel) unstallLocked() {
	if ch.settled > 0 {
		ch.countSettledLocked()
	}
	if ch.stalled.none() || ch.window > 0 && ch.volume >= ch.window {
		return
	}
	for _, of := range slices.Collect(ch.stalled.queues.All()) { // a queue whose consumers have to wait again comes anew
		q := of.q
		ch.lineUpLocked(q)
		if !q.deleted && q.store.ready.n > 0 {
			q.impl.freed()
		}
	}
}

// lineUpLocked puts the consumers of q that wait for the channel's window in line, in the order in which they left it.
// Rules: D-27.
func (ch *Channel) lineUpLocked(q *Queue) {
	for _, c := range ch.stalled.take(q) {
		if !c.inLine() && !q.args.singleActive {
			q.consumers.enter(c)
		}
	}
}

// stalledConsumers are the consumers that wait for room in their channel's window. There may be many, of one queue or of
// many queues: what one acknowledgement costs grows with them, not with their square.
type stalledConsumers struct {
	of     map[*Queue]*stalledQueue
	queues ring.List[*stalledQueue] // in the order in which they came
}

// A stalledQueue is a queue of which consumers wait for room in their channel's window.
type stalledQueue struct {
	q         *Queue
	consumers map[*Consumer]bool // not empty
	place     ring.Place[*stalledQueue]
}

func (s *stalledConsumers) none() bool { return len(s.of) == 0 }

// add takes a consumer in, if it does not wait yet.
func (s *stalledConsumers) add(c *Consumer) {
	of := s.of[c.q]
	if of == nil {
		if s.of == nil {
			s.of = map[*Queue]*stalledQueue{}
		}
		of = &stalledQueue{q: c.q, consumers: map[*Consumer]bool{}}
		of.place.Value = of
		s.of[c.q] = of
		s.queues.PushBack(&of.place)
	}
	of.consumers[c] = true
}

// remove takes out a consumer that has ended, if it waits.
func (s *stalledConsumers) remove(c *Consumer) {
	of := s.of[c.q]
	if of == nil {
		return
	}
	delete(of.consumers, c)
	if len(of.consumers) == 0 {
		s.leave(of)
	}
}

// take takes out the consumers of a queue, in the order in which they left their lines.
func (s *stalledConsumers) take(q *Queue) []*Consumer {
	of := s.of[q]
	if of == nil {
		return nil
	}
	s.leave(of)
	return slices.SortedFunc(maps.Keys(of.consumers), func(a, b *Consumer) int {
		return cmp.Or(cmp.Compare(a.exit, b.exit), cmp.Compare(a.number, b.number))
	})
}

func (s *stalledConsumers) leave(of *stalledQueue) {
	of.place.Leave()
	delete(s.of, of.q)
	if s.none() {
		s.of = nil // a map does not shrink
	}
}
