package amqpd

import "time"

// Heartbeats. Once an interval the connection looks whether anything has come from the client since it last looked. A
// client of which nothing came twice in a row is dead, and is found out after two to three intervals, as by RabbitMQ.
// Only octets count, and only one look an interval: a server that was held up for a minute looks once, and reads what
// has come meanwhile before it looks again.
//
// While the reader waits because much is unread by the client, nothing can come. The client lives if it takes something
// then. While the memory alarm keeps the reader from reading nobody looks, as in RabbitMQ.

// A pulse is what is known of a client's life.
type pulse struct {
	timer          *time.Timer // nil: no heartbeats were agreed on
	received, sent uint64      // octets, at the last look
	missed         int         // looks in a row that saw no life
	unread         bool        // the reader waits for the client to read
	lost           bool        // the client was found to be dead
}

// maxMissed is how many looks in a row may see no life.
const maxMissed = 1

// look sees whether octets have come, or were taken if the client has to take them, and reports whether the client is
// dead.
func (p *pulse) look(received, sent uint64) (dead bool) {
	alive := received != p.received || p.unread && sent != p.sent
	p.received, p.sent = received, sent
	if alive {
		p.missed = 0
		return false
	}
	p.missed++
	return p.missed > maxMissed
}

// startPulse begins to look, if heartbeats were agreed on.
func (c *conn) startPulse() {
	if c.tune.heartbeat == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pulse.timer = time.AfterFunc(c.tune.heartbeat, c.feelPulse)
}

// feelPulse looks once, and ends the connection of a dead client. The next look is a whole interval later, however late
// this one is. While the reader runs an event hook of the program it keeps the lock: then this waits, because nothing
// is read.
func (c *conn) feelPulse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stage != running { // the end has a deadline of its own
		return
	}
	p, m := &c.pulse, &c.in.meter
	if c.blocked {
		p.missed = 0
	} else if p.look(m.octetsIn.Load(), m.octetsOut.Load()) {
		p.lost = true
		if c.session != nil {
			c.session.Close() // what the client held is back in its queues before anybody sees the end
		}
		c.dropLocked()
		return
	}
	p.timer.Reset(c.tune.heartbeat)
}

// isLost reports whether the client was found to be dead.
func (c *conn) isLost() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pulse.lost
}

func (c *conn) stopPulseLocked() {
	if c.pulse.timer != nil {
		c.pulse.timer.Stop()
	}
}

// heartbeats returns when to look whether a heartbeat is to be sent: twice in each interval, so that the peer, which
// expects one per interval, never waits in vain.
func (c *conn) heartbeats() (look <-chan time.Time, stop func()) {
	if c.tune.heartbeat == 0 {
		return nil, func() {}
	}
	t := time.NewTicker(c.tune.heartbeat / 2)
	return t.C, t.Stop
}

// A beat is what is known of the heartbeats that are sent.
type beat struct {
	sent uint64 // octets at the last look, with the heartbeat that was sent then
	any  bool   // there was a look
}

// heartbeat sends a heartbeat, unless other octets were sent since the last look. At the first look it sends one in any
// case, as RabbitMQ does.
func (c *conn) heartbeat(b *beat) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent := c.in.meter.octetsOut.Load()
	if !b.any || sent == b.sent {
		at := c.out.size()
		c.out.end(c.out.begin(frameHeartbeat, 0))
		sent += uint64(c.out.size() - at)
	}
	*b = beat{sent, true}
}
