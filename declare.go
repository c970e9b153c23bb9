package leveret

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/leveretmq/leveret/internal/wire"
)

// Declaring, checking, deleting and purging queues: what a channel may do to which queue, and in which order that is
// checked.

// checkOwner refuses another connection's exclusive queue.
// Rules: Q-30.
func (ch *Channel) checkOwner(q *Queue) *Error {
	if q == nil || q.owner == nil || q.owner == ch.conn || ch.super {
		return nil
	}
	return lockedError(q)
}

func lockedError(q *Queue) *Error {
	return ResourceLocked.errorf(q.name,
		"cannot obtain exclusive access to locked %s. It could be originally declared on "+
			"another connection or the exclusive property value does not match that of the original declaration.", q.text())
}

// errNoDeclaredQueue refuses the empty queue name on a channel that has declared no queue.
// Rules: Q-33.
func errNoDeclaredQueue() *Error { return &Error{Code: NotFound, Reason: wire.NoDeclaredQueue} }

// queueNameLocked resolves the empty name to the channel's last declared queue.
// Rules: Q-33.
func (ch *Channel) queueNameLocked(name string) (string, *Error) {
	if name != "" {
		return name, nil
	}
	if ch.lastQueue == "" {
		return "", errNoDeclaredQueue()
	}
	return ch.lastQueue, nil
}

// openQueueLocked returns a queue that the channel may do perm to.
// Rules.
func (ch *Channel) openQueueLocked(name string, perm permission) (*Queue, *Error) {
	name, err := ch.queueNameLocked(name)
	if err != nil {
		return nil, err
	}
	if err := ch.checkLocked(perm, queueResource, name); err != nil {
		return nil, err
	}
	q := ch.v.queues[name]
	if q == nil {
		return nil, ch.v.noQueue(name)
	}
	return q, ch.checkOwner(q)
}

// declareQueueLocked makes a queue or compares it with the one that is there.
// Rules.
func (ch *Channel) declareQueueLocked(name string, cfg QueueConfig) (*Queue, *Error) {
	v := ch.v
	if err := checkShort("the name of a queue", name); err != nil {
		return nil, err
	}
	args, err := canonicalArguments(cfg.Arguments, cfg.ArgumentFields)
	if err != nil {
		return nil, err
	}
	cfg.Durable = cfg.Durable && !cfg.Exclusive
	args = augmentQueueType(args, cfg, v.rules, string(v.meta.DefaultQueueType))
	given := name
	if name, err = ch.nameQueue(name, args); err != nil {
		return nil, err
	}
	q, err := ch.declareNamedLocked(name, cfg, args)
	if err == errLongMatch && given == "" {
		v.turns.wanted.queue = name // of the next attempt, too
	}
	return q, err
}

// declareNamedLocked is declareQueueLocked for a queue that has its name.
// Rules: A-7.
func (ch *Channel) declareNamedLocked(name string, cfg QueueConfig, args Fields) (*Queue, *Error) {
	v := ch.v
	if err := ch.checkLocked(configure, queueResource, name); err != nil {
		return nil, err
	}
	if q := v.queues[name]; q != nil {
		return q, ch.redeclareQueueLocked(q, cfg, args)
	}
	if v.rules.limitsFirst {
		if err := v.admitOneMoreLocked(name); err != nil {
			return nil, err
		}
	}
	if err := ch.checkDeadLetterArgsLocked(name, args); err != nil {
		return nil, err
	}
	parsed, err := parseQueueArgs(args, v.rules, string(v.meta.DefaultQueueType), v.queueSubject(name))
	if err := cmp.Or(err, v.rules.place(cfg, args)); err != nil {
		return nil, err
	}
	return ch.makeQueueLocked(name, cfg, &parsed, args)
}

// makeQueueLocked makes a queue of a name that is free, and of arguments that are good. The type is among args if the
// release adds it. 3.10 looks at the limit of queues in declarations only, before the arguments.
// Rules.
func (ch *Channel) makeQueueLocked(name string, cfg QueueConfig, parsed *queueArgs, args Fields) (*Queue, *Error) {
	v := ch.v
	if !v.rules.limitsFirst {
		if err := v.admitOneMoreLocked(name); err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(v.checkProperties(name, parsed.kind, cfg), v.refuseStream(name, parsed.kind)); err != nil {
		return nil, err
	}
	parsed.declared = args
	q := v.queueOf(name, cfg, parsed)
	q.user = ch.conn.cfg.User
	// The policies, while nothing has been changed yet: a match may take long.
	if err := q.findPoliciesLocked(); err != nil {
		return nil, err
	}
	if cfg.Exclusive {
		ch.conn.ownLocked(q)
	}
	v.newQueueLocked(q)
	v.ignoredQueueArgumentsLocked(q)
	return q, nil
}

// queueOf returns a queue that the virtual host does not know yet.
func (v *vhost) queueOf(name string, cfg QueueConfig, parsed *queueArgs) *Queue {
	q, impl := queueTypes[parsed.kind].make()
	q.v, q.name, q.args, q.impl = v, name, parsed, impl
	q.lifetime = lifetime{durable: cfg.Durable, exclusive: cfg.Exclusive, autoDelete: cfg.AutoDelete}
	return q
}

// nameQueue checks a name for a declaration, or makes one up.
// Rules.
func (ch *Channel) nameQueue(name string, args Fields) (string, *Error) {
	v := ch.v
	if strings.HasPrefix(name, "amq.") {
		return "", AccessRefused.errorf(name, "queue name '%s' contains reserved prefix 'amq.*'", name)
	}
	if name != "" {
		return name, nil
	}
	kind, err := v.rules.nameableKind(args)
	if err != nil {
		return "", err
	}
	if !v.b.behaviour.traits[kind].serverNamed {
		return "", PreconditionFailed.errorf("", "Cannot declare a server-named queue for type %s", kind.module())
	}
	if k := v.turns.known; k != nil && k.queue != "" {
		return k.queue, nil
	}
	return v.b.random.name("amq.gen-"), nil
}

// nameableKind returns the type of a queue that shall get a name, of which the other arguments have not been checked.
// RabbitMQ looks whether queues of the type can be named, and fails if the argument names none.
// Rules: Q-10.
func (r *rules) nameableKind(args Fields) (queueKind, *Error) {
	t, given := args.Get(ArgQueueType)
	if !given {
		return classicQueue, nil
	}
	var name string
	switch t := t.(type) {
	case string:
		name = t
	case []byte:
		name = string(t)
	case bool:
		name = strconv.FormatBool(t)
	case nil:
		name = "undefined"
	default:
		return 0, &Error{Code: InternalError}
	}
	kind, known := parseKind(name)
	switch {
	case known, !r.plainQueueType && (name == "" || name == "undefined"):
		return kind, nil
	case r.plainQueueType:
		return 0, &Error{Code: InternalError}
	}
	for kind := range kinds {
		if kinds[kind].module == name {
			return queueKind(kind), nil
		}
	}
	return 0, PreconditionFailed.errorf(name, "unknown queue type '%s'", name)
}

// redeclareQueueLocked compares a declaration with the queue that is there.
// Rules.
func (ch *Channel) redeclareQueueLocked(q *Queue, cfg QueueConfig, args Fields) *Error {
	if q.owner != nil && q.owner != ch.conn || q.lifetime.exclusive != cfg.Exclusive {
		return lockedError(q)
	}
	received := queueShape{durable: cfg.Durable, autoDelete: cfg.AutoDelete, args: args}
	if err := equivalentQueue(q.shape(), received, q.v.rules, q.v.queueSubject(q.name)); err != nil {
		return err
	}
	if q.traits.usedByDeclare && !cfg.NoWait {
		q.touchLocked()
	}
	return nil
}

func (q *Queue) shape() queueShape {
	return queueShape{q.args.kind, q.lifetime.durable, q.lifetime.autoDelete, q.args.declared}
}

// checkDeadLetterArgsLocked checks the permissions that a dead-letter exchange takes: reading the new queue and writing
// to the exchange, which need not exist.
// Rules.
func (ch *Channel) checkDeadLetterArgsLocked(name string, args Fields) *Error {
	dlx, given, err := deadLetterExchangeArg(args, ch.v.queueSubject(name))
	if err != nil || !given {
		return err
	}
	if err := ch.checkLocked(read, queueResource, name); err != nil {
		return err
	}
	return ch.checkLocked(write, exchangeResource, dlx)
}

// admitOneMoreLocked refuses a queue that would be one too many.
// Rules: Q-11.
func (v *vhost) admitOneMoreLocked(name string) *Error {
	n := v.meta.Limits.MaxQueues
	if n < 0 || len(v.queues) < n {
		return nil
	}
	return PreconditionFailed.errorf(name,
		"cannot declare queue '%s': queue limit in vhost '%s' (%d) is reached", name, v.name, n)
}

// checkProperties refuses what queues of some types cannot be.
// Rules.
func (v *vhost) checkProperties(name string, kind queueKind, cfg QueueConfig) *Error {
	if v.b.behaviour.traits[kind].transient {
		return nil
	}
	for _, p := range [...]struct {
		bad  bool
		name string
	}{{cfg.AutoDelete, "auto-delete"}, {cfg.Exclusive, "exclusive-owner"}, {!cfg.Durable, "non-durable"}} {
		if p.bad {
			return PreconditionFailed.errorf(name, "invalid property '%s' for %s", p.name, v.queueText(name))
		}
	}
	return nil
}

// checkQueueLocked is a passive declare. It counts as use of a queue that another connection owns, too.
// Rules.
func (ch *Channel) checkQueueLocked(name string, cfg QueueConfig) (*Queue, *Error) {
	v := ch.v
	if err := ch.checkPassiveLocked(queueResource, name); err != nil {
		return nil, err
	}
	q := v.queues[name]
	if q == nil {
		return nil, v.noQueue(name)
	}
	if q.traits.usedByDeclare && !cfg.NoWait {
		q.touchLocked()
	}
	if err := ch.checkOwner(q); err != nil {
		return nil, err
	}
	return q, nil
}

// deleteQueueLocked deletes a queue and returns how many messages were ready.
// Rules.
func (ch *Channel) deleteQueueLocked(name string, cfg DeleteConfig) (int, *Error) {
	v := ch.v
	name, err := ch.queueNameLocked(name)
	if err != nil {
		return 0, err
	}
	if err := ch.checkLocked(configure, queueResource, name); err != nil {
		return 0, err
	}
	q := v.queues[name]
	if q == nil {
		return 0, nil
	}
	if err := ch.checkOwner(q); err != nil {
		return 0, err
	}
	if err := q.checkDeleteLocked(cfg); err != nil {
		return 0, err
	}
	n := q.store.ready.n
	v.removeQueueLocked(q, CauseQueueDeleted)
	return n, nil
}

// checkDeleteLocked refuses a deletion whose condition does not hold, or that the queue's type does not know.
// Rules.
func (q *Queue) checkDeleteLocked(cfg DeleteConfig) *Error {
	if !q.traits.deletesOnCondition {
		return q.refuseCondition(cfg)
	}
	if cfg.IfEmpty && q.store.ready.n > 0 {
		return PreconditionFailed.errorf(q.name, "%s not empty", q.text())
	}
	if cfg.IfUnused && q.consumers.len() > 0 {
		return PreconditionFailed.errorf(q.name, "%s in use", q.text())
	}
	return nil
}

func (q *Queue) refuseCondition(cfg DeleteConfig) *Error {
	flag := ""
	switch {
	case cfg.IfUnused:
		flag = "if-unused"
	case cfg.IfEmpty:
		flag = "if-empty"
	default:
		return nil
	}
	return NotImplemented.errorf(q.name,
		"cannot delete %s. queue.delete operations with %s flag set are not supported by quorum queues", q.text(), flag)
}

// purgeQueueLocked removes the ready messages.
// Rules: Q-40.
func (ch *Channel) purgeQueueLocked(name string) (int, *Error) {
	q, err := ch.openQueueLocked(name, read)
	if err != nil && err.Code == NotFound && ch.v.isVolatile(err.Name) {
		return 0, nil // M-19b
	}
	if err != nil {
		return 0, err
	}
	return q.impl.purge(), nil
}
