package leveret

import (
	"bytes"

	"github.com/leveretmq/leveret/internal/record"
)

// What the log says of everything but messages is made anew through the engine's own functions, in a node that is down, so that
// all tables are what they would be. Nobody watches, nothing is checked, and nothing ends by itself: the log says what ended.
//
// An item may be older than the snapshot that it is replayed on. An item about what is gone there is about nothing; when
// it makes that anew, a later one ends it again. So nothing that does not fit is a mistake.

// A replay makes what a log says in a broker that nobody uses yet.
type replay struct {
	b         *Broker
	in        *vhost            // what the items are about; nil: there is none of that name any more
	queues    map[uint64]*Queue // by ID, of all virtual hosts
	policies  map[*vhost]*[2]policies
	bound     map[*Exchange]bool // as record.Exchange has it
	lastQueue uint64             // the highest ID of a queue
}

// newReplay has the node of a new broker go down until Start.
func newReplay(b *Broker) (*replay, error) {
	if err := b.Stop(KilledNode); err != nil {
		return nil, err
	}
	r := &replay{b: b, queues: map[uint64]*Queue{}, policies: map[*vhost]*[2]policies{}, bound: map[*Exchange]bool{}}
	r.enter(b.vhost)
	return r, nil
}

// enter makes a virtual host one that is replayed.
func (r *replay) enter(v *vhost) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed, v.node, v.turns.lost = true, nodeState{down: true, replays: true}, CauseNodeDown
	v.events = nil
	r.policies[v] = &[2]policies{}
	r.in = v
}

// item applies an item. It reports false for an item that is about messages. An item that the engine refuses is an error.
func (r *replay) item(item record.Item) (handled bool, err error) {
	switch i := item.(type) {
	case *record.In:
		r.in = r.vhostOf(i.VHost)
		return true, nil
	case *record.VHost:
		r.vhost(i)
		return true, nil
	case *record.NoVHost:
		r.noVHost(i.Name)
		return true, nil
	}
	if r.access(item) || r.parameter(item) {
		return true, nil
	}
	if r.in == nil {
		return isContent(item), nil
	}
	r.in.lock()
	defer r.in.unlock()
	return r.contentLocked(item)
}

// isContent reports whether an item is about what is in a virtual host, messages aside.
func isContent(item record.Item) bool {
	switch item.(type) {
	case *record.Numbers, *record.Policy, *record.NoPolicy, *record.Exchange, *record.NoExchange, *record.Queue,
		*record.NoQueue, *record.Binding, *record.NoBinding:
		return true
	}
	return false
}

func (r *replay) contentLocked(item record.Item) (handled bool, err error) {
	switch i := item.(type) {
	case *record.Numbers:
		r.in.stored.lastCopy = max(r.in.stored.lastCopy, i.Copy)
		r.lastQueue = max(r.lastQueue, i.Queue)
	case *record.Policy:
		return true, r.policyLocked(i)
	case *record.NoPolicy:
		r.policies[r.in][levelOf(i.Operator)].clear(i.Name)
	case *record.Exchange:
		r.exchangeLocked(i)
	case *record.NoExchange:
		if x := r.in.exchanges[i.Name]; x != nil {
			r.in.removeExchangeLocked(x)
		}
	case *record.Queue:
		return true, r.queueLocked(i)
	case *record.NoQueue:
		r.noQueueLocked(i.ID)
	case *record.Binding:
		r.bindingLocked(i)
	case *record.NoBinding:
		if request, ok := r.request(&i.Binding); ok {
			r.unbindLocked(&request)
		}
	default:
		return false, nil
	}
	return true, nil
}

// finish puts in force what the log says. Afterwards the broker is one whose node has stopped. The queues have no messages yet.
func (r *replay) finish() error {
	r.b.mu.Lock()
	all := r.b.sortedVHosts()
	r.b.mu.Unlock()
	for _, v := range all {
		if err := r.finishVHost(v); err != nil {
			return err
		}
	}
	// A virtual host may have been deleted for which nobody's permissions were: those of another one of its name are others.
	for _, item := range r.b.access.Load().records() {
		switch i := item.(type) {
		case *record.Permission:
			r.forgetAbsent(i.VHost)
		case *record.TopicPermission:
			r.forgetAbsent(i.VHost)
		}
	}
	return nil
}

func (r *replay) forgetAbsent(vhost string) {
	if r.vhostOf(vhost) == nil {
		_ = r.b.access.change(forgetVHost(vhost)) // refuses nothing
	}
}

func (r *replay) finishVHost(v *vhost) error {
	v.lock()
	defer v.unlock()
	v.node.replays = false
	v.policies = *r.policies[v]
	for _, x := range v.sortedExchangesLocked() {
		if err := v.attemptLocked(x.findPolicyLocked); err != nil {
			return err
		}
		// An auto-delete exchange whose bindings led to what a restart does not keep has lost the last of them.
		if r.bound[x] && x.outgoing.live == 0 && !x.deleted && x.unusedLocked() {
			v.removeExchangeLocked(x)
		}
	}
	for _, q := range v.sortedQueuesLocked() {
		if err := v.attemptLocked(q.findPoliciesLocked); err != nil {
			return err
		}
		if q.policy != nil || q.operator != nil {
			q.configureLocked()
		}
	}
	v.events = r.b.events
	return nil
}

func (r *replay) vhostOf(name string) *vhost {
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	if h := r.b.vhosts[name]; h != nil {
		return &h.vhost
	}
	return nil
}

func (r *replay) vhost(i *record.VHost) {
	v := r.vhostOf(i.Name)
	if v == nil {
		v = r.newVHost(i.Name)
	}
	r.in = v
	v.mu.Lock()
	defer v.mu.Unlock()
	v.meta = VHostInfo{Name: i.Name, Description: i.Description, Tags: i.Tags, DefaultQueueType: QueueType(i.DefaultQueueType),
		HasLimits: i.HasLimits, Limits: VHostLimits{MaxConnections: int(i.MaxConnections), MaxQueues: int(i.MaxQueues)},
		HasProtection: i.HasProtection, Protected: i.Protected}
}

// newVHost makes a virtual host. The broker's own methods act on "/", also on one that was made after another had been deleted.
func (r *replay) newVHost(name string) *vhost {
	v := r.b.vhost
	if name == defaultVHost {
		v.reset()
	} else {
		v = newVHost(r.b, name)
	}
	r.enter(v)
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	r.b.vhosts[name] = v.handle
	return v
}

func (r *replay) noVHost(name string) {
	v := r.vhostOf(name)
	if v == nil {
		return
	}
	r.b.mu.Lock()
	delete(r.b.vhosts, name)
	r.b.mu.Unlock()
	for _, q := range v.queues {
		delete(r.queues, q.args.id)
	}
	delete(r.policies, v)
	if r.in == v {
		r.in = nil
	}
	v.close(StoppedNode.reason(), "")
	_ = r.b.access.change(forgetVHost(name)) // refuses nothing
}

// levelOf is the level of a policy in the log.
func levelOf(operator bool) policyLevel {
	if operator {
		return operatorPolicies
	}
	return userPolicies
}

// policyLocked keeps a policy until finish: then each queue and exchange looks for those that apply, once.
func (r *replay) policyLocked(i *record.Policy) error {
	level := levelOf(i.Operator)
	p, err := compilePolicy(Policy{Name: i.Name, Pattern: i.Pattern, ApplyTo: ApplyTo(i.ApplyTo),
		Definition: recordedTable(i.Definition), Priority: i.Priority}, level, r.in.rules)
	if err != nil {
		return err
	}
	r.policies[r.in][level].set(p)
	return nil
}

// exchangeLocked makes an exchange. One that is there and is another makes way.
func (r *replay) exchangeLocked(i *record.Exchange) {
	v := r.in
	x := v.exchanges[i.Name]
	if x != nil && !x.isLocked(i) {
		v.removeExchangeLocked(x)
		x = nil
	}
	if x == nil {
		cfg := ExchangeConfig{Durable: i.Durable, AutoDelete: i.AutoDelete, Internal: i.Internal}
		x, _ = v.addExchangeLocked(i.Name, ExchangeType(i.Type), cfg, recordedFields(i.Arguments)) // no policy is there yet
		x.user = i.User
	}
	r.bound[x] = i.Bound
}

// isLocked reports whether the exchange was declared as the log says.
func (x *Exchange) isLocked(i *record.Exchange) bool {
	is := x.record()
	is.Bound = i.Bound
	return bytes.Equal(record.Append(nil, is), record.Append(nil, i))
}

// queueLocked makes a queue. Of two of the same name the later one has the higher ID.
func (r *replay) queueLocked(i *record.Queue) error {
	v := r.in
	if q := v.queues[i.Name]; q != nil {
		if q.args.id >= i.ID {
			return nil
		}
		r.noQueueLocked(q.args.id)
	}
	// The type of the record stands in for x-queue-type "", which was the default type of then.
	parsed, err := parseQueueArgs(recordedFields(i.Arguments), v.rules, i.Type, v.queueSubject(i.Name))
	if err == nil {
		err = v.refuseStream(i.Name, parsed.kind)
	}
	if err != nil {
		return err
	}
	parsed.id = i.ID
	q := v.queueOf(i.Name, QueueConfig{Durable: true, AutoDelete: i.AutoDelete}, &parsed)
	q.user = i.User
	v.newQueueLocked(q)
	r.queues[i.ID] = q
	r.lastQueue = max(r.lastQueue, i.ID)
	return nil
}

func (r *replay) noQueueLocked(id uint64) {
	if q := r.queues[id]; q != nil && q.v == r.in {
		delete(r.queues, id)
		r.in.removeQueueLocked(q, CauseNodeDown)
	}
}

// bindingLocked makes a binding. One that is there becomes the youngest: its place is that of the last record about it.
// One that is refused is older than the exchange that has the name of its source now: that one may be of another type.
func (r *replay) bindingLocked(i *record.Binding) {
	if request, ok := r.request(i); ok {
		r.unbindLocked(&request)
		_ = r.in.system.bindLocked(&request)
	}
}

// request is what a record says of a binding. It reports false if the queue is not there.
func (r *replay) request(i *record.Binding) (bindRequest, bool) {
	request := bindRequest{source: i.Source, destination: i.Destination, key: i.Key, args: recordedFields(i.Arguments)}
	if i.Queue == 0 {
		return request, true
	}
	q := r.queues[i.Queue]
	if q == nil || q.v != r.in {
		return request, false
	}
	request.toQueue, request.destination = true, q.name
	return request, true
}

func (r *replay) unbindLocked(request *bindRequest) {
	_ = r.in.system.unbindLocked(request) // the broker's own channel is refused nothing
}

// access applies an item about users and what they may do. What is about a user who is not there is ignored.
func (r *replay) access(item record.Item) (handled bool) {
	a := &r.b.access
	switch i := item.(type) {
	case *record.User:
		_ = a.change(func(t *accessTable) error {
			t.put(&UserInfo{Name: i.Name, Tags: i.Tags, Limits: UserLimits{int(i.MaxConnections), int(i.MaxChannels)},
				Password: PasswordHash{i.Algorithm, i.Hash}})
			return nil
		})
	case *record.NoUser:
		_ = a.change(deleteUser(i.Name))
	case *record.Permission:
		_ = a.change(setPermissions(grantKey{user: i.User, vhost: i.VHost}, Permissions{i.Configure, i.Write, i.Read}, r.b.behaviour.rules))
	case *record.NoPermission:
		_ = a.change(revokePermissions(i.User, i.VHost))
	case *record.TopicPermission:
		_ = a.change(setTopicPermissions(grantKey{i.User, i.VHost, i.Exchange}, TopicPermissions{i.Write, i.Read}, nil, r.b.behaviour.rules))
	case *record.NoTopicPermission:
		_ = a.change(revokeTopicPermissions(i.User, i.VHost, i.Exchange))
	default:
		return false
	}
	return true
}

// parameter applies an item about a global parameter.
func (r *replay) parameter(item record.Item) (handled bool) {
	b := r.b
	b.mu.Lock()
	defer b.mu.Unlock()
	switch i := item.(type) {
	case *record.Parameter:
		b.putParameterLocked(GlobalParameter{i.Name, i.Value})
	case *record.NoParameter:
		b.dropParameterLocked(i.Name)
	default:
		return false
	}
	return true
}
