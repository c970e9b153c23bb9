package leveret

// A quorum queue with reject-publish does not look at each message. When it gets over its limit it tells its publishers
// to stop, and when it is down to 80 % it tells them to go on; a message that was on its way is taken. So it keeps, for
// each publisher, whether it told the publisher to stop. // L-11, L-12

// A publisher is what a quorum queue tells to stop: a channel, or a quorum queue with at-least-once dead letters.
// At-most-once dead letters have none and are never stopped.
// Rules: L-15.
type publisher interface{ publisherState() *publisherState }

// A publisherState is what a publisher knows itself. What each queue has told it is kept by the queue, as a hearing.
type publisherState struct {
	queues map[*quorum]struct{} // that keep something of the publisher, such as a hearing: they forget it when it ends
	busy   bool                 // it sends several messages at once, and hears what queues tell it when it is done
	defers bool                 // it does not hear yet that it has to stop, see DeferStops
	told   bool                 // a queue that took a message of the publisher has told it to stop
}

func (ch *Channel) publisherState() *publisherState { return &ch.asPublisher }
func (c *quorum) publisherState() *publisherState   { return &c.soft.asPublisher }

// softLimit is the state of a quorum queue's reject-publish. The queue tells all publishers at once: each hears the last order
// when it next publishes.
type softLimit struct {
	publishers  map[publisher]hearing // that the queue knows
	orders      uint64                // how often the queue has told its publishers to stop, or to go on
	seen        uint64                // the orders up to which a client has seen the queue
	stop        bool                  // the last order
	low         bool                  // the queue is at 80 % of its limits or below
	asPublisher publisherState        // the queue's own, as a publisher of dead letters
}

// A hearing is what a publisher has heard from a queue.
type hearing struct {
	stopped bool
	orders  uint64 // how many of the queue's orders
}

// isStopped reports whether the queue has told a publisher to stop, and whether the queue knows the publisher. 3.10's queues tell
// themselves nothing.
// Rules: L-11.
func (c *quorum) isStopped(by publisher) (stopped, known bool) {
	h, known := c.soft.publishers[by]
	defers := by.publisherState().defers && c.soft.stop && h.orders >= c.soft.seen
	isDeaf := by.publisherState().busy || defers || by == publisher(c) && c.q.v.rules.selfDeadLettersUnconfirmed
	if known && h.orders < c.soft.orders && !isDeaf {
		h = hearing{c.soft.stop, c.soft.orders}
		c.soft.publishers[by] = h
	}
	return h.stopped, known
}

// seen has all publishers hear what they have been told: whoever sees in the queue what led to the order has it told before.
// Rules: L-11.
func (c *quorum) seen() { c.soft.seen = c.soft.orders }

// rejects reports whether the queue has told a publisher to stop. A publisher that the queue does not know may start,
// unless the queue is over its limit.
// Rules: L-11, L-12.
func (c *quorum) rejects(by publisher) bool {
	if stopped, known := c.isStopped(by); known {
		return stopped
	}
	stop := c.q.set.overflow == rejectPublish && c.q.set.over(c.length())
	if c.soft.publishers == nil {
		c.soft.publishers = map[publisher]hearing{}
	}
	c.soft.publishers[by] = hearing{stop, c.soft.orders}
	c.register(by)
	return stop
}

// register has the queue forget a publisher when it ends.
func (c *quorum) register(by publisher) {
	state := by.publisherState()
	if state.queues == nil {
		state.queues = map[*quorum]struct{}{}
	}
	state.queues[c] = struct{}{}
}

// updateRejecting tells publishers to stop when the queue is over a limit, and to go on when it gets down to 80 % of
// all its limits, or gets limits that it is at 80 % of or below. A change of overflow while it is there tells no publisher. It
// reports whether the queue is over a limit.
// Rules: L-11, L-12.
func (c *quorum) updateRejecting() (stop bool) {
	s, n := c.q.set, c.length()
	low := s.limited() && s.low(n)
	if s.overflow == rejectPublish && s.limited() {
		switch {
		case s.over(n):
			stop = true
			c.tellPublishers(true)
		case low && !c.soft.low:
			c.tellPublishers(false)
		}
	}
	c.soft.low = low
	return stop
}

// requeuing notes how full a queue is to which a message has come back as a new one: the message does not count yet, but its bytes do. If it
// is delivered at once, publishers may go on because of that.
// Rules: L-11.
func (c *quorum) requeuing(how settling) {
	if !c.requeuesAnew(how) {
		return
	}
	n := c.length()
	n.n--
	c.soft.low = c.q.set.limited() && c.q.set.low(n)
}

// tellPublishers tells all publishers that the queue knows to stop or to go on.
// Rules: L-11.
func (c *quorum) tellPublishers(stop bool) {
	c.soft.orders++
	c.soft.stop = stop
}

// sendAll has a publisher send several messages at once: it hears only afterwards of queues that told it to stop or to
// go on.
// Rules: L-11, C-10, DL-31.
func sendAll(by publisher, send func()) {
	state := by.publisherState()
	for c := range state.queues {
		c.isStopped(by) // hears what it was told before
	}
	state.busy = true
	send()
	state.busy = false
}

// DeferStops is for listeners. After DeferStops(true) a quorum queue with reject-publish that is over its limit still takes what
// this channel publishes. After DeferStops(false) the queue refuses what follows, if it has told its publishers to stop meanwhile.
// RabbitMQ's channel hears of the limit only with the confirm of the message that led to it ([Outcome.Stopped]), and accepts what
// its client has sent before. When a client has been told what the queue holds, by declare-ok for instance, the queue refuses
// publishes in any case.
// Rules: L-11.
func (ch *Channel) DeferStops(on bool) {
	ch.v.lock()
	defer ch.v.unlock()
	ch.asPublisher.defers = on
}

// forgetPublisher has all quorum queues forget a publisher that has ended.
func forgetPublisher(by publisher) {
	state := by.publisherState()
	for c := range state.queues {
		delete(c.soft.publishers, by)
		if ch, ok := by.(*Channel); ok {
			delete(c.clients, ch)
		}
	}
	*state = publisherState{}
}

// end forgets all publishers, because a channel may outlive many queues, and is forgotten as one.
func (l *softLimit) end(c *quorum) {
	for by := range l.publishers {
		delete(by.publisherState().queues, c)
	}
	l.publishers = nil
	forgetPublisher(c)
}
