package leveret

import (
	"fmt"
	"strings"

	"github.com/leveretmq/leveret/internal/schedule"
)

// A Queue holds messages and hands them out. Order is first in, first out within a priority;
// basic.get and consumers draw from the same head.
type Queue struct {
	v      *vhost
	name   string
	kind   queueKind
	cfg    QueueConfig
	owner  *Conn  // of an exclusive queue
	fields Fields // the arguments as declared, the type added
	args   *queueArgs
	set    *settings // arguments and policies combined
	applied
	deleted   bool
	visited   uint64 // the last routing that came by
	incoming  map[*binding]struct{}
	backlog   backlog
	consumers *consumers // nil: never had one
	quorum    *quorum    // nil: a classic queue

	sequence uint64 // of the last message taken
	tally
	expiry    schedule.Timer[wakeable]
	overtaken bool       // the head came in front of others, and nobody has looked whether it expires
	idle      *idleTimer // nil: the queue itself does not expire
}

// applied are the policies that match a queue; nil: none.
type applied struct {
	policy, operator *policy
}

// tally is what a queue holds: messages ready and in somebody's hands, and their bytes.
type tally struct {
	ready, unacked           int
	bytesReady, bytesUnacked int64
	deadlines                int // ready messages that have one
}

// An entry is a message's place in one queue.
type entry struct {
	m          *message
	seq        uint64 // position in the queue, kept through a requeue
	deadline   int64  // ns since 1970 when it expires; 0: never
	deliveries uint32 // the message's delivery count: failed deliveries, kept through dead-lettering
	returns    uint32 // how often it came back to this queue
}

// quorum is what only quorum queues have.
type quorum struct {
	publishers map[publisher]bool // who has published here, and whether it was told to stop
	feeds      feeds              // of its at-least-once dead letters
	low        bool               // the queue is at 80 % of its limits or below
	lingering  int                // cancelled consumers that still hold messages, and gets that do
	retries    delayed
	pending    pending // dead letters of the at-least-once strategy
}

// QueueConfig are the properties of a queue.
type QueueConfig struct {
	Durable    bool // survives a restart; a broker in this process never restarts, so it only counts for equivalence
	Exclusive  bool // belongs to the declaring connection and goes with it
	AutoDelete bool // goes with its last consumer
	Arguments  Table
	NoWait     bool // no answer is expected: a redeclare does not restart the idle time of a classic queue
}

// Name returns the queue's name.
func (q *Queue) Name() string { return q.name }

func queueText(name, vhost string) string { return "queue '" + name + "' in vhost '" + vhost + "'" }

func (v *vhost) queueText(name string) string { return queueText(name, v.name) }

func (v *vhost) noQueue(name string) *Error {
	return errorf(NotFound, "", name, "no %s", v.queueText(name))
}

func (q *Queue) text() string { return q.v.queueText(q.name) }

// checkOwner refuses what another connection's exclusive queue is not for.
func (ch *Channel) checkOwner(q *Queue) *Error {
	if q == nil || q.owner == nil || q.owner == ch.conn || ch.super {
		return nil
	}
	return lockedError(q)
}

func lockedError(q *Queue) *Error {
	return errorf(ResourceLocked, "", q.name, "cannot obtain exclusive access to locked %s. It could be originally declared on "+
		"another connection or the exclusive property value does not match that of the original declaration.", q.text())
}

// findQueue is what every method that names a queue begins with: an empty name means the
// channel's last declared queue.
func (ch *Channel) queueName(name string) (string, *Error) {
	if name != "" {
		return name, nil
	}
	if ch.lastQueue == "" {
		return "", errorf(NotFound, "", "", "no previously declared queue")
	}
	return ch.lastQueue, nil
}

// openQueue returns a queue that the channel may do perm to.
func (ch *Channel) openQueue(name string, perm permission) (*Queue, *Error) {
	name, err := ch.queueName(name)
	if err != nil {
		return nil, err
	}
	if err := ch.check(perm, queueResource, name); err != nil {
		return nil, err
	}
	q := ch.v.queues[name]
	if q == nil {
		return nil, ch.v.noQueue(name)
	}
	return q, ch.checkOwner(q)
}

func (ch *Channel) declareQueue(name string, cfg QueueConfig) (*Queue, *Error) {
	v := ch.v
	args, err := canonicalTable(cfg.Arguments)
	if err != nil {
		return nil, err
	}
	cfg.Durable = cfg.Durable && !cfg.Exclusive
	args = augmentQueueType(args, cfg, v.rules, v.meta.DefaultQueueType)
	if name, err = ch.nameQueue(name, args); err != nil {
		return nil, err
	}
	if err := ch.check(configure, queueResource, name); err != nil {
		return nil, err
	}
	if q := v.queues[name]; q != nil {
		return q, ch.redeclareQueue(q, cfg, args)
	}
	if err := ch.checkDeadLetterArgs(name, args); err != nil {
		return nil, err
	}
	parsed, err := parseQueueArgs(args, v.rules, v.meta.DefaultQueueType, v.queueText(name))
	if err != nil {
		return nil, err
	}
	if err := v.admitQueue(name, &parsed, cfg); err != nil {
		return nil, err
	}
	cfg.Arguments = nil
	q := &Queue{v: v, name: name, kind: parsed.kind, cfg: cfg, fields: args, args: &parsed}
	if cfg.Exclusive {
		q.owner = ch.conn
		ch.conn.exclusives = append(ch.conn.exclusives, q)
	}
	v.addQueue(q)
	return q, nil
}

// nameQueue checks a name for a declaration, or makes one up.
func (ch *Channel) nameQueue(name string, args Fields) (string, *Error) {
	v := ch.v
	if strings.HasPrefix(name, "amq.") {
		return "", errorf(AccessRefused, "", name, "queue name '%s' contains reserved prefix 'amq.*'", name)
	}
	if name != "" {
		return name, nil
	}
	t, _ := args.Get(ArgQueueType)
	if kind, _ := parseKind(fmt.Sprint(t)); kind != classicQueue {
		return "", errorf(PreconditionFailed, "", "", "Cannot declare a server-named queue for type %s", kind.module())
	}
	return v.b.random.name("amq.gen-"), nil
}

func (ch *Channel) redeclareQueue(q *Queue, cfg QueueConfig, args Fields) *Error {
	if q.owner != nil && q.owner != ch.conn || q.cfg.Exclusive != cfg.Exclusive {
		return lockedError(q)
	}
	received := queueShape{durable: cfg.Durable, autoDelete: cfg.AutoDelete, args: args}
	if err := equivalentQueue(q.shape(), received, q.v.rules, q.text()); err != nil {
		return err
	}
	if q.quorum == nil && !cfg.NoWait {
		q.touch()
	}
	return nil
}

func (q *Queue) shape() queueShape {
	return queueShape{q.kind, q.cfg.Durable, q.cfg.AutoDelete, q.fields}
}

// checkDeadLetterArgs checks who may set up dead-lettering: reading the new queue and writing
// to the exchange, which need not exist.
func (ch *Channel) checkDeadLetterArgs(name string, args Fields) *Error {
	dlx, given, err := deadLetterExchangeArg(args, ch.v.queueText(name))
	if err != nil || !given {
		return err
	}
	if err := ch.check(read, queueResource, name); err != nil {
		return err
	}
	return ch.check(write, exchangeResource, dlx)
}

// admitQueue checks limits and what quorum queues cannot be.
func (v *vhost) admitQueue(name string, args *queueArgs, cfg QueueConfig) *Error {
	if n := v.meta.Limits.MaxQueues; n >= 0 && len(v.queues) >= n {
		return errorf(PreconditionFailed, "", name, "cannot declare queue '%s': queue limit in vhost '%s' (%d) is reached", name, v.name, n)
	}
	if args.kind == classicQueue {
		return nil
	}
	for _, p := range [...]struct {
		bad  bool
		name string
	}{{cfg.AutoDelete, "auto-delete"}, {cfg.Exclusive, "exclusive-owner"}, {!cfg.Durable, "non-durable"}} {
		if p.bad {
			return errorf(PreconditionFailed, "", name, "invalid property '%s' for %s", p.name, v.queueText(name))
		}
	}
	return nil
}

func (v *vhost) addQueue(q *Queue) {
	q.expiry.Value = (*headExpiry)(q)
	if q.kind == quorumQueue {
		q.quorum = new(quorum)
		q.quorum.retries.timer.Value = (*retryTimer)(q)
		q.quorum.pending.timer.Value = (*pendingTimer)(q)
	}
	q.backlog.init(q)
	v.queues[q.name] = q
	v.topology++
	q.findPolicies()
	q.configure()
	v.queueEvent(q.name, true)
}

func (ch *Channel) checkQueue(name string) (*Queue, *Error) {
	v := ch.v
	if err := ch.checkPassive(queueResource, name); err != nil {
		return nil, err
	}
	q := v.queues[name]
	if q == nil {
		return nil, v.noQueue(name)
	}
	if err := ch.checkOwner(q); err != nil {
		return nil, err
	}
	if q.quorum == nil {
		q.touch()
	}
	return q, nil
}

// state is what declare-ok tells. Quorum queues count consumers that are gone but still hold
// messages, and each message in the hands of basic.get as a consumer, but not those that wait for the single active one.
func (q *Queue) state() QueueState {
	s := QueueState{Name: q.name, Messages: q.ready, Consumers: q.consumerCount()}
	if q.quorum != nil && q.args.singleActive && q.consumers != nil {
		s.Consumers -= max(len(q.consumers.all)-1, 0) // only a listing counts those that wait for the one to end
	}
	return s
}

func (q *Queue) consumerCount() int {
	n := 0
	if q.consumers != nil {
		n = len(q.consumers.all)
	}
	if q.quorum != nil {
		n += q.quorum.lingering
	}
	return n
}

func (ch *Channel) deleteQueue(name string, cfg DeleteConfig) (int, *Error) {
	v := ch.v
	name, err := ch.queueName(name)
	if err != nil {
		return 0, err
	}
	if err := ch.check(configure, queueResource, name); err != nil {
		return 0, err
	}
	q := v.queues[name]
	if q == nil {
		return 0, nil
	}
	if err := ch.checkOwner(q); err != nil {
		return 0, err
	}
	if err := q.checkDelete(cfg); err != nil {
		return 0, err
	}
	n := q.ready
	v.removeQueue(q, CauseQueueDeleted)
	return n, nil
}

func (q *Queue) checkDelete(cfg DeleteConfig) *Error {
	if q.quorum != nil {
		flag := ""
		switch {
		case cfg.IfUnused:
			flag = "if-unused"
		case cfg.IfEmpty:
			flag = "if-empty"
		default:
			return nil
		}
		return errorf(NotImplemented, "", q.name, "cannot delete %s. queue.delete operations with %s flag set are not supported by quorum queues", q.text(), flag)
	}
	if cfg.IfEmpty && q.ready > 0 {
		return errorf(PreconditionFailed, "", q.name, "%s not empty", q.text())
	}
	if cfg.IfUnused && q.consumers.len() > 0 {
		return errorf(PreconditionFailed, "", q.name, "%s in use", q.text())
	}
	return nil
}

// removeQueue deletes q with everything in it. Nothing is dead-lettered; consumers are told;
// messages in somebody's hands stay there and their acknowledgement has no effect.
func (v *vhost) removeQueue(q *Queue, cause Cause) {
	q.deleted = true
	delete(v.queues, q.name)
	v.topology++
	q.dropAll(cause)
	v.account(-q.bytesUnacked)
	v.timing.heap.Remove(&q.expiry)
	if q.idle != nil {
		v.timing.heap.Remove(&q.idle.timer)
	}
	if q.quorum != nil {
		q.dropPending(cause)
		v.timing.heap.Remove(&q.quorum.retries.timer)
		v.timing.heap.Remove(&q.quorum.pending.timer)
		q.forgetPublishers()
		forget(q)
	}
	for _, c := range q.consumers.list() {
		c.endedByServer()
	}
	for _, b := range sortedBindings(q.incoming) {
		if v.detach(b) {
			v.removeExchange(b.source)
		}
	}
	v.queueEvent(q.name, false)
}

// purge removes every message that waits and returns how many.
func (q *Queue) purge() int {
	n := q.dropAll(CausePurged)
	if q.quorum != nil && !q.v.rules.purgeSkipsPending {
		n += q.purgePending(CausePurged)
	}
	q.eased()
	return n
}

// dropAll removes every message that is not in somebody's hands and no pending dead letter, and returns how many.
func (q *Queue) dropAll(cause Cause) int {
	n := q.ready
	watched := q.v.watchesDrops()
	for q.ready > 0 && watched {
		q.dropped(q.take(), "", cause)
	}
	q.v.account(-q.bytesReady)
	q.backlog.clear()
	q.ready, q.bytesReady, q.deadlines, q.overtaken = 0, 0, 0, false
	if q.quorum != nil {
		n += q.dropRetries(cause)
	}
	return n
}

func (ch *Channel) purgeQueue(name string) (int, *Error) {
	q, err := ch.openQueue(name, read)
	if err != nil {
		return 0, err
	}
	return q.purge(), nil
}

// size is how many bytes m counts for in this queue: a quorum queue counts the properties too.
func (q *Queue) size(m *message) int64 {
	n := int64(len(m.body))
	if q.quorum != nil && !q.v.rules.bodyBytesOnly {
		n += int64(m.propertiesSize())
	}
	return n
}

// accept takes a message that was routed here by a publisher, nil for at-most-once dead-lettering.
// It reports false if the queue refuses the message.
func (q *Queue) accept(m *message, deliveries uint32, by publisher) bool {
	if q.refuses(m, deliveries, by) {
		q.v.refusedEvent(q, m)
		return false
	}
	q.sequence++
	e := entry{m: m, seq: q.sequence, deliveries: deliveries}
	ttl := q.set.ttl
	if m.extra != nil {
		if own := m.extra.expiration; own >= 0 && (ttl < 0 || own < ttl) {
			ttl = own
		}
	}
	if ttl >= 0 {
		e.deadline = deadlineAfter(q.v.now(), ttl)
	}
	q.v.enqueuedEvent(q, m)
	if q.consumers != nil && q.ready == 0 {
		if c := q.consumers.next(); c != nil {
			q.deliver(c, e)
			return true
		}
	}
	if q.set.ttl == 0 && !q.set.hasDLX && q.quorum == nil {
		q.kill(e, Expired) // without a look at what stands before it
		return true
	}
	if e.deliveries > 0 && q.quorum == nil {
		e.returns = 1 // a classic queue's only memory of it: the redelivered flag
	}
	q.push(e)
	if q.consumers != nil {
		q.pump()
	}
	q.enforce()
	if ttl == 0 && !q.overtaken {
		q.expireDue(q.ready)
	}
	return true
}

// push puts e where it belongs in the backlog, as a new message. A classic queue that takes a message while others
// wait does not look at its head, even if its priority has made the message the head.
func (q *Queue) push(e entry) {
	q.backlog.push(e)
	if q.quorum == nil && q.backlog.levels > 1 && q.ready > 0 && q.backlog.head().seq == e.seq {
		q.overtaken = true
	}
	q.counted(&e, 1)
}

// take removes the head. There must be one.
func (q *Queue) take() entry {
	q.overtaken = false
	e := q.backlog.pop()
	q.counted(&e, -1)
	return e
}

// counted keeps the figures of ready messages.
func (q *Queue) counted(e *entry, n int) {
	size := int64(n) * q.size(e.m)
	q.ready += n
	q.bytesReady += size
	q.v.account(size)
	if e.deadline != 0 {
		q.deadlines += n
		q.watchHead()
	}
}

// held keeps the figures of messages in somebody's hands.
func (q *Queue) held(e *entry, n int) {
	size := int64(n) * q.size(e.m)
	q.unacked += n
	q.bytesUnacked += size
	q.v.account(size)
}

// pump hands ready messages to consumers that can take them.
func (q *Queue) pump() {
	for q.ready > 0 && q.consumers != nil {
		c := q.consumers.next()
		if c == nil {
			return
		}
		if q.deadlines > 0 && !q.overtaken && q.expireNext() {
			continue
		}
		q.deliver(c, q.take())
		for q.quorum == nil && q.deadlines > 0 && q.expireNext() { // before it looks for the next consumer
		}
	}
}

// eased is called when messages have left: new heads may be overdue, and a limit may be kept again.
func (q *Queue) eased() {
	q.headChanged()
	if q.quorum != nil {
		q.updateRejecting()
	}
}

// findPolicies looks up the policies that apply.
func (q *Queue) findPolicies() {
	match := func(p *policy) bool { return p.matchesQueue(q.name, q.kind) }
	q.policy = bestPolicy(q.v.policies[userPolicies], match)
	q.operator = bestPolicy(q.v.policies[operatorPolicies], match)
}

// configure puts arguments and policies in force.
func (q *Queue) configure() {
	s := q.args.settings(q.v.rules, q.policy, q.operator)
	q.set = q.v.shared(s)
	q.setIdleTimer()
}
