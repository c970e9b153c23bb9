package mgmt

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
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

// fields are arguments as a client gave them.
func fields(f leveret.Fields) any { return definitions.ArgumentsOf(f) }

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
	if c.body["definition"][0] != '{' {
		return nil, errCrash
	}
	p, err := c.readPolicy(c.body)
	if err != nil {
		return nil, err
	}
	p.Name = c.path("name")
	_, existed := findPolicy(kind, v, p.Name)
	return put(existed), p.set(func(p leveret.Policy) error { return kind.set(v, p) })
}

// A givenPolicy is a policy in a request.
type givenPolicy struct {
	leveret.Policy
	applyTo  string   // what the report has in place of unrecognised
	mistyped string   // findings about a pattern and a priority of wrong types, which no Policy can have
	failsAt  []string // findings that RabbitMQ does not come to report
}

// What stands for members that a Policy cannot have. The broker refuses both, so that its report has their place.
const (
	unrecognised   = leveret.ApplyTo("(unrecognised)") // an apply-to that is empty, which the broker takes for all, or a list
	mistypedMember = "priority should be a number, actually was NaN\n"
)

// set sets the policy. The report of what is wrong has one finding about each of definition, apply-to, pattern and
// priority, in this order.
func (p givenPolicy) set(set func(leveret.Policy) error) error {
	if p.mistyped != "" {
		p.Priority = math.NaN()
	}
	err := invalid(set(p.Policy))
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	text, ok := f.reason.(string)
	switch {
	case !ok:
		return err
	case p.crashes(text):
		return errCrash
	}
	return badRequest(strings.NewReplacer("'"+string(unrecognised)+"'", "'"+p.applyTo+"'", mistypedMember, p.mistyped).Replace(text))
}

// crashes reports whether RabbitMQ fails at a value that the report refuses.
func (p givenPolicy) crashes(report string) bool {
	return slices.ContainsFunc(p.failsAt, func(finding string) bool { return strings.Contains(report, finding) })
}

// findingsThatFail are the findings about two keys of a definition that RabbitMQ takes for texts before it looks at them.
// A list of octets and texts is a text as max-age.
func (n *node) findingsThatFail(definition map[string]any) (all []string) {
	if _, isText := definition["ha-mode"].(string); !isText {
		all = append(all, " is not a valid ha-mode value\n")
	}
	age, isText := definition["max-age"].(string)
	if list, isList := definition["max-age"].([]any); isList {
		age, isText = printedList(list)
	}
	if !isText || n.ageNeedsNumber && strings.IndexAny(age, "0123456789") != 0 {
		all = append(all, " is not a valid max age\n")
	}
	return all
}

// readPolicy reads the members of a policy. The broker looks at their values.
func (c *call) readPolicy(b body) (p givenPolicy, err error) {
	definition, err := jsondoc.Decode(b["definition"], c.memberThatCounts)
	members, isObject := definition.(map[string]any)
	none, isList := definition.([]any)
	if isEmpty := isList && len(none) == 0; err != nil || !isObject && !isEmpty {
		return p, badRequest("not_json")
	}
	p.Definition, p.failsAt = members, c.findingsThatFail(members)
	if p.ApplyTo, p.applyTo, err = b.applyTo(); err != nil {
		return p, err
	}
	found := func(key, text string, to any) {
		if given, ok := b[key]; ok && (string(given) == "null" || json.Unmarshal(given, to) != nil) {
			v, _ := jsondoc.Decode(given, c.memberThatCounts)
			p.mistyped += c.notation.Behind(text, erl.JSON(v)) + "\n"
		}
	}
	found("pattern", "pattern should be a binary but was ", &p.Pattern)
	found("priority", "priority should be a number, actually was ", &p.Priority)
	return p, nil
}

// applyTo returns the member apply-to, and as what RabbitMQ prints it. RabbitMQ fails at what has no such text.
func (b body) applyTo() (_ leveret.ApplyTo, text string, err error) {
	given, ok := b["apply-to"]
	if !ok {
		return "", "", nil
	}
	v, _ := jsondoc.Decode(given, jsondoc.First)
	text, ok = printed(v)
	switch {
	case !ok:
		return "", "", errCrash
	case text == "" || given[0] == '[':
		return unrecognised, text, nil
	}
	return leveret.ApplyTo(text), text, nil
}

// printed returns what Erlang prints of a JSON value as a text, if it can: a list of octets and texts is a text, too.
func printed(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "null", true
	case bool:
		return strconv.FormatBool(v), true
	case string:
		return v, true
	case []any:
		return printedList(v)
	}
	return "", false
}

func printedList(list []any) (text string, ok bool) {
	for _, member := range list {
		n, isInteger := member.(int64)
		_, isWord := member.(bool)
		part, isText := printed(member)
		switch {
		case isInteger && n >= 0 && n <= math.MaxUint8:
			text += string(rune(n))
		case !isText, isWord, member == nil:
			return "", false
		default:
			text += part
		}
	}
	return text, true
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
