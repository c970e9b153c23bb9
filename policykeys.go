package leveret

import (
	"math"
	"slices"
	"strconv"

	"github.com/leveretmq/leveret/internal/erl"
)

// The keys that a policy's definition may have, and the values they take.

// A policyKey is one of them. check returns what is wrong with a value, or "".
type policyKey struct {
	check    func(v any, r *rules) string
	operator availability // in operator policies
	policy   availability // in ordinary ones
}

// in reports whether policies, or operator policies, may have the key in the release that r describes.
func (k policyKey) in(which policyLevel, r *rules) bool {
	if which == operatorPolicies {
		return k.operator.in(r)
	}
	return k.policy.in(r)
}

// availability tells which releases have a key.
type availability uint8

const (
	never availability = iota
	always
	only43
	only310
)

func (a availability) in(r *rules) bool {
	switch a {
	case always:
		return true
	case only43:
		return !r.oldPolicyKeys
	case only310:
		return r.oldPolicyKeys
	}
	return false
}

// A policyGroup are keys that RabbitMQ checks together.
type policyGroup struct {
	keys map[string]policyKey

	// Rules between keys, checked before and after each key by itself if the definition has any of them; nil: none.
	before, after func(definition map[string]any, r *rules) string
}

// The limits of keys for streams, in bytes.
// Rules: P-5.
const (
	maxSegment           = 3_000_000_000
	minFilter, maxFilter = 16, 255
)

// policyGroups are all keys. Findings of one group are reported before those of the next.
// Rules: P-5, P-7, P-8.
var policyGroups = []policyGroup{
	{keys: map[string]policyKey{
		"queue-master-locator": {checkMasterLocatorKey, only43, always},
	}},
	{keys: map[string]policyKey{
		"alternate-exchange":            {textKey("alternate exchange name"), never, always},
		"dead-letter-exchange":          {textKey("dead letter exchange name"), never, always},
		"dead-letter-routing-key":       {textKey("dead letter routing key"), never, always},
		"dead-letter-strategy":          {choiceKey("dead letter strategy", strategyNames), never, always},
		"message-ttl":                   {numberKey(0, "message TTL"), always, always},
		"expires":                       {numberKey(1, "queue expiry"), always, always},
		"max-length":                    {numberKey(0, "maximum length"), always, always},
		"max-length-bytes":              {numberKey(0, "maximum length in bytes"), always, always},
		"max-in-memory-length":          {numberKey(0, "maximum memory in bytes"), always, always},
		"max-in-memory-bytes":           {numberKey(0, "maximum memory in bytes"), always, always},
		"overflow":                      {choiceKey("overflow value", overflowNames), only43, always},
		"delivery-limit":                {checkDeliveryLimit, always, always},
		"queue-mode":                    {choiceKey("queue-mode value", queueModes), never, always},
		"queue-version":                 {checkQueueVersion, only43, always},
		"queue-leader-locator":          {choiceKey("queue leader locator value", leaderLocators), never, always},
		"consumer-timeout":              {numberKey(0, "consumer timeout"), never, only43},
		"consumer-disconnected-timeout": {numberKey(0, "consumer disconnected timeout"), never, only43},
		"max-age":                       {checkMaxAgeKey, never, always},
		"initial-cluster-size":          {numberKey(0, "cluster size"), never, always},
		"stream-max-segment-size-bytes": {rangeKey(0, maxSegment, "segment size"), never, always},
		"stream-filter-size-bytes":      {checkFilterSize, never, only43},
	}},
	{before: checkMirrors, keys: map[string]policyKey{
		"ha-mode":                {checkAny, never, only310},
		"ha-params":              {checkAny, never, only310},
		"ha-sync-mode":           {checkSyncMode, never, only310},
		"ha-sync-batch-size":     {checkBatchSize, never, only310},
		"ha-promote-on-shutdown": {promoteKey("ha-promote-on-shutdown"), never, only310},
		"ha-promote-on-failure":  {promoteKey("ha-promote-on-failure"), never, only310},
	}},
	{after: checkRetry, keys: map[string]policyKey{
		"target-group-size":  {numberKey(1, "qq target count value"), only43, only43},
		"delayed-retry-type": {checkRetryType, only43, only43},
		"delayed-retry-min":  {numberKey(1, "delayed retry minimum delay. Must be a positive integer"), only43, only43},
		"delayed-retry-max":  {numberKey(1, "delayed retry maximum delay. Must be a positive integer"), only43, only43},
	}},
}

// unfitKeys are the keys that keep a policy away from queues of a type.
// Rules: P-10.
var unfitKeys = [len(kinds)][]string{
	classicQueue: {"max-age", "stream-max-segment-size-bytes", "initial-cluster-size", "delivery-limit",
		"dead-letter-strategy", "max-in-memory-length", "max-in-memory-bytes", "target-group-size"},
	quorumQueue: {"queue-mode", "ha-mode", "ha-params", "ha-sync-mode", "ha-promote-on-shutdown",
		"ha-promote-on-failure", "queue-master-locator", "max-age", "stream-max-segment-size-bytes", "initial-cluster-size"},
	streamQueue: {"expires", "message-ttl", "dead-letter-exchange", "dead-letter-routing-key", "max-length",
		"max-in-memory-length", "max-in-memory-bytes", "overflow", "queue-mode", "delivery-limit", "ha-mode",
		"ha-params", "ha-sync-mode", "ha-promote-on-shutdown", "ha-promote-on-failure", "queue-master-locator",
		"dead-letter-strategy", "target-group-size"},
}

// Rules: P-10.
func hasUnfitKey(definition map[string]any, kind queueKind, r *rules) bool {
	for key := range definition {
		unfit := slices.Contains(unfitKeys[kind], key)
		if kind == classicQueue && r.oldPolicyKeys {
			switch key {
			case "queue-leader-locator":
				unfit = true
			case "max-in-memory-length", "max-in-memory-bytes":
				unfit = false
			}
		}
		if unfit {
			return true
		}
	}
	return false
}

// checkDefinition returns the first finding in a definition: of bad values and rules between keys, group by group, then
// of the keys there are not, all in one.
// Rules: P-3, P-4, P-7, P-8.
func checkDefinition(definition map[string]any, which policyLevel, r *rules) string {
	if len(definition) == 0 {
		return "no policy provided"
	}
	unknown := sortedKeys(definition)
	for _, g := range policyGroups {
		has := func(key string) bool {
			k, known := g.keys[key]
			return known && k.in(which, r)
		}
		keys := slices.DeleteFunc(sortedKeys(definition), func(key string) bool { return !has(key) })
		if finding := g.check(keys, definition, r); finding != "" {
			return finding
		}
		unknown = slices.DeleteFunc(unknown, has)
	}
	if len(unknown) == 0 {
		return ""
	}
	list := make(erl.List, len(unknown))
	for i, key := range unknown {
		list[i] = erl.Tuple{erl.Binary(key), policyTerm(definition[key])}
	}
	return r.notation().Format(list, 0) + " are not recognised policy settings"
}

// check returns the first finding about the keys of the group that a definition has.
func (g *policyGroup) check(keys []string, definition map[string]any, r *rules) string {
	if len(keys) > 0 && g.before != nil {
		if finding := g.before(definition, r); finding != "" {
			return finding
		}
	}
	for _, key := range keys {
		if finding := g.keys[key].check(definition[key], r); finding != "" {
			return finding
		}
	}
	if len(keys) > 0 && g.after != nil {
		return g.after(definition, r)
	}
	return ""
}

// checkRetry checks the keys of delayed retry against each other.
// Rules: P-6.
func checkRetry(definition map[string]any, _ *rules) string {
	kind, given := definition["delayed-retry-type"].(string)
	low, hasLow := wholeNumber(definition["delayed-retry-min"])
	high, hasHigh := wholeNumber(definition["delayed-retry-max"])
	switch {
	case given && kind != retryNames[retryDisabled] && !hasLow:
		return "delayed-retry-min is required when delayed-retry-type is " + kind
	case hasLow && hasHigh && high < low:
		return "delayed-retry-max (" + strconv.FormatInt(high, 10) +
			") must not be smaller than delayed-retry-min (" + strconv.FormatInt(low, 10) + ")"
	}
	return ""
}

func notValid(v any, what string, r *rules) string {
	return policyTermText(v, r) + " is not a valid " + what
}

func textKey(what string) func(any, *rules) string {
	return func(v any, r *rules) string {
		if _, ok := v.(string); !ok {
			return notValid(v, what, r)
		}
		return ""
	}
}

func choiceKey(what string, choices []string) func(any, *rules) string {
	return func(v any, r *rules) string {
		if s, ok := v.(string); !ok || !slices.Contains(choices, s) {
			return notValid(v, what, r)
		}
		return ""
	}
}

func numberKey(low int64, what string) func(any, *rules) string {
	return func(v any, r *rules) string {
		if n, ok := wholeNumber(v); !ok || n < low {
			return notValid(v, what, r)
		}
		return ""
	}
}

func rangeKey(low, high int64, what string) func(any, *rules) string {
	return func(v any, r *rules) string {
		if n, ok := wholeNumber(v); !ok || n < low || n > high {
			return notValid(v, what, r)
		}
		return ""
	}
}

var (
	checkFilterSize = rangeKey(minFilter, maxFilter, "filter size. Valid range is 16-255")
	checkRetryType  = choiceKey("delayed retry type. Must be one of: all, failed, returned, disabled", retryNames)
	checkSyncMode   = mirrorKey("ha-sync-mode", `must be "manual" or "automatic", got `, "manual", "automatic")
)

func promoteKey(key string) func(any, *rules) string {
	return mirrorKey(key, `must be "always" or "when-synced", got `, "always", "when-synced")
}

func checkDeliveryLimit(v any, r *rules) string {
	if n, ok := wholeNumber(v); !ok || n < 0 && r.oldPolicyKeys {
		return notValid(v, "delivery limit", r)
	}
	return ""
}

func checkQueueVersion(v any, r *rules) string {
	if n, ok := wholeNumber(v); !ok || n != oldQueueVersion && n != queueVersion {
		return notValid(v, "queue-version value", r)
	}
	return ""
}

func checkMaxAgeKey(v any, r *rules) string {
	if s, ok := ageText(v); !ok || !validMaxAge(s) {
		return notValid(v, "max age", r)
	}
	return ""
}

// ageText returns a max-age as a text. A list of octets, texts and such lists is a text, too.
func ageText(v any) (text string, ok bool) {
	list, isList := v.([]any)
	if !isList {
		text, ok = v.(string)
		return text, ok
	}
	for _, member := range list {
		member = policyValue(member)
		part, isText := ageText(member)
		n, isInteger := member.(int64)
		switch {
		case isInteger && n >= 0 && n <= math.MaxUint8:
			text += string([]byte{byte(n)})
		case isText:
			text += part
		default:
			return "", false
		}
	}
	return text, true
}

func checkMasterLocatorKey(v any, r *rules) string {
	if !r.oldPolicyKeys {
		return "use of deprecated queue-master-locator argument is not permitted"
	}
	if !isMasterLocator(v) {
		return policyTermText(v, r) + " invalid queue-master-locator value"
	}
	return ""
}

func checkAny(any, *rules) string { return "" }

func mirrorKey(key, must string, choices ...string) func(any, *rules) string {
	return func(v any, r *rules) string {
		if s, ok := v.(string); !ok || !slices.Contains(choices, s) {
			return key + " " + must + policyTermText(v, r)
		}
		return ""
	}
}

func checkBatchSize(v any, r *rules) string {
	if n, ok := wholeNumber(v); !ok || n < 1 {
		return "ha-sync-batch-size takes an integer greater than 0, " + policyTermText(v, r) + " given"
	}
	return ""
}

// checkMirrors checks ha-mode and ha-params, which depend on each other. They are known and
// carried along; a single node mirrors nothing.
func checkMirrors(definition map[string]any, r *rules) string {
	mode, given := definition["ha-mode"]
	if !given {
		return "ha-mode must be specified to specify ha-params, ha-sync-mode or ha-promote-on-shutdown"
	}
	params, hasParams := definition["ha-params"]
	got := "none"
	if hasParams {
		got = policyTermText(params, r)
	}
	switch mode {
	case "all":
		if hasParams {
			return `ha-mode="all" does not take parameters`
		}
	case "exactly":
		if n, ok := wholeNumber(params); !ok || n < 1 {
			return `ha-mode="exactly" takes an integer, ` + got + " given"
		}
	case "nodes":
		if list, ok := params.([]any); !ok || len(list) == 0 {
			return `ha-mode="nodes" takes a list, ` + got + " given"
		}
	default:
		return notValid(mode, "ha-mode value", r)
	}
	return ""
}
