package model_test

import (
	"slices"
	"sort"
)

// inOrder lists the ready messages in the order in which they would be delivered.
func (q *mQueue) inOrder() []*mEntry {
	rest := slices.Clone(q.ready)
	sort.SliceStable(rest, func(i, j int) bool {
		if rest[i].level != rest[j].level {
			return rest[i].level > rest[j].level
		}
		return rest[i].seq < rest[j].seq
	})
	return append(slices.Clone(q.returned), rest...)
}

func (q *mQueue) remove(e *mEntry) {
	drop := func(es []*mEntry) []*mEntry {
		return slices.DeleteFunc(es, func(x *mEntry) bool { return x == e })
	}
	q.ready, q.returned, q.delayed = drop(q.ready), drop(q.returned), drop(q.delayed)
	if q.next != e {
		return
	}
	q.next = nil
	for _, d := range q.delayed {
		if q.next == nil || d.due < q.next.due || d.due == q.next.due && d.seq < q.next.seq {
			q.next = d
		}
	}
}

// delay holds a message back until it is due. // D-42
func (q *mQueue) delay(e *mEntry) {
	q.delayed = append(q.delayed, e)
	if q.next == nil || e.due < q.next.due {
		q.next = e
	}
}

func (q *mQueue) size(e *mEntry) int64 {
	n := int64(len(e.body))
	if q.quorum {
		n += e.mMessage.size
	}
	return n
}

// length is what limits count.
func (q *mQueue) length() (n, bytes int64) {
	for _, es := range [][]*mEntry{q.ready, q.returned, q.delayed} {
		for _, e := range es {
			n++
			bytes += q.size(e)
		}
	}
	for _, p := range q.pending {
		if !p.purged {
			n++
			bytes += q.size(p.e)
		}
	}
	return n, bytes
}

// accept is a message's arrival in a queue.
func (m *model) accept(msg mMessage, q *mQueue, by any) bool {
	e := &mEntry{mMessage: msg}
	ttl, ok := m.number(q, "message-ttl")
	if msg.ttl >= 0 && (!ok || msg.ttl < ttl) {
		ttl, ok = msg.ttl, true
	}
	if ok {
		e.expires = m.now + ttl
	}
	switch {
	case q.quorum && msg.priority < 0:
		e.level = 4
	case q.quorum:
		e.level = min(msg.priority, 31)
	case q.maxPrio > 0:
		e.level = min(max(msg.priority, 0), q.maxPrio)
	}
	overflow := m.text(q, "overflow", "drop-head")
	if q.quorum {
		if m.refusesFrom(q, by) {
			return false
		}
	} else if overflow != "drop-head" && m.over(q, 1, int64(len(msg.body))) {
		if overflow == "reject-publish-dlx" {
			m.die(e, q, "maxlen")
		}
		return false
	}
	q.seq++
	e.seq = q.seq
	if !q.quorum && len(q.ready) == 0 {
		if c := m.next(q); c != nil { // handed over without ever being ready
			m.deliver(c, e, false)
			return true
		}
	}
	if all, set := m.number(q, "message-ttl"); set && all == 0 && !q.quorum {
		if _, ok := m.dead(q, "dead-letter-exchange"); !ok {
			return true // nobody could ever see it again
		}
	}
	q.ready = append(q.ready, e)
	if q.quorum {
		at := e.expires
		e.expires = max(at, m.now+1) * min(at, 1) // what has no time to wait has this one chance
		m.pump(q)
		m.trim(q)
		e.expires = at
		m.expire(q)
		m.updateRejecting(q)
		return true
	}
	if len(q.ready) > 1 && q.inOrder()[0] == e {
		m.overtook = true
	}
	e.back = msg.deliveries > 0
	n := len(q.ready)
	m.trim(q)
	if len(q.ready) == 1 && n > 1 && e.expires == 0 && q.ready[0].expires != 0 {
		m.overtook = true
	}
	m.expire(q)
	return true
}

func (m *model) redelivered(q *mQueue, e *mEntry) bool {
	if q.quorum {
		return e.acquired > 0 || e.deliveries > 0
	}
	return e.back
}

// refusesFrom tells whether a quorum queue refuses a publisher, who learns the state with the
// first message.
func (m *model) refusesFrom(q *mQueue, by any) bool {
	if by == nil {
		return false
	}
	if _, known := q.stopped[by]; !known {
		q.stopped[by] = m.text(q, "overflow", "drop-head") == "reject-publish" && m.over(q, 0, 0)
	}
	return q.stopped[by]
}

func (m *model) over(q *mQueue, extraN, extraBytes int64) bool {
	n, bytes := q.length()
	max, ok := m.number(q, "max-length")
	if ok && n+extraN > max {
		return true
	}
	max, ok = m.number(q, "max-length-bytes")
	return ok && bytes+extraBytes > max
}

// trim enforces the limits on what is stored.
func (m *model) trim(q *mQueue) {
	overflow := m.text(q, "overflow", "drop-head")
	if overflow == "drop-head" || q.quorum && overflow == "reject-publish-dlx" {
		m.cut(q)
	}
	m.updateRejecting(q)
}

func (m *model) cut(q *mQueue) {
	for m.over(q, 0, 0) && len(q.inOrder()) > 0 {
		e := q.inOrder()[0]
		q.remove(e)
		m.die(e, q, "maxlen")
	}
}

// updateRejecting applies the soft limit of quorum queues: the queue tells its publishers to
// stop when it is over the limit, and to go on when it has come down to 80 % of it.
func (m *model) updateRejecting(q *mQueue) {
	maxN, okN := m.number(q, "max-length")
	maxB, okB := m.number(q, "max-length-bytes")
	if !q.quorum {
		return
	}
	n, bytes := q.length()
	low := (!okN || n <= maxN*8/10) && (!okB || bytes <= maxB*8/10)
	if m.text(q, "overflow", "drop-head") == "reject-publish" && (okN || okB) {
		if m.over(q, 0, 0) {
			m.tell(q, true)
		} else if low && !q.low {
			m.tell(q, false)
		}
	}
	q.low = low
}

// tell tells all publishers of a queue to stop or to go on.
func (m *model) tell(q *mQueue, stop bool) {
	for by := range q.stopped {
		if m.busy[by] {
			m.told[by] = append(m.told[by], func() { q.stopped[by] = stop })
		} else {
			q.stopped[by] = stop
		}
	}
}

// sendsAll is for a publisher that sends several messages at once: it hears what queues tell it when it calls sent. // L-11
func (m *model) sendsAll(by any) (sent func()) {
	m.busy[by] = true
	return func() {
		delete(m.busy, by)
		for _, hear := range m.told[by] {
			hear()
		}
		delete(m.told, by)
	}
}

// heads lists the messages that can expire now: the first of a classic queue; of a quorum queue the first returned one
// and the first of each priority.
func (m *model) heads(q *mQueue) []*mEntry {
	all := q.inOrder()
	if len(all) == 0 {
		return nil
	}
	if !q.quorum {
		return all[:1]
	}
	var heads []*mEntry
	rest := all
	if len(q.returned) > 0 {
		heads = append(heads, all[0])
		rest = all[len(q.returned):]
	}
	for i, e := range rest {
		if i == 0 || rest[i-1].level != e.level {
			heads = append(heads, e)
		}
	}
	return heads
}

func (m *model) expire(q *mQueue) {
	for {
		found := false
		for _, e := range m.heads(q) {
			if e.expires != 0 && e.expires <= m.now {
				q.remove(e)
				m.die(e, q, "expired")
				found = true
				break
			}
		}
		if !found {
			return
		}
	}
}

// nextDue is the next instant at which something happens, and the queues in which it does.
func (m *model) nextDue() (at int64, queues []*mQueue) {
	for _, q := range m.queues {
		var first int64
		note := func(t int64) {
			if t != 0 && (first == 0 || t < first) {
				first = t
			}
		}
		for _, e := range m.heads(q) {
			note(e.expires)
		}
		for _, e := range q.delayed {
			note(e.due)
		}
		note(q.lookAt)
		switch {
		case first == 0:
		case at == 0 || first < at:
			at, queues = first, []*mQueue{q}
		case first == at:
			queues = append(queues, q)
		}
	}
	return at, queues
}

// wake lets everything happen that is due in the queue.
func (m *model) wake(q *mQueue) {
	for q.next != nil && q.next.due <= m.now {
		e := q.next
		q.remove(e)
		q.returned = append(q.returned, e)
	}
	m.tryPending(q)
	m.expire(q)
	m.pump(q)
	m.trim(q)
	m.expire(q)
	m.updateRejecting(q)
}

func (m *model) deleteQueue(q *mQueue) {
	for _, ch := range q.clients {
		if ch.tx && !ch.hearsEnd(q) {
			ch.ended = append(ch.ended, q)
		}
	}
	m.queues = slices.DeleteFunc(m.queues, func(x *mQueue) bool { return x == q })
	for _, c := range q.consumers {
		delete(c.ch.tags, c.tag)
	}
	q.consumers, q.rotation = nil, nil
	m.unbindAll("queue", q.name)
}

// hearsEnd reports whether a channel that has got messages from q hears of the end of q. // C-10
func (ch *mChannel) hearsEnd(q *mQueue) bool {
	_, published := q.stopped[ch]
	of := func(u *mUnacked) bool { return u.q == q }
	return published || slices.ContainsFunc(q.consumers, func(c *mConsumer) bool { return c.ch == ch }) ||
		slices.ContainsFunc(ch.unacked, of) ||
		slices.ContainsFunc(ch.txAcks, func(s mSettled) bool { return slices.ContainsFunc(s.us, of) })
}
