package leveret

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// What is in force for a queue: its arguments and the policies that apply to it, combined setting by setting. The table
// settingRules has all settings; the values that the engine runs on and the explanation of each ([Effective]) both come
// from it.

// overflow is what happens to messages that a full queue has no room for.
type overflow uint8

const (
	dropHead         overflow = iota // the oldest are dropped
	rejectPublish                    // new ones are refused
	rejectPublishDLX                 // new ones are refused and dead-lettered
)

var overflowNames = []string{
	dropHead: OverflowDropHead, rejectPublish: OverflowRejectPublish, rejectPublishDLX: OverflowRejectPublishDLX,
}

// retryType tells which returned messages a quorum queue delays.
type retryType uint8

const (
	retryDisabled retryType = iota
	retryAll
	retryFailed   // those that count towards the delivery limit
	retryReturned // those that do not
)

var retryNames = []string{
	retryDisabled: DelayedRetryDisabled, retryAll: DelayedRetryAll,
	retryFailed: DelayedRetryFailed, retryReturned: DelayedRetryReturned,
}

const atMostOnce, atLeastOnce = DeadLetterAtMostOnce, DeadLetterAtLeastOnce

var strategyNames = []string{atMostOnce, atLeastOnce}

// choice returns the place of a name among the names of a type, 0 for an unknown one.
func choice(names []string, name string) int { return max(slices.Index(names, name), 0) }

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

// noSettings is where a queue begins: with none in force.
var noSettings = settings{
	ttl: -1, expires: -1, maxLength: -1, maxBytes: -1,
	deliveryLimit: -1, consumerTimeout: -1, retryMin: -1, retryMax: -1,
}

// A combination is how the argument and the policies of one setting become one value.
type combination uint8

const (
	absent        combination = iota // queues of this type do not have the setting
	lowest                           // the lower number
	mildest                          // the lower number; a negative one, which means unlimited, gives way
	argumentFirst                    // the argument, if given
	policyFirst                      // the policies, if they say anything
)

// A settingRule is one row of settingRules.
type settingRule struct {
	key             string      // as policies spell it
	argument        string      // as declarations spell it
	classic, quorum combination // for each queue type
	only43          bool        // 3.10 does not have the setting
	standard        string      // of a text: the value if neither an argument nor a policy sets one
	field           settingField
}

// settingRules are all settings, in the order of their keys.
// Rules: Q-20, D-43, L-18, DL-3, P-17.
var settingRules = []settingRule{
	{"consumer-timeout", ArgConsumerTimeout, absent, lowest, true, "",
		numberField(func(s *settings) *int64 { return &s.consumerTimeout })},
	{"dead-letter-exchange", ArgDeadLetterExchange, argumentFirst, argumentFirst, false, "",
		textField((*settings).setDLX)},
	{"dead-letter-routing-key", ArgDeadLetterRoutingKey, argumentFirst, argumentFirst, false, "",
		textField((*settings).setDLRK)},
	{"dead-letter-strategy", ArgDeadLetterStrategy, absent, argumentFirst, false, atMostOnce,
		textField((*settings).setStrategy)},
	{"delayed-retry-max", ArgDelayedRetryMax, absent, lowest, true, "",
		numberField(func(s *settings) *int64 { return &s.retryMax })},
	{"delayed-retry-min", ArgDelayedRetryMin, absent, lowest, true, "",
		numberField(func(s *settings) *int64 { return &s.retryMin })},
	{"delayed-retry-type", ArgDelayedRetryType, absent, policyFirst, true, retryNames[retryDisabled],
		textField((*settings).setRetry)},
	{keyDeliveryLimit, ArgDeliveryLimit, absent, mildest, false, "",
		numberField(func(s *settings) *int64 { return &s.deliveryLimit })},
	{keyExpires, ArgExpires, lowest, lowest, false, "",
		numberField(func(s *settings) *int64 { return &s.expires })},
	{"max-length", ArgMaxLength, lowest, lowest, false, "",
		numberField(func(s *settings) *int64 { return &s.maxLength })},
	{"max-length-bytes", ArgMaxLengthBytes, lowest, lowest, false, "",
		numberField(func(s *settings) *int64 { return &s.maxBytes })},
	{"message-ttl", ArgMessageTTL, lowest, lowest, false, "",
		numberField(func(s *settings) *int64 { return &s.ttl })},
	{"overflow", ArgOverflow, argumentFirst, policyFirst, false, overflowNames[dropHead],
		textField((*settings).setOverflow)},
}

// The keys whose rules differ between releases.
const (
	keyDeliveryLimit = "delivery-limit"
	keyExpires       = "expires"
)

func (s *settings) setDLX(name string, given bool)  { s.dlx, s.hasDLX = name, given }
func (s *settings) setDLRK(key string, given bool)  { s.dlrk, s.hasDLRK = key, given }
func (s *settings) setStrategy(name string, _ bool) { s.atLeastOnce = name == atLeastOnce }
func (s *settings) setRetry(name string, _ bool)    { s.retry = retryType(choice(retryNames, name)) }
func (s *settings) setOverflow(name string, _ bool) {
	s.overflow = overflow(choice(overflowNames, name))
}

// A settingField is the field of settings that one setting is kept in: a number or a text.
type settingField struct {
	number func(*settings) *int64
	text   func(s *settings, value string, given bool)
}

func numberField(field func(*settings) *int64) settingField { return settingField{number: field} }
func textField(set func(s *settings, value string, given bool)) settingField {
	return settingField{text: set}
}

// set keeps a value, which is nil if there is none.
func (f settingField) set(s *settings, v any) {
	if f.text != nil {
		name, given := v.(string)
		f.text(s, name, given)
		return
	}
	n, given := v.(int64)
	if !given {
		n = -1
	}
	*f.number(s) = n
}

// argument returns the value of an argument. Arguments that are not checked may be of any type: a timestamp is a number, and of
// texts an unusable one counts as missing.
// Rules: Q-18.
func (f settingField) argument(args Fields, name string) any {
	v, _ := args.Get(name)
	if f.text != nil {
		if s, ok := asBytes(v); ok {
			return s
		}
		return nil
	}
	if n, ok := asInteger(v); ok {
		return n
	}
	switch v := v.(type) {
	case time.Time:
		return int64(min(uint64(v.Unix()), math.MaxInt64)) // it has no sign
	case float32:
		return float64(v)
	}
	return v
}

// compareToNumber compares an argument's value with a number: what is no number is higher than any.
func compareToNumber(v any, n int64) int {
	switch v := v.(type) {
	case int64:
		return cmp.Compare(v, n)
	case float64:
		return cmp.Compare(v, float64(n))
	}
	return 1
}

// usable returns what a setting that should be a number comes to. A value that is no integer has won over a policy as a number would,
// and then counts as missing. As a delivery limit of 3.10 a fraction is compared with counts, and a text is never reached.
// Rules: Q-18, D-12d.
func (t *settingRule) usable(s Setting, r *rules) Setting {
	if _, isInteger := s.Value.(int64); isInteger || s.Value == nil || t.field.number == nil {
		return s
	}
	if t.key != keyDeliveryLimit || !r.negativeLimitIsZero {
		return Setting{Key: s.Key, Source: SourceDefault}
	}
	limit := int64(math.MaxInt64)
	if f, isNumber := s.Value.(float64); isNumber && f < math.MaxInt64 {
		limit = int64(max(math.Floor(f), -1))
	}
	s.Value = limit
	return s
}

// how returns the combination for a type of queue in a release.
func (t *settingRule) how(kind queueKind, r *rules) combination {
	how := t.classic
	if kind == quorumQueue {
		how = t.quorum
	}
	switch {
	case t.only43 && r.noNewQuorumArguments:
		return absent
	case kind == quorumQueue && t.key == keyExpires && r.policyExpiresFirst:
		return policyFirst
	case t.key == keyDeliveryLimit && r.negativeLimitIsZero && how == mildest:
		return lowest
	}
	return how
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
	Key    string `json:"key"`   // as policies spell it, such as "max-length"
	Value  any    `json:"value"` // int64 or string; nil: none
	Source Source `json:"source"`
}

// Effective explains what is in force for a queue: which policies apply to it, and for every
// setting the value and where it comes from.
type Effective struct {
	Policy         string    `json:"policy"`          // name; empty: none applies
	OperatorPolicy string    `json:"operator_policy"` // name; empty: none applies
	Settings       []Setting `json:"settings"`
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

// A resolver combines the arguments of a queue with its policies.
type resolver struct {
	args             *queueArgs
	rules            *rules
	policy, operator *policy
}

// fromPolicies returns what the policies say about a key, and which of them said it.
// Rules: P-14.
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

// combine decides between an argument (nil: not given) and what the policies say.
func combine(how combination, argument any, p Setting) Setting {
	a := Setting{Key: p.Key, Value: argument, Source: SourceArgument}
	switch {
	case argument == nil:
		return p
	case p.Source == SourceDefault, how == argumentFirst:
		return a
	case how == policyFirst:
		return p
	}
	m, ok := p.Value.(int64)
	if !ok {
		return p
	}
	order := compareToNumber(argument, m)
	if unlimited := m < 0 || compareToNumber(argument, 0) < 0; how == mildest && unlimited {
		order = -order
	}
	if order <= 0 {
		return a
	}
	return p
}

// each calls f with every setting that the queue's type has, in the order of the keys.
func (q *resolver) each(f func(*settingRule, Setting)) {
	for i := range settingRules {
		rule := &settingRules[i]
		how := rule.how(q.args.kind, q.rules)
		if how == absent {
			continue
		}
		s := combine(how, rule.field.argument(q.args.declared, rule.argument), q.fromPolicies(rule.key))
		s = rule.usable(s, q.rules)
		switch {
		case rule.key == keyDeliveryLimit:
			s.Value = q.rules.deliveryLimitInForce(s.Value)
		case s.Value == nil && rule.standard != "":
			s.Value = rule.standard
		}
		f(rule, s)
	}
}

// deliveryLimitInForce returns the release's default in place of no limit. RabbitMQ 3.10 has none, and takes a negative
// limit for 0.
// Rules: Q-20.
func (r *rules) deliveryLimitInForce(v any) any {
	n, given := v.(int64)
	switch {
	case given && n < 0 && r.negativeLimitIsZero:
		return int64(0)
	case !given && r.deliveryLimit >= 0:
		return r.deliveryLimit
	}
	return v
}

// effective explains what is in force for a queue under the policies, either of which may be nil.
func (a *queueArgs) effective(r *rules, policy, operator *policy) Effective {
	var e Effective
	q := resolver{a, r, policy, operator}
	q.each(func(_ *settingRule, s Setting) { e.Settings = append(e.Settings, s) })
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
	s := noSettings
	q := resolver{a, r, policy, operator}
	q.each(func(rule *settingRule, v Setting) { rule.field.set(&s, v.Value) })
	if a.kind == quorumQueue {
		s.reconcile()
	}
	return s
}

// reconcile drops the settings of a quorum queue that do not go with its others.
// Rules: D-41, L-17, DL-28, DL-33.
func (s *settings) reconcile() {
	// A quorum queue does not know reject-publish-dlx: it drops its head.
	if s.overflow == rejectPublishDLX {
		s.overflow = dropHead
	}
	// The strategy at-least-once needs a dead-letter exchange and the overflow reject-publish.
	s.atLeastOnce = s.atLeastOnce && s.hasDLX && s.overflow == rejectPublish
	// A delay needs a minimum. Without a maximum it does not grow.
	if s.retryMin <= 0 {
		s.retry = retryDisabled
	}
	if s.retryMax <= 0 {
		s.retryMax = s.retryMin
	}
	// Every negative delivery limit means unlimited.
	s.deliveryLimit = max(s.deliveryLimit, -1)
}

// alternateExchange returns the alternate exchange in force: the argument, else the policy's.
// Rules: X-33, P-17.
func alternateExchange(arg string, hasArg bool, p *policy) (string, bool) {
	if hasArg {
		return arg, true
	}
	return p.text("alternate-exchange")
}
