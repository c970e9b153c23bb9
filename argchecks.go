package leveret

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/leveretmq/leveret/internal/erl"
)

// Which values the arguments of queues may take, in the order in which RabbitMQ checks them, and what it says of other
// values.

// maxExpiry is the longest time to live, in ms: ten years.
// Rules: T-16, Q-18.
const maxExpiry = 315_360_000_000

// An argCheck is the rule for one argument's value. check returns RabbitMQ's explanation of
// what is wrong with the value, or "", or crashes.
type argCheck struct {
	key   string
	check func(v any, args Fields, r *rules) string
}

// crashes is what a check says of a value at which RabbitMQ's channel crashes.
const crashes = "(crashes)"

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
	{argLeaderLocator, checkLeaderLocator},
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

// maxPriority is the largest x-max-priority.
// Rules: Q-18.
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

// Rules: Q-22.
func checkLeaderLocator(v any, args Fields, r *rules) string {
	if v == "min-masters" && !r.oldLeaderLocator {
		return ""
	}
	return checkOneOf("invalid_queue_locator_arg", leaderLocators)(v, args, r)
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

func checkType(v any, r *rules) string {
	s, ok := v.(string)
	if !ok {
		return unacceptableType(v)
	}
	if _, known := parseKind(s); !known {
		return r.quoted("unsupported queue type '" + s + "'")
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
		return r.quoted("unsupported queue mode '" + s + "'")
	}
	return ""
}

// The values of x-queue-version: how a classic queue is stored, which means nothing here.
// Rules: Q-18.
const (
	queueVersion    = 2
	oldQueueVersion = 1
)

func checkVersion(v any, args Fields, r *rules) string {
	if reason := checkNatural(v, args, r); reason != "" {
		return reason
	}
	if n, _ := asInteger(v); n != queueVersion && (n != oldQueueVersion || !r.queueVersion1) {
		return r.quoted("unsupported queue version '" + strconv.FormatInt(n, 10) + "'")
	}
	return ""
}

// Rules: Q-18.
func checkMaxAge(v any, _ Fields, r *rules) string {
	s, ok := v.(string)
	switch {
	case !ok:
		return unacceptableType(v)
	case validMaxAge(s):
		return ""
	case r.ageNeedsNumber && strings.IndexAny(s, digits) != 0:
		return crashes
	}
	return "invalid_max_age"
}

const digits = "0123456789"

// validMaxAge accepts a positive number and a unit, such as "7D". What is behind a line feed does not count.
func validMaxAge(s string) bool {
	s, _, _ = strings.Cut(s, "\n")
	unit := strings.TrimLeft(s, digits)
	number := s[:len(s)-len(unit)]
	return strings.Trim(number, "0") != "" && len(unit) == 1 && strings.Contains("YMDhms", unit)
}

// quoted prints a text the way the broker prints it inside an explanation, as a list of numbers if it has other
// characters than those of Latin-1. These terms are printed for lines that no reply text reaches, so they never break.
// Rules: E-6.
func (r *rules) quoted(s string) string {
	if r.octetTexts {
		return erl.Octets.FormatWidth(erl.Characters(s), 0, maxReplyText)
	}
	return erl.Narrow.FormatWidth(erl.String(r.text(s)), 0, maxReplyText)
}

const masterLocatorDeprecated = "Feature `queue_master_locator` is deprecated.\n" +
	"By default, this feature is not permitted anymore.\n" +
	"The feature will be removed from a future major RabbitMQ version, regardless of the configuration; " +
	"actual version to be determined.\n" +
	"To continue using this feature when it is not permitted by default, " +
	"set the following parameter in your configuration:\n" +
	"    \"deprecated_features.permit.queue_master_locator = true\""
