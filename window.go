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
	if ch.window > 0 && c.q.traits.channelWindow && !slices.Contains(ch.stalled, c) {
		ch.stalled = append(ch.stalled, c)
	}
}

// makeRoomLocked takes settled deliveries out of the channel's window before their queue goes on. If consumers wait for
// room in the window, the queue does not deliver to the channel until it hears from the window: see unstallLocked.
// Rules: D-27.
func (ch *Channel) makeRoomLocked() {
	if ch.settled > 0 && len(ch.stalled) == 0 {
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
	if len(ch.stalled) == 0 || ch.window > 0 && ch.volume >= ch.window {
		return
	}
	var queues []*Queue
	for _, c := range ch.stalled {
		if c.q != nil && !c.q.deleted && !slices.Contains(queues, c.q) {
			queues = append(queues, c.q)
		}
	}
	for _, q := range queues {
		ch.lineUpLocked(q)
		if q.store.ready.n > 0 {
			q.impl.freed()
		}
	}
}

// lineUpLocked puts the consumers of q that wait for the channel's window in line, in the order in which they left it.
// Those whose own window is full go on waiting.
// Rules: D-27.
func (ch *Channel) lineUpLocked(q *Queue) {
	waiting := ch.stalled
	ch.stalled = nil
	slices.SortStableFunc(waiting, func(a, b *Consumer) int { return cmp.Compare(a.exit, b.exit) })
	for _, c := range waiting {
		switch {
		case c.ended:
		case c.q != q || c.windowFullLocked():
			ch.stalled = append(ch.stalled, c)
		case !c.inLine() && !q.args.singleActive:
			q.consumers.enter(c)
		}
	}
}
