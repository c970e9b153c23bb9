package leveret

import (
	"cmp"
	"slices"

	"github.com/leveretmq/leveret/internal/ring"
)

// The window of a channel, which basic.qos with global sets: one prefetch for all consumers of the channel. Consumers that wait
// for room in the window are remembered. // D-27

// setWindowLocked sets the channel's window; 0: none. A new one counts all that the channel holds, but for what its transaction has
// settled; a changed one goes on counting.
// Rules: D-27.
func (ch *Channel) setWindowLocked(n int) {
	switch {
	case n == 0:
		ch.volume, ch.perQueue = 0, nil
	case ch.window == 0:
		ch.volume, ch.perQueue = ch.held, make(map[*Queue]int, len(ch.consumers))
		if ch.tx != nil {
			ch.volume -= ch.tx.marked
		}
		for _, c := range ch.consumers {
			ch.perQueue[c.q]++
		}
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

// makeRoomLocked takes settled deliveries out of the channel's window before q, which had delivered them, goes on. If q has found the
// window full, q does not deliver to the channel until it hears from the window: see unstallLocked.
// Rules: D-27.
func (ch *Channel) makeRoomLocked(q *Queue) {
	if ch.settled > 0 && ch.stalled.of[q] == nil {
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
// Rules: D-21, D-27.
func (ch *Channel) unstallLocked() {
	if ch.settled > 0 {
		ch.countSettledLocked()
	}
	// A queue that finds the window full again comes anew, behind the others, so each has its turn: RabbitMQ takes them in any order.
	for n := ch.stalled.queues.Len(); n > 0 && !ch.stalled.none() && !ch.windowFullLocked(); n-- {
		of := ch.stalled.queues.Front().Value
		ch.stalled.leave(of)
		// A queue of 3.10 that only ended consumers waited for stays idle. // D-21
		waited := of.take()
		of.q.lineUpLocked(waited)
		if len(waited) > 0 && !of.q.deleted && of.q.store.ready.n > 0 {
			of.q.impl.freed()
		}
		ch.v.tookLocked(1)
		ch.v.restLocked()
	}
}

// windowFullLocked reports whether the channel's window is full.
func (ch *Channel) windowFullLocked() bool { return ch.window > 0 && ch.volume >= ch.window }

// lineUpLocked puts consumers in line.
// Rules: D-27.
func (q *Queue) lineUpLocked(waited []*Consumer) {
	if q.args.singleActive {
		return
	}
	for _, c := range waited {
		if !c.inLine() {
			q.consumers.enter(c)
		}
	}
}

// windowReleasedLocked follows the settlement of a delivery of c: the channel's window counts the settlement later, and a queue that
// has found that window full learns whether c has had its own window full.
// Rules: D-27.
func (ch *Channel) windowReleasedLocked(c *Consumer) {
	ch.settled++
	if of := ch.stalled.of[c.q]; of != nil && c.heirLocked().windowFullLocked() {
		of.opened = true
	}
}

// comeBackLocked puts a consumer in line that has room in its own window again. If the window was full, all consumers of the channel
// that this queue has passed over come back with it, in the order in which they left their line. They are passed over once
// more while the channel's window is full.
// Rules: D-20, D-27.
func (c *Consumer) comeBackLocked() {
	if c.q.args.singleActive {
		return
	}
	of := c.ch.stalled.of[c.q]
	switch {
	case of != nil && of.opened:
		of.opened = false
		if !c.inLine() {
			of.insert(c)
		}
		c.q.lineUpLocked(of.take())
	case !c.inLine() && !c.passed:
		c.q.consumers.enter(c)
	}
}

// leaveWindowLocked follows the end of a consumer. While the channel has another consumer of the queue, the queue goes on waiting.
// Rules: D-27.
func (ch *Channel) leaveWindowLocked(c *Consumer) {
	if ch.window == 0 {
		return
	}
	of := ch.stalled.of[c.q]
	if of != nil {
		of.remove(c)
	}
	if ch.perQueue[c.q]--; ch.perQueue[c.q] > 0 {
		return
	}
	delete(ch.perQueue, c.q)
	if of != nil {
		ch.stalled.leave(of)
	}
}

// stalledConsumers are the consumers that wait for room in their channel's window. There may be many, of one queue or of
// many queues: what one acknowledgement costs grows with them, not with their square.
type stalledConsumers struct {
	of     map[*Queue]*stalledQueue
	queues ring.List[*stalledQueue] // in the order in which they came
}

// A stalledQueue is a queue that has found the channel's window full. It delivers to the channel again when the window has room.
type stalledQueue struct {
	q       *Queue
	passed  []*Consumer // that were passed over, in the order in which they left their line; some may have ended
	waiting int         // how many of these have not ended
	opened  bool        // the full window of a consumer is getting room
	place   ring.Place[*stalledQueue]
}

func (s *stalledConsumers) none() bool { return len(s.of) == 0 }

// add takes in a consumer that is about to leave its line. A consumer that waits already is not added again.
func (s *stalledConsumers) add(c *Consumer) {
	of := s.of[c.q]
	if of == nil {
		if s.of == nil {
			s.of = map[*Queue]*stalledQueue{}
		}
		of = &stalledQueue{q: c.q}
		of.place.Value = of
		s.of[c.q] = of
		s.queues.PushBack(&of.place)
	}
	if !c.passed {
		c.passed = true
		of.passed = append(of.passed, c)
		of.waiting++
	}
}

func (s *stalledConsumers) leave(of *stalledQueue) {
	of.place.Leave()
	delete(s.of, of.q)
	if s.none() {
		s.of = nil // a map does not shrink
	}
}

// insert takes in a consumer that has left its line before.
func (of *stalledQueue) insert(c *Consumer) {
	i, _ := slices.BinarySearchFunc(of.passed, c, func(a, b *Consumer) int { return cmp.Compare(a.exit, b.exit) })
	of.passed = slices.Insert(of.passed, i, c)
	c.passed = true
	of.waiting++
}

// remove takes out a consumer that has ended, if it waits.
func (of *stalledQueue) remove(c *Consumer) {
	if !c.passed {
		return
	}
	c.passed = false
	if of.waiting--; of.waiting < len(of.passed)/2 {
		of.passed = slices.DeleteFunc(of.passed, func(c *Consumer) bool { return !c.passed })
	}
}

// take takes out the consumers, in the order in which they left their lines.
func (of *stalledQueue) take() []*Consumer {
	all := slices.DeleteFunc(of.passed, func(c *Consumer) bool { return !c.passed })
	for _, c := range all {
		c.passed = false
	}
	of.passed, of.waiting = nil, 0
	return all
}
