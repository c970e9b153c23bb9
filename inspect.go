package leveret

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Descriptions of what there is. Each is taken under the lock, at one moment, and changes nothing. A list that goes
// over very many queues lets others in between (turns.go), as RabbitMQ's lists do. A queue that is there all the time is
// described once. One that comes or goes meanwhile may be missing.

// Info describes the virtual host.
func (v *VHost) Info() VHostInfo { return v.describe() }

func (v *vhost) describe() VHostInfo {
	v.lock()
	defer v.unlock()
	i := v.meta
	i.Tags, i.Queues = append([]string{}, i.Tags...), len(v.queues)
	return i
}

func (v *vhost) sortedQueuesLocked() []*Queue {
	all := slices.Collect(maps.Values(v.queues))
	slices.SortFunc(all, byName)
	return all
}

func byName(x, y *Queue) int { return cmp.Compare(x.name, y.name) }

func (v *vhost) sortedExchangesLocked() []*Exchange {
	all := slices.Collect(maps.Values(v.exchanges))
	slices.SortFunc(all, exchangesByName)
	return all
}

func exchangesByName(x, y *Exchange) int { return cmp.Compare(x.name, y.name) }

// eachInTurnsLocked calls f for all, in an order that nothing changes, or as they stand if order is nil. Others get in between, and
// what has gone by then is passed over.
func eachInTurnsLocked[T any](v *vhost, all []T, order func(x, y T) int, gone func(T) bool, f func(T)) {
	switch {
	case order == nil:
	case len(all) < turn():
		slices.SortFunc(all, order)
	default:
		v.apartLocked(func() { slices.SortFunc(all, order) })
	}
	for _, t := range all {
		if !gone(t) {
			f(t)
			v.tookLocked(1)
			v.restLocked()
		}
	}
}

// eachQueueLocked calls f for all queues by name, and lets others in between.
func (v *vhost) eachQueueLocked(f func(*Queue)) {
	eachInTurnsLocked(v, slices.Collect(maps.Values(v.queues)), byName, func(q *Queue) bool { return q.deleted }, f)
}

// eachExchangeLocked calls f for all exchanges by name, and lets others in between.
func (v *vhost) eachExchangeLocked(f func(*Exchange)) {
	eachInTurnsLocked(v, slices.Collect(maps.Values(v.exchanges)), exchangesByName, func(x *Exchange) bool { return x.deleted }, f)
}

// A listing collects descriptions in pages. One slice for a hundred thousand descriptions takes long to make and to grow, and others
// wait meanwhile: BenchmarkBystander/list/consumers waits 70 ms with one slice, and 3 ms with pages.
type listing[T any] struct{ pages [][]T }

func (l *listing[T]) add(described T) {
	last := len(l.pages) - 1
	if last < 0 || len(l.pages[last]) == cap(l.pages[last]) {
		l.pages = append(l.pages, make([]T, 0, 8<<min(len(l.pages), 6)))
		last++
	}
	l.pages[last] = append(l.pages[last], described)
}

// fill has collect fill the listing under the lock.
func (l *listing[T]) fill(v *vhost, collect func(*listing[T])) {
	v.lock()
	defer v.unlock()
	collect(l)
}

// list returns all that collect fills a listing with.
func list[T any](v *vhost, collect func(*listing[T])) []T {
	var l listing[T]
	l.fill(v, collect)
	return slices.Concat(append([][]T{{}}, l.pages...)...) // not nil
}

// Queues describes all queues, sorted by name.
func (v *vhost) Queues() []QueueInfo {
	return list(v, func(l *listing[QueueInfo]) {
		v.eachQueueLocked(func(q *Queue) { l.add(q.infoLocked()) })
	})
}

// Exchanges describes all exchanges, sorted by name.
func (v *vhost) Exchanges() []ExchangeInfo {
	return list(v, func(l *listing[ExchangeInfo]) {
		v.eachExchangeLocked(func(x *Exchange) { l.add(x.infoLocked()) })
	})
}

// Bindings describes all bindings: the implicit ones of the default exchange, then those that were made, by the name of
// their source, each exchange's oldest first. RabbitMQ 3.10 does not show what an import bound to the default exchange.
// Rules: X-16, J-4.
func (v *vhost) Bindings() []BindingInfo {
	return list(v, func(l *listing[BindingInfo]) {
		v.eachQueueLocked(func(q *Queue) {
			l.add(BindingInfo{VHost: v.name, Destination: q.name, DestinationType: DestinationQueue, RoutingKey: q.name,
				Arguments: Table{}, ArgumentFields: Fields{}})
		})
		v.eachExchangeLocked(func(x *Exchange) {
			if x != v.nameless || !v.rules.hidesDefaultBindings {
				eachInTurnsLocked(v, x.outgoing.living(), byAge, (*binding).leadsNowhere, func(b *binding) { l.add(b.info()) })
			}
		})
	})
}

// Consumers describes all consumers, by queue. Consumers that their queue cancelled because they were too slow are among
// them until their client cancels them, too (see ConsumerInfo.TimedOut).
// Rules: D-35a.
func (v *vhost) Consumers() []ConsumerInfo {
	byNumber := func(x, y *Consumer) int { return cmp.Compare(x.number, y.number) }
	gone := func(c *Consumer) bool { return c.ended && !c.late }
	return list(v, func(l *listing[ConsumerInfo]) {
		late := v.lateConsumersLocked()
		v.eachQueueLocked(func(q *Queue) {
			all, order := q.consumers.list(), byNumber
			if slow := late[q]; slow != nil {
				all = append(all, slow...)
			} else {
				order = nil
			}
			eachInTurnsLocked(v, all, order, gone, func(c *Consumer) { l.add(c.infoLocked()) })
		})
	})
}

// Connections describes the open connections, by id.
func (v *vhost) Connections() []ConnInfo {
	v.lock()
	conns := v.sortedConnsLocked()
	infos := collect(conns, (*Conn).infoLocked)
	v.unlock()
	for i, c := range conns {
		if describe := c.cfg.Describe; describe != nil {
			infos[i].Transport = describe()
		}
	}
	return infos
}

// Policies returns all policies, sorted by name. Whole numbers in their definitions are int64,
// however they were given.
func (v *vhost) Policies() []Policy { return v.policyList(userPolicies) }

// OperatorPolicies is Policies for operator policies.
func (v *vhost) OperatorPolicies() []Policy { return v.policyList(operatorPolicies) }

func (v *vhost) policyList(which policyLevel) []Policy {
	v.lock()
	defer v.unlock()
	var all []Policy
	for _, p := range v.policies[which] {
		info := p.Policy
		info.Definition = maps.Clone(p.definition)
		all = append(all, info)
	}
	slices.SortFunc(all, func(a, b Policy) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// tableOf returns fields as descriptions have them: a table, if only an empty one.
func tableOf(f Fields) Table {
	if f == nil {
		return Table{}
	}
	return f.Table()
}

func collect[T, U any](ts []T, f func(T) U) []U {
	us := make([]U, len(ts))
	for i, t := range ts {
		us[i] = f(t)
	}
	return us
}

// Info describes the queue; of a deleted queue it describes the last state.
func (q *Queue) Info() QueueInfo {
	q.v.lock()
	defer q.v.unlock()
	return q.infoLocked()
}

// Rules: P-16, O-1.
func (q *Queue) infoLocked() QueueInfo {
	s := q.store
	i := QueueInfo{Name: q.name, VHost: q.v.name, User: q.user, Type: QueueType(q.args.kind.String()),
		Durable: q.lifetime.durable, AutoDelete: q.lifetime.autoDelete, Exclusive: q.lifetime.exclusive,
		Arguments: tableOf(q.args.declared), ArgumentFields: q.args.declared,
		Ready: s.ready.n, Unacked: s.unacked.n, Messages: s.ready.n + s.unacked.n + s.aside.n,
		BytesReady: s.ready.bytes, BytesUnacked: s.unacked.bytes, Bytes: s.ready.bytes + s.unacked.bytes + s.aside.bytes,
		Consumers: q.listedConsumersLocked(), EffectivePolicy: mergedDefinition(q.policy, q.operator),
		HeadDeadline: instant(q.impl.headDeadline()),
	}
	i.ByPriority = s.byLevel()
	q.impl.inform(&i)
	if q.owner != nil {
		i.Owner = q.owner.id
	}
	if q.policy != nil {
		i.Policy = q.policy.Name
	}
	if q.operator != nil {
		i.OperatorPolicy = q.operator.Name
	}
	if active := q.consumers.active(); active != nil {
		i.SingleActive = active.tag
	}
	if q.idle != nil {
		if at, ok := q.idle.nextWake(); ok {
			i.IdleDeadline = instant(at)
		}
	}
	return i
}

func instant(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

// Effective tells for every setting the value in force and where it comes from.
func (q *Queue) Effective() Effective {
	q.v.lock()
	defer q.v.unlock()
	return q.args.effective(q.v.rules, q.policy, q.operator)
}

// Messages describes the ready messages in the order in which they would be handed out, all as they were at one moment.
func (q *Queue) Messages() []MessageInfo {
	v := q.v
	v.lock()
	defer v.unlock()
	entries := make([]entry, 0, q.store.ready.n) // as they are now: others get in while they are described
	for e := range q.store.all() {
		entries = append(entries, *e)
	}
	var infos []MessageInfo
	v.apartLocked(func() { infos = make([]MessageInfo, 0, len(entries)) }) // of a million messages that is much memory
	for i := range entries {
		infos = append(infos, q.describeLocked(&entries[i]))
		v.tookLocked(1)
		v.restLocked()
	}
	return infos
}

// Waiting describes the messages of a quorum queue that are neither ready nor delivered: first those that wait for a
// delayed retry, by the time when they are ready again, then the dead letters that wait for a target to take them,
// which [QueueInfo] counts in Messages, too. After a purge it also describes dead letters that were on their way, which
// nothing counts.
func (q *Queue) Waiting() []MessageInfo {
	q.v.lock()
	defer q.v.unlock()
	var infos []MessageInfo
	for w := range q.impl.waiting {
		i := q.describeLocked(&w.e)
		i.DueAt, i.DeadLetter = instant(w.at), w.reason
		infos = append(infos, i)
	}
	return infos
}

func (q *Queue) describeLocked(e *entry) MessageInfo {
	return MessageInfo{Exchange: e.m.exchange.name, RoutingKey: e.m.key, Properties: e.m.props, Body: e.m.body,
		Redelivered: q.redelivered(e), Deadline: instant(e.deadline), Deaths: e.m.history()}
}

// HeadTimestamps is for tools such as rabbitmqctl, which list these times: for each classic queue, by its name, when the message at its head was
// made, or the first of those that were delivered and are not settled, whichever says that it is older. Only messages of the highest priority that
// the queue has count. A queue is missing if neither message tells. HeadTimestamps looks at all messages that were delivered and are not settled.
func (v *vhost) HeadTimestamps() map[string]time.Time {
	v.lock()
	defer v.unlock()
	out := map[*Queue]entry{}
	for _, ch := range v.holdersLocked() {
		for _, u := range ch.tags.All() {
			if first, ok := out[u.q]; !u.void && (!ok || u.q.store.precedes(&u.e, &first)) {
				out[u.q] = u.e
			}
		}
		v.tookLocked(ch.held)
		v.restLocked()
	}
	times := map[string]time.Time{}
	v.eachQueueLocked(func(q *Queue) {
		var held *entry
		if e, ok := out[q]; ok {
			held = &e
		}
		if at := q.impl.headTime(held); !at.IsZero() {
			times[q.name] = at
		}
	})
	return times
}

// allChannelsLocked returns the channels of all connections and the broker's own.
func (v *vhost) allChannelsLocked() []*Channel {
	all := []*Channel{v.system}
	for _, c := range v.sortedConnsLocked() {
		all = append(all, c.sortedChannelsLocked()...)
	}
	return all
}

// Info describes the exchange; of a deleted exchange it describes the last state.
func (x *Exchange) Info() ExchangeInfo {
	x.v.lock()
	defer x.v.unlock()
	return x.infoLocked()
}

func (x *Exchange) infoLocked() ExchangeInfo {
	i := ExchangeInfo{Name: x.name, VHost: x.v.name, Type: x.kind, User: x.user, Durable: x.cfg.Durable, AutoDelete: x.cfg.AutoDelete,
		Internal: x.cfg.Internal, Arguments: tableOf(x.args), ArgumentFields: x.args,
		Counters: ExchangeCounters{x.counters, x.spread.copies(x.counters.Published)}}
	if x.policy != nil {
		i.Policy = x.policy.Name
	}
	return i
}

func (c *Consumer) infoLocked() ConsumerInfo {
	cs := c.q.consumers
	return ConsumerInfo{VHost: c.q.v.name, Queue: c.q.name, Tag: c.tag, Conn: c.ch.conn.id, Channel: c.ch.number,
		AckRequired: !c.cfg.NoAck, Exclusive: c.cfg.Exclusive, Prefetch: c.prefetch, Unacked: c.unacked,
		Active: !c.q.args.singleActive || cs.active() == c, Blocked: c.blockedLocked(), TimedOut: c.late, Priority: c.priority,
		Arguments: tableOf(c.args), ArgumentFields: c.args}
}

func (c *Conn) infoLocked() ConnInfo {
	return ConnInfo{ID: c.id, Name: c.cfg.Name, User: c.cfg.User, VHost: c.v.name,
		ClientProperties: c.cfg.ClientProperties, ClientPropertyFields: c.cfg.ClientPropertyFields, ChannelMax: max(c.cfg.ChannelMax, 0), ConnectedAt: c.opened,
		Channels: collect(c.sortedChannelsLocked(), (*Channel).infoLocked), Blocked: c.Blocked()}
}

func (ch *Channel) infoLocked() ChannelInfo {
	i := ChannelInfo{Number: ch.number, Consumers: len(ch.consumers), Unacked: ch.held, Prefetch: ch.prefetch,
		GlobalPrefetch: ch.window, Confirm: ch.confirm, Tx: ch.tx != nil,
		Counters: ch.tally.counters()}
	if ch.tx != nil {
		i.Uncommitted, i.AcksUncommitted = len(ch.tx.publishes), ch.tx.marked
		i.Unacked -= ch.tx.marked
	}
	return i
}
