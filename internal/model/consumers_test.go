package model_test

import (
	"slices"
)

// pump serves consumers. What a quorum queue gives at once goes out consumer by consumer.
func (m *model) pump(q *mQueue) {
	var out []func()
	var to []*mConsumer
	defer func() {
		for _, i := range bySeq(to) {
			out[i]()
		}
	}()
	for {
		m.expire(q)
		all := q.inOrder()
		if len(all) == 0 {
			return
		}
		c := m.next(q)
		if c == nil {
			return
		}
		e := all[0]
		q.remove(e)
		redelivered := m.redelivered(q, e)
		m.assign(c)
		if !q.quorum {
			m.hand(c.ch, q, c, e, redelivered, c.noAck)
			continue
		}
		to = append(to, c)
		out = append(out, func() { m.hand(c.ch, q, c, e, redelivered, c.noAck) })
	}
}

// bySeq returns the places of consumers, those of one consumer together, the consumers by age.
func bySeq(cs []*mConsumer) []int {
	places := make([]int, len(cs))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(i, j int) int { return cs[i].seq - cs[j].seq })
	return places
}

// next is the consumer that gets the next message. A classic queue finds out only here that
// a consumer's window is full, and takes it out of the line; a quorum queue did so at once.
func (m *model) next(q *mQueue) *mConsumer {
	for {
		c := m.first(q)
		if c == nil || !c.full() {
			return c
		}
		q.rotation = slices.DeleteFunc(q.rotation, func(x *mConsumer) bool { return x == c })
	}
}

func (c *mConsumer) full() bool { return c.prefetch > 0 && c.unacked >= c.prefetch }

func (m *model) first(q *mQueue) *mConsumer {
	m.chooseActive(q)
	var best *mConsumer
	for _, c := range q.rotation {
		if q.single && c != q.active {
			continue
		}
		if best == nil || c.priority > best.priority {
			best = c
		}
	}
	if q.quiescing { // somebody better came while the active one held messages
		return nil
	}
	return best
}

// chooseActive names the single active consumer.
func (m *model) chooseActive(q *mQueue) {
	if !q.single {
		return
	}
	if !slices.Contains(q.consumers, q.active) {
		q.active = nil
	}
	if q.active != nil && (!q.quorum || q.active.unacked > 0) {
		for _, c := range q.consumers {
			if q.quorum && c.priority > q.active.priority {
				q.quiescing = true // and stays so until it holds nothing, even if the better one leaves
			}
		}
		return
	}
	q.quiescing = false
	was := q.active
	for _, c := range q.consumers {
		best := q.active
		if best == nil || c.priority > best.priority || best != was && c.priority == best.priority && q.quorum &&
			c.room() > best.room() {
			q.active = c
		}
	}
}

func (c *mConsumer) room() int {
	if c.prefetch == 0 {
		return 2000
	}
	return c.prefetch
}

func (m *model) deliver(c *mConsumer, e *mEntry, redelivered bool) {
	m.hand(c.ch, c.q, c, e, redelivered, c.noAck)
	m.assign(c)
}

// assign counts a delivery for c, whose turn is over.
func (m *model) assign(c *mConsumer) {
	q := c.q
	q.rotation = slices.DeleteFunc(q.rotation, func(x *mConsumer) bool { return x == c })
	if !c.noAck || q.quorum {
		c.unacked++
	}
	if c.noAck && q.quorum {
		if c.settling++; c.settling == 1 {
			m.jobs = append(m.jobs, mJob{settled: c})
		}
	}
	if !q.quorum || !c.full() {
		q.rotation = append(q.rotation, c)
	}
}

// hand gives an entry to a channel.
func (m *model) hand(ch *mChannel, q *mQueue, c *mConsumer, e *mEntry, redelivered, noAck bool) mDelivery {
	ch.nextTag++
	d := mDelivery{channel: ch.id, tag: ch.nextTag, m: e.mMessage, redelivered: redelivered, acquired: -1, failed: -1}
	if q.quorum && (e.acquired > 0 || e.deliveries > 0) {
		d.acquired = e.acquired
		if e.acquired == 0 {
			d.acquired = e.deliveries
		}
		if e.deliveries > 0 {
			d.failed = e.deliveries
		}
	}
	if !noAck {
		ch.unacked = append(ch.unacked, &mUnacked{tag: ch.nextTag, q: q, c: c, e: e, at: m.now})
	}
	if c != nil {
		d.consumer = c.tag
		m.out = append(m.out, d)
	}
	return d
}

// resume puts a consumer that may be served again at the end of the line.
func (m *model) resume(c *mConsumer) {
	if c == nil || !slices.Contains(c.q.consumers, c) || slices.Contains(c.q.rotation, c) {
		return
	}
	if !c.full() {
		c.q.rotation = append(c.q.rotation, c)
	}
}

// settleItself settles what a no-ack consumer of a quorum queue got in a step: until then it counts for the window.
func (m *model) settleItself(c *mConsumer) {
	c.unacked, c.settling = c.unacked-c.settling, 0
	if m.queue(c.q.name) != c.q {
		return
	}
	m.resume(c)
	m.pump(c.q)
	m.expire(c.q)
	m.updateRejecting(c.q)
}

// leave takes a consumer out of its queue.
func (m *model) leave(c *mConsumer) {
	is := func(x *mConsumer) bool { return x == c }
	c.q.consumers = slices.DeleteFunc(c.q.consumers, is)
	c.q.rotation = slices.DeleteFunc(c.q.rotation, is)
}

// left deletes an auto-delete queue after its last consumer, and lets a successor start.
func (m *model) left(q *mQueue) {
	if m.queue(q.name) != q {
		return
	}
	if m.removeUnused(q) {
		return
	}
	m.chooseActive(q)
	m.pump(q)
	m.expire(q)
	m.updateRejecting(q)
}

func (m *model) removeUnused(q *mQueue) bool {
	gone := m.queue(q.name) != q
	if !gone && q.autoDelete && len(q.consumers) == 0 {
		m.deleteQueue(q)
		return true
	}
	return gone
}

// attach notes that a channel has tried to get messages, or has consumed.
func (q *mQueue) attach(ch *mChannel) {
	if q.quorum && !slices.Contains(q.clients, ch) {
		q.clients = append(q.clients, ch)
	}
}
