package leveret

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/pcre"
	"github.com/leveretmq/leveret/internal/record"
)

// A policy configures the queues and exchanges whose names its pattern is found in. At most
// one policy and one operator policy apply to an object, those of the highest priority; their
// definitions are merged key by key.

// ApplyTo says to which kind of object a policy applies.
type ApplyTo string

// The kinds of object a policy applies to. The RabbitMQ310 profile knows the first three.
const (
	ApplyToAll           ApplyTo = "all"
	ApplyToQueues        ApplyTo = "queues"
	ApplyToExchanges     ApplyTo = "exchanges"
	ApplyToClassicQueues ApplyTo = "classic_queues"
	ApplyToQuorumQueues  ApplyTo = "quorum_queues"
	ApplyToStreams       ApplyTo = "streams"
)

// A Policy configures every queue and exchange whose name its pattern is found in. The keys of its definition are the names of
// arguments without x-, such as max-length and dead-letter-exchange: docs/rules.md lists them under P-5. Of two policies of equal
// priority the one with the lower name applies; RabbitMQ leaves that to chance.
type Policy struct {
	Name       string  `json:"name"`
	Pattern    string  `json:"pattern"`    // a PCRE, case-sensitive and not anchored; empty: every name
	ApplyTo    ApplyTo `json:"apply-to"`   // empty: all
	Definition Table   `json:"definition"` // at least one key
	Priority   float64 `json:"priority"`   // of all policies that match an object the one of the highest priority applies
}

// A policy is a Policy that has passed validation, ready to be matched.
type policy struct {
	Policy // as it was set, ApplyTo filled in

	pattern    *pcre.Pattern
	definition map[string]any // int64, *big.Int, float64, bool, string, nil, []any, Table
	unfit      [len(kinds)]bool
	gone       bool // cleared, or another is set in its place
}

// compilePolicy validates a policy as RabbitMQ does when it is set. The error is an *Error with the whole report as its
// Reason: one finding about each of definition, apply-to, pattern and priority, in this order.
// Rules: P-1, P-2, P-3.
func compilePolicy(p Policy, which policyLevel, r *rules) (*policy, error) {
	if p.ApplyTo == "" {
		p.ApplyTo = ApplyToAll
	}
	if err := checkPolicyValues(p.Definition); err != nil {
		return nil, err
	}
	c := &policy{Policy: p, definition: make(map[string]any, len(p.Definition))}
	for key, v := range p.Definition {
		c.definition[key] = policyValue(v)
	}
	var findings []string
	report := func(finding string) {
		if finding != "" {
			findings = append(findings, finding)
		}
	}
	report(checkDefinition(c.definition, which, r))
	report(checkApplyTo(p.ApplyTo, r))
	report(c.compilePattern(r))
	if math.IsNaN(p.Priority) || math.IsInf(p.Priority, 0) {
		report("priority should be a number, actually was " + fmt.Sprint(p.Priority))
	}
	if findings != nil {
		return nil, &Error{Code: PreconditionFailed, Name: p.Name,
			Reason: "Validation failed\n\n" + strings.Join(findings, "\n") + "\n"}
	}
	for k := range kinds {
		c.unfit[k] = hasUnfitKey(c.definition, queueKind(k), r)
	}
	return c, nil
}

// maxPatternLength is the length in bytes above which RabbitMQ 4.3 refuses a pattern.
// Rules: P-4.
const maxPatternLength = 1024

// compilePattern compiles the policy's pattern and returns what is wrong with it, in RabbitMQ's words.
// Rules: P-3, P-4, P-9.
func (p *policy) compilePattern(r *rules) string {
	if !r.oldPatterns && len(p.Pattern) > maxPatternLength {
		return fmt.Sprintf("pattern must not exceed %d bytes", maxPatternLength)
	}
	compiled, fault := pcre.Compile(p.Pattern, r.dialect())
	if fault != nil {
		const text = "pattern should be regular expression but is invalid: "
		return r.notation().Behind(text, faultTerm(fault))
	}
	p.pattern = compiled
	return ""
}

// dialect is the version of PCRE that reads patterns.
func (r *rules) dialect() pcre.Version {
	if r.oldPatterns {
		return pcre.PCRE1
	}
	return pcre.PCRE2
}

// faultTerm is the term by which RabbitMQ reports an expression that does not compile.
func faultTerm(f *pcre.Fault) erl.Tuple { return erl.Tuple{erl.String(f.Message), f.Offset} }

// Rules: P-2.
func checkApplyTo(a ApplyTo, r *rules) string {
	switch a {
	case ApplyToAll, ApplyToQueues, ApplyToExchanges:
		return ""
	case ApplyToClassicQueues, ApplyToQuorumQueues, ApplyToStreams:
		if !r.oldApplyTo {
			return ""
		}
	}
	if r.oldApplyTo {
		return fmt.Sprintf("apply-to '%s' unrecognised; should be 'queues', 'exchanges' or 'all'", a)
	}
	return fmt.Sprintf("apply-to '%s' unrecognised; should be one of: "+
		"'queues', 'classic_queues',  'quorum_queues', 'streams', 'exchanges', or 'all'", a)
}

// A policyLevel tells ordinary policies from operator policies.
type policyLevel int

const (
	userPolicies policyLevel = iota
	operatorPolicies
)

// SetPolicy sets a policy, in place of one of the same name, and puts it in force on every queue
// and exchange that it applies to. A policy that is not valid is ErrPreconditionFailed with
// RabbitMQ's report, one that applies to streams is ErrNotImplemented, one with a value that JSON has no type for is
// ErrSyntax. None of them changes anything.
func (v *vhost) SetPolicy(p Policy) error { return v.setPolicy(p, userPolicies) }

// SetOperatorPolicy is SetPolicy for an operator policy. It is combined with the policy that
// applies to the same queue, and can lower the policy's limits.
func (v *vhost) SetOperatorPolicy(p Policy) error { return v.setPolicy(p, operatorPolicies) }

// ClearPolicy removes a policy. To the queues and exchanges it applied to the next policy applies
// that matches. A missing one is ErrNotFound.
func (v *vhost) ClearPolicy(name string) error { return v.clearPolicy(name, userPolicies) }

// ClearOperatorPolicy is ClearPolicy for an operator policy.
func (v *vhost) ClearOperatorPolicy(name string) error { return v.clearPolicy(name, operatorPolicies) }

func (v *vhost) setPolicy(p Policy, which policyLevel) error {
	c, err := compilePolicy(p, which, v.rules)
	if err != nil {
		return err
	}
	if err := c.refuseForStreams(); err != nil {
		return err
	}
	return v.system.do("", func() *Error {
		if v.policies[which].has(c) {
			return nil // P-18
		}
		was := v.policies[which].set(c)
		if v.log != nil {
			v.log.note(policyRecord(c, which))
		}
		v.policyEventLocked(p.Name, which == operatorPolicies, true)
		v.ignoredPolicyLocked(c)
		v.applyPolicyChangeLocked(policyChange{which, was, c})
		return nil
	})
}

func (v *vhost) clearPolicy(name string, which policyLevel) error {
	return v.system.do("", func() *Error {
		was := v.policies[which].clear(name)
		if was == nil {
			return NotFound.errorf(name, "policy '%s' in vhost '%s' not found", name, v.name)
		}
		if v.log != nil {
			v.log.note(&record.NoPolicy{Operator: which == operatorPolicies, Name: name})
		}
		v.policyEventLocked(name, which == operatorPolicies, false)
		v.applyPolicyChangeLocked(policyChange{which, was, nil})
		return nil
	})
}

// A policyChange is a policy that was set, or cleared, or set in place of another.
type policyChange struct {
	level    policyLevel
	was, now *policy // nil: there was none, or there is none any more
}

// best returns the policy that applies after the change to what current applied to. Only what the old policy applied
// to, and what the new one is for, is looked at: BenchmarkBystander/import-again takes 100 times as long if everything
// is.
func (c policyChange) best(current *policy, all policies, matches policyMatch) (*policy, *Error) {
	changed := current != nil && current == c.was
	inForce := c.now != nil && !c.now.gone
	if inForce && (current == nil || comparePolicies(c.now, current) <= 0) {
		if found, err := matches(c.now); found || err != nil {
			return c.now, err
		}
	}
	if changed {
		return bestPolicy(all, matches)
	}
	return current, nil
}

// applyPolicyChangeLocked finds the policies of the exchanges and queues that a change concerns, and puts them in
// force.
// Rules: P-18, P-19, P-20.
func (v *vhost) applyPolicyChangeLocked(c policyChange) {
	if c.level == userPolicies {
		// An alternate exchange may lead routes elsewhere.
		v.topology++
		for _, x := range v.exchanges {
			v.attemptLocked(func() *Error { return x.changePolicyLocked(c) })
			v.tookLocked(1)
			v.restLocked()
		}
	}
	var changed []*Queue
	for _, q := range v.queues {
		was := *q.applied.at(c.level)
		v.attemptLocked(func() *Error { return q.changePolicyLocked(c) })
		if *q.applied.at(c.level) != was {
			changed = append(changed, q)
		}
		v.tookLocked(1)
		v.restLocked()
	}
	// Queues are reconfigured in a fixed order: what one of them drops may reach another.
	slices.SortFunc(changed, byName)
	for _, q := range changed {
		if !q.deleted { // in between
			q.reconfigureLocked()
		}
		v.tookLocked(1)
		v.restLocked()
	}
}

// changePolicyLocked finds the policy that applies to the exchange after a change, and puts it in force.
func (x *Exchange) changePolicyLocked(c policyChange) *Error {
	best, err := c.best(x.policy, x.v.policies[c.level], x.matchedBy)
	if err == nil {
		x.setPolicyLocked(best)
	}
	return err
}

// changePolicyLocked finds the policy that applies to the queue after a change. It is not in force yet.
func (q *Queue) changePolicyLocked(c policyChange) *Error {
	applies := q.applied.at(c.level)
	best, err := c.best(*applies, q.v.policies[c.level], q.matchedBy)
	if err == nil {
		*applies = best
	}
	return err
}

// text returns a string of the definition; a nil policy has none.
func (p *policy) text(key string) (string, bool) {
	if p == nil {
		return "", false
	}
	s, ok := p.definition[key].(string)
	return s, ok
}

// applyToQueues are the kinds of object that have queues of a type among them: of each type for "all" and "queues", of
// one for the others.
var applyToQueues = map[ApplyTo][len(kinds)]bool{
	ApplyToAll:           {classicQueue: true, quorumQueue: true, streamQueue: true},
	ApplyToQueues:        {classicQueue: true, quorumQueue: true, streamQueue: true},
	ApplyToClassicQueues: {classicQueue: true},
	ApplyToQuorumQueues:  {quorumQueue: true},
	ApplyToStreams:       {streamQueue: true},
}

// A policyMatch reports whether a policy is for something. errLongMatch says that this takes long.
type policyMatch func(*policy) (bool, *Error)

// matchesQueue reports whether the policy is for the queue. A policy with a key that the queue's
// type does not know is for no queue of that type.
// Rules: P-9, P-10, P-13.
func (p *policy) matchesQueue(name string, kind queueKind, v *vhost) (bool, *Error) {
	if !applyToQueues[p.ApplyTo][kind] || p.unfit[kind] {
		return false, nil
	}
	return v.foundLocked(p.pattern, name)
}

// matchesExchange reports whether the policy is for the exchange.
// Rules: P-9, P-13.
func (p *policy) matchesExchange(name string, v *vhost) (bool, *Error) {
	if p.ApplyTo != ApplyToAll && p.ApplyTo != ApplyToExchanges {
		return false, nil
	}
	return v.foundLocked(p.pattern, name)
}

// policies are those of a virtual host in the order in which they are tried: highest priority first. Where priorities
// are equal RabbitMQ's order is arbitrary; here it is that of the names.
// Rules: P-11, P-12.
type policies []*policy

func comparePolicies(p, q *policy) int {
	return cmp.Or(cmp.Compare(q.Priority, p.Priority), cmp.Compare(p.Name, q.Name))
}

// set adds p in the place of the policy of the same name, which it returns; nil if there is none.
func (ps *policies) set(p *policy) (was *policy) {
	was = ps.clear(p.Name)
	i, _ := slices.BinarySearchFunc(*ps, p, comparePolicies)
	*ps = slices.Insert(*ps, i, p)
	return was
}

// has reports whether p was set before and is in force as it is.
func (ps policies) has(p *policy) bool {
	return slices.ContainsFunc(ps, func(was *policy) bool {
		return was.Name == p.Name && was.Pattern == p.Pattern && was.ApplyTo == p.ApplyTo && was.Priority == p.Priority &&
			reflect.DeepEqual(was.definition, p.definition)
	})
}

// clear removes the policy of that name and returns it, nil if there is none.
func (ps *policies) clear(name string) (was *policy) {
	i := slices.IndexFunc(*ps, func(p *policy) bool { return p.Name == name })
	if i >= 0 {
		was = (*ps)[i]
		was.gone = true
		*ps = slices.Delete(*ps, i, i+1)
	}
	return was
}

// bestPolicy returns the first policy that matches, or nil.
// Rules: P-11, P-12.
func bestPolicy(ps policies, matches policyMatch) (*policy, *Error) {
	for _, p := range ps {
		if found, err := matches(p); found || err != nil {
			return p, err
		}
	}
	return nil, nil
}

// mergedDefinition returns what a policy and an operator policy, either of which may be nil,
// say together.
// Rules: P-14, P-15, P-16.
func mergedDefinition(p, operator *policy) Table {
	merged := Table{}
	if p != nil {
		maps.Copy(merged, p.definition)
	}
	if operator == nil {
		return merged
	}
	for key, o := range operator.definition {
		if v, both := merged[key]; both {
			o = mergedValue(key, v, o)
		}
		merged[key] = o
	}
	return merged
}

// mergedValue decides between a policy and an operator policy that set the same key: of two numbers mostly the lower
// one is in force, of other values the operator's.
// Rules: P-14, P-15.
func mergedValue(key string, v, operator any) any {
	a, okA := wholeNumber(v)
	b, okB := wholeNumber(operator)
	if !okA || !okB {
		return operator
	}
	lower, higher := operator, v
	if a < b {
		lower, higher = v, operator
	}
	switch key {
	case keyDeliveryLimit: // a negative number means unlimited
		if a < 0 || b < 0 {
			return higher
		}
		return lower
	case "target-group-size", "delayed-retry-min":
		return higher
	case "queue-version":
		return operator
	}
	return lower
}
