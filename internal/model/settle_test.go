package model_test

import (
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
)

// settle takes deliveries out of a channel's hands; how is ack, nack+, rej+, end, nack- or rej-.
func (m *model) settle(us []*mUnacked, how string) {
	us = slices.Clone(us)
	sort.SliceStable(us, func(i, j int) bool {
		if us[i].q.quorum != us[j].q.quorum {
			return us[j].q.quorum
		}
		if us[i].q.name != us[j].q.name {
			return us[i].q.name < us[j].q.name
		}
		return us[i].consumer() < us[j].consumer()
	})
	for len(us) > 0 {
		q, c := us[0].q, us[0].c
		n := 1
		for n < len(us) && c != nil && us[n].q == q && us[n].c == c {
			n++
		}
		m.settleGroup(q, c, us[:n], how)
		us = us[n:]
	}
}

// settleThose settles what a commit settles before its publishes, or after them.
func (m *model) settleThose(acks []mSettled, before bool) {
	for _, a := range acks {
		other := func(u *mUnacked) bool { return (a.how == "ack" || u.q.quorum) != before }
		m.settle(slices.DeleteFunc(slices.Clone(a.us), other), a.how)
	}
}

func (u *mUnacked) consumer() string {
	if u.c == nil {
		return ""
	}
	return u.c.tag
}

func (m *model) settleGroup(q *mQueue, c *mConsumer, us []*mUnacked, how string) {
	gone := m.queue(q.name) != q
	if !q.quorum && strings.HasSuffix(how, "-") { // by priority
		slices.SortStableFunc(us, func(a, b *mUnacked) int { return b.e.level - a.e.level })
	}
	for _, u := range us {
		if u.c != nil {
			u.c.unacked--
		}
		if gone {
			continue
		}
		switch how {
		case "ack":
		case "nack-", "rej-":
			if how == "rej-" {
				u.e.deliveries++
			}
			m.die(u.e, q, "rejected")
		default:
			m.giveBack(u.e, q, how)
		}
	}
	if gone {
		return
	}
	requeued := how == "nack+" || how == "rej+" || how == "end"
	if !q.quorum && requeued {
		m.trim(q)
		m.expire(q)
	}
	if q.quorum && requeued {
		m.expire(q)
	}
	m.resume(c)
	m.pump(q)
	if q.quorum {
		if requeued {
			m.trim(q)
		}
		m.updateRejecting(q)
	}
	m.expire(q)
}

// giveBack puts one message back.
func (m *model) giveBack(e *mEntry, q *mQueue, how string) {
	failed := how != "nack+"
	e.back = true
	if failed {
		e.deliveries++
	}
	if !q.quorum {
		q.ready = append(q.ready, e)
		return
	}
	e.acquired++
	limit, ok := m.number(q, "delivery-limit")
	if !ok {
		limit = 20
	}
	if limit >= 0 && int64(e.deliveries) > limit {
		m.die(e, q, "delivery_limit")
		return
	}
	kind := m.text(q, "delayed-retry-type", "disabled")
	if kind == "all" || kind == "failed" && failed || kind == "returned" && !failed {
		delay, _ := m.number(q, "delayed-retry-min")
		most, ok := m.number(q, "delayed-retry-max")
		if !ok {
			most = delay
		}
		e.due = m.now + min(delay*int64(max(1, e.deliveries)), most)
		q.delay(e)
		return
	}
	q.returned = append(q.returned, e)
}

// committed returns where a transaction's message goes that was routed to queues: to those that are still there, and
// to a quorum queue that was declared anew. What a new classic queue should get is lost. text is the error of
// the whole commit: of several queues that are missing it names the last by name, the first if the exchange is the default one.
func (m *model) committed(ch *mChannel, p mBuffered) (queues []*mQueue, lost bool, text string) {
	worst := ""
	for _, was := range p.queues {
		now := m.queue(was.name)
		switch {
		case now == was, now != nil && now.quorum && was.quorum:
			queues = append(queues, now)
		case now != nil && !now.quorum && !was.quorum:
			lost = true
		case now == nil && slices.Contains(ch.ended, was): // it is lost, and nobody hears
		case worst == "" || (p.m.exchange == "") == (was.name < worst):
			worst = was.name
			text = "541 INTERNAL_ERROR"
			if now == nil {
				text = "506 RESOURCE_ERROR - failed to deliver message: {not_found,{resource,<<\"/\">>,queue,<<\"" + was.name +
					"\">>}}"
			}
		}
	}
	return queues, lost, text
}

// end is the end of channels by whatever cause: their consumers leave, then all they hold goes back, one channel after the other. A
// quorum queue delivers to a channel until that one gives back, but not without acknowledgements.
func (m *model) end(chs ...*mChannel) {
	chs = slices.DeleteFunc(chs, func(ch *mChannel) bool { return ch.closed })
	var gone []*mConsumer
	for _, ch := range chs {
		ch.closed = true
		gone = append(gone, m.leaveAll(ch, func(c *mConsumer) bool { return !c.q.quorum || c.noAck })...)
	}
	for _, c := range gone {
		m.removeUnused(c.q)
	}
	for _, ch := range chs {
		rest := m.leaveAll(ch, func(*mConsumer) bool { return true })
		m.takeBack(ch.lets(func(*mQueue) bool { return true }))
		ch.txPubs = nil
		for _, c := range rest {
			m.left(c.q)
		}
	}
	for _, c := range gone {
		m.left(c.q)
	}
}

// broken is what an error does before the client hears of it: consumers leave classic queues, which take back what the channel holds of
// them. What these dead-letter may still go to the channel's consumers of quorum queues. // E-7, E-8
func (m *model) broken(ch *mChannel) {
	gone := m.leaveAll(ch, func(c *mConsumer) bool { return !c.q.quorum })
	for _, c := range gone {
		m.removeUnused(c.q)
	}
	m.takeBack(ch.lets(func(q *mQueue) bool {
		return slices.ContainsFunc(gone, func(c *mConsumer) bool { return c.q == q })
	}))
	for _, c := range gone {
		m.left(c.q)
	}
	m.drain()
}

// lets takes from the channel what it holds of some queues, by tag.
func (ch *mChannel) lets(of func(*mQueue) bool) (us []*mUnacked) {
	let := func(all []*mUnacked) []*mUnacked {
		return slices.DeleteFunc(all, func(u *mUnacked) bool {
			if of(u.q) {
				us = append(us, u)
			}
			return of(u.q)
		})
	}
	ch.unacked = let(ch.unacked)
	for i := range ch.txAcks {
		ch.txAcks[i].us = let(ch.txAcks[i].us)
	}
	sort.SliceStable(us, func(i, j int) bool { return us[i].tag < us[j].tag })
	return us
}

// leaveAll has some consumers of a channel leave, and returns them.
func (m *model) leaveAll(ch *mChannel, some func(*mConsumer) bool) (gone []*mConsumer) {
	for _, tag := range slices.Sorted(maps.Keys(ch.tags)) {
		if c := ch.tags[tag]; some(c) {
			gone = append(gone, c)
			m.leave(c)
			delete(ch.tags, tag)
		}
	}
	return gone
}

// takeBack gives back what an ended channel held: a queue takes all of it before it does anything else, a quorum queue
// consumer by consumer, the eldest first, and what was taken by basic.get last.
func (m *model) takeBack(us []*mUnacked) {
	var queues []*mQueue
	whole := map[*mQueue][]*mUnacked{}
	for _, u := range us {
		if whole[u.q] == nil {
			queues = append(queues, u.q)
		}
		whole[u.q] = append(whole[u.q], u)
	}
	for _, q := range queues {
		us := whole[q]
		if q.quorum {
			sort.SliceStable(us, func(i, j int) bool { return us[i].age() < us[j].age() })
		}
		m.settleGroup(q, nil, us, "end")
	}
}

func (u *mUnacked) age() int {
	if u.c == nil {
		return math.MaxInt
	}
	return u.c.seq
}

// take removes the deliveries that an acknowledgement of the tag is about.
func (ch *mChannel) take(tag int, multiple bool) (us []*mUnacked, ok bool) {
	var rest []*mUnacked
	ok = multiple && tag == 0
	for _, u := range ch.unacked {
		if u.tag == tag {
			ok = true
		}
		if u.tag == tag || multiple && (u.tag < tag || tag == 0) {
			us = append(us, u)
		} else {
			rest = append(rest, u)
		}
	}
	if ok {
		ch.unacked = rest
	}
	return us, ok
}
