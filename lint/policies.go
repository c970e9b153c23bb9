package lint

import (
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
)

// What a policy matches is asked of a broker with the queues and exchanges of the file, in which the policy is the only
// one.

// A level is that of policies or that of operator policies.
type level struct {
	kind    string
	set     func(leveret.Policy) error
	clear   func(name string) error
	inForce func(leveret.QueueInfo) string
}

// An examiner looks at the policies of one level and of one virtual host.
type examiner struct {
	*linter
	level
	seen vhost          // the site's
	bare *leveret.VHost // the broker's without policies
}

// checkPolicies looks at both levels.
func (l *linter) checkPolicies(v vhost) {
	d := *l.defs
	d.Policies, d.Parameters = nil, nil
	b, err := l.brokerOf(&d)
	if err != nil {
		return // only a site whose definitions are refused, of which load has told
	}
	defer b.Close()
	bare, err := b.VHost(v.Name())
	if err != nil {
		return
	}
	own := func(q leveret.QueueInfo) string { return q.Policy }
	operators := func(q leveret.QueueInfo) string { return q.OperatorPolicy }
	(&examiner{l, level{"policy", bare.SetPolicy, bare.ClearPolicy, own}, v, bare}).examine(v.Policies())
	(&examiner{l, level{"operator policy", bare.SetOperatorPolicy, bare.ClearOperatorPolicy, operators}, v, bare}).
		examine(v.OperatorPolicies())
}

func (x *examiner) about(name string) subject { return subject{x.seen.Name(), x.kind, name} }

// examine looks at all policies of a level.
func (x *examiner) examine(all []leveret.Policy) {
	named := byName(all)
	for _, p := range all {
		matched := x.matched(p)
		if x.isUseless(p) {
			continue // of which checkIgnored tells
		}
		x.checkFit(p)
		if matched == nil && len(x.seen.queues) > 0 {
			x.add(PolicyUnused, x.about(p.Name), "It matches nothing in this file.")
		}
		x.checkRivals(p, matched, named)
	}
}

// keyOfExchanges is the only key of policies that is for exchanges.
const keyOfExchanges = "alternate-exchange"

// matched returns the queues and exchanges that a policy is for, each with its kind before its name. The exchanges
// count if the policy says something of exchanges; those that are always there do not.
// Rules: P-9, P-10, P-13.
func (x *examiner) matched(p leveret.Policy) (names []string) {
	if x.set(p) != nil {
		return nil
	}
	defer func() { _ = x.clear(p.Name) }()
	_, saysOfExchanges := p.Definition[keyOfExchanges]
	if !saysOfExchanges || len(p.Definition) > 1 {
		for _, q := range x.bare.Queues() {
			if _, made := x.seen.named[q.Name]; made && x.inForce(q) == p.Name {
				names = append(names, "queue "+q.Name)
			}
		}
	}
	for _, e := range x.bare.Exchanges() {
		if saysOfExchanges && e.Policy == p.Name && !isReserved(e.Name) {
			names = append(names, "exchange "+e.Name)
		}
	}
	return names
}

func isReserved(name string) bool { return strings.HasPrefix(name, "amq.") }

// checkFit finds queues that a key keeps the policy away from.
// Rules: P-10.
func (x *examiner) checkFit(p leveret.Policy) {
	for _, key := range definedKeys(p) {
		if key == keyOfExchanges {
			continue
		}
		plain := p
		plain.Definition = leveret.Table{"max-length": 1}
		single := p
		single.Definition = leveret.Table{key: p.Definition[key]}
		if x.set(single) != nil {
			continue // the key needs another one
		}
		missed := map[leveret.QueueType][]string{}
		fit := x.matched(single)
		for _, at := range x.matched(plain) {
			if name, isQueue := strings.CutPrefix(at, "queue "); isQueue && !slices.Contains(fit, at) {
				kind := x.seen.kindOf(name)
				missed[kind] = append(missed[kind], name)
			}
		}
		for kind, names := range missed {
			x.add(PolicyUnfit, x.about(p.Name), "It is not in force on %s: %s queues do not know the key '%s', and one such key keeps the whole policy away.",
				andMore(names), kind, key)
		}
	}
}

// isUseless reports whether the engine said that the policy can match nothing.
func (x *examiner) isUseless(p leveret.Policy) bool {
	return slices.ContainsFunc(x.ignored, func(e leveret.IgnoredEvent) bool {
		return e.VHost == x.seen.Name() && e.Policy == p.Name
	})
}

// checkRivals finds policies that are nowhere in force, and those that are so by chance.
// Rules: P-11, P-12.
func (x *examiner) checkRivals(p leveret.Policy, matched []string, all map[string]leveret.Policy) {
	var winners []string
	ties := map[string][]string{} // by the other policy: what both match
	for _, at := range matched {
		winner := x.winner(at)
		if winner == p.Name {
			winners = append(winners, winner)
			continue
		}
		if other, known := all[winner]; known && other.Priority == p.Priority {
			ties[winner] = append(ties[winner], strings.TrimPrefix(at, "queue "))
		}
		if !slices.Contains(winners, winner) {
			winners = append(winners, winner)
		}
	}
	for other, both := range ties {
		x.add(PolicyTie, x.about(p.Name), "It and '%s' have the same priority and both match %s. Which of them is in force there is left to chance.",
			other, andMore(both))
	}
	if matched != nil && !slices.Contains(winners, p.Name) && len(ties) == 0 {
		x.add(PolicyShadowed, x.about(p.Name), "It is in force nowhere: all that it matches has a policy of higher priority, %s.", andMore(winners))
	}
}

// winner returns the policy that is in force on what matched names.
func (x *examiner) winner(at string) string {
	if name, isExchange := strings.CutPrefix(at, "exchange "); isExchange {
		return x.seen.exchanges[name].Policy
	}
	return x.inForce(x.seen.named[strings.TrimPrefix(at, "queue ")])
}
