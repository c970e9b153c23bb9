package leveret

import (
	"slices"

	"github.com/leveretmq/leveret/internal/record"
)

// What the log is told of everything but messages: all there is, for a snapshot, and each change where it happens. Only what a
// restart keeps is told. What follows from something else goes without saying: the bindings and the topic permissions of
// what is deleted, and the permissions of a user who is.
//
// Each item says what is. replayed.go makes of the items what there was.

// kept reports whether a restart keeps the exchange.
// Rules: R-3.
func (x *Exchange) kept() bool { return x.cfg.Durable || !x.v.rules.transientExchangesEnd }

// kept reports whether a restart keeps the binding: it keeps what the binding connects.
// Rules: R-3.
func (b *binding) kept() bool {
	if !b.source.kept() {
		return false
	}
	if b.queue != nil {
		return b.queue.lifetime.durable
	}
	return b.exchange.kept()
}

// The notes of changes. There is a log.

func (v *vhost) noteExchangeLocked(x *Exchange) {
	if x.kept() {
		v.log.note(x.record())
	}
}

func (v *vhost) noteNoExchangeLocked(x *Exchange) {
	if x.kept() {
		v.log.note(&record.NoExchange{Name: x.name})
	}
}

// noteQueueLocked gives a new queue its ID.
func (v *vhost) noteQueueLocked(q *Queue) {
	if q.lifetime.durable {
		if q.args.id == 0 { // it is not replayed
			q.args.id = v.b.disk.lastQueue.Add(1)
		}
		v.log.note(q.record())
	}
}

func (v *vhost) noteNoQueueLocked(q *Queue) {
	if q.args.id != 0 {
		v.log.note(&record.NoQueue{ID: q.args.id})
	}
}

// noteBindingLocked follows a new binding. The first one of an auto-delete exchange is told even if a restart does not keep it:
// the exchange goes with it then, which one that had none does not.
// Rules.
func (v *vhost) noteBindingLocked(b *binding) {
	x := b.source
	if x.kept() && x.cfg.AutoDelete && x.outgoing.live == 1 {
		v.log.note(x.record())
	}
	if b.kept() {
		v.log.note(b.record())
	}
}

func (v *vhost) noteNoBindingLocked(b *binding) {
	if b.kept() {
		v.log.note(&record.NoBinding{Binding: *b.record()})
	}
}

// noteNoVHostLocked ends the log of a virtual host that is deleted. Operations on it that are under way tell no more:
// another one may get its name. Both locks are those of the lock order: b.mu is held.
func (b *Broker) noteNoVHostLocked(v *vhost) {
	b.disk.note(&record.NoVHost{Name: v.name})
	v.mu.Lock()
	defer v.mu.Unlock()
	v.log.endLocked()
}

// noteResetLocked tells that the first virtual host is as a new one, and the only one. b.mu is held.
// Rules: R-14.
func (b *Broker) noteResetLocked(others []*vhost) {
	for _, v := range others {
		b.noteNoVHostLocked(v)
	}
	meta := b.newVHostInfo(defaultVHost)
	b.disk.note(&record.NoVHost{Name: defaultVHost}, meta.record())
	for _, p := range b.global {
		b.disk.note(&record.NoParameter{Name: p.Name})
	}
}

// noteResetLocked tells that the table is that of a new node. a.mu is held.
// Rules: R-14.
func (a *access) noteResetLocked(initial *accessTable) {
	a.table.Load().users.Ascend(func(u *UserInfo) bool {
		a.disk.note(&record.NoUser{Name: u.Name})
		return true
	})
	for _, item := range initial.records() {
		a.disk.note(item)
	}
}

// describeAll appends all there is but messages. It takes one lock after the other: what happens meanwhile is noted, too, so it is
// replayed on top.
func (b *Broker) describeAll(buf []byte) []byte {
	b.mu.Lock()
	all, global := b.sortedVHosts(), slices.Clone(b.global)
	if b.vhosts[defaultVHost] == nil { // which a new broker has
		buf = record.Append(buf, &record.NoVHost{Name: defaultVHost})
	}
	b.mu.Unlock()
	for _, v := range all {
		buf = v.describeContents(buf)
	}
	table := b.access.Load()
	if table.user(guest) == nil { // whom a new broker has
		buf = record.Append(buf, &record.NoUser{Name: guest})
	}
	for _, item := range table.records() {
		buf = record.Append(buf, item)
	}
	if !table.hasVHost(guest, defaultVHost) {
		buf = record.Append(buf, &record.NoPermission{User: guest, VHost: defaultVHost})
	}
	for _, p := range global {
		buf = record.Append(buf, p.record())
	}
	return buf
}

// describeContents appends the virtual host and what is in it, as it is at one moment.
func (v *vhost) describeContents(buf []byte) []byte {
	v.mu.Lock() // not lock: a snapshot is no operation, and fires no timers
	defer v.mu.Unlock()
	add := func(item record.Item) { buf = record.Append(buf, item) }
	add(&record.In{VHost: v.name})
	add(v.meta.record())
	if d := v.b.disk; d != nil {
		add(&record.Numbers{Copy: v.stored.lastCopy, Queue: d.lastQueue.Load()})
	}
	if v.log != nil && v.log.killed > 0 {
		add(&record.Killed{Copy: v.log.killed})
	}
	for level, ps := range v.policies {
		for _, p := range ps {
			add(policyRecord(p, policyLevel(level)))
		}
	}
	var bindings []*binding
	for _, x := range v.sortedExchangesLocked() {
		if !x.kept() {
			continue
		}
		if !isPredeclared(x.name) {
			add(x.record())
		}
		for _, b := range x.outgoing.all {
			if !b.leadsNowhere() && b.kept() {
				bindings = append(bindings, b)
			}
		}
	}
	for _, q := range v.sortedQueuesLocked() {
		if q.lifetime.durable {
			add(q.record())
			if q.idle != nil {
				add(q.usedRecordLocked())
			}
			q.impl.describe(add)
		}
	}
	sortByAge(bindings)
	for _, b := range bindings {
		add(b.record())
	}
	return buf
}

// records are all users and permissions.
func (t *accessTable) records() (all []record.Item) {
	t.users.Ascend(func(u *UserInfo) bool {
		all = append(all, u.record())
		return true
	})
	t.permissions.byUser.Ascend(func(g given[*grant]) bool {
		all = append(all, g.what.record(g.grantKey))
		return true
	})
	t.topics.byUser.Ascend(func(g given[*topicGrant]) bool {
		all = append(all, g.what.record(g.grantKey))
		return true
	})
	return all
}

// What each thing is in the log.

func (i *VHostInfo) record() *record.VHost {
	return &record.VHost{Name: i.Name, Description: i.Description, Tags: i.Tags, DefaultQueueType: string(i.DefaultQueueType),
		HasLimits: i.HasLimits, MaxConnections: int64(i.Limits.MaxConnections), MaxQueues: int64(i.Limits.MaxQueues),
		HasProtection: i.HasProtection, Protected: i.Protected}
}

func (x *Exchange) record() *record.Exchange {
	return &record.Exchange{Name: x.name, Type: string(x.kind), Durable: x.cfg.Durable, AutoDelete: x.cfg.AutoDelete,
		Internal: x.cfg.Internal, User: x.user, Arguments: fieldsRecord(x.args), Bound: x.cfg.AutoDelete && x.outgoing.live > 0}
}

func (q *Queue) record() *record.Queue {
	return &record.Queue{ID: q.args.id, Name: q.name, Type: q.args.kind.String(), AutoDelete: q.lifetime.autoDelete,
		User: q.user, Arguments: fieldsRecord(q.args.declared)}
}

func (b *binding) record() *record.Binding {
	r := &record.Binding{Source: b.source.name, Key: b.id.key, Arguments: fieldsRecord(b.args)}
	if b.queue != nil {
		r.Queue = b.queue.args.id
	} else {
		r.Destination = b.id.name
	}
	return r
}

func policyRecord(p *policy, level policyLevel) *record.Policy {
	return &record.Policy{Operator: level == operatorPolicies, Name: p.Name, Pattern: p.Pattern, ApplyTo: string(p.ApplyTo),
		Definition: definitionRecord(p.definition), Priority: p.Priority}
}

func (i *UserInfo) record() *record.User {
	return &record.User{Name: i.Name, Tags: i.Tags, MaxConnections: int64(i.Limits.MaxConnections),
		MaxChannels: int64(i.Limits.MaxChannels), Algorithm: i.Password.Algorithm, Hash: i.Password.Hash}
}

func (g *grant) record(key grantKey) *record.Permission {
	return &record.Permission{User: key.user, VHost: key.vhost, Configure: g.Configure, Write: g.Write, Read: g.Read}
}

func (g *topicGrant) record(key grantKey) *record.TopicPermission {
	return &record.TopicPermission{User: key.user, VHost: key.vhost, Exchange: key.exchange, Write: g.Write, Read: g.Read}
}

func (p *GlobalParameter) record() *record.Parameter {
	return &record.Parameter{Name: p.Name, Value: p.Value}
}

// fieldsRecord has the values as they are: package record knows the broker's own types.
func fieldsRecord(f Fields) record.Fields {
	if f == nil {
		return nil
	}
	return collect(f, func(e Field) record.Field { return record.Field(e) })
}

// definitionRecord is the definition of a policy, in which only the outermost values are of policyValue's types.
func definitionRecord(t Table) record.Table { return record.Table(definitionValue(t).(Table)) }

// definitionValue is policyValue for a value and those in it.
func definitionValue(v any) any {
	switch v := policyValue(v).(type) {
	case Table:
		if v == nil {
			return v
		}
		out := make(Table, len(v))
		for name, e := range v {
			out[name] = definitionValue(e)
		}
		return out
	case []any:
		if v == nil {
			return v
		}
		return collect(v, definitionValue)
	default:
		return v
	}
}
