package amqpd

import "time"

// RabbitMQ resets a connection whose client has taken nothing of what it is sent for 30 seconds: otherwise a client that has stopped
// reading would keep its messages from others for as long as its heartbeats come.

// sendTimeout is how long a client may take nothing while there is something to write to it. A write counts when it has ended: it has
// at most maxWrite octets.
const sendTimeout = 30 * time.Second

// sendLooks is how often the watch looks in that time.
const sendLooks = 6

// A sendWatch finds out that a client takes nothing. It looks while the writer is busy, so that a write costs no timer.
type sendWatch struct {
	timer  *time.Timer // nil: the writer was never busy
	looks  bool        // the watch will look again
	writes uint64      // that had ended when it looked last
	idle   int         // how often it has looked since then
}

// watchLocked begins to look at the writer, which is busy.
func (c *conn) watchLocked() {
	w := &c.sends
	if w.looks {
		return
	}
	w.looks, w.writes, w.idle = true, c.in.meter.writes.Load(), 0
	if w.timer == nil {
		w.timer = time.AfterFunc(sendTimeout/sendLooks, c.lookAtWriter)
	} else {
		w.timer.Reset(sendTimeout / sendLooks)
	}
}

// lookAtWriter ends the connection if nothing was written for too long.
func (c *conn) lookAtWriter() {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := &c.sends
	if w.looks = c.writer.busy && c.stage != ended; !w.looks {
		return
	}
	if n := c.in.meter.writes.Load(); n != w.writes {
		w.writes, w.idle = n, 0
	} else if w.idle++; w.idle == sendLooks {
		c.log.Warn("connection closed", "user", c.client.user, "reason", "its client has not read for too long")
		c.dropLocked()
		return
	}
	w.timer.Reset(sendTimeout / sendLooks)
}

// endTimersLocked stops the timers of a connection that has ended.
func (c *conn) endTimersLocked() {
	for _, t := range []*time.Timer{c.sends.timer, c.stops.timer} {
		if t != nil {
			t.Stop()
		}
	}
}
