package leveret

import "slices"

// The x-arguments of queues: which exist for which queue type, how they are parsed, and which of them a redeclaration
// must repeat. Which values they take stands in argchecks.go, how they are combined with policies in settings.go.

// The names of arguments: of queues, and at the end of exchanges and consumers. For values that are words there are constants, too,
// such as OverflowRejectPublish and QueueTypeQuorum.
const (
	ArgMessageTTL           = "x-message-ttl"
	ArgExpires              = "x-expires"
	ArgDeadLetterExchange   = "x-dead-letter-exchange"
	ArgDeadLetterRoutingKey = "x-dead-letter-routing-key"
	ArgDeadLetterStrategy   = "x-dead-letter-strategy"
	ArgMaxLength            = "x-max-length"
	ArgMaxLengthBytes       = "x-max-length-bytes"
	ArgOverflow             = "x-overflow"
	ArgMaxPriority          = "x-max-priority"
	ArgSingleActiveConsumer = "x-single-active-consumer"
	ArgQueueType            = "x-queue-type"
	ArgDeliveryLimit        = "x-delivery-limit"
	ArgConsumerTimeout      = "x-consumer-timeout"
	ArgDelayedRetryType     = "x-delayed-retry-type"
	ArgDelayedRetryMin      = "x-delayed-retry-min"
	ArgDelayedRetryMax      = "x-delayed-retry-max"
	ArgAlternateExchange    = "alternate-exchange"
	ArgConsumerPriority     = "x-priority"
)

// A queueKind is a queue's type.
type queueKind uint8

const (
	classicQueue queueKind = iota
	quorumQueue
	streamQueue
)

// kinds has, for each type, its name, the name by which error texts call it, and the
// arguments it supports, in the order in which a redeclaration compares them.
// Rules.
var kinds = [...]struct {
	name, module string
	arguments    []string
	consumer     []string
}{
	classicQueue: {
		name: "classic", module: "rabbit_classic_queue",
		arguments: []string{
			ArgExpires, ArgMessageTTL, ArgDeadLetterExchange, ArgDeadLetterRoutingKey, ArgMaxLength, ArgMaxLengthBytes,
			ArgMaxPriority, ArgOverflow, argMode, argVersion, ArgSingleActiveConsumer, ArgQueueType, argMasterLocator,
			argLeaderLocator,
		},
		consumer: []string{ArgConsumerPriority, argHaCancel, argCredit},
	},
	quorumQueue: {
		name: "quorum", module: "rabbit_quorum_queue",
		arguments: []string{
			ArgDeadLetterExchange, ArgDeadLetterRoutingKey, ArgDeadLetterStrategy, ArgExpires, ArgMaxLength,
			ArgMaxLengthBytes, argMemoryLength, argMemoryBytes, ArgOverflow, ArgSingleActiveConsumer, ArgQueueType,
			argGroupSize, ArgDeliveryLimit, ArgMessageTTL, argLeaderLocator, argDisconnectedTimeout, ArgConsumerTimeout,
			ArgDelayedRetryType, ArgDelayedRetryMin, ArgDelayedRetryMax,
		},
		consumer: []string{ArgConsumerPriority, ArgConsumerTimeout, argCredit},
	},
	streamQueue: {
		name: "stream", module: "rabbit_stream_queue",
		arguments: []string{
			ArgMaxLengthBytes, ArgQueueType, argMaxAge, argSegmentSize, argFilterSize, argClusterSize, argLeaderLocator,
		},
		consumer: []string{argStreamOffset, argStreamFilter, argStreamUnfiltered, argCredit},
	},
}

// The arguments that have no exported name: those that mean nothing in a single process.
const (
	argMemoryLength        = "x-max-in-memory-length"
	argMemoryBytes         = "x-max-in-memory-bytes"
	argMode                = "x-queue-mode"
	argVersion             = "x-queue-version"
	argDisconnectedTimeout = "x-consumer-disconnected-timeout"
	argGroupSize           = "x-quorum-initial-group-size"
	argMaxAge              = "x-max-age"
	argSegmentSize         = "x-stream-max-segment-size-bytes"
	argFilterSize          = "x-stream-filter-size-bytes"
	argClusterSize         = "x-initial-cluster-size"
	argMasterLocator       = "x-queue-master-locator"
	argLeaderLocator       = "x-queue-leader-locator"
	argHaCancel            = "x-cancel-on-ha-failover"
	argCredit              = "x-credit"
	argStreamOffset        = "x-stream-offset"
	argStreamFilter        = "x-stream-filter"
	argStreamUnfiltered    = "x-stream-match-unfiltered"
)

// queueModeLazy is the queue mode that has messages on the disk.
const queueModeLazy = "lazy"

// The values of arguments, and keys of policies, that mean nothing in a single process. As an argument of 4.3
// x-queue-leader-locator may be min-masters too.
var (
	leaderLocators = []string{"client-local", "balanced", "random", "least-leaders"}
	masterLocators = []string{"min-masters", "client-local", "random"}
	queueModes     = []string{"default", queueModeLazy}
)

func isMasterLocator(v any) bool {
	s, ok := v.(string)
	return ok && slices.Contains(masterLocators, s)
}

// String returns the type as x-queue-type spells it.
func (k queueKind) String() string { return kinds[k].name }

// module returns the name by which error texts call the type.
func (k queueKind) module() string { return kinds[k].module }

func parseKind(name string) (queueKind, bool) {
	for k := range kinds {
		if kinds[k].name == name {
			return queueKind(k), true
		}
	}
	return 0, false
}

// supports reports whether queues of the type know the argument in the release that r describes.
// Rules.
func (k queueKind) supports(key string, r *rules) bool {
	switch key {
	case ArgConsumerTimeout, argDisconnectedTimeout, argFilterSize,
		ArgDelayedRetryType, ArgDelayedRetryMin, ArgDelayedRetryMax:
		if r.noNewQuorumArguments {
			return false
		}
	case argLeaderLocator:
		if k == classicQueue && r.oldLeaderLocator {
			return false
		}
	}
	return slices.Contains(kinds[k].arguments, key)
}

// foreign returns the first argument that k does not know but another queue type does. An argument that no type knows
// is accepted and ignored.
// Rules.
func (k queueKind) foreign(args Fields, knows func(queueKind, string) bool) (string, bool) {
	for _, f := range args {
		if knows(k, f.Name) {
			continue
		}
		for other := range kinds {
			if knows(queueKind(other), f.Name) {
				return f.Name, true
			}
		}
	}
	return "", false
}

// queueArgs are the arguments of a queue. Those that policies set too are found in declared: see settingRules.
type queueArgs struct {
	declared     Fields // as declared, the type added
	kind         queueKind
	singleActive bool
	maxPriority  int // levels are 0 to maxPriority; -1: no priorities

	// id is the number of the queue in the log, and no other queue's; 0: the log does not have the queue. It stands here because
	// the queue itself would outgrow the 512 octets that it has with its type.
	id uint64
}

// augmentQueueType adds the queue type to a declaration that does not name one: the default
// type of the vhost ("" means classic) where the flags allow that type, otherwise classic, which 3.10 leaves out.
// The result is what a listing shows and what a redeclaration is compared with.
// Rules.
func augmentQueueType(args Fields, cfg QueueConfig, r *rules, defaultType string) Fields {
	if _, given := args.Get(ArgQueueType); given {
		return args
	}
	kind, known := parseKind(defaultType)
	onlyClassic := !cfg.Durable || cfg.Exclusive || cfg.AutoDelete
	if !known || onlyClassic {
		kind = classicQueue
	}
	if r.plainQueueType && kind == classicQueue {
		return args
	}
	return args.put(Field{ArgQueueType, kind.String()})
}

// deadLetterExchangeArg returns the dead-letter exchange that a declaration names. Its type is checked before the other
// arguments, because the permissions on the exchange are checked before them.
// Rules: Q-1.
func deadLetterExchangeArg(args Fields, about subject) (name string, given bool, err *Error) {
	return exchangeNameArg(args, ArgDeadLetterExchange, about)
}

// alternateExchangeArg returns the alternate exchange that an exchange's declaration names.
func alternateExchangeArg(args Fields, about subject) (name string, given bool, err *Error) {
	return exchangeNameArg(args, ArgAlternateExchange, about)
}

// Rules.
func exchangeNameArg(args Fields, key string, about subject) (string, bool, *Error) {
	v, given := args.Get(key)
	if !given {
		return "", false, nil
	}
	name, ok := v.(string)
	if !ok {
		return "", true, PreconditionFailed.errorf(about.name,
			"invalid type '%s' for arg '%s' in %s", fieldType(v), key, about)
	}
	return name, true, nil
}

// parseQueueArgs checks the arguments of a new queue and parses them. The arguments are those
// that augmentQueueType returned; defaultType is the vhost's, which x-queue-type "" and
// "undefined" stand for; about is the queue.
// Rules.
func parseQueueArgs(args Fields, r *rules, defaultType string, about subject) (queueArgs, *Error) {
	parsed := queueArgs{declared: args}
	if t, _ := args.Get(ArgQueueType); !r.plainQueueType && (t == "" || t == "undefined") {
		kind, _ := parseKind(defaultType) // unknown: classic
		args = args.put(Field{ArgQueueType, kind.String()})
	}
	if v, given := args.Get(ArgQueueType); given {
		if reason := checkType(v, r); reason != "" {
			return queueArgs{}, invalidArg(ArgQueueType, about, reason)
		}
		parsed.kind, _ = parseKind(v.(string))
	}
	if err := checkQueueArgs(parsed.kind, args, r, about); err != nil {
		return queueArgs{}, err
	}
	parsed.singleActive, _ = boolArg(args, ArgSingleActiveConsumer)
	parsed.maxPriority = r.maxPriority(args)
	return parsed, nil
}

// maxPriority returns the highest priority of a queue, -1 for a queue without priorities.
// Rules: Q-21.
func (r *rules) maxPriority(args Fields) int {
	n := int(intArg(args, ArgMaxPriority))
	switch {
	case n != 0:
		return n
	case r.plainPriorityZero:
		return -1
	}
	return 1 // RabbitMQ 4.3 keeps two levels
}

// checkQueueArgs checks the arguments that the type supports, in RabbitMQ's order, then whether there are any of other
// types.
// Rules.
func checkQueueArgs(kind queueKind, args Fields, r *rules, about subject) *Error {
	for _, c := range queueChecks {
		v, given := args.Get(c.key)
		if !given || !kind.supports(c.key, r) {
			continue
		}
		if reason := c.check(v, args, r); reason != "" {
			return invalidArg(c.key, about, reason)
		}
	}
	if key, found := kind.foreign(args, func(k queueKind, key string) bool { return k.supports(key, r) }); found {
		return PreconditionFailed.errorf(about.name, "invalid arg '%s' for %s of queue type %s", key, about, kind.module())
	}
	if _, given := args.Get(argMasterLocator); given && !r.oldLeaderLocator {
		return InternalError.errorf("", "%s", masterLocatorDeprecated)
	}
	return nil
}

// place finds the node for a queue. RabbitMQ 3.10 crashes at an x-queue-master-locator that it does not know, which ends the
// connection. An exclusive queue is where its connection is, whatever the argument.
// Rules: Q-22.
func (r *rules) place(cfg QueueConfig, args Fields) *Error {
	if v, given := args.Get(argMasterLocator); given && r.oldLeaderLocator && !cfg.Exclusive && !isMasterLocator(v) {
		return &Error{Code: InternalError}
	}
	return nil
}

func intArg(args Fields, key string) int64 {
	if n := optionalInt(args, key); n != nil {
		return *n
	}
	return -1
}

// optionalInt returns the argument if it is an integer. Of an argument that is not checked any other value counts as
// missing.
func optionalInt(args Fields, key string) *int64 {
	v, given := args.Get(key)
	if !given {
		return nil
	}
	n, ok := asInteger(v)
	if !ok {
		return nil
	}
	return &n
}

func boolArg(args Fields, key string) (value, given bool) {
	v, _ := args.Get(key)
	value, given = v.(bool)
	return value, given
}

// Rules: Q-17.
func invalidArg(key string, about subject, reason string) *Error {
	if reason == crashes {
		return &Error{Code: InternalError} // E-3
	}
	return PreconditionFailed.errorf(about.name, "invalid arg '%s' for %s: %s", key, about, reason)
}
