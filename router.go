package leveret

import (
	"cmp"
	"math"
	"slices"

	"github.com/leveretmq/leveret/internal/phash"
)

// routes are how a virtual host routes, and what it remembers of it.
type routes struct {
	topology  uint64 // counts changes that may change a route
	router    router
	lastDeath routeCache // of the dead letter before. Without it BenchmarkFull/dead-letter=true takes 14 to 18 % longer.
}

// A router finds the queues that a message reaches. It belongs to its virtual host and is used under
// its lock, so its slices serve every routing in turn.
type router struct {
	visit   uint64 // the number of this routing: queues and exchanges that have this number have been visited
	queues  []*Queue
	hits    []hit    // how topic exchanges have led to queues
	targets []target // memory for byBindingKeys
	work    []*Exchange
	matches []*binding
	varying bool      // the result depends on more than exchange, key and topology
	inTurn  []*Queue  // memory for storingLastLocked
	found   bool      // the exchange that is routed through has led to a queue or an exchange
	one     [1]string // memory for keys
}

// A hit is a binding key of a topic exchange that has led to a queue.
type hit struct {
	q   *Queue
	key string
}

// A target is a queue that a message reaches, with its hits.
type target struct {
	q    *Queue
	hits []hit
}

// unreachable is the last visit of a queue or an exchange that has gone. Every routing passes it by, as if it had been
// visited: bindings that led there may still be in the tables of their sources (unbound.go).
const unreachable = math.MaxUint64

// keys returns all routing keys of m, until the next call. BenchmarkRoute/default takes 24 % longer with the iterator
// m.eachKey.
func (r *router) keys(m *message) []string {
	if m.extra == nil {
		r.one[0] = m.key
		return r.one[:]
	}
	return m.keys()
}

// routeLocked returns every queue that m, published to x, reaches: each once, however many
// bindings, keys and exchanges lead to it, in the order in which they get m. The result is good until the next routing.
// Rules, X-18a, X-19.
func (v *vhost) routeLocked(x *Exchange, m *message) []*Queue {
	r := &v.router
	r.visit++
	r.queues, r.hits, r.varying = r.queues[:0], r.hits[:0], false
	if x == v.nameless {
		for _, key := range r.keys(m) {
			if q := v.queues[key]; q != nil {
				r.toQueue(q)
			}
		}
		r.sort(lastNameFirst)
		return r.queues
	}
	r.work = append(r.work[:0], x)
	x.visited = r.visit
	for i := 0; i < len(r.work); i++ {
		r.through(r.work[i], m)
	}
	clear(r.work)
	if v.rules.lastNameFirst {
		r.sort(lastNameFirst)
	} else {
		r.sort(byQueueName)
		r.sortByBindingKeys()
	}
	return r.queues
}

// sort puts the queues in the order in which they get the message: by type, and those of one type by name.
// Rules: X-18a.
func (r *router) sort(byName func(a, b *Queue) int) {
	order := func(a, b *Queue) int { return cmp.Or(compareTypes(a, b), byName(a, b)) }
	if !slices.IsSortedFunc(r.queues, order) {
		slices.SortFunc(r.queues, order)
	}
}

func lastNameFirst(a, b *Queue) int { return byQueueName(b, a) }

// compareTypes is the order of queues of two types.
// Rules: X-18a.
func compareTypes(a, b *Queue) int {
	switch {
	case a.traits.actsLater == b.traits.actsLater:
		return 0
	case b.traits.actsLater:
		return -1
	}
	return 1
}

// sortByBindingKeys puts the queues of one type, which are in the order of their names, in that of their binding keys: the fewer keys
// first.
// Rules: X-18a.
func (r *router) sortByBindingKeys() {
	if len(r.hits) == 0 || len(r.queues) < 2 {
		return
	}
	slices.SortFunc(r.hits, func(a, b hit) int { return cmp.Or(byQueueName(a.q, b.q), cmp.Compare(a.key, b.key)) })
	hits := slices.Compact(r.hits)
	r.targets = r.targets[:0]
	for _, q := range r.queues {
		from, _ := slices.BinarySearchFunc(hits, q, func(h hit, q *Queue) int { return byQueueName(h.q, q) })
		to := from
		for to < len(hits) && hits[to].q == q {
			to++
		}
		r.targets = append(r.targets, target{q, hits[from:to]})
	}
	slices.SortStableFunc(r.targets, func(a, b target) int {
		return cmp.Or(compareTypes(a.q, b.q), cmp.Compare(len(a.hits), len(b.hits)),
			slices.CompareFunc(a.hits, b.hits, func(x, y hit) int { return cmp.Compare(x.key, y.key) }))
	})
	for i, t := range r.targets {
		r.queues[i] = t.q
	}
}

// through adds what one exchange leads to, or its alternate exchange when it leads nowhere. To reach the default exchange is not to
// publish to it: its bindings are those that an import made, and it may have an alternate exchange.
// Rules.
func (r *router) through(x *Exchange, m *message) {
	r.found = false
	o := &x.outgoing
	switch x.kind {
	case Direct:
		for _, key := range r.keys(m) {
			r.toList(o.direct[key])
		}
	case Fanout:
		r.toList(&o.list)
	case Topic:
		for _, key := range r.keys(m) {
			r.toMatches(o, key)
		}
	case Headers:
		r.varying = true
		h := routableHeaders(m.matchFields(), x.v.rules)
		for _, b := range o.list.b {
			if b.headers.matches(h) {
				r.to(b)
			}
		}
	case LocalRandom:
		r.varying = true
		if o.live > 0 {
			r.to(o.atRandom(&x.v.b.random))
		}
	case ModulusHash:
		if o.live > 0 {
			r.to(o.byHash(r.keys(m)))
		}
	}
	if !r.found && x.hasAlt {
		if alt := x.v.exchanges[x.alt]; alt != nil {
			r.toExchange(alt)
		}
	}
}

// atRandom chooses among the bindings of an x-local-random exchange.
// Rules: X-31.
func (o *outgoing) atRandom(r *random) *binding {
	all := o.list.b
	if o.live < len(all) {
		all = slices.DeleteFunc(slices.Clone(all), (*binding).leadsNowhere)
	}
	return all[r.intN(len(all))]
}

// byHash chooses among the bindings of an x-modulus-hash exchange as RabbitMQ does: by the hash of all routing keys, in
// the order of the destinations. A destination that is bound twice counts twice.
// Rules: X-32.
func (o *outgoing) byHash(keys []string) *binding {
	all := o.orderedByDestination()
	return all[int(phash.Binaries(keys...))%len(all)]
}

// orderedByDestination returns the bindings, those to exchanges before those to queues, each by name.
func (o *outgoing) orderedByDestination() []*binding {
	if o.byDestination == nil {
		o.byDestination = o.living()
		slices.SortFunc(o.byDestination, func(x, y *binding) int {
			switch {
			case x.id.toQueue == y.id.toQueue:
				return cmp.Compare(x.id.name, y.id.name)
			case y.id.toQueue:
				return -1
			}
			return 1
		})
	}
	return o.byDestination
}

func (r *router) toList(l *bindingList) {
	if l != nil {
		for _, b := range l.b {
			r.to(b)
		}
	}
}

func (r *router) toMatches(o *outgoing, key string) {
	r.matches = o.words.Match(key, r.matches[:0])
	for _, b := range r.matches {
		r.to(b)
		if b.queue != nil && b.queue.visited == r.visit {
			r.hits = append(r.hits, hit{b.queue, b.id.key})
		}
	}
}

func (r *router) to(b *binding) {
	if b.queue != nil {
		r.toQueue(b.queue)
	} else {
		r.toExchange(b.exchange)
	}
}

// Rules: X-18.
func (r *router) toQueue(q *Queue) {
	switch {
	case q.visited < r.visit:
		q.visited = r.visit
		r.queues = append(r.queues, q)
		r.found = true
	case q.visited == r.visit:
		r.found = true
	}
}

// Rules: X-17.
func (r *router) toExchange(x *Exchange) {
	switch {
	case x.visited < r.visit:
		x.visited = r.visit
		r.work = append(r.work, x)
		r.found = true
	case x.visited == r.visit:
		r.found = true
	}
}
