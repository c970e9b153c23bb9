package definitions

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/leveretmq/leveret"
)

// What a RabbitMQ with its plugins exports and leveret does not have: streams, and the exchange types, parameters and
// policies of plugins. An import refuses a document with any of it, unless it is left out first.

// ImportSupported is Import without what leveret does not have: see [Definitions.Supported]. It returns what was left
// out, section by section. If anything else is refused nothing is changed, as by Import.
func ImportSupported(b *leveret.Broker, data []byte) (leftOut []*Error, err error) {
	d, err := parseFor(b, data)
	if err != nil {
		return nil, err
	}
	d, leftOut = d.Supported(b.Profile())
	return leftOut, d.Apply(b)
}

// Supported returns a copy of the definitions without what leveret does not have in a release: streams and what is for
// streams only, exchanges of the types of plugins, policies and parameters of plugins, and the bindings and topic
// permissions of what is left out so. Each entry that is left out, or is changed, is told of by an Error with its place
// and the reason.
func (d *Definitions) Supported(p leveret.Profile) (supported *Definitions, leftOut []*Error) {
	s := supporter{release: releases[p], out: map[located]bool{}}
	kept := *d
	kept.Exchanges = keep(&s, "exchanges", d.Exchanges, s.exchange)
	kept.Queues = keep(&s, "queues", d.Queues, s.queue)
	kept.VHosts = s.vhosts(d.VHosts)
	kept.TopicPermissions = keep(&s, "topic_permissions", d.TopicPermissions, s.topicPermission)
	kept.Parameters = keep(&s, "parameters", d.Parameters, s.parameter)
	kept.Policies = keep(&s, "policies", d.Policies, s.policy)
	kept.Bindings = keep(&s, "bindings", d.Bindings, s.binding)
	return &kept, s.leftOut
}

// A located target is that of a virtual host.
type located struct {
	vhost string
	target
}

// A supporter finds what is not supported.
type supporter struct {
	*release
	out     map[located]bool // queues and exchanges that are left out
	leftOut []*Error
}

// keep returns the entries for which reason is empty.
func keep[E any, P entry[E]](s *supporter, section string, entries []E, reason func(*E) string) []E {
	var kept []E
	for i := range entries {
		why := reason(&entries[i])
		if why == "" {
			kept = append(kept, entries[i])
			continue
		}
		s.leaveOut(section, i, P(&entries[i]).label(), why)
	}
	return kept
}

// leaveOut notes what is left out, and why.
func (s *supporter) leaveOut(section string, index int, name, why string) {
	err := &leveret.Error{Code: leveret.NotImplemented, Reason: why}
	s.leftOut = append(s.leftOut, &Error{section, index, name, err})
}

// exchangeTypes are those that RabbitMQ has without plugins.
var exchangeTypes = []leveret.ExchangeType{leveret.Direct, leveret.Fanout, leveret.Topic, leveret.Headers}

// newExchangeTypes are those that RabbitMQ 4.3 has besides.
var newExchangeTypes = []leveret.ExchangeType{leveret.LocalRandom, leveret.ModulusHash}

func (s *supporter) exchange(e *Exchange) string {
	t := leveret.ExchangeType(e.Type)
	if slices.Contains(exchangeTypes, t) || !s.noNewExchangeTypes && slices.Contains(newExchangeTypes, t) {
		return ""
	}
	s.out[located{e.VHost, target{leveret.DestinationExchange, e.Name}}] = true
	return fmt.Sprintf("there are no exchanges of type '%s'", e.Type)
}

// stream is the queue type that leveret does not have.
const stream = "stream"

func (s *supporter) queue(e *Queue) string {
	if e.Arguments.Table[leveret.ArgQueueType] != stream {
		return ""
	}
	s.out[located{e.VHost, target{leveret.DestinationQueue, e.Name}}] = true
	return "there are no streams"
}

// vhosts are the virtual hosts, without the default queue type where it is streams.
func (s *supporter) vhosts(entries []VHost) []VHost {
	kept := slices.Clone(entries)
	for i := range kept {
		e := &kept[i]
		if e.Metadata == nil || e.Metadata.QueueType != stream {
			continue
		}
		m := *e.Metadata
		m.QueueType = ""
		e.Metadata = &m
		s.leaveOut("vhosts", i, e.Name, "there are no streams; the default queue type stays as it is")
	}
	return kept
}

func (s *supporter) topicPermission(e *TopicPermission) string {
	if !s.out[located{e.VHost, target{leveret.DestinationExchange, e.exchange()}}] {
		return ""
	}
	return fmt.Sprintf("exchange '%s' is left out", e.exchange())
}

// parameter lets pass what RabbitMQ itself knows, of which it refuses "policy".
func (s *supporter) parameter(e *Parameter) string {
	switch e.Component {
	case "policy", "vhost-limits":
		return ""
	case "operator_policy":
		var p Policy
		if json.Unmarshal(e.Value, &p) != nil {
			return "" // which an import refuses
		}
		return s.policy(&p)
	}
	return fmt.Sprintf("there is no plugin for parameters of component '%s'", e.Component)
}

// pluginKeys are the keys of policies that RabbitMQ's plugins for federation add.
var pluginKeys = []string{"federation-upstream", "federation-upstream-pattern", "federation-upstream-set"}

func (s *supporter) policy(e *Policy) string {
	if leveret.ApplyTo(e.ApplyTo) == leveret.ApplyToStreams {
		return "there are no streams"
	}
	for _, key := range pluginKeys {
		if _, has := e.Definition.Table[key]; has {
			return fmt.Sprintf("there is no plugin for '%s'", key)
		}
	}
	return ""
}

func (s *supporter) binding(e *Binding) string {
	for _, end := range []target{{leveret.DestinationExchange, e.Source}, {e.DestinationType, e.Destination}} {
		if s.out[located{e.VHost, end}] {
			return fmt.Sprintf("%s '%s' is left out", end.kind, end.name)
		}
	}
	return ""
}
