package model_test

import (
	"slices"
)

// How messages die in the model, and where they go.

// mPending is an at-least-once dead letter: it stays until every target has taken it.
type mPending struct {
	e            *mEntry
	reason       string
	died         int64
	tried, sent  bool // sent: it has had a target, at sentAt for the last time
	sentAt       int64
	took, lacked []string // names of targets; lacked: of those that it was sent to last, who do not have it
	purged       bool     // it does not count any more
}

const pendingRetry = 180_000

func (m *model) atLeastOnce(q *mQueue) bool {
	_, ok := m.dead(q, "dead-letter-exchange")
	strategy, _ := m.dead(q, "dead-letter-strategy")
	return q.quorum && ok && strategy == "at-least-once" && m.text(q, "overflow", "drop-head") == "reject-publish"
}

// tryPending sends what is due to all who do not have it yet: what died just now, and when it is time to look, or a policy has
// changed, what was not sent for long.
func (m *model) tryPending(q *mQueue) {
	looks := q.hurried
	if q.lookAt != 0 && q.lookAt <= m.now {
		looks, q.lookAt = true, 0
	}
	q.hurried = false
	sent := m.sendsAll(q)
	for _, p := range slices.Clone(q.pending) {
		isDue := !p.tried || looks && (!p.sent || p.sentAt+pendingRetry <= m.now)
		if isDue && m.queue(q.name) == q && m.sendPending(q, p) {
			q.pending = slices.DeleteFunc(q.pending, func(o *mPending) bool { return o == p })
		}
	}
	sent()
	if len(q.pending) == 0 {
		q.lookAt = 0
	} else if q.lookAt == 0 {
		q.lookAt = m.now + pendingRetry
	}
	m.expire(q)
	m.updateRejecting(q)
}

// sendPending reports whether the queue is done with a dead letter.
func (m *model) sendPending(q *mQueue, p *mPending) bool {
	isAgain := p.tried
	p.tried = true
	name, _ := m.dead(q, "dead-letter-exchange")
	if m.exchange(name) == nil {
		return false
	}
	msg := m.deadLetterOf(p.e.mMessage, q, p.reason, p.died, name)
	m.routing = routeHint{body: msg.body, queue: q.name, reason: p.reason}
	routes := m.route(m.exchange(name), &msg)
	if len(routes) == 0 {
		return len(p.took) > 0
	}
	isCyclic := func(t *mQueue) bool { return cyclic(t.name, msg.deaths, p.reason) }
	open := slices.DeleteFunc(slices.Clone(routes), func(t *mQueue) bool { return isCyclic(t) || slices.Contains(p.took, t.name) })
	if len(open) == 0 {
		return false
	}
	p.lacked = nil
	for _, t := range routes {
		switch {
		case slices.Contains(p.took, t.name):
		case isCyclic(t):
			if isAgain {
				p.lacked = append(p.lacked, t.name)
			}
		case m.accept(msg, t, q):
			p.took = append(p.took, t.name)
		default:
			p.lacked = append(p.lacked, t.name)
		}
	}
	p.sent, p.sentAt = true, m.now
	return len(p.lacked) == 0
}

func (m *model) die(e *mEntry, q *mQueue, reason string) {
	if m.atLeastOnce(q) {
		q.pending = append(q.pending, &mPending{e: e, reason: reason, died: m.now})
		m.jobs = append(m.jobs, mJob{q: q})
		return
	}
	m.jobs = append(m.jobs, mJob{m: e.mMessage, q: q, reason: reason})
}

// drain does what is left of a step: it routes dead letters, the oldest death first, and settles what no-ack consumers of quorum
// queues got.
func (m *model) drain() {
	for len(m.jobs) > 0 {
		j := m.jobs[0]
		m.jobs = m.jobs[1:]
		switch {
		case j.settled != nil:
			m.settleItself(j.settled)
		case j.reason == "":
			m.tryPending(j.q)
		default:
			m.deadLetter(j)
		}
	}
}

func (m *model) deadLetter(j mJob) {
	name, ok := m.dead(j.q, "dead-letter-exchange")
	if !ok || m.exchange(name) == nil {
		return
	}
	msg := m.deadLetterOf(j.m, j.q, j.reason, m.now, name)
	m.routing = routeHint{body: msg.body, queue: j.q.name, reason: j.reason}
	var targets []*mQueue
	for _, t := range m.route(m.exchange(name), &msg) {
		if !cyclic(t.name, msg.deaths, j.reason) {
			targets = append(targets, t)
		}
	}
	for _, t := range targets {
		m.accept(msg, t, nil)
	}
}

// deadLetterOf is the message as it is published to the dead-letter exchange.
func (m *model) deadLetterOf(msg mMessage, q *mQueue, reason string, at int64, exchange string) mMessage {
	msg.record(q.name, reason, at)
	if key, ok := m.dead(q, "dead-letter-routing-key"); ok {
		msg.keys = []string{key}
	}
	msg.expiration, msg.ttl = "", -1
	msg.exchange = exchange
	return msg
}

// record writes a death into the message's history.
func (msg *mMessage) record(queue, reason string, now int64) {
	d := mDeath{queue: queue, reason: reason, exchange: msg.exchange, expiration: msg.expiration, at: now}
	d.keys = slices.Clone(msg.keys)
	for _, b := range msg.bcc {
		if i := slices.Index(d.keys, b); i >= 0 {
			d.keys = slices.Delete(d.keys, i, i+1)
		}
	}
	history := []mDeath{}
	for _, old := range msg.deaths {
		if old.queue == queue && old.reason == reason {
			d = old
		} else {
			history = append(history, old)
		}
	}
	d.count++
	if len(msg.deaths) == 0 {
		msg.first = [3]string{reason, queue, msg.exchange}
	}
	msg.last = [3]string{reason, queue, msg.exchange}
	msg.deaths = append([]mDeath{d}, history...)
}

// cyclic tells whether the message was in the queue before and nobody rejected it since.
func cyclic(queue string, history []mDeath, reason string) bool {
	if reason == "rejected" {
		return false
	}
	for _, d := range history {
		if d.reason == "rejected" {
			return false
		}
		if d.queue == queue {
			return true
		}
	}
	return false
}
