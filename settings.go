package leveret

import (
	"slices"
	"strings"
)

// What is in force for a queue: its arguments and the policies that apply to it, combined by
// one rule per setting. The same rules give the values the engine runs on and the explanation
// of where each came from.

// overflow is what happens to messages that a full queue has no room for.
type overflow uint8

const (
	dropHead         overflow = iota // the oldest are dropped
	rejectPublish                    // new ones are refused
	rejectPublishDLX                 // new ones are refused and dead-lettered
)

// retryType tells which returned messages a quorum queue delays.
type retryType uint8

const (
	retryDisabled retryType = iota
	retryAll
	retryFailed   // those that count towards the delivery limit
	retryReturned // those that do not
)

// settings are what is in force for a queue. -1 means none.
type settings struct {
	dlx, dlrk       string
	hasDLX, hasDLRK bool
	atLeastOnce     bool // in force: the other settings it needs are there too

	ttl, expires        int64 // ms
	maxLength, maxBytes int64 // messages, bytes
	overflow            overflow

	deliveryLimit      int64 // quorum queues; -1: unlimited
	consumerTimeout    int64 // ms; quorum queues; -1: not configured
	retry              retryType
	retryMin, retryMax int64 // ms
}

// A Source tells where a setting that is in force comes from.
type Source string

// The sources of settings.
const (
	SourceDefault        Source = "default"
	SourceArgument       Source = "argument"
	SourcePolicy         Source = "policy"
	SourceOperatorPolicy Source = "operator policy"
)

// A Setting is one value that is in force for a queue.
type Setting struct {
	Key    string // as policies spell it, such as "max-length"
	Value  any    // int64 or string; nil: none
	Source Source
}

// Effective explains what is in force for a queue: which policies apply to it, and for every
// setting the value and where it comes from.
type Effective struct {
	Policy         string // name; empty: none applies
	OperatorPolicy string // name; empty: none applies
	Settings       []Setting
}

// Get returns the setting with the key that policies use for it, such as "message-ttl". It
// reports false for a key that is no setting of the queue's type.
func (e Effective) Get(key string) (Setting, bool) {
	for _, s := range e.Settings {
		if s.Key == key {
			return s, true
		}
	}
	return Setting{}, false
}

// A combination is how the argument and the policies of one setting become one value.
type combination uint8

const (
	lowest        combination = iota // the lower number
	argumentFirst                    // the argument, if given
	policyFirst                      // the policies, if they say anything
	mildestNumber                    // the lower number; a negative one, which means unlimited, gives way
)

// A resolver combines the arguments of a queue with its policies.
type resolver struct {
	args             *queueArgs
	rules            *rules
	policy, operator *policy
}

// fromPolicies returns what the policies say about a key, and which of them said it.
func (q *resolver) fromPolicies(key string) Setting {
	s := Setting{Key: key, Source: SourceDefault}
	if q.policy != nil {
		if v, given := q.policy.definition[key]; given {
			s.Value, s.Source = typedSetting(v), SourcePolicy
		}
	}
	if q.operator == nil {
		return s
	}
	v, given := q.operator.definition[key]
	if !given {
		return s
	}
	o := Setting{Key: key, Value: typedSetting(v), Source: SourceOperatorPolicy}
	if s.Source == SourcePolicy && mergedValue(key, s.Value, o.Value) == s.Value {
		return s
	}
	return o
}

// typedSetting narrows a value of a definition to what a setting can be.
func typedSetting(v any) any {
	if n, ok := wholeNumber(v); ok {
		return n
	}
	return v
}

// resolve returns the value in force for a key, given its argument (nil: not given).
func (q *resolver) resolve(key string, argument any, how combination) Setting {
	p := q.fromPolicies(key)
	if argument == nil {
		return p
	}
	a := Setting{Key: key, Value: argument, Source: SourceArgument}
	if p.Source == SourceDefault || how == argumentFirst {
		return a
	}
	if how == policyFirst {
		return p
	}
	n, okA := a.Value.(int64)
	m, okP := p.Value.(int64)
	if !okA || !okP {
		return p
	}
	preferArgument := n <= m
	if how == mildestNumber && (n < 0 || m < 0) {
		preferArgument = n >= m
	}
	if preferArgument {
		return a
	}
	return p
}

func (q *resolver) number(key string, argument int64, how combination) Setting {
	if argument < 0 {
		return q.resolve(key, nil, how)
	}
	return q.resolve(key, argument, how)
}

func (q *resolver) optional(key string, argument *int64, how combination) Setting {
	if argument == nil {
		return q.resolve(key, nil, how)
	}
	return q.resolve(key, *argument, how)
}

func (q *resolver) text(key string, argument *string, how combination) Setting {
	if argument == nil {
		return q.resolve(key, nil, how)
	}
	return q.resolve(key, *argument, how)
}

// settingsOf resolves every setting that the queue's type has, in the order of their keys.
func (q *resolver) settingsOf() []Setting {
	a := q.args
	expires, overflowWins := lowest, argumentFirst
	if a.kind == quorumQueue {
		overflowWins = policyFirst
		if q.rules.policyExpiresFirst {
			expires = policyFirst
		}
	}
	all := []Setting{
		q.text("dead-letter-exchange", a.dlx, argumentFirst),
		q.text("dead-letter-routing-key", a.dlrk, argumentFirst),
		q.number("expires", a.expires, expires),
		q.number("max-length", a.maxLength, lowest),
		q.number("max-length-bytes", a.maxBytes, lowest),
		q.number("message-ttl", a.ttl, lowest),
		orDefault(q.text("overflow", a.overflow, overflowWins), "drop-head"),
	}
	if a.kind == quorumQueue {
		all = append(all, q.quorumSettings()...)
	}
	slices.SortFunc(all, func(s, t Setting) int { return strings.Compare(s.Key, t.Key) })
	return all
}

func (q *resolver) quorumSettings() []Setting {
	a, limits := q.args, mildestNumber
	if q.rules.negativeLimitIsZero {
		limits = lowest
	}
	limit := q.optional("delivery-limit", a.deliveryLimit, limits)
	if n, ok := limit.Value.(int64); ok && n < 0 && q.rules.negativeLimitIsZero {
		limit.Value = int64(0)
	}
	if q.rules.deliveryLimit >= 0 {
		limit = orDefault(limit, q.rules.deliveryLimit)
	}
	all := []Setting{orDefault(q.text("dead-letter-strategy", a.strategy, argumentFirst), "at-most-once"), limit}
	if q.rules.noNewQuorumArguments {
		return all
	}
	return append(all,
		q.number("consumer-timeout", a.consumerTimeout, lowest),
		orDefault(q.text("delayed-retry-type", a.retryType, policyFirst), "disabled"),
		q.optional("delayed-retry-min", a.retryMin, lowest),
		q.optional("delayed-retry-max", a.retryMax, lowest),
	)
}

func orDefault(s Setting, value any) Setting {
	if s.Value == nil {
		s.Value = value
	}
	return s
}

// effective explains what is in force for a queue under the policies, either of which may be nil.
func (a *queueArgs) effective(r *rules, policy, operator *policy) Effective {
	q := resolver{a, r, policy, operator}
	e := Effective{Settings: q.settingsOf()}
	if policy != nil {
		e.Policy = policy.Name
	}
	if operator != nil {
		e.OperatorPolicy = operator.Name
	}
	return e
}

// settings returns what is in force for a queue under the policies, either of which may be nil.
func (a *queueArgs) settings(r *rules, policy, operator *policy) settings {
	s := settings{
		ttl: -1, expires: -1, maxLength: -1, maxBytes: -1,
		deliveryLimit: -1, consumerTimeout: -1, retryMin: -1, retryMax: -1,
	}
	q := resolver{a, r, policy, operator}
	for _, v := range q.settingsOf() {
		s.set(v)
	}
	if a.kind == quorumQueue {
		s.settleQuorum()
	}
	return s
}

// set takes over one resolved setting.
func (s *settings) set(v Setting) {
	number := int64(-1)
	if n, ok := v.Value.(int64); ok {
		number = n
	}
	text, isText := v.Value.(string)
	switch v.Key {
	case "dead-letter-exchange":
		s.dlx, s.hasDLX = text, isText
	case "dead-letter-routing-key":
		s.dlrk, s.hasDLRK = text, isText
	case "dead-letter-strategy":
		s.atLeastOnce = text == "at-least-once"
	case "expires":
		s.expires = number
	case "max-length":
		s.maxLength = number
	case "max-length-bytes":
		s.maxBytes = number
	case "message-ttl":
		s.ttl = number
	case "overflow":
		s.overflow = parseOverflow(text)
	case "delivery-limit":
		s.deliveryLimit = number
	case "consumer-timeout":
		s.consumerTimeout = number
	case "delayed-retry-type":
		s.retry = parseRetry(text)
	case "delayed-retry-min":
		s.retryMin = number
	case "delayed-retry-max":
		s.retryMax = number
	}
}

// settleQuorum brings the settings of a quorum queue into line with each other: at-least-once
// needs an exchange and reject-publish, reject-publish-dlx is not supported, a delay needs a
// minimum and ends at the maximum.
func (s *settings) settleQuorum() {
	if s.overflow == rejectPublishDLX {
		s.overflow = dropHead
	}
	s.atLeastOnce = s.atLeastOnce && s.hasDLX && s.overflow == rejectPublish
	if s.retryMin <= 0 {
		s.retry = retryDisabled
	}
	if s.retryMax <= 0 {
		s.retryMax = s.retryMin
	}
	s.deliveryLimit = max(s.deliveryLimit, -1)
}

func parseOverflow(s string) overflow {
	switch s {
	case "reject-publish":
		return rejectPublish
	case "reject-publish-dlx":
		return rejectPublishDLX
	}
	return dropHead
}

func parseRetry(s string) retryType {
	switch s {
	case "all":
		return retryAll
	case "failed":
		return retryFailed
	case "returned":
		return retryReturned
	}
	return retryDisabled
}

// alternateExchange returns the alternate exchange in force: the argument, else the policy's.
func alternateExchange(arg string, hasArg bool, p *policy) (string, bool) {
	if hasArg {
		return arg, true
	}
	return p.text("alternate-exchange")
}
