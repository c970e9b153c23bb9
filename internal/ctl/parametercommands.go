package ctl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
)

// Parameters. Those of a virtual host are its operator policies and its limits, which have commands of their own, too. Policies are no
// parameters for these commands. Global ones may have any name and value.

func parameterCommands() []*command {
	return []*command{
		{name: "list_parameters", usage: "list_parameters [--vhost <vhost>] [--no-table-headers]", timeout: true, table: true,
			about: "Lists the parameters of a virtual host, but for policies.", run: listParameters,
			banner: func(c *call) string { return `Listing runtime parameters for vhost "` + c.vhostName() + `" ...` }},
		{name: "set_parameter", usage: "set_parameter [--vhost <vhost>] <component_name> <name> <value>", min: 3, max: 3,
			about: "Sets a parameter of a virtual host.", run: setParameter,
			banner: func(c *call) string {
				return `Setting runtime parameter "` + c.args[1] + `" for component "` + c.args[0] + `" to "` + c.args[2] + `" in vhost "` + c.vhostName() + `" ...`
			}},
		{name: "clear_parameter", usage: "clear_parameter [--vhost <vhost>] <component_name> <name>", min: 2, max: 2,
			about: "Removes a parameter of a virtual host.", run: clearParameter,
			banner: func(c *call) string {
				return `Clearing runtime parameter "` + c.args[1] + `" for component "` + c.args[0] + `" on vhost "` + c.vhostName() + `" ...`
			}},
		{name: "list_global_parameters", usage: "list_global_parameters [--no-table-headers]", timeout: true, table: true,
			about: "Lists the global parameters.", run: listGlobalParameters,
			banner: func(*call) string { return "Listing global runtime parameters ..." }},
		{name: "set_global_parameter", usage: "set_global_parameter <name> <value>", min: 2, max: 2,
			about: "Sets a global parameter.", run: setGlobalParameter,
			banner: func(c *call) string {
				return `Setting global runtime parameter "` + c.args[0] + `" to "` + c.args[1] + `" ...`
			}},
		{name: "clear_global_parameter", usage: "clear_global_parameter <name>", min: 1, max: 1,
			about: "Removes a global parameter.", run: clearGlobalParameter,
			banner: func(c *call) string { return `Clearing global runtime parameter "` + c.args[0] + `" ...` }},
		{name: "set_cluster_name", usage: "set_cluster_name <name>", min: 1, max: 1, about: "Names the cluster that the node is.",
			run: setClusterName, banner: func(c *call) string { return "Setting cluster name to " + c.args[0] + " ..." }},
	}
}

// The components that have parameters.
const (
	componentLimits   = "vhost-limits"
	componentOperator = "operator_policy"
	componentPolicy   = "policy"
)

// limitsName is the only parameter that the limits of a virtual host have.
const limitsName = "limits"

const validationFailed = "Validation failed\n\n"

var errNoParameter = failed(exitUnavailable, "Parameter does not exist")

func listParameters(c *call) (result, error) {
	v, err := c.vhost()
	if err != nil {
		return result{}, err
	}
	var rows []row
	for _, p := range v.OperatorPolicies() {
		value := row{{"pattern", p.Pattern}, {"definition", json.RawMessage(document(p.Definition))}, {"priority", number(p.Priority)},
			{"apply-to", string(p.ApplyTo)}}
		rows = append(rows, row{{"component", componentOperator}, {"name", p.Name}, {"value", marshal(value)}})
	}
	if info := v.Info(); info.HasLimits {
		value := vhostLimits(info)
		if value == "{}" {
			value = "[]" // how RabbitMQ keeps an object without members
		}
		rows = append(rows, row{{"component", componentLimits}, {"name", limitsName}, {"value", value}})
	}
	return result{rows: rows, listing: true, blank: true}, nil
}

// setParameter imports the parameter. It asks for the component before the virtual host, as RabbitMQ does.
func setParameter(c *call) (result, error) {
	component, name, value := c.args[0], c.args[1], c.args[2]
	if component == componentPolicy {
		return result{}, failed(exitUnavailable, "policies may not be set using this method")
	}
	if _, err := c.parseJSON(value); err != nil {
		return result{}, err
	}
	switch {
	case component != componentLimits && component != componentOperator:
		return result{}, failed(exitUnavailable, validationFailed+"component "+component+" not found\n")
	case component == componentLimits && name != limitsName:
		return result{}, failed(exitUnavailable, validationFailed+"the parameter with a virtual host's limits is called limits, not "+name+"\n")
	}
	return result{}, c.change(func(v *leveret.VHost) error { return c.importParameter(v, component, name, value) })
}

// importParameter imports a document with one parameter. Its refusal does not say where in the document the parameter is.
func (c *call) importParameter(v *leveret.VHost, component, name, value string) error {
	document := marshal(map[string]any{"parameters": []any{
		map[string]any{"vhost": v.Name(), "component": component, "name": name, "value": json.RawMessage(value)}}})
	err := definitions.Import(v.Broker(), []byte(document))
	if err == nil {
		return nil
	}
	place := ` (vhost: "%s" / component: "%s" / key: "%s")`
	if c.isOld() {
		place = " (%s/%s/%s)"
	}
	return failed(exitUnavailable, strings.TrimSuffix(reason(err), fmt.Sprintf(place, v.Name(), component, name)))
}

func clearParameter(c *call) (result, error) {
	component, name := c.args[0], c.args[1]
	switch {
	case component == componentPolicy:
		return result{}, failed(exitUnavailable, "policies may not be cleared using this method")
	case component == componentOperator:
		return result{}, c.clearPolicy(name, (*leveret.VHost).OperatorPolicies, (*leveret.VHost).ClearOperatorPolicy)
	case component != componentLimits || name != limitsName:
		return result{}, errNoParameter
	}
	return clearVHostLimits(c)
}

func listGlobalParameters(c *call) (result, error) {
	var rows []row
	for _, p := range c.node.Broker.GlobalParameters() {
		rows = append(rows, row{{"name", word(p.Name)}, {"value", compact(p.Value)}})
	}
	return result{rows: rows, listing: true, blank: true}, nil
}

// compact is JSON without blanks.
func compact(value json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return string(value)
	}
	return b.String()
}

func setGlobalParameter(c *call) (result, error) {
	if _, err := c.parseJSON(c.args[1]); err != nil {
		return result{}, err
	}
	return result{}, c.node.Broker.SetGlobalParameter(leveret.GlobalParameter{Name: c.args[0], Value: json.RawMessage(c.args[1])})
}

func clearGlobalParameter(c *call) (result, error) {
	named := func(p leveret.GlobalParameter) bool { return p.Name == c.args[0] }
	if !slices.ContainsFunc(c.node.Broker.GlobalParameters(), named) {
		return result{}, errNoParameter
	}
	return result{}, c.node.Broker.ClearGlobalParameter(c.args[0])
}

func setClusterName(c *call) (result, error) {
	return result{}, c.node.Broker.SetGlobalParameter(leveret.GlobalParameter{Name: "cluster_name", Value: json.RawMessage(marshal(c.args[0]))})
}
