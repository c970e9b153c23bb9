package mgmt

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/jsondoc"
)

// A policyKind is users' policies or operators'.
type policyKind struct {
	list  func(*leveret.VHost) []leveret.Policy
	set   func(*leveret.VHost, leveret.Policy) error
	clear func(*leveret.VHost, string) error
}

var (
	userPolicies     = policyKind{(*leveret.VHost).Policies, (*leveret.VHost).SetPolicy, (*leveret.VHost).ClearPolicy}
	operatorPolicies = policyKind{(*leveret.VHost).OperatorPolicies, (*leveret.VHost).SetOperatorPolicy, (*leveret.VHost).ClearOperatorPolicy}
)

func (c *call) policies() (any, error)             { return c.listPolicies(userPolicies) }
func (c *call) policy() (any, error)               { return c.getPolicy(userPolicies) }
func (c *call) putPolicy() (any, error)            { return c.setUserPolicy() }
func (c *call) deletePolicy() (any, error)         { return c.clearPolicy(userPolicies) }
func (c *call) operatorPolicies() (any, error)     { return c.listPolicies(operatorPolicies) }
func (c *call) operatorPolicy() (any, error)       { return c.getPolicy(operatorPolicies) }
func (c *call) putOperatorPolicy() (any, error)    { return c.setPolicy(operatorPolicies) }
func (c *call) deleteOperatorPolicy() (any, error) { return c.clearPolicy(operatorPolicies) }

func (c *call) setUserPolicy() (any, error) {
	answer, err := c.setPolicy(userPolicies)
	return answer, c.escaped(err)
}

func (c *call) listPolicies(kind policyKind) (any, error) {
	vhosts, err := c.listed()
	if err != nil {
		return nil, err
	}
	l := list{}
	for _, v := range vhosts {
		for _, p := range kind.list(v) {
			o := policyValue(p)
			o["vhost"], o["name"] = v.Name(), p.Name
			l = append(l, shown(o))
		}
	}
	return l, nil
}

// policyValue is a policy without its name.
func policyValue(p leveret.Policy) object {
	applyTo := p.ApplyTo
	if applyTo == "" {
		applyTo = leveret.ApplyToAll
	}
	return object{"pattern": p.Pattern, "definition": arguments(p.Definition), "apply-to": applyTo, "priority": number(p.Priority)}
}

// number is a priority as JSON shows it: whole numbers without a fraction.
func number(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f)
	}
	return f
}

// arguments is a table as JSON shows it.
func arguments(t leveret.Table) any { return definitions.Arguments{Table: t} }

func findPolicy(kind policyKind, v *leveret.VHost, name string) (leveret.Policy, bool) {
	all := kind.list(v)
	i := slices.IndexFunc(all, func(p leveret.Policy) bool { return p.Name == name })
	if i < 0 {
		return leveret.Policy{}, false
	}
	return all[i], true
}

func (c *call) getPolicy(kind policyKind) (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, err
	}
	p, ok := findPolicy(kind, v, c.path("name"))
	if !ok {
		return nil, errNoObject
	}
	o := policyValue(p)
	o["vhost"], o["name"] = v.Name(), p.Name
	return o, nil
}

func (c *call) setPolicy(kind policyKind) (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, notFound("vhost_not_found")
	}
	if err := c.need("pattern", "definition"); err != nil {
		return nil, err
	}
	p, err := c.readPolicy(c.body)
	if err != nil {
		return nil, err
	}
	p.Name = c.path("name")
	_, existed := findPolicy(kind, v, p.Name)
	if _, given := c.body["apply-to"]; given && p.ApplyTo == "" { // to the broker that is "all"
		p.ApplyTo = nothing
	}
	return put(existed), withoutNothing(invalid(kind.set(v, p)))
}

// nothing stands for an apply-to that is empty, which RabbitMQ's API refuses.
const nothing = leveret.ApplyTo("(nothing)")

func withoutNothing(err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	if text, ok := f.reason.(string); ok {
		f.reason = strings.ReplaceAll(text, "'"+string(nothing)+"'", "''")
	}
	return f
}

// readPolicy reads the members of a policy. What the broker cannot be told is refused here in RabbitMQ's words; all else
// the broker looks at.
func (c *call) readPolicy(b body) (p leveret.Policy, err error) {
	var definition definitions.Arguments
	if json.Unmarshal(b["definition"], &definition) != nil {
		return p, badRequest("not_json")
	}
	p.Definition, p.ApplyTo, p.Pattern = definition.Table, leveret.ApplyTo(b.word("apply-to")), b.text("pattern")
	var findings string
	found := func(key, text string, to any) {
		if given, ok := b[key]; ok && (string(given) == "null" || json.Unmarshal(given, to) != nil) {
			v, _ := jsondoc.Decode(given, jsondoc.First)
			findings += text + c.notation.Format(erl.JSON(v), 0) + "\n"
		}
	}
	found("pattern", "pattern should be a binary but was ", &p.Pattern)
	found("priority", "priority should be a number, actually was ", &p.Priority)
	if findings != "" {
		return p, badRequest("Validation failed\n\n" + findings)
	}
	return p, nil
}

func (c *call) clearPolicy(kind policyKind) (any, error) {
	if _, err := c.getPolicy(kind); err != nil {
		return nil, err
	}
	v, err := c.vhost()
	if err != nil {
		return nil, err
	}
	return nil, invalid(kind.clear(v, c.path("name")))
}
