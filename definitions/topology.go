package definitions

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/jsondoc"
	"github.com/leveretmq/leveret/internal/limits"
)

// The part of an import that is about what is in a virtual host.

// policy sets a policy.
// Rules: J-9, J-10.
func (im *importer) policy(e *Policy) error {
	v, err := im.find(e.VHost)
	if err != nil {
		return err
	}
	return im.placed(im.setPolicy(e, policyKind{v.SetPolicy, "policy_validator", false}), e.VHost, "", e.Name)
}

// placed adds to the refusal of a policy or a parameter where it is.
// Rules: J-9.
func (im *importer) placed(err error, vhost, component, name string) error {
	if err == nil {
		return nil
	}
	format, names := " (vhost: \"%s\" / component: \"%s\" / key: \"%s\")", []any{vhost, component, name}
	if im.shortPlace {
		format = " (%s/%s/%s)"
	}
	if component == "" {
		format, names = " (vhost: \"%s\" key: \"%s\")", []any{vhost, name}
		if im.shortPlace {
			format = " (%s/%s)"
		}
	}
	return refuse("%s", explanation(err)+fmt.Sprintf(format, names...))
}

// parameter sets an operator policy or the limits of a virtual host.
// Rules: J-10.
func (im *importer) parameter(e *Parameter) error {
	v, err := im.find(e.VHost)
	if err != nil {
		return err
	}
	component := cmp.Or(e.Component, "undefined")
	return im.placed(im.setParameter(v, e), e.VHost, component, e.Name)
}

func (im *importer) setParameter(v *leveret.VHost, e *Parameter) error {
	switch e.Component {
	case "operator_policy":
		return im.setOperatorPolicy(v, e)
	case "vhost-limits":
		return im.setLimitParameter(v, e)
	case "policy":
		return refuse("policies may not be set using this method")
	}
	return refuse(validationFailed+"component %s not found\n", cmp.Or(e.Component, "undefined"))
}

func (im *importer) setOperatorPolicy(v *leveret.VHost, e *Parameter) error {
	var p Policy
	if err := im.readObject(e, &p); err != nil {
		return err
	}
	for key, name := range map[string]string{"name": p.Name, "vhost": p.VHost} {
		if name != "" {
			p.keepOdd(key, name)
		}
	}
	p.Name = e.Name
	return im.setPolicy(&p, policyKind{v.SetOperatorPolicy, "operator_policy_validator", true})
}

// readObject reads the value of a parameter, which has to be an object.
// Rules: J-9.
func (im *importer) readObject(e *Parameter, to any) error {
	given := e.Value != nil
	v, err := jsondoc.Decode(e.Value, jsondoc.First)
	switch list, isList := v.([]any); {
	case isList && len(list) == 0:
		e = &Parameter{Value: json.RawMessage("{}")}
	case isList:
		return refuse(validationFailed+"Unrecognised terms %s in %s\n", im.terms.Format(erl.JSON(v), 0), e.Name)
	case !given, err == nil && !isObject(v):
		return refuse(validationFailed+"%s not a list %s\n", e.Name, im.termOf(v, given))
	}
	if err := json.Unmarshal(e.Value, to); err != nil {
		return wrongForm(err)
	}
	return nil
}

func isObject(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

func (im *importer) setLimitParameter(v *leveret.VHost, e *Parameter) error {
	if e.Name != "limits" {
		return refuse("the parameter with a virtual host's limits is called limits")
	}
	var given Limits
	if err := im.readObject(e, &given); err != nil {
		return err
	}
	l, wrong := limits.Parse(given, "limits", limits.MaxQueues, limits.MaxConnections)
	if wrong != nil {
		return refuse(validationFailed+"%s\n", limits.Text(wrong, im.terms))
	}
	return refusedByCode(v.SetLimits(l.OfVHost(limits.NoneOfVHost)))
}

// exchange makes an exchange, unless it exists already.
// Rules: J-9.
func (im *importer) exchange(e *Exchange) error {
	v, err := im.find(e.VHost)
	if err != nil || e.Name == "" || isReserved(e.Name) || exchangeExists(v, e.Name) {
		return err
	}
	if im.explicitQueues && e.Durable == nil && isCoreType(e.Type) {
		return refuse("function_clause") // after RabbitMQ has found the type
	}
	return refusedByCode(v.ImportExchange(e.Name, leveret.ExchangeType(cmp.Or(e.Type, e.typeless)), leveret.ExchangeConfig{
		Durable: isDurable(e.Durable), AutoDelete: e.AutoDelete, Internal: e.Internal != nil && *e.Internal,
		Arguments: e.Arguments.Table,
	}))
}

// queue makes a queue, unless it exists already.
// Rules: J-9.
func (im *importer) queue(e *Queue) error {
	v, err := im.find(e.VHost)
	switch {
	case err != nil:
		return err
	case isReserved(e.Name), queueExists(v, e.Name):
		return nil
	case im.explicitQueues && (e.Durable == nil || e.AutoDelete == nil):
		return refuse("function_clause")
	}
	err = v.ImportQueue(e.Name, leveret.QueueConfig{
		Durable: isDurable(e.Durable), AutoDelete: e.AutoDelete != nil && *e.AutoDelete, Arguments: e.Arguments.Table,
	})
	if isPassedOver(err) {
		return nil
	}
	return refusedByCode(err)
}

// isCoreType reports whether every RabbitMQ has a type of exchanges.
func isCoreType(name string) bool {
	return slices.Contains([]string{"direct", "fanout", "topic", "headers"}, name)
}

// isPassedOver reports whether a queue cannot be made though its arguments are good: its type does not have one of its
// properties, such as a quorum queue that is not durable, or the import itself set a limit that is reached. RabbitMQ
// passes such queues over.
// Rules: J-9, Q-11.
func isPassedOver(err error) bool {
	if !errors.Is(err, leveret.ErrPreconditionFailed) {
		return false
	}
	reason := explanation(err)
	return strings.HasPrefix(reason, "invalid property") || strings.HasPrefix(reason, "cannot declare queue")
}

// isDurable returns what an entry says; one that says nothing is durable.
// Rules: J-9.
func isDurable(durable *bool) bool { return durable == nil || *durable }

func exchangeExists(v *leveret.VHost, name string) bool {
	_, err := v.Exchange(name)
	return err == nil
}

func queueExists(v *leveret.VHost, name string) bool {
	_, err := v.Queue(name)
	return err == nil
}

// binding makes a binding.
// Rules: J-9.
func (im *importer) binding(e *Binding) error {
	v, err := im.find(e.VHost)
	if err != nil && e.VHost == "" {
		return err
	}
	exists := queueExists
	switch e.DestinationType {
	case leveret.DestinationQueue:
	case leveret.DestinationExchange:
		exists = exchangeExists
	default:
		return refuse("destination_type should be queue or exchange, actually was '%s'", e.DestinationType)
	}
	var absent erl.List
	if v == nil || !exchangeExists(v, e.Source) {
		absent = append(absent, notFound(e.VHost, "exchange", e.Source))
	}
	if v == nil || !exists(v, e.Destination) {
		absent = append(absent, notFound(e.VHost, e.DestinationType, e.Destination))
	}
	if absent != nil {
		return im.resourcesMissing(absent)
	}
	args, err := e.Arguments.Fields()
	if err != nil {
		return refuse("%v", err)
	}
	return refusedByCode(v.ImportBinding(leveret.Binding{Source: e.Source, Destination: e.Destination,
		DestinationType: leveret.DestinationType(e.DestinationType), RoutingKey: e.RoutingKey, Arguments: args}))
}

// resourcesMissing refuses a binding, unless the release passes such bindings over.
// Rules: J-9.
func (im *importer) resourcesMissing(absent erl.List) error {
	if im.lenientBindings {
		return nil
	}
	return refuse("%s", im.terms.Format(erl.Tuple{erl.Atom("resources_missing"), absent}, 0))
}

func notFound(vhost, kind, name string) erl.Tuple {
	resource := erl.Tuple{erl.Atom("resource"), erl.Binary(vhost), erl.Atom(kind), erl.Binary(name)}
	return erl.Tuple{erl.Atom("not_found"), resource}
}
