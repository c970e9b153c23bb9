package leveret

import (
	"slices"
)

// The arguments of consumers: which a consumer of a queue type may have, and how they are parsed.

// consumerSupports is supports for the arguments of consumers.
// Rules: D-18.
func (k queueKind) consumerSupports(key string, r *rules) bool {
	switch key {
	case ArgConsumerTimeout, argStreamFilter, argStreamUnfiltered:
		if r.noNewQuorumArguments {
			return false
		}
	case argHaCancel, argCredit:
		if !r.quorumRefusesHaCancel {
			return false
		}
	}
	return slices.Contains(kinds[k].consumer, key)
}

// consumerArgs are the arguments of a consumer, parsed.
type consumerArgs struct {
	priority int64
	timeout  int64 // ms; -1: not given
}

// parseConsumerArgs checks the arguments of a consumer of a queue of the given type.
// Rules: D-18.
func parseConsumerArgs(args Fields, kind queueKind, r *rules, about subject) (consumerArgs, *Error) {
	for _, c := range consumerChecks {
		v, given := args.Get(c.key)
		if !given || !kind.consumerSupports(c.key, r) {
			continue
		}
		if reason := c.check(v, args, r); reason != "" {
			return consumerArgs{}, invalidArg(c.key, about, reason)
		}
	}
	if key, found := kind.foreign(args, func(k queueKind, key string) bool { return k.consumerSupports(key, r) }); found {
		return consumerArgs{}, PreconditionFailed.errorf(about.name,
			"invalid arg '%s' for %s of queue type %s", key, about, kind.module())
	}
	parsed := consumerArgs{timeout: -1}
	if n := optionalInt(args, ArgConsumerPriority); n != nil {
		parsed.priority = *n
	}
	if kind.consumerSupports(ArgConsumerTimeout, r) {
		parsed.timeout = intArg(args, ArgConsumerTimeout)
	}
	return parsed, nil
}

// checkCredit refuses x-credit of a wrong type: RabbitMQ 3.10 looks for fields in it, and crashes.
// Rules: D-18.
func checkCredit(args Fields, r *rules) *Error {
	v, given := args.Get(argCredit)
	if _, table := v.(Fields); given && !table && r.creditArgument {
		return &Error{Code: InternalError}
	}
	return nil
}

var consumerChecks = []argCheck{
	{ArgConsumerPriority, func(v any, _ Fields, _ *rules) string { return checkInteger(v) }},
	{argHaCancel, checkBool},
	{ArgConsumerTimeout, checkNatural},
}
