package leveret

// Dead letters are values on a worklist. Queue code cannot reach exchange code: it appends what
// died, and the operation that holds the lock works the list off before it ends. So a death
// in the middle of a death is just one more item, and the order is that of RabbitMQ's mailboxes.

// A Reason says why a message died.
type Reason string

// The reasons for dead-lettering.
const (
	Rejected      Reason = "rejected"       // rejected or nacked without requeue
	Expired       Reason = "expired"        // its time to live was over
	MaxLength     Reason = "maxlen"         // the queue was too long
	DeliveryLimit Reason = "delivery_limit" // it came back to a quorum queue too often
)

// A deadLetter is a message on its way from the queue it died in. A nil m means that the queue has pending
// dead letters of the at-least-once strategy to look after.
type deadLetter struct {
	q          *Queue
	m          *message
	deliveries uint32
	reason     Reason
}

// worklist is a FIFO that reuses its memory.
type worklist struct {
	items  []deadLetter
	done   int
	pushed int // since it was last empty
	roots  int // of them, before the work began; 0: it has not
	most   int // that may be pushed before it is empty; 0: not computed yet
}

func (w *worklist) len() int { return len(w.items) - w.done }

func (w *worklist) push(d deadLetter) {
	if w.done > 32 && w.done >= len(w.items)/2 {
		n := copy(w.items, w.items[w.done:])
		clear(w.items[n:])
		w.items, w.done = w.items[:n], 0
	}
	w.items = append(w.items, d)
}

func (w *worklist) pop() deadLetter {
	d := w.items[w.done]
	w.items[w.done] = deadLetter{}
	if w.done++; w.done == len(w.items) {
		w.items, w.done = w.items[:0], 0
	}
	return d
}

// freeDeaths is how many deaths an operation may cause whatever there is in the virtual host.
const freeDeaths = 100_000

// die puts a dead letter on the worklist. It reports false if the deaths have no end: with RabbitMQ 3.10 a history that
// a client made up can hide a circle, and with every release many queues that dead-letter to all others send
// a message along every path there is. RabbitMQ works at that until it is out of memory. As the cycle rule lets a
// message die once in each queue, there is a number of deaths that is not reached otherwise.
func (v *vhost) die(d deadLetter) bool {
	w := &v.deaths
	if w.pushed++; w.roots > 0 && w.pushed > freeDeaths {
		if w.most == 0 {
			messages := w.roots
			for _, q := range v.queues {
				messages += q.ready + q.unacked
			}
			w.most = freeDeaths + messages*(len(v.queues)+1)
		}
		if w.pushed > w.most {
			return false
		}
	}
	w.push(d)
	return true
}

// settle sends every dead letter where it leads, and those that die on the way after them.
func (v *vhost) settle() {
	v.deaths.roots = v.deaths.pushed
	for v.deaths.len() > 0 {
		d := v.deaths.pop()
		if d.m == nil {
			d.q.tryPending()
		} else {
			v.deadLetter(d)
		}
	}
	v.deaths.pushed, v.deaths.roots, v.deaths.most = 0, 0, 0
}

// kill ends e's time in q, which it has left already.
func (q *Queue) kill(e entry, reason Reason) {
	v := q.v
	switch {
	case !q.set.hasDLX:
		v.counters.NoDeadLetterExchange.died(reason)
		q.dropped(e, reason, CauseNoDeadLetterExchange)
	case q.quorum != nil && q.set.atLeastOnce:
		v.counters.DeadLetteredKept.died(reason)
		q.keepPending(e, reason)
	default:
		if !v.die(deadLetter{q, e.m, e.deliveries, reason}) {
			q.dropped(e, reason, CauseCycle)
		}
	}
}

// deadLetter publishes a dead letter, at most once: what cannot be delivered is lost.
func (v *vhost) deadLetter(d deadLetter) {
	x := v.deathExchange(d.q.set.dlx)
	if x == nil || !d.q.set.hasDLX {
		v.counters.NoDeadLetterExchange.died(d.reason)
		v.droppedEvent(d.q, d.m, d.reason, CauseExchangeMissing, "")
		return
	}
	v.counters.DeadLetteredOnce.died(d.reason)
	m := v.dead(d, x, v.now()/1e9)
	targets := v.routeDead(x, m)
	v.deadLetteredEvent(d.q, m, d.reason, targets)
	if len(targets) == 0 {
		v.droppedEvent(d.q, m, d.reason, CauseDeadLetterUnroutable, "")
	}
	for _, t := range targets {
		switch {
		case v.cyclic(m, d.reason, t):
			v.droppedEvent(d.q, m, d.reason, CauseCycle, t.name)
		case !t.accept(m, v.carried(d.deliveries), nil):
			v.droppedEvent(d.q, m, d.reason, CauseRefused, t.name)
		}
	}
}

// lastDeath is what is known from the dead letter before.
type lastDeath struct {
	route   routeCache
	history *commonHistory // nil: none yet
}

// deathExchange is the exchange of that name, nil if there is none. Dead letters mostly take the
// way of the one before.
func (v *vhost) deathExchange(name string) *Exchange {
	if c := &v.lastDeath.route; c.topology == v.topology && c.exchange == name && c.x != nil {
		return c.x
	}
	return v.exchanges[name]
}

// routeDead is route for a dead letter.
func (v *vhost) routeDead(x *Exchange, m *message) []*Queue {
	c := &v.lastDeath.route
	plain := m.extra.routing == nil
	if plain && c.x == x && c.topology == v.topology && c.key == m.key {
		return c.queues
	}
	targets := v.route(x, m)
	if plain && !v.router.varying {
		*c = routeCache{v.topology, x.name, m.key, x, append(c.queues[:0], targets...)}
	}
	return targets
}

// carried is the delivery count that a dead letter takes along.
func (v *vhost) carried(deliveries uint32) uint32 {
	if v.rules.countEveryReturn {
		return 0
	}
	return deliveries
}

// dead makes the message that is published to x: the history gets one more death, the expiration
// goes, the dead-letter routing key replaces all routing keys if there is one. at is when it
// died, in seconds.
func (v *vhost) dead(l deadLetter, x *Exchange, at int64) *message {
	q, m := l.q, l.m
	if m.extra == nil && !v.rules.headerHistory {
		return v.deadFirst(l, x, at)
	}
	n := &struct { // one allocation: most of them live and go together
		message
		extra
		death
	}{message: *m}
	n.message.exchange, n.message.extra = x, &n.extra
	if m.extra != nil {
		n.extra = *m.extra
		n.extra.common = nil
	}
	n.extra.expiration = -1
	n.extra.lastExchange = m.exchange
	d := &n.death
	*d = death{queue: q.name, reason: l.reason, count: 1, at: at, exchange: m.exchange, key: m.key, expiration: m.publishedExpiration()}
	if m.extra != nil && m.extra.routing != nil {
		d.keys = v.rules.recordedKeys(m)
	}
	dead := &n.message
	if p := m.props; p != nil && p.Has()&PropExpiration != 0 {
		own := dead.editProps()
		n.extra.removed += int32(1 + len(own.Expiration))
		own.Expiration, own.Present = "", own.Present&^PropExpiration
	}
	if q.set.hasDLRK {
		n.message.key, n.extra.routing = q.set.dlrk, nil
		if bcc := m.bccKeys(); len(bcc) > 0 && !v.rules.keysWithoutBCC { // they still count for the history
			n.extra.routing = &routing{[]string{q.set.dlrk}, bcc}
		}
		if v.rules.dropCCWithKey {
			dead.dropHeader(headerCC)
		}
	}
	if v.rules.headerHistory {
		dead.recordInHeaders(d)
	} else {
		n.extra.record(d)
	}
	return dead
}

// deadFirst is dead for a message without extra, whose history is but this death. It shares that with those that died
// alike just before.
func (v *vhost) deadFirst(l deadLetter, x *Exchange, at int64) *message {
	n := *l.m
	n.exchange, n.extra = x, v.lastDeath.common(l, at)
	if set := l.q.set; set.hasDLRK {
		n.key = set.dlrk
		if v.rules.dropCCWithKey {
			n.dropHeader(headerCC)
		}
	}
	return &n
}

func (m *message) dropHeader(name string) {
	if _, there := m.headers().Get(name); there {
		m.editProps().HeaderFields = m.headers().without(name)
	}
}

// publishedExpiration is the expiration as consumers see it; ok in the death if it is there.
func (m *message) publishedExpiration() *string {
	if m.expiration() < 0 {
		return nil
	}
	return &m.props.Expiration
}
