package leveret

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/leveretmq/leveret/internal/erl"
)

// The part of an import that is about what is in a virtual host.

// isReserved reports whether the name is one that only the broker gives.
func isReserved(name string) bool { return strings.HasPrefix(name, "amq.") }

func (e *policyEntry) policy() Policy {
	p := Policy{Name: e.Name, ApplyTo: e.ApplyTo, Definition: e.Definition.Table}
	if e.Pattern != nil {
		p.Pattern = *e.Pattern
	}
	if e.Priority != nil {
		p.Priority = float64(*e.Priority)
	}
	return p
}

func (im *importer) policies(d *definitions) error {
	for i, e := range d.Policies {
		v, reason := im.vhost(e.VHost)
		if reason == "" {
			reason = im.setPolicy(&e, v.SetPolicy)
			if reason != "" {
				reason += im.place(e.VHost, "", e.Name)
			}
		}
		if reason != "" {
			return badEntry("policies", i, e.Name, reason)
		}
	}
	return nil
}

func (im *importer) setPolicy(e *policyEntry, set func(Policy) error) string {
	if e.Pattern == nil {
		return "Validation failed\n\npattern should be a binary but was undefined\n"
	}
	err := set(e.policy())
	var refused *Error
	switch {
	case errors.As(err, &refused):
		return refused.Reason
	case err != nil:
		return err.Error()
	}
	return ""
}

// place says where a refused policy or parameter is.
func (im *importer) place(vhost, component, name string) string {
	switch {
	case im.b.rules.oldDefinitions && component == "":
		return fmt.Sprintf(" (%s/%s)", vhost, name)
	case im.b.rules.oldDefinitions:
		return fmt.Sprintf(" (%s/%s/%s)", vhost, component, name)
	case component == "":
		return fmt.Sprintf(" (vhost: \"%s\" key: \"%s\")", vhost, name)
	}
	return fmt.Sprintf(" (vhost: \"%s\" / component: \"%s\" / key: \"%s\")", vhost, component, name)
}

func (im *importer) parameters(d *definitions) error {
	for i, e := range d.Parameters {
		v, reason := im.vhost(e.VHost)
		if reason == "" {
			reason = im.parameter(v, e)
			if reason != "" {
				reason += im.place(e.VHost, e.Component, e.Name)
			}
		}
		if reason != "" {
			return badEntry("parameters", i, e.Name, reason)
		}
	}
	return nil
}

func (im *importer) parameter(v *vhost, e parameterEntry) string {
	switch e.Component {
	case "operator_policy":
		var p policyEntry
		if err := json.Unmarshal(e.Value, &p); err != nil {
			return formReason(err)
		}
		p.Name = e.Name
		if p.Priority == nil {
			return fmt.Sprintf("Validation failed\n\nKey \"priority\" not found in %s\n", e.Name)
		}
		return im.setPolicy(&p, v.SetOperatorPolicy)
	case "vhost-limits":
		return im.limitParameter(v, e)
	case "policy":
		return "policies may not be set using this method"
	}
	return fmt.Sprintf("Validation failed\n\ncomponent %s not found\n", e.Component)
}

func (im *importer) limitParameter(v *vhost, e parameterEntry) string {
	var given map[string]any
	if err := json.Unmarshal(e.Value, &given); err != nil {
		var empty []any
		if json.Unmarshal(e.Value, &empty) != nil || len(empty) > 0 { // limits that were cleared are an empty list
			return formReason(err)
		}
	}
	limits, reason := parseLimits(given, "limits", "max-connections", "max-queues")
	if reason != "" {
		return "Validation failed\n\n" + reason + "\n"
	}
	if err := im.setLimits(v, VHostLimits{limits[0], limits[1]}); err != nil {
		return reasonText(err)
	}
	return ""
}

func (im *importer) exchanges(d *definitions) error {
	for i, e := range d.Exchanges {
		v, reason := im.vhost(e.VHost)
		if reason == "" && e.Name != "" && !isReserved(e.Name) {
			if _, err := v.Exchange(withoutLineBreaks(e.Name)); err != nil {
				_, err = v.DeclareExchange(e.Name, e.Type, ExchangeConfig{
					Durable: e.Durable == nil || *e.Durable, AutoDelete: e.AutoDelete,
					Internal: e.Internal != nil && *e.Internal, Arguments: e.Arguments.Table,
				})
				if err != nil {
					reason = reasonText(err)
				}
			}
		}
		if reason != "" {
			return badEntry("exchanges", i, e.Name, reason)
		}
	}
	return nil
}

func (im *importer) queues(d *definitions) error {
	for i, e := range d.Queues {
		v, reason := im.vhost(e.VHost)
		if reason == "" && !isReserved(e.Name) {
			if _, err := v.Queue(withoutLineBreaks(e.Name)); err != nil {
				_, err = v.DeclareQueue(e.Name, QueueConfig{
					Durable: e.Durable == nil || *e.Durable, AutoDelete: e.AutoDelete, Arguments: e.Arguments.Table,
				})
				if err != nil {
					reason = reasonText(err)
				}
			}
		}
		if reason != "" {
			return badEntry("queues", i, e.Name, reason)
		}
	}
	return nil
}

func (im *importer) bindings(d *definitions) error {
	for i, e := range d.Bindings {
		v, reason := im.vhost(e.VHost)
		if reason == "" && e.Source != "" { // the default exchange's bindings are implicit
			reason = im.bind(v, e)
		}
		if reason != "" {
			return badEntry("bindings", i, fmt.Sprintf("%s -> %s", e.Source, e.Destination), reason)
		}
	}
	return nil
}

func (im *importer) bind(v *vhost, e bindingEntry) string {
	bind, find := v.BindQueue, func(name string) error { _, err := v.Queue(name); return err }
	switch e.DestinationType {
	case "queue":
	case "exchange":
		bind, find = v.BindExchange, func(name string) error { _, err := v.Exchange(name); return err }
	default:
		return "destination_type should be queue or exchange, actually was '" + e.DestinationType + "'"
	}
	if im.live != nil && e.DestinationType == "queue" && isReserved(e.Destination) {
		// A rehearsal has no queues whose names the broker made up.
		live, err := im.live.VHost(v.name)
		if err == nil {
			_, err = live.Queue(e.Destination)
		}
		if err == nil {
			return ""
		}
	}
	var absent erl.List
	if _, err := v.Exchange(withoutLineBreaks(e.Source)); err != nil {
		absent = append(absent, notFoundTerm(v.name, "exchange", e.Source))
	}
	if find(withoutLineBreaks(e.Destination)) != nil {
		absent = append(absent, notFoundTerm(v.name, e.DestinationType, e.Destination))
	}
	if absent != nil {
		if im.b.rules.lenientImportBindings {
			return ""
		}
		return erl.Format(erl.Tuple{erl.Atom("resources_missing"), absent}, 0)
	}
	if err := bind(e.Destination, e.Source, e.RoutingKey, e.Arguments.Table); err != nil {
		return reasonText(err)
	}
	return ""
}

func notFoundTerm(vhost, kind, name string) erl.Tuple {
	return erl.Tuple{erl.Atom("not_found"), erl.Tuple{erl.Atom("resource"), erl.Binary(vhost), erl.Atom(kind), erl.Binary(name)}}
}
