package leveret

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/leveretmq/leveret/internal/erl"
)

// The keys that a policy's definition may have, and the values they take.

// A policyKey is one of them. check returns what is wrong with a value, or "".
type policyKey struct {
	check    func(v any, r *rules) string
	operator availability // in operator policies
	policy   availability // in ordinary ones
	group    int          // findings of a lower group are reported first
}

// availability tells which releases have a key.
type availability uint8

const (
	never     availability = iota
	always                 // in every release
	since4                 // not in old ones
	untilThen              // only in old ones
)

func (a availability) in(r *rules) bool {
	switch a {
	case always:
		return true
	case since4:
		return !r.oldPolicyKeys
	case untilThen:
		return r.oldPolicyKeys
	}
	return false
}

const (
	locatorGroup = iota
	commonGroup
	mirrorGroup
	quorumGroup
)

var policyKeys = map[string]policyKey{
	"alternate-exchange":            {textKey("alternate exchange name"), never, always, commonGroup},
	"dead-letter-exchange":          {textKey("dead letter exchange name"), never, always, commonGroup},
	"dead-letter-routing-key":       {textKey("dead letter routing key"), never, always, commonGroup},
	"dead-letter-strategy":          {choiceKey("dead letter strategy", strategyNames), never, always, commonGroup},
	"message-ttl":                   {numberKey(0, "message TTL"), always, always, commonGroup},
	"expires":                       {numberKey(1, "queue expiry"), always, always, commonGroup},
	"max-length":                    {numberKey(0, "maximum length"), always, always, commonGroup},
	"max-length-bytes":              {numberKey(0, "maximum length in bytes"), always, always, commonGroup},
	"max-in-memory-length":          {numberKey(0, "maximum memory in bytes"), always, always, commonGroup},
	"max-in-memory-bytes":           {numberKey(0, "maximum memory in bytes"), always, always, commonGroup},
	"overflow":                      {choiceKey("overflow value", overflowNames), since4, always, commonGroup},
	"delivery-limit":                {checkDeliveryLimit, always, always, commonGroup},
	"queue-mode":                    {choiceKey("queue-mode value", queueModes), never, always, commonGroup},
	"queue-version":                 {checkQueueVersion, since4, always, commonGroup},
	"queue-leader-locator":          {choiceKey("queue leader locator value", leaderLocators), never, always, commonGroup},
	"consumer-timeout":              {numberKey(0, "consumer timeout"), never, since4, commonGroup},
	"consumer-disconnected-timeout": {numberKey(0, "consumer disconnected timeout"), never, since4, commonGroup},
	"max-age":                       {checkMaxAgeKey, never, always, commonGroup},
	"initial-cluster-size":          {numberKey(0, "cluster size"), never, always, commonGroup},
	"stream-max-segment-size-bytes": {rangeKey(0, 3_000_000_000, "segment size"), never, always, commonGroup},
	"stream-filter-size-bytes":      {rangeKey(16, 255, "filter size. Valid range is 16-255"), never, since4, commonGroup},
	"target-group-size":             {numberKey(1, "qq target count value"), since4, since4, quorumGroup},
	"delayed-retry-type":            {choiceKey("delayed retry type. Must be one of: all, failed, returned, disabled", retryNames), since4, since4, quorumGroup},
	"delayed-retry-min":             {numberKey(1, "delayed retry minimum delay. Must be a positive integer"), since4, since4, quorumGroup},
	"delayed-retry-max":             {numberKey(1, "delayed retry maximum delay. Must be a positive integer"), since4, since4, quorumGroup},
	"queue-master-locator":          {checkMasterLocatorKey, since4, always, locatorGroup},
	"ha-mode":                       {checkAny, never, untilThen, mirrorGroup},
	"ha-params":                     {checkAny, never, untilThen, mirrorGroup},
	"ha-sync-mode":                  {mirrorKey("ha-sync-mode", `must be "manual" or "automatic", got `, "manual", "automatic"), never, untilThen, mirrorGroup},
	"ha-sync-batch-size":            {checkBatchSize, never, untilThen, mirrorGroup},
	"ha-promote-on-shutdown":        {mirrorKey("ha-promote-on-shutdown", `must be "always" or "when-synced", got `, "always", "when-synced"), never, untilThen, mirrorGroup},
	"ha-promote-on-failure":         {mirrorKey("ha-promote-on-failure", `must be "always" or "when-synced", got `, "always", "when-synced"), never, untilThen, mirrorGroup},
}

// unfitKeys are the keys that keep a policy away from queues of a type.
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

// checkDefinition returns the first finding in a definition: bad values by group and key, then
// rules between keys, then all the keys there are not.
func checkDefinition(definition map[string]any, operator bool, r *rules) string {
	if len(definition) == 0 {
		return "no policy provided"
	}
	var groups [quorumGroup + 1][]string
	var unknown erl.List
	for _, key := range sortedKeys(definition) {
		k, known := policyKeys[key]
		if known && (!operator && k.policy.in(r) || operator && k.operator.in(r)) {
			groups[k.group] = append(groups[k.group], key)
			continue
		}
		unknown = append(unknown, erl.Tuple{erl.Binary(key), policyTerm(definition[key])})
	}
	for group, keys := range groups {
		if group == mirrorGroup && len(keys) > 0 {
			if finding := checkMirrors(definition); finding != "" {
				return finding
			}
		}
		for _, key := range keys {
			if finding := policyKeys[key].check(definition[key], r); finding != "" {
				return finding
			}
		}
	}
	if finding := checkRetry(definition); !r.oldPolicyKeys && finding != "" {
		return finding
	}
	if unknown != nil {
		return erl.Format(unknown, 0) + " are not recognised policy settings"
	}
	return ""
}

func checkRetry(definition map[string]any) string {
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

func policyTermText(v any) string {
	switch v := v.(type) {
	case Table:
		return mapText(v)
	case *big.Int:
		return v.String()
	}
	return erl.Format(policyTerm(v), 0)
}

// mapText prints a map the way RabbitMQ does, on one line.
func mapText(t Table) string {
	entries := make([]string, 0, len(t))
	for _, key := range sortedKeys(t) {
		entries = append(entries, erl.Format(erl.Binary(key), 0)+" => "+policyTermText(policyValue(t[key])))
	}
	return "#{" + strings.Join(entries, ",") + "}"
}

func notValid(v any, what string) string { return policyTermText(v) + " is not a valid " + what }

func textKey(what string) func(any, *rules) string {
	return func(v any, _ *rules) string {
		if _, ok := v.(string); !ok {
			return notValid(v, what)
		}
		return ""
	}
}

func choiceKey(what string, choices []string) func(any, *rules) string {
	return func(v any, _ *rules) string {
		if s, ok := v.(string); !ok || !slices.Contains(choices, s) {
			return notValid(v, what)
		}
		return ""
	}
}

func numberKey(low int64, what string) func(any, *rules) string {
	return func(v any, _ *rules) string {
		if n, ok := wholeNumber(v); !ok || n < low {
			return notValid(v, what)
		}
		return ""
	}
}

func rangeKey(low, high int64, what string) func(any, *rules) string {
	return func(v any, _ *rules) string {
		if n, ok := wholeNumber(v); !ok || n < low || n > high {
			return notValid(v, what)
		}
		return ""
	}
}

func checkDeliveryLimit(v any, r *rules) string {
	if n, ok := wholeNumber(v); !ok || n < 0 && r.oldPolicyKeys {
		return notValid(v, "delivery limit")
	}
	return ""
}

func checkQueueVersion(v any, _ *rules) string {
	if n, ok := wholeNumber(v); !ok || n != 1 && n != 2 {
		return notValid(v, "queue-version value")
	}
	return ""
}

func checkMaxAgeKey(v any, _ *rules) string {
	if s, ok := v.(string); !ok || !validMaxAge(s) {
		return notValid(v, "max age")
	}
	return ""
}

func checkMasterLocatorKey(v any, r *rules) string {
	if !r.oldPolicyKeys {
		return "use of deprecated queue-master-locator argument is not permitted"
	}
	if !isMasterLocator(v) {
		return policyTermText(v) + " invalid queue-master-locator value"
	}
	return ""
}

func checkAny(any, *rules) string { return "" }

func mirrorKey(key, must string, choices ...string) func(any, *rules) string {
	return func(v any, _ *rules) string {
		if s, ok := v.(string); !ok || !slices.Contains(choices, s) {
			return key + " " + must + policyTermText(v)
		}
		return ""
	}
}

func checkBatchSize(v any, _ *rules) string {
	if n, ok := wholeNumber(v); !ok || n < 1 {
		return "ha-sync-batch-size takes an integer greater than 0, " + policyTermText(v) + " given"
	}
	return ""
}

// checkMirrors checks ha-mode and ha-params, which depend on each other. They are known and
// carried along; a single node mirrors nothing.
func checkMirrors(definition map[string]any) string {
	mode, given := definition["ha-mode"]
	if !given {
		return "ha-mode must be specified to specify ha-params, ha-sync-mode or ha-promote-on-shutdown"
	}
	params, hasParams := definition["ha-params"]
	got := "none"
	if hasParams {
		got = policyTermText(params)
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
		return notValid(mode, "ha-mode value")
	}
	return ""
}

// policyTerm is the term by which RabbitMQ prints a value of a definition.
func policyTerm(v any) any {
	switch v := v.(type) {
	case string:
		return erl.Binary(v)
	case bool:
		return erl.Atom(strconv.FormatBool(v))
	case nil:
		return erl.Atom("null")
	case *big.Int:
		n, _ := wholeNumber(v)
		return n
	case Table:
		list := make(erl.List, 0, len(v))
		for _, key := range sortedKeys(v) {
			list = append(list, erl.Tuple{erl.Binary(key), policyTerm(policyValue(v[key]))})
		}
		return list
	case []any:
		list := make(erl.List, len(v))
		for i, e := range v {
			list[i] = policyTerm(policyValue(e))
		}
		return list
	}
	return v
}
