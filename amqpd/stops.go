package amqpd

import "time"

// A quorum queue with reject-publish that gets over a limit tells its publishers to stop. RabbitMQ's channel hears that together
// with the confirm of the message that led to it, when the queue has written the message. What its client has sent before is
// accepted, however far the queue is over its limit. leveret's queue has the message at once. So a channel that is told to stop
// does not hear it for a while here, and its confirms wait as long: a client that waits for each confirm sees no difference. // L-11

// maxUnheard is how many publishes of a channel that does not hear go without a confirm. RabbitMQ's channel is given no more of
// what its client sends while a quorum queue has not confirmed as many.
const maxUnheard = 400

// lateStops are the channels of a connection that have been told to stop and have not heard it.
type lateStops struct {
	channels []*channel
	timer    *time.Timer // nil: there was no such channel yet
}

// stoppedLocked notes what the broker says of a publish: that the channel has been told to stop.
func (c *conn) stoppedLocked(ch *channel, stopped bool) {
	switch {
	case ch.unheard > 0:
		if ch.unheard++; ch.unheard >= maxUnheard {
			c.hearLocked()
		}
	case stopped && c.srv.stopDelay() > 0:
		ch.unheard = max(1, ch.pending.count)
		ch.ch.DeferStops(true)
		if c.stops.channels = append(c.stops.channels, ch); len(c.stops.channels) > 1 {
			break
		}
		if c.stops.timer == nil {
			c.stops.timer = time.AfterFunc(c.srv.stopDelay(), c.hear)
		} else {
			c.stops.timer.Reset(c.srv.stopDelay())
		}
	}
}

// hear ends the wait of all channels, and sends their confirms.
func (c *conn) hear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hearLocked()
	if c.stage == running {
		c.sendWaitingLocked()
		c.notifyWriterLocked()
	}
}

// hearLocked has all channels hear what they were told. Their confirms are sent with the next that are.
func (c *conn) hearLocked() {
	for i, ch := range c.stops.channels {
		ch.unheard = 0
		ch.ch.DeferStops(false)
		c.stops.channels[i] = nil
	}
	c.stops.channels = c.stops.channels[:0]
}
