package lint

import (
	"fmt"
	"maps"
	"slices"

	"github.com/leveretmq/leveret"
)

// What is in force for one queue: settings that need each other, and arguments and policies that keep each other out of
// force.

// checkSettings finds settings without the others that they need.
// Rules: DL-2, DL-28, L-17, T-13.
func (l *linter) checkSettings(v vhost) {
	for _, q := range v.queues {
		about, has := v.queue(q.Name), func(key string) bool { return v.setting(q.Name, key) != nil }
		deadLetters := has("dead-letter-exchange")
		if has("message-ttl") && !deadLetters && !has("expires") {
			l.add(ExpiryLost, about, "Messages expire after %v ms, and there is no dead-letter exchange: they are lost without a word.",
				v.setting(q.Name, "message-ttl"))
		}
		if v.trims(q.Name) && !deadLetters {
			l.add(OverflowLost, about, "When it is full it drops its oldest messages, and there is no dead-letter exchange: they are lost without a word.")
		}
		if has("dead-letter-routing-key") && !deadLetters {
			l.add(KeyWithoutExchange, about, "The dead-letter routing key '%v' has no effect without a dead-letter exchange.",
				v.setting(q.Name, "dead-letter-routing-key"))
		}
		l.checkStrategy(v, q)
	}
}

// checkStrategy finds values that quorum queues do not go by.
func (l *linter) checkStrategy(v vhost, q leveret.QueueInfo) {
	overflow := v.setting(q.Name, "overflow")
	wanted := v.setting(q.Name, "dead-letter-strategy") == leveret.DeadLetterAtLeastOnce
	if wanted && !v.isAtLeastOnce(q.Name) {
		l.add(AtLeastOnceOff, v.queue(q.Name), "The dead-letter strategy at-least-once is not in force: "+
			"a dead-letter exchange and the overflow reject-publish are needed with it.")
	}
	if q.Type == leveret.QueueTypeQuorum && overflow == leveret.OverflowRejectPublishDLX {
		l.add(RejectDLXOfQuorum, v.queue(q.Name), "Quorum queues do not know the overflow reject-publish-dlx: a full one drops its oldest messages.")
	}
}

// checkInForce finds arguments and policies for the same setting of a queue of which only one is in force.
// Rules: P-14, P-17.
func (l *linter) checkInForce(v vhost) {
	policies, operators := byName(v.Policies()), byName(v.OperatorPolicies())
	for _, q := range v.queues {
		e := v.effective[q.Name]
		for _, s := range e.Settings {
			l.compare(v, said{q, s, q.Arguments["x-"+s.Key], policies[e.Policy].Definition[s.Key], operators[e.OperatorPolicy].Definition[s.Key]})
		}
	}
}

func byName(all []leveret.Policy) map[string]leveret.Policy {
	named := map[string]leveret.Policy{}
	for _, p := range all {
		named[p.Name] = p
	}
	return named
}

// A said is all that is said about one setting of a queue; nil: nothing.
type said struct {
	queue                      leveret.QueueInfo
	inForce                    leveret.Setting
	argument, policy, operator any
}

// differs reports whether a value was given that is not the one in force.
func (s said) differs(v any) bool { return v != nil && fmt.Sprint(v) != fmt.Sprint(s.inForce.Value) }

// compare reports what is said in vain. That the lowest of several numbers is in force is what operator policies are
// for, and no mistake of theirs.
func (l *linter) compare(v vhost, s said) {
	key, value, about := s.inForce.Key, s.inForce.Value, v.queue(s.queue.Name)
	switch s.inForce.Source {
	case leveret.SourceArgument:
		if s.differs(s.policy) {
			l.add(PolicyOverruled, about, "The argument x-%s (%v) is in force, and not the value of policy '%s' (%v).", key, value, s.queue.Policy, s.policy)
		}
		if _, number := value.(int64); s.differs(s.operator) && !number {
			l.add(PolicyOverruled, about, "The argument x-%s (%v) is in force, and not the value of operator policy '%s' (%v).",
				key, value, s.queue.OperatorPolicy, s.operator)
		}
	case leveret.SourceOperatorPolicy:
		if s.differs(s.policy) {
			l.add(PolicyLimited, about, "Operator policy '%s' sets %s to %v, and not policy '%s' to %v.",
				s.queue.OperatorPolicy, key, value, s.queue.Policy, s.policy)
		}
	}
	if s.inForce.Source != leveret.SourceArgument && s.differs(s.argument) {
		l.add(ArgumentOverruled, about, "The argument x-%s (%v) is not in force: the %s sets %v.", key, s.argument, s.inForce.Source, value)
	}
}

// checkIgnored tells of what the engine says has no effect.
// Rules: Q-14.
func (l *linter) checkIgnored(v vhost) {
	for _, e := range l.ignored {
		if e.VHost != v.Name() {
			continue
		}
		if e.Policy != "" {
			kind := "policy"
			if _, known := byName(v.Policies())[e.Policy]; !known {
				kind = "operator policy"
			}
			l.add(PolicyUseless, subject{v.Name(), kind, e.Policy}, "No queue and no exchange that it applies to knows its keys, so it can match nothing.")
			continue
		}
		about := v.queue(e.Queue)
		if e.Exchange != "" {
			about = subject{v.Name(), "exchange", e.Exchange}
		}
		l.add(UnknownArgument, about, "Nothing knows the argument '%s'.%s", e.Argument, meant(e.Similar))
	}
}

// checkPassedOver finds queues that an import did not make.
// Rules: J-9.
func (l *linter) checkPassedOver(v vhost) {
	for _, e := range l.defs.Queues {
		if e.VHost == v.Name() && v.kindOf(e.Name) == "" {
			l.add(PassedOver, v.queue(e.Name), "An import does not make this queue, and does not say so: %s.", whyPassedOver(e.Name))
		}
	}
}

func whyPassedOver(name string) string {
	if isReserved(name) {
		return "names that begin with amq. are the broker's own"
	}
	return "its type cannot be auto-delete or not durable, or the limit of queues is reached"
}

// definedKeys are the keys of a policy in their order.
func definedKeys(p leveret.Policy) []string { return slices.Sorted(maps.Keys(p.Definition)) }
