package leveret

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/leveretmq/leveret/internal/erl"
)

// The x-arguments of queues and consumers: which exist for which queue type, which values they take, in which order they are
// checked, and which of them a redeclaration must repeat. How those that policies set too are combined with the policies
// stands in settings.go.

// The names of arguments: of queues, and at the end of exchanges and consumers.
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
			ArgExpires, ArgMessageTTL, ArgDeadLetterExchange, ArgDeadLetterRoutingKey, ArgMaxLength, ArgMaxLengthBytes, ArgMaxPriority, ArgOverflow,
			argMode, argVersion, ArgSingleActiveConsumer, ArgQueueType, argMasterLocator, argLeaderLocator,
		},
		consumer: []string{ArgConsumerPriority, argHaCancel, argCredit},
	},
	quorumQueue: {
		name: "quorum", module: "rabbit_quorum_queue",
		arguments: []string{
			ArgDeadLetterExchange, ArgDeadLetterRoutingKey, ArgDeadLetterStrategy, ArgExpires, ArgMaxLength, ArgMaxLengthBytes, argMemoryLength, argMemoryBytes,
			ArgOverflow, ArgSingleActiveConsumer, ArgQueueType, argGroupSize, ArgDeliveryLimit, ArgMessageTTL, argLeaderLocator,
			argDisconnectedTimeout, ArgConsumerTimeout, ArgDelayedRetryType, ArgDelayedRetryMin, ArgDelayedRetryMax,
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

// The values of arguments, and keys of policies, that mean nothing in a single process. As an argument x-queue-leader-locator
// may be min-masters too.
var (
	leaderLocators = []string{"client-local", "balanced", "random", "least-leaders"}
	masterLocators = []string{"min-masters", "client-local", "random"}
	queueModes     = []string{"default", "lazy"}
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
	case ArgConsumerTimeout, argDisconnectedTimeout, ArgDelayedRetryType, ArgDelayedRetryMin, ArgDelayedRetryMax, argFilterSize:
		if r.noNewQuorumArguments {
			return false
		}
	case argLeaderLocator:
		if k == classicQueue && r.noClassicLocator {
			return false
		}
	}
	return slices.Contains(kinds[k].arguments, key)
}

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

// foreign returns the first argument that k does not know but another queue type does. An argument that no type knows is
// accepted and ignored.
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
}

// augmentQueueType adds the queue type to a declaration that does not name one: the default
// type of the vhost ("" means classic) where the flags allow that type, otherwise classic.
// The result is what a listing shows and what a redeclaration is compared with.
// Rules.
func augmentQueueType(args Fields, cfg QueueConfig, r *rules, defaultType string) Fields {
	if _, given := args.Get(ArgQueueType); given || r.plainQueueType {
		return args
	}
	kind, known := parseKind(defaultType)
	onlyClassic := !cfg.Durable || cfg.Exclusive || cfg.AutoDelete
	if !known || onlyClassic {
		kind = classicQueue
	}
	return withField(args, Field{ArgQueueType, kind.String()})
}

// withField sets one argument. RabbitMQ sorts a table that it puts a value into; the order
// decides which of several unsupported arguments is reported.
func withField(args Fields, f Field) Fields {
	out := make(Fields, 0, len(args)+1)
	replaced := false
	for _, a := range args {
		if a.Name == f.Name && !replaced {
			a, replaced = f, true
		}
		out = append(out, a)
	}
	if !replaced {
		out = append(out, f)
	}
	return out.byName()
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
		return "", true, PreconditionFailed.errorf(about.name, "invalid type '%s' for arg '%s' in %s", fieldType(v), key, about)
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
		args = withField(args, Field{ArgQueueType, kind.String()})
	}
	if v, given := args.Get(ArgQueueType); given {
		if reason := checkType(v); reason != "" {
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

// checkQueueArgs checks the arguments that the type supports, in RabbitMQ's order, then whether there are any of other types.
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
	if v, given := args.Get(argMasterLocator); given {
		return checkMasterLocator(v, r)
	}
	return nil
}

// checkMasterLocator refuses x-queue-master-locator: RabbitMQ 4.3 no longer has the argument, 3.10 crashes at a value that it
// does not know. Both end the connection.
// Rules: Q-22.
func checkMasterLocator(v any, r *rules) *Error {
	if !r.noClassicLocator {
		return InternalError.errorf("", "%s", masterLocatorDeprecated)
	}
	if !isMasterLocator(v) {
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

// optionalInt returns the argument if it is an integer. Of an argument that is not checked any other value counts as missing.
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
		return consumerArgs{}, PreconditionFailed.errorf(about.name, "invalid arg '%s' for %s of queue type %s", key, about, kind.module())
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

// Rules: Q-17.
func invalidArg(key string, about subject, reason string) *Error {
	return PreconditionFailed.errorf(about.name, "invalid arg '%s' for %s: %s", key, about, reason)
}

// maxExpiry is the longest time to live, ten years in milliseconds.
const maxExpiry = 315_360_000_000

// latin1 is the string of a term whose characters are the bytes of s.
func latin1(s string) erl.String {
	r := make([]rune, len(s))
	for i := range len(s) {
		r[i] = rune(s[i])
	}
	return erl.String(string(r))
}

// An argCheck is the rule for one argument's value. check returns RabbitMQ's explanation of
// what is wrong with the value, or "".
type argCheck struct {
	key   string
	check func(v any, args Fields, r *rules) string
}

// queueChecks are in RabbitMQ's order: the first bad value is the one that is reported.
// Rules, T-16.
var queueChecks = []argCheck{
	{ArgExpires, func(v any, _ Fields, _ *rules) string { return checkRange(v, 1, maxExpiry) }},
	{ArgMessageTTL, func(v any, _ Fields, _ *rules) string { return checkRange(v, 0, maxExpiry) }},
	{ArgDeadLetterExchange, checkString},
	{ArgDeadLetterRoutingKey, checkDeadLetterKey},
	{ArgDeadLetterStrategy, checkOneOf("invalid_dlx_strategy", strategyNames)},
	{ArgMaxLength, checkNatural},
	{ArgMaxLengthBytes, checkNatural},
	{argMemoryLength, checkNatural},
	{argMemoryBytes, checkNatural},
	{ArgMaxPriority, checkMaxPriority},
	{ArgOverflow, checkOneOf("invalid_overflow", overflowNames)},
	{argMode, checkMode},
	{argVersion, checkVersion},
	{ArgSingleActiveConsumer, checkBool},
	{ArgConsumerTimeout, checkNatural},
	{argDisconnectedTimeout, checkNatural},
	{argGroupSize, checkPositive},
	{argMaxAge, checkMaxAge},
	{argSegmentSize, checkNatural},
	{argFilterSize, checkNatural},
	{argClusterSize, checkPositive},
	{argLeaderLocator, checkOneOf("invalid_queue_locator_arg", append(slices.Clone(leaderLocators), "min-masters"))},
}

var consumerChecks = []argCheck{
	{ArgConsumerPriority, func(v any, _ Fields, _ *rules) string { return checkInteger(v) }},
	{argHaCancel, checkBool},
	{ArgConsumerTimeout, checkNatural},
}

func checkInteger(v any) string {
	if _, ok := asInteger(v); ok {
		return ""
	}
	return `"expected integer, got ` + fieldType(v) + `"`
}

// checkRange accepts integers from low, which is 0 or 1, to high.
func checkRange(v any, low, high int64) string {
	n, ok := asInteger(v)
	if !ok {
		return checkInteger(v)
	}
	value := fmt.Sprint(v)
	switch {
	case n < 0:
		return "{value_negative," + value + "}"
	case n < low:
		return "{value_zero," + value + "}"
	case n > high:
		return "{value_too_large," + value + "}"
	}
	return ""
}

func checkNatural(v any, _ Fields, _ *rules) string  { return checkRange(v, 0, math.MaxInt64) }
func checkPositive(v any, _ Fields, _ *rules) string { return checkRange(v, 1, math.MaxInt64) }

// maxPriority is the largest x-max-priority. Rules: Q-18.
const maxPriority = 255

func checkMaxPriority(v any, args Fields, r *rules) string {
	if reason := checkNatural(v, args, r); reason != "" {
		return reason
	}
	if n, _ := asInteger(v); n > maxPriority {
		return "{max_value_exceeded," + fmt.Sprint(v) + "}"
	}
	return ""
}

func unacceptableType(v any) string { return "{unacceptable_type," + fieldType(v) + "}" }

func checkBool(v any, _ Fields, _ *rules) string {
	if _, ok := v.(bool); !ok {
		return unacceptableType(v)
	}
	return ""
}

func checkString(v any, _ Fields, _ *rules) string {
	if _, ok := v.(string); !ok {
		return unacceptableType(v)
	}
	return ""
}

func checkOneOf(otherwise string, values []string) func(any, Fields, *rules) string {
	return func(v any, _ Fields, _ *rules) string {
		s, ok := v.(string)
		switch {
		case !ok:
			return unacceptableType(v)
		case !slices.Contains(values, s):
			return otherwise
		}
		return ""
	}
}

func checkDeadLetterKey(v any, args Fields, _ *rules) string {
	if _, ok := v.(string); !ok {
		return unacceptableType(v)
	}
	if _, given := args.Get(ArgDeadLetterExchange); !given {
		return "routing_key_but_no_dlx_defined"
	}
	return ""
}

func checkType(v any) string {
	s, ok := v.(string)
	if !ok {
		return unacceptableType(v)
	}
	if _, known := parseKind(s); !known {
		return quoted("unsupported queue type '" + s + "'")
	}
	return ""
}

func checkMode(v any, _ Fields, r *rules) string {
	if !r.checkQueueMode {
		return ""
	}
	s, ok := v.(string)
	switch {
	case !ok:
		return unacceptableType(v)
	case !slices.Contains(queueModes, s):
		return quoted("unsupported queue mode '" + s + "'")
	}
	return ""
}

func checkVersion(v any, args Fields, r *rules) string {
	if reason := checkNatural(v, args, r); reason != "" {
		return reason
	}
	if n, _ := asInteger(v); n != 2 && (n != 1 || !r.queueVersion1) {
		return quoted("unsupported queue version '" + strconv.FormatInt(n, 10) + "'")
	}
	return ""
}

func checkMaxAge(v any, _ Fields, _ *rules) string {
	s, ok := v.(string)
	switch {
	case !ok:
		return unacceptableType(v)
	case !validMaxAge(s):
		return "invalid_max_age"
	}
	return ""
}

// validMaxAge accepts a positive number and a unit, such as "7D".
func validMaxAge(s string) bool {
	unit := strings.TrimLeft(s, "0123456789")
	number := s[:len(s)-len(unit)]
	return strings.Trim(number, "0") != "" && len(unit) == 1 && strings.Contains("YMDhms", unit)
}

// quoted prints a text the way the broker prints it inside an explanation. These terms are
// printed for lines that no reply text reaches, so they never break.
func quoted(s string) string { return erl.FormatWidth(erl.String(s), 0, maxReplyText) }

const masterLocatorDeprecated = "Feature `queue_master_locator` is deprecated.\n" +
	"By default, this feature is not permitted anymore.\n" +
	"The feature will be removed from a future major RabbitMQ version, regardless of the configuration; " +
	"actual version to be determined.\n" +
	"To continue using this feature when it is not permitted by default, set the following parameter in your configuration:\n" +
	"    \"deprecated_features.permit.queue_master_locator = true\"\n" +
	"To test RabbitMQ as if the feature was removed, set this in your configuration:\n" +
	"    \"deprecated_features.permit.queue_master_locator = false\""
