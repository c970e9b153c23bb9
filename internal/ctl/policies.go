package ctl

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/jsondoc"
	"github.com/leveretmq/leveret/internal/phrase"
)

// Policies and operator policies.

func policyCommands() []*command {
	setOptions := map[string]kind{"priority": integer, "apply-to": text}
	const setUsage = " [--vhost <vhost>] [--priority <priority>] [--apply-to <apply-to>] <name> <pattern> <definition>"
	const listUsage = " [--vhost <vhost>] [--no-table-headers]"
	return []*command{
		{
			name: "set_policy", usage: "set_policy" + setUsage, about: "Sets or replaces a policy.",
			min: 3, max: 3, switches: setOptions, banner: setBanner("policy"),
			run: setter((*leveret.VHost).SetPolicy),
		},
		{
			name: "set_operator_policy", usage: "set_operator_policy" + setUsage, about: "Sets or replaces an operator policy.",
			min: 3, max: 3, switches: setOptions, banner: setBanner("operator policy override"),
			run: setter((*leveret.VHost).SetOperatorPolicy),
		},
		{
			name: "clear_policy", usage: "clear_policy [--vhost <vhost>] <name>", about: "Removes a policy.",
			min: 1, max: 1, banner: clearBanner("policy"),
			run: clearer((*leveret.VHost).Policies, (*leveret.VHost).ClearPolicy),
		},
		{
			name: "clear_operator_policy", usage: "clear_operator_policy [--vhost <vhost>] <name>",
			about: "Removes an operator policy.", min: 1, max: 1, banner: clearBanner("operator policy"),
			run: clearer((*leveret.VHost).OperatorPolicies, (*leveret.VHost).ClearOperatorPolicy),
		},
		{
			name: "list_policies", usage: "list_policies" + listUsage, about: "Lists the policies of a virtual host.",
			table: true, timeout: true, run: lister((*leveret.VHost).Policies),
			banner: func(c *call) string { return `Listing policies for vhost "` + c.vhostName() + `" ...` },
		},
		{
			name: "list_operator_policies", usage: "list_operator_policies" + listUsage,
			about: "Lists the operator policies of a virtual host.",
			table: true, timeout: true, run: lister((*leveret.VHost).OperatorPolicies),
			banner: func(c *call) string {
				return `Listing operator policy overrides for vhost "` + c.vhostName() + `" ...`
			},
		},
	}
}

func setBanner(what string) func(*call) string {
	return func(c *call) string {
		return fmt.Sprintf(`Setting %s "%s" for pattern "%s" to "%s" with priority "%d" for vhost "%s" ...`,
			what, c.args[0], c.args[1], c.args[2], c.number("priority"), c.vhostName())
	}
}

func clearBanner(what string) func(*call) string {
	return func(c *call) string {
		return "Clearing " + what + ` "` + c.args[0] + `" on vhost "` + c.vhostName() + `" ...`
	}
}

func setter(set func(*leveret.VHost, leveret.Policy) error) func(*call) (result, error) {
	return func(c *call) (result, error) {
		definition, err := c.parseDefinition(c.args[2])
		if err != nil {
			return result{}, err
		}
		return result{}, c.change(func(v *leveret.VHost) error {
			applyTo := leveret.ApplyTo(cmp.Or(c.text("apply-to", "all"), phrase.EmptyApplyTo))
			err := set(v, leveret.Policy{
				Name: c.args[0], Pattern: c.args[1], Definition: definition,
				ApplyTo: applyTo, Priority: float64(c.number("priority")),
			})
			if err != nil {
				return failed(exitUnavailable, phrase.WithEmptyApplyTo(reason(err)))
			}
			return nil
		})
	}
}

// parseDefinition reads a policy's definition, or limits.
func (c *call) parseDefinition(document string) (leveret.Table, error) {
	v, err := c.parseJSON(document)
	if err != nil {
		return nil, err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, failed(exitUnavailable, badMap(v))
	}
	return leveret.Table(object), nil
}

func (c *call) parseJSON(document string) (any, error) {
	v, err := jsondoc.Decode([]byte(document), c.memberThatCounts())
	if err = cmp.Or(err, jsondoc.Check([]byte(document), c.memberThatCounts())); err != nil {
		return nil, failed(exitUnavailable, c.undecodable(document))
	}
	return v, nil
}

// memberThatCounts says which value counts of a key that a document has twice.
// Rules: J-11.
func (c *call) memberThatCounts() jsondoc.Counts {
	if c.isOld() {
		return jsondoc.Last
	}
	return jsondoc.First
}

// isOld reports whether the node answers as RabbitMQ 3.10.
func (c *call) isOld() bool { return c.node.Broker.Profile() == leveret.RabbitMQ310 }

// notation is how the node prints terms.
// Rules: E-6.
func (c *call) notation() erl.Notation {
	if c.isOld() {
		return erl.Octets
	}
	return erl.Unicode
}

// undecodable is RabbitMQ's complaint about a document, in which 3.10 does not tell what it is about.
func (c *call) undecodable(document string) string {
	if c.isOld() {
		return "JSON decoding error. Reason: badarg"
	}
	return undecodable(document)
}

// undecodable is RabbitMQ 4.3's complaint, broken into lines where Erlang's printer breaks it.
func undecodable(document string) string {
	const intro = "Could not parse JSON document: "
	term := erl.Tuple{erl.Atom("error"), erl.Tuple{erl.Atom("failed_to_decode_json"), erl.Binary(document)}}
	return intro + erl.Format(term, len(intro))
}

func clearer(list func(*leveret.VHost) []leveret.Policy,
	clear func(*leveret.VHost, string) error) func(*call) (result, error) {
	return func(c *call) (result, error) { return result{}, c.clearPolicy(c.args[0], list, clear) }
}

func (c *call) clearPolicy(name string, list func(*leveret.VHost) []leveret.Policy, clear func(*leveret.VHost, string) error) error {
	v, err := c.node.Broker.VHost(c.vhostName())
	named := func(p leveret.Policy) bool { return p.Name == name }
	if err != nil || !slices.ContainsFunc(list(v), named) {
		return errNoParameter
	}
	return clear(v, name)
}

func lister(list func(*leveret.VHost) []leveret.Policy) func(*call) (result, error) {
	return func(c *call) (result, error) {
		v, err := c.vhost()
		if err != nil {
			return result{}, err
		}
		var rows []row
		for _, p := range list(v) {
			rows = append(rows, policyRow(v.Name(), p))
		}
		return result{rows: rows, listing: true, blank: true}, nil
	}
}

func policyRow(vhost string, p leveret.Policy) row {
	return row{
		{"vhost", vhost}, {"name", p.Name}, {"pattern", p.Pattern}, {"apply-to", string(p.ApplyTo)},
		{"definition", document(p.Definition)}, {"priority", number(p.Priority)},
	}
}

// number is a whole number where it can be.
func number(f float64) any {
	if n := int64(f); float64(n) == f {
		return n
	}
	return f
}
