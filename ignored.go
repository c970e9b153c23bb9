package leveret

import (
	"slices"

	"github.com/leveretmq/leveret/internal/similar"
)

// What RabbitMQ accepts without a word though it has no effect: arguments that nothing knows, which mostly are
// misspelt, and policies that suit nothing. Watchers are told.

// ignoredQueueArgumentsLocked tells of the arguments of a new queue that queues of no type know in this release.
// Rules.
func (v *vhost) ignoredQueueArgumentsLocked(q *Queue) {
	if v.events == nil || v.events.Ignored == nil {
		return
	}
	var known []string
	for k := range kinds {
		for _, key := range kinds[k].arguments {
			if queueKind(k).supports(key, v.rules) {
				known = append(known, key)
			}
		}
	}
	v.ignoredLocked(IgnoredEvent{Queue: q.name}, q.args.declared, known)
}

// ignoredExchangeArgumentsLocked is the same for an exchange.
func (v *vhost) ignoredExchangeArgumentsLocked(x *Exchange) {
	if v.events != nil && v.events.Ignored != nil {
		v.ignoredLocked(IgnoredEvent{Exchange: x.name}, x.args, []string{ArgAlternateExchange})
	}
}

// ignoredLocked tells of the arguments that are not known; e says of what.
func (v *vhost) ignoredLocked(e IgnoredEvent, args Fields, known []string) {
	e.Time, e.VHost = v.timeLocked(), v.name
	for _, f := range args {
		if !slices.Contains(known, f.Name) {
			e.Argument, e.Similar = f.Name, similar.Name(f.Name, known)
			tell(v, v.events.Ignored, e)
		}
	}
}

// ignoredPolicyLocked tells of a policy that suits nothing.
func (v *vhost) ignoredPolicyLocked(p *policy) {
	if v.events != nil && v.events.Ignored != nil && !p.suitsAnything() {
		tell(v, v.events.Ignored, IgnoredEvent{Time: v.timeLocked(), VHost: v.name, Policy: p.Name})
	}
}

// suitsAnything reports whether there can be a queue or an exchange that the policy has an effect on.
// Rules: P-10, P-13.
func (p *policy) suitsAnything() bool {
	const keyOfExchanges = "alternate-exchange"
	_, saysOfExchanges := p.definition[keyOfExchanges]
	appliesToExchanges := p.ApplyTo == ApplyToAll || p.ApplyTo == ApplyToExchanges
	if saysOfExchanges && appliesToExchanges {
		return true
	}
	onlyOfExchanges := saysOfExchanges && len(p.definition) == 1
	suits := func(k queueKind) bool { return applyToQueues[p.ApplyTo][k] && !p.unfit[k] }
	appliesToQueues := suits(classicQueue) || suits(quorumQueue)
	return appliesToQueues && !onlyOfExchanges
}
