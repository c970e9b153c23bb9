package leveret

// A Queue holds messages and hands them out. Order is first in, first out within a priority;
// basic.get and consumers draw from the same head.
type Queue struct {
	// What a publish and a delivery touch stands first, in two cache lines: with the fields of a declaration in between,
	// and those of store and backlog likewise, BenchmarkQueues/n=100000 takes 10 to 20 % longer.
	v         *vhost
	impl      queueType  // what it does with messages
	traits    *traits    // of its type
	store     *store     // the messages, kept by impl
	set       *settings  // arguments and policies combined
	consumers *consumers // nil: never had one
	idle      *idleTimer // nil: the queue itself does not expire
	deleted   bool
	kind      queueKind // that of args
	lifetime  lifetime
	counters  queueCounters

	name  string
	user  string // who declared it; empty: the broker itself
	owner *Conn  // of an exclusive queue
	args  *queueArgs
	applied
	visited  uint64 // the number of the last routing that visited the queue, see router
	incoming *incoming
}

// lifetime is what ends a queue, of its QueueConfig.
type lifetime struct {
	durable, exclusive, autoDelete bool
}

// applied are the policies that match a queue; nil: none.
type applied struct {
	policy, operator *policy
}

func (a *applied) at(level policyLevel) **policy {
	if level == operatorPolicies {
		return &a.operator
	}
	return &a.policy
}

// QueueConfig are the properties of a queue.
type QueueConfig struct {
	Durable    bool // survives a restart: see Broker.Restart
	Exclusive  bool // belongs to the declaring connection and goes with it
	AutoDelete bool // goes with its last consumer
	Arguments  Table

	// ArgumentFields are the arguments in the order and with the duplicates that a client sent. When they are not nil,
	// Arguments is ignored.
	ArgumentFields Fields

	// NoWait is for listeners: the client expects no answer. Such a redeclare does not restart the idle time of a classic
	// queue.
	NoWait bool

	// Passive is for listeners, too. DeclareQueue then declares nothing and does what CheckQueue does. A passive declaration with NoWait
	// does not count as a use of the queue.
	Passive bool
}

// Name returns the queue's name.
func (q *Queue) Name() string { return q.name }

func queueText(name, vhost string) string { return "queue '" + name + "' in vhost '" + vhost + "'" }

func (v *vhost) queueText(name string) string { return queueText(name, v.name) }

func (v *vhost) noQueue(name string) *Error {
	return NotFound.errorf(name, "no %s", v.queueText(name))
}

func (q *Queue) text() string { return q.v.queueText(q.name) }

// usableLocked is the error of an operation on a handle whose queue is gone.
func (q *Queue) usableLocked() error {
	switch {
	case q.v.closed:
		return ErrClosed
	case q.deleted:
		return q.v.noQueue(q.name)
	}
	return nil
}

// newQueueLocked makes a queue of the type that its arguments name, and puts it in force with its policies.
func (v *vhost) newQueueLocked(q *Queue) {
	q.kind = q.args.kind
	q.traits = &v.b.behaviour.traits[q.args.kind]
	q.store = q.impl.init(q)
	q.store.shared = &v.stored
	v.queues[q.name] = q
	v.topology++
	if v.log != nil {
		v.noteQueueLocked(q)
	}
	q.configureLocked()
	v.queueEventLocked(q.name, "")
}

// stateLocked is what declare-ok tells: ready messages and consumers.
// Rules.
func (q *Queue) stateLocked() QueueState {
	q.impl.seen()
	s := QueueState{Name: q.name, Messages: q.store.ready.n, Consumers: q.consumerCountLocked()}
	if q.traits.listsOnlyActive && q.args.singleActive {
		s.Consumers -= q.consumers.idle() // only a listing counts those that wait for the active one to end
	}
	return s
}

func (q *Queue) consumerCountLocked() int { return q.consumers.len() + q.impl.ghosts() }

// listedConsumersLocked is how many consumers a listing counts: those that wait behind a single active one, too.
// Rules: Q-41.
func (q *Queue) listedConsumersLocked() int {
	n := q.consumerCountLocked()
	if q.consumers != nil {
		n += q.consumers.waiting
	}
	return n
}

// removeQueueLocked deletes q with everything in it. Nothing is dead-lettered. Consumers are told. Unacknowledged
// messages stay with their holders, and settling them has no effect.
// Rules, D-13, D-33, DL-4.
func (v *vhost) removeQueueLocked(q *Queue, cause Cause) {
	q.deleted, q.visited = true, unreachable
	delete(v.queues, q.name)
	if q.owner != nil {
		delete(q.owner.exclusives, q)
	}
	v.topology++
	if v.log != nil {
		v.noteNoQueueLocked(q)
	}
	q.impl.deleted(cause)
	q.dropHeldLocked(cause)
	v.accountLocked(-q.store.unacked.bytes)
	if q.idle != nil {
		v.timing.heap.Remove(&q.idle.timer)
	}
	q.endConsumersLocked()
	v.endIncomingLocked(q.incoming, v.removeExchangeLocked)
	v.queueEventLocked(q.name, cause)
}

// findPoliciesLocked looks up the policies that apply.
// Rules: P-13, P-20.
func (q *Queue) findPoliciesLocked() (err *Error) {
	if q.policy, err = bestPolicy(q.v.policies[userPolicies], q.matchedBy); err == nil {
		q.operator, err = bestPolicy(q.v.policies[operatorPolicies], q.matchedBy)
	}
	return err
}

func (q *Queue) matchedBy(p *policy) (bool, *Error) { return p.matchesQueue(q.name, q.args.kind, q.v) }

// configureLocked combines arguments and policies to the settings in force.
// Rules: P-18, P-19.
func (q *Queue) configureLocked() {
	s := q.args.settings(q.v.rules, q.policy, q.operator)
	q.set = q.v.sharedLocked(s)
	q.setIdleTimerLocked()
}

// reconfigureLocked puts changed policies in force on a queue that may hold messages.
// Rules: L-9, P-19.
func (q *Queue) reconfigureLocked() {
	was := q.set
	q.configureLocked()
	q.impl.reconfigured(was)
}
