package lint

import (
	"maps"

	"github.com/leveretmq/leveret"
)

// Whether a binding can match is asked of an exchange with that binding only, by a message that the binding seems to be
// for: with words in place of the wildcards of its key, and with all its arguments as headers.

// trial is the queue of that exchange.
const trial = "leveret.lint.trial"

// checkBindings tries all bindings.
// Rules.
func (l *linter) checkBindings(v vhost) {
	b := leveret.New(leveret.WithProfile(l.profile))
	defer b.Close()
	if _, err := b.DeclareQueue(trial, leveret.QueueConfig{}); err != nil {
		return
	}
	for _, binding := range v.bindings {
		t := v.exchanges[binding.Source].Type
		matches, why := triedBy(b, t, binding)
		if !matches {
			l.add(NeverMatches, subject{v.Name(), "binding", binding.Source + " → " + binding.Destination}, "%s", why)
		}
	}
}

// triedBy reports whether a message that a binding of an exchange type is for is routed, and what is wrong if not.
func triedBy(b *leveret.Broker, t leveret.ExchangeType, binding leveret.BindingInfo) (matches bool, why string) {
	key, m := binding.RoutingKey, leveret.Message{}
	switch {
	case t == leveret.Headers:
		m.Properties = &leveret.Properties{Headers: headersFor(binding.Arguments)}
		why = "It asks for any of its headers and has none that counts: names that begin with x- do not."
	case t == leveret.Topic:
		why = "In its key '" + key + "' a wildcard is part of a word, where it stands for itself: wildcards are whole words between points."
	case t == leveret.Direct && hasWildcard(key):
		why = "Its key '" + key + "' has wildcards. The exchange is of type direct, where they stand for themselves."
	default:
		return true, ""
	}
	return isRouted(b, t, binding, replaceWildcards(key), m), why
}

// headersFor are headers that satisfy a binding's arguments, if any do.
func headersFor(args leveret.Table) leveret.Table {
	args = maps.Clone(args)
	delete(args, "x-match")
	return args
}

// isRouted reports whether a message is routed by an exchange of a type that has the binding only.
func isRouted(b *leveret.Broker, t leveret.ExchangeType, binding leveret.BindingInfo, key string, m leveret.Message) bool {
	name := "leveret.lint." + string(t)
	if _, err := b.DeclareExchange(name, t, leveret.ExchangeConfig{}); err != nil {
		return true
	}
	defer func() { _ = b.DeleteExchange(name, leveret.DeleteConfig{}) }()
	only := leveret.Binding{Source: name, Destination: trial, DestinationType: leveret.DestinationQueue,
		RoutingKey: binding.RoutingKey, Arguments: binding.ArgumentFields}
	if b.ImportBinding(only) != nil {
		return true
	}
	outcome, err := b.Publish(name, key, m)
	return err != nil || outcome.Queues > 0
}
