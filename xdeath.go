package leveret

import (
	"slices"
	"sync"
	"time"
)

// The dead-letter history of a message has one entry for each queue and reason, most recent first. The broker keeps
// records of it and makes the headers x-death, x-first-death-* and x-last-death-* when they are read. In RabbitMQ 3.10
// there are no records: the header x-death is the history (xdeath310.go).

// A Death is one entry of a message's dead-letter history.
type Death struct {
	Queue              string    `json:"queue"`                         // where it died
	Reason             Reason    `json:"reason"`                        // why
	Count              int64     `json:"count"`                         // how often it died there for this reason
	Time               time.Time `json:"time"`                          // of the first such death, in whole seconds
	Exchange           string    `json:"exchange"`                      // published to; "": the default exchange
	RoutingKeys        []string  `json:"routing-keys"`                  // the keys of that publish, without those of BCC
	OriginalExpiration string    `json:"original-expiration,omitempty"` // its expiration before that death; empty: none
}

// A death is the stored form. Records are immutable and shared between messages.
type death struct {
	next       *death
	queue      string
	reason     Reason
	count      int64
	at         int64 // seconds since 1970
	exchange   *Exchange
	key        string
	keys       []string // when key is not all
	expiration *string  // nil: none
}

func (d *death) routingKeys() []string {
	if d.keys != nil {
		return d.keys
	}
	return []string{d.key}
}

// record puts d in front. A death of the same queue and reason keeps everything but its
// count, which grows; record reports whether there was one, and at how many entries it looked.
// Rules: DL-13, DL-17, DL-18, DL-19.
func (x *extra) record(d *death) (again bool, looked int) {
	old := x.deaths
	index := x.index.of(old)
	var before *death
	if index == nil || index.has(d) {
		before, looked = old.entry(d.queue, d.reason)
	}
	if before != nil {
		grown := *before
		grown.count++
		grown.next = old.except(before)
		x.deaths = &grown
	} else {
		d.next = old
		x.deaths = d
	}
	if x.firstDeath == nil {
		x.firstDeath = d
	}
	switch {
	case index != nil:
		index.add(x.deaths)
	case looked >= longHistory:
		index = indexOf(x.deaths)
		looked *= 10 // to make an index takes about ten times as long as to look
	}
	x.index = index
	return before != nil, looked
}

// entry returns the entry of a queue and a reason, nil if there is none, and how many it looked at.
func (d *death) entry(queue string, reason Reason) (entry *death, looked int) {
	for ; d != nil; d = d.next {
		if looked++; d.queue == queue && d.reason == reason {
			return d, looked
		}
	}
	return nil, looked
}

// A commonHistory is shared by messages that died alike all along: each time in the same queue and for the same reason,
// published to the same exchange with the same key, and the first time in the same second. Messages whose own routing
// keys, expiration or number in events are kept beside their history share none. With a history for each message
// BenchmarkFull/dead-letter=true takes 22 % longer and BenchmarkReject 11 %, with headers=table 87 %.
type commonHistory struct {
	number uint64 // of this history in its virtual host
	after  uint64 // the number of the history before this death; 0: none
	again  bool   // the queue and reason had an entry, which has kept its time

	extra extra
	death *death // apart: what dies later keeps it, and nothing else of this

	wire struct { // the headers of a message that has no others, in the order in which RabbitMQ sends them
		once   sync.Once
		fields Fields
	}
	read struct { // the properties of a message that has no others, as a program reads them
		once  sync.Once
		props *Properties
	}
	typed struct { // see Delivery.Deaths
		once   sync.Once
		deaths []Death
	}
}

func (h *commonHistory) fields() Fields {
	h.wire.once.Do(func() { h.wire.fields = h.extra.deathHeaders().byName() })
	return h.wire.fields
}

func (h *commonHistory) properties() *Properties {
	h.read.once.Do(func() { h.read.props = &Properties{Headers: h.fields().Table()} })
	return h.read.props
}

// commonHistories are the last histories that messages got when they died in one queue, by the number of the one
// before.
type commonHistories [4]*commonHistory

// sharesHistory reports whether a message that dies may share its new history with others.
func (m *message) sharesHistory() bool {
	return !m.hasExpiration() && (m.extra == nil || m.extra.common != nil)
}

// commonLocked returns the extra of a message that shares its history and dies now, at a time in seconds.
func (v *vhost) commonLocked(l *deadLetter, at int64) *extra {
	m, after := l.m, uint64(0)
	if m.extra != nil {
		after = m.extra.common.number
	}
	last := &l.q.counters.died().histories[after%uint64(len(commonHistories{}))]
	if h := *last; h != nil && h.after == after && (h.again || h.death.at == at) {
		if d := h.death; d.reason == l.reason && d.exchange == m.exchange && d.key == m.key {
			return &h.extra
		}
	}
	v.lastHistory++
	h := &commonHistory{number: v.lastHistory, after: after}
	if m.extra != nil {
		h.extra = *m.extra
	}
	h.extra.common, h.extra.lastExchange = h, m.exchange
	h.death = &death{queue: l.q.name, reason: l.reason, count: 1, at: at, exchange: m.exchange, key: m.key}
	var looked int
	h.again, looked = h.extra.record(h.death)
	v.tookLocked(looked / entriesOfHistory)
	*last = h
	return &h.extra
}

// except returns the list without gone, sharing what follows it.
func (d *death) except(gone *death) *death {
	if d == gone {
		return d.next
	}
	c := *d
	c.next = d.next.except(gone)
	return &c
}

// recordedKeys are the routing-keys of a death, without those of BCC; nil: the routing key alone. RabbitMQ 4.3 removes,
// for each BCC key, the first equal key; 3.10 lists the routing key and what the message's headers CC and BCC name now.
// Rules: DL-15.
func (r *rules) recordedKeys(m *message) []string {
	if r.keysWithoutBCC {
		return m.headerKeys()
	}
	if m.extra == nil || m.extra.published == nil {
		return nil
	}
	keys, bcc := m.keys(), m.bccKeys()
	if len(bcc) == 0 {
		return keys
	}
	keys = slices.Clone(keys)
	for _, k := range bcc {
		if i := slices.Index(keys, k); i >= 0 {
			keys = slices.Delete(keys, i, i+1)
		}
	}
	return keys
}

// headerKeys are the routing key and those of the headers CC and BCC; nil if there are none. If the publisher sent two
// CC or BCC headers, the second is there when the first has been taken off.
func (m *message) headerKeys() []string {
	var keys []string
	for _, name := range [...]string{headerCC, headerBCC} {
		more, _ := keysOf(m.headers(), name) // a header that was not checked may be no array
		keys = append(keys, more...)
	}
	if keys == nil {
		return nil
	}
	return append([]string{m.key}, keys...)
}

// cyclicLocked reports whether m, which has just died, must not go to queue t: m has died in t before, and no death since
// then, this one included, was a rejection. A consumer that rejects wants the cycle.
// Rules: DL-23, DL-24, DL-25, DL-26.
func (v *vhost) cyclicLocked(m *message, reason Reason, t *Queue) bool {
	if reason == Rejected {
		return false
	}
	if v.rules.headerHistory {
		return cyclicHeader(m.headers(), t.name)
	}
	if index := m.extra.index.of(m.extra.deaths); index != nil {
		return index.automatic(t.name)
	}
	diedThere, looked := m.extra.deaths.automatic(t.name)
	v.tookLocked(looked / entriesOfHistory)
	return diedThere
}

// entriesOfHistory is how many entries of a history an operation deals with in one step.
const entriesOfHistory = 8

// automatic reports whether the history has a death in a queue and no rejection since then, and at how many entries it
// looked.
func (d *death) automatic(queue string) (there bool, looked int) {
	for ; d != nil && d.reason != Rejected; d = d.next {
		if looked++; d.queue == queue {
			return true, looked
		}
	}
	return false, looked
}

const (
	headerDeaths          = "x-death"
	headerFirstReason     = "x-first-death-reason"
	headerFirstQueue      = "x-first-death-queue"
	headerFirstExchange   = "x-first-death-exchange"
	headerLastReason      = "x-last-death-reason"
	headerLastQueue       = "x-last-death-queue"
	headerLastExchange    = "x-last-death-exchange"
	headerAcquiredCount   = "x-acquired-count"
	headerDeliveryCount   = "x-delivery-count"
	fieldOriginalExpiry   = "original-expiration"
	fieldDeathRoutingKeys = "routing-keys"
)

// deathTrios are the headers about the first and the last death.
// Rules: DL-17.
func (x *extra) deathTrios() Fields {
	return Fields{
		{headerFirstExchange, x.firstDeath.exchange.name},
		{headerFirstQueue, x.firstDeath.queue},
		{headerFirstReason, string(x.firstDeath.reason)},
		{headerLastExchange, x.lastExchange.name},
		{headerLastQueue, x.deaths.queue},
		{headerLastReason, string(x.deaths.reason)},
	}
}

// table is the entry of x-death as 4.3 writes it.
// Rules: DL-14.
func (d *death) table() Fields {
	t := make(Fields, 0, 7)
	if d.expiration != nil {
		t = append(t, Field{fieldOriginalExpiry, *d.expiration})
	}
	return append(t, Field{"count", d.count}, Field{"reason", string(d.reason)}, Field{"queue", d.queue},
		Field{"time", time.Unix(d.at, 0).UTC()}, Field{"exchange", d.exchange.name},
		Field{fieldDeathRoutingKeys, anys(d.routingKeys())})
}

func anys(ss []string) []any {
	out := make([]any, len(ss))
	for i, s := range ss {
		out[i] = s
	}
	return out
}

// deathHeaders are all headers that a dead letter gets.
// Rules: M-15, DL-13.
func (x *extra) deathHeaders() Fields {
	var array []any
	for d := x.deaths; d != nil; d = d.next {
		array = append(array, d.table())
	}
	return append(Fields{{headerDeaths, array}}, x.deathTrios()...)
}

func (d *death) public() Death {
	p := Death{Queue: d.queue, Reason: d.reason, Count: d.count, Time: time.Unix(d.at, 0).UTC(),
		Exchange: d.exchange.name, RoutingKeys: slices.Clone(d.routingKeys())}
	if d.expiration != nil {
		p.OriginalExpiration = *d.expiration
	}
	return p
}

// deaths is the history as Delivery.Deaths tells it. To make it for each message takes BenchmarkReject/headers=typed 17 % more
// instructions.
func (h *commonHistory) deaths() []Death {
	h.typed.once.Do(func() { h.typed.deaths = h.extra.publicDeaths() })
	return h.typed.deaths
}

func (x *extra) publicDeaths() (out []Death) {
	for d := x.deaths; d != nil; d = d.next {
		out = append(out, d.public())
	}
	return slices.Clip(out) // who appends to it leaves it as it is
}

// history is the typed history of a message, from the records or, in 3.10, from the header.
func (m *message) history() (out []Death) {
	switch {
	case m.extra == nil:
		return nil
	case m.extra.common != nil:
		return m.extra.common.deaths()
	}
	out = m.extra.publicDeaths()
	if out == nil && m.extra.lastExchange != nil {
		out = headerHistory(m.headers())
	}
	return out
}
