package leveret

import (
	"github.com/leveretmq/leveret/internal/fifo"
	"github.com/leveretmq/leveret/internal/schedule"
)

// The heads of a quorum queue expire: the first message of the returned list, and that of each priority. One timer is
// set for the earliest of them. // T-6, T-7

// checkHeads expires heads that are due and sets the timer for the next: messages have left the front.
func (c *quorum) checkHeads() {
	if c.deadlines > 0 {
		c.expire(expiryBatch, nil)
		c.watchHead()
	}
}

// expireNext expires the messages that would leave next as long as they are due.
func (c *quorum) expireNext() {
	for c.deadlines > 0 && c.headExpired(c.q.v.nowLocked()) {
		c.deadLetter(c.take(), Expired)
		c.q.v.tookLocked(1)
		c.q.v.restLocked()
	}
}

// expireDue expires all heads that are due.
func (c *quorum) expireDue() {
	for c.expire(turn(), nil) == turn() {
		c.q.v.restLocked()
	}
}

// expire expires heads that are due, at most limit of them; the timer brings the queue back for the rest. The head of
// the returned list and that of each priority expire by themselves. They die at once, or if late is not nil wait there.
// Rules: T-6, L-9.
func (c *quorum) expire(limit int, late *fifo.Queue[entry]) (n int) {
	now := c.q.v.nowLocked()
	for ; n < limit && c.deadlines > 0; n++ {
		e, due := c.popDue(now)
		if !due {
			break
		}
		c.age(e, late)
	}
	c.q.v.tookLocked(n)
	return n
}

// age ends the time of a message that has left the queue: the message dies, or waits in late for the end of the act.
func (c *quorum) age(e entry, late *fifo.Queue[entry]) {
	if late != nil {
		late.PushBack(e)
	} else {
		c.deadLetter(e, Expired)
	}
}

// popDue removes the first head that is due.
func (c *quorum) popDue(now int64) (e entry, due bool) {
	for h := range c.heads() {
		if d := h.entry.deadline; d != 0 && d <= now {
			e = c.popHead(h)
			c.countReady(e, -1)
			c.watchHead()
			return e, true
		}
	}
	return e, false
}

// headDeadline is when the next head expires, 0 for never.
func (c *quorum) headDeadline() (at int64) {
	if c.deadlines == 0 {
		return 0
	}
	for h := range c.heads() {
		if d := h.entry.deadline; d != 0 && (at == 0 || d < at) {
			at = d
		}
	}
	return at
}

// watchHead sets the timer for the deadline of the next head.
// Rules: T-7.
func (c *quorum) watchHead() {
	if at := c.headDeadline(); at != 0 {
		c.q.v.wakeAtLocked(&c.headTimer, at)
	}
}

func (c *quorum) timer() *schedule.Timer[wakeable] { return &c.headTimer }

// wake expires heads at their deadline.
func (c *quorum) wake(int64) {
	c.expire(expiryBatch, nil)
	c.removed()
}

// nextWake is the deadline of the next head.
func (c *quorum) nextWake() (int64, bool) {
	at := c.headDeadline()
	return at, at != 0
}

// actsWhenStale reports that a timer whose message has gone can be put off.
func (c *quorum) actsWhenStale() bool { return false }
