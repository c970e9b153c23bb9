package leveret

import (
	"cmp"
	"slices"
)

// The window of a channel, which basic.qos with global sets in RabbitMQ 3.10: one prefetch for all consumers of the
// channel. Consumers that wait for room in the window are remembered. // D-27

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

// stallLocked remembers a consumer that waits for room in the channel's window, if there is one.
// Rules: D-27.
func (ch *Channel) stallLocked(c *Consumer) {
	if ch.window > 0 && c.q.traits.channelWindow {
		ch.stalled.add(c)
	}
}

// makeRoomLocked takes settled deliveries out of the channel's window before their queue goes on. If consumers wait for
// room in the window, the queue does not deliver to the channel until it hears from the window: see unstallLocked.
// Rules: D-27.
func (ch *Channel) makeRoomLocked() {
	if ch.settled > 0 && len(ch.stalled.known) == 0 {
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
	if len(ch.stalled.known) == 0 || ch.window > 0 && ch.volume >= ch.window {
		return
	}
	queues := ch.stalled.queues
	ch.stalled.queues = nil // a queue whose consumers have to wait again comes anew
	for _, q := range queues {
		ch.lineUpLocked(q)
		if !q.deleted && q.store.ready.n > 0 {
			q.impl.freed()
		}
	}
}

// lineUpLocked puts the consumers of q that wait for the channel's window in line, in the order in which they left it.
// Those whose own window is full go on waiting.
// Rules: D-27.
func (ch *Channel) lineUpLocked(q *Queue) {
	waiting := ch.stalled.take(q)
	slices.SortStableFunc(waiting, func(a, b *Consumer) int { return cmp.Compare(a.exit, b.exit) })
	for _, c := range waiting {
		switch {
		case c.ended:
		case c.windowFullLocked():
			ch.stalled.add(c)
		case !c.inLine() && !q.args.singleActive:
			q.consumers.enter(c)
		}
	}
}

// stalledConsumers are the consumers that wait for room in their channel's window. There may be many, of one queue or of
// many queues: what one acknowledgement costs grows with them, not with their square.
type stalledConsumers struct {
	known  map[*Consumer]bool
	of     map[*Queue][]*Consumer
	queues []*Queue // in the order in which they came
}

// add takes a consumer in, if it does not wait yet.
func (s *stalledConsumers) add(c *Consumer) {
	if s.known[c] {
		return
	}
	if s.known == nil {
		s.known, s.of = map[*Consumer]bool{}, map[*Queue][]*Consumer{}
	}
	s.known[c] = true
	if len(s.of[c.q]) == 0 {
		s.queues = append(s.queues, c.q)
	}
	s.of[c.q] = append(s.of[c.q], c)
}

// take takes the consumers of a queue out.
func (s *stalledConsumers) take(q *Queue) []*Consumer {
	waiting := s.of[q]
	delete(s.of, q)
	for _, c := range waiting {
		delete(s.known, c)
	}
	return waiting
}
