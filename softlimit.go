package leveret

// A quorum queue with reject-publish does not look at each message. When it gets over its limit it tells its publishers
// to stop, and when it is down to 80 % it tells them to go on; a message that was on its way is taken. So it keeps, for
// each publisher, whether it told the publisher to stop. // L-11, L-12

// A publisher is what a quorum queue tells to stop: a channel, or a quorum queue with at-least-once dead letters.
// At-most-once dead letters have none and are never stopped.
// Rules: L-15.
type publisher interface{ knownTo() *acquaintances }

// acquaintances are the quorum queues that keep the state of a publisher, so that all can forget it when it ends. A
// publisher that sends several messages at once does not hear what they tell it before it is done.
type acquaintances struct {
	queues map[*quorum]struct{}
	busy   bool
	told   []order // while it was busy
}

// An order is what a queue told a publisher: to stop, or to go on.
type order struct {
	by   *quorum
	stop bool
}

func (ch *Channel) knownTo() *acquaintances { return &ch.knownQueues }
func (c *quorum) knownTo() *acquaintances   { return &c.soft.knownQueues }

// softLimit is the state of a quorum queue's reject-publish.
type softLimit struct {
	stopped     map[publisher]bool // each publisher that the queue knows: true while it is told to stop
	low         bool               // the queue is at 80 % of its limits or below
	knownQueues acquaintances      // as a publisher of dead letters
}

// rejects reports whether the queue has told a publisher to stop. A publisher that the queue does not know may start,
// unless the queue is over its limit.
// Rules: L-11, L-12.
func (c *quorum) rejects(by publisher) bool {
	if stopped, known := c.soft.stopped[by]; known {
		return stopped
	}
	stop := c.q.set.overflow == rejectPublish && c.q.set.over(c.length())
	if c.soft.stopped == nil {
		c.soft.stopped = map[publisher]bool{}
	}
	c.soft.stopped[by] = stop
	known := by.knownTo()
	if known.queues == nil {
		known.queues = map[*quorum]struct{}{}
	}
	known.queues[c] = struct{}{}
	return stop
}

// updateRejecting tells publishers to stop when the queue is over a limit, and to go on when it gets down to 80 % of
// all its limits. A change of overflow while the queue is at 80 % or below tells no publisher.
// Rules: L-11, L-12.
func (c *quorum) updateRejecting() {
	s, n := c.q.set, c.length()
	low := s.low(n)
	if s.overflow == rejectPublish && s.limited() {
		switch {
		case s.over(n):
			c.tellPublishers(true)
		case low && !c.soft.low:
			c.tellPublishers(false)
		}
	}
	c.soft.low = low
}

// tellPublishers tells all publishers that the queue knows to stop or to go on. To 3.10's queues that rule does not
// apply for the dead letters that they send themselves.
// Rules: L-11.
func (c *quorum) tellPublishers(stop bool) {
	for by := range c.soft.stopped {
		switch known := by.knownTo(); {
		case by == publisher(c) && c.q.v.rules.selfDeadLettersUnconfirmed:
		case known.busy:
			known.told = append(known.told, order{c, stop})
		default:
			c.soft.stopped[by] = stop
		}
	}
}

// sendAll has a publisher send several messages at once: it hears only afterwards of queues that told it to stop or to
// go on.
// Rules: L-11, C-10, DL-31.
func sendAll(by publisher, send func()) {
	known := by.knownTo()
	known.busy = true
	send()
	known.busy = false
	told := known.told
	known.told = nil
	for _, o := range told {
		if _, known := o.by.soft.stopped[by]; known {
			o.by.soft.stopped[by] = o.stop
		}
	}
}

// forgetPublisher has all quorum queues forget a publisher that has ended.
func forgetPublisher(by publisher) {
	known := by.knownTo()
	for c := range known.queues {
		delete(c.soft.stopped, by)
	}
	*known = acquaintances{}
}

// end forgets all publishers, because a channel may outlive many queues, and is forgotten as one.
func (l *softLimit) end(c *quorum) {
	for by := range l.stopped {
		delete(by.knownTo().queues, c)
	}
	l.stopped = nil
	forgetPublisher(c)
}
