package mgmt

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/jsondoc"
	"github.com/leveretmq/leveret/internal/limits"
)

// An operator policy can be set as the parameter that it is. Then RabbitMQ looks at the parameter only: which members it
// has and must have. Its path for operator policies gives members their defaults before.

// policyMembers are those that the parameter of a policy may have.
var policyMembers = []string{"definition", "apply-to", "pattern", "priority"}

// setOperatorParameter sets an operator policy. The report of what is wrong begins with members that are unknown, and has
// one finding about each of the others, in their order.
func (c *call) setOperatorParameter(v *leveret.VHost) error {
	const heading = "Validation failed\n\n"
	name := c.path("name")
	members, wrong := c.members(c.body["value"], name)
	if isScalar := members == nil && c.body["value"][0] != '['; isScalar {
		return badRequest(heading + wrong + "\n")
	}
	if terms := unknownTerms(members); terms != nil {
		wrong = limits.Unrecognised(terms, name, c.notation)
	}
	if wrong != "" {
		wrong += "\n"
	}
	p, wrongDefinition, err := c.readParameter(members, name)
	if err != nil {
		return err
	}
	if wrong += wrongDefinition; wrong != "" {
		p.Priority = math.NaN() // the broker refuses it, and says nothing that is shown
	}
	err = p.set(v.SetOperatorPolicy)
	f, isRefused := err.(*failure)
	if !isRefused {
		return err
	}
	text, isText := f.reason.(string)
	if !isText {
		return err
	}
	return badRequest(heading + wrong + strings.TrimPrefix(text, heading))
}

// readParameter reads the members of a policy that are there. It returns what is wrong with a definition that is none; the
// policy has another one then.
func (c *call) readParameter(members map[string]any, name string) (p givenPolicy, wrongDefinition string, err error) {
	given := body{}
	if members != nil {
		err = json.Unmarshal(jsondoc.Unique(c.body["value"], c.memberThatCounts), &given)
	}
	if err != nil {
		return p, "", badRequest("not_json")
	}
	missing := func(key string) string {
		if _, ok := members[key]; ok {
			return ""
		}
		return "Key \"" + key + "\" not found in " + name + "\n"
	}
	wrongDefinition = missing("definition")
	if wrongDefinition == "" {
		wrongDefinition = c.wrongDefinition(members["definition"])
	}
	if wrongDefinition != "" {
		given["definition"] = json.RawMessage(`{"max-length":0}`)
	}
	p, err = c.readPolicy(given)
	p.Name = name
	p.mistyped = missing("pattern") + p.mistyped + missing("priority")
	return p, wrongDefinition, err
}

// wrongDefinition returns what is wrong with a definition that is no object. An empty list is an empty one.
func (n *node) wrongDefinition(definition any) string {
	switch v := definition.(type) {
	case map[string]any:
		return ""
	case []any:
		if len(v) == 0 {
			return ""
		}
		return n.notation.Behind("definition must be a dictionary: ", erl.JSON(v)) + "\n"
	}
	return n.notation.Behind("parse error while reading policy definition: ", erl.JSON(definition)) +
		". Validator: operator_policy_validator.\n"
}

// unknownTerms returns the members that no policy has; nil: none.
func unknownTerms(members map[string]any) (terms erl.List) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(policyMembers, name) {
			terms = append(terms, erl.Tuple{erl.Binary(name), erl.JSON(members[name])})
		}
	}
	return terms
}
