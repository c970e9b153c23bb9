package page

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/lint"
)

// A policy is set after a look at what it would change: the definitions of its virtual host are compared with the same
// ones that have the policy as the form says, by what leveret diff uses.

// A policyForm is what the form of a policy has.
type policyForm struct {
	VHost, Name, Kind, Pattern, ApplyTo, Definition, Priority string

	Known  bool     // the policy exists; its name and its kind stay
	Kinds  []choice // of policies
	Things []choice // what a policy may apply to
}

// A choice is one of several words.
type choice struct {
	Word, Title string
	Chosen      bool
}

// The kinds of policies, as paths of the API.
const (
	userPolicies     = "policies"
	operatorPolicies = "operator-policies"
	operatorPolicy   = "operator_policy" // the component of parameters in definitions
)

var policyActs = map[string]func(*visit) act{
	"preview": func(v *visit) act { return v.preview(true) }, "set": (*visit).setPolicy,
	"previewclear": func(v *visit) act { return v.preview(false) }, "clear": (*visit).clearPolicy,
}

// policy loads the form: what was typed into it, or a policy, or an empty one.
func (v *visit) policy() (any, error) {
	f := v.typed()
	if v.request.Method != http.MethodPost && f.Known {
		answer, err := v.source.Ask(v.request, Question{Path: []string{f.Kind, f.VHost, f.Name}, Query: url.Values{}})
		if err != nil {
			return nil, err
		}
		o := answer.(Object)
		f.Pattern, f.ApplyTo, f.Definition, f.Priority = text(o["pattern"]), text(o["apply-to"]), text(o["definition"]), text(o["priority"])
	}
	f.Kinds = choices(f.Kind, userPolicies, "policy", operatorPolicies, "operator policy")
	f.Things = choices(f.ApplyTo, "all", "queues and exchanges", "queues", "queues", "classic_queues", "classic queues", "quorum_queues", "quorum queues",
		"exchanges", "exchanges")
	return f, nil
}

// choices makes choices of words and their titles in turn.
func choices(chosen string, all ...string) (list []choice) {
	for pair := range slices.Chunk(all, 2) {
		list = append(list, choice{pair[0], pair[1], pair[0] == chosen})
	}
	return list
}

// typed is what was typed into the form. What the query names counts for more.
func (v *visit) typed() policyForm {
	return policyForm{
		VHost: cmp.Or(v.query.Get("vhost"), v.field("vhost"), "/"), Name: cmp.Or(v.query.Get("name"), v.field("policy")),
		Kind: cmp.Or(v.query.Get("kind"), v.field("kind"), userPolicies), Pattern: v.field("pattern"), ApplyTo: cmp.Or(v.field("apply-to"), "all"),
		Definition: v.field("definition"), Priority: cmp.Or(v.field("priority"), "0"), Known: v.query.Has("name"),
	}
}

// body is the policy as the API takes it.
func (f policyForm) body() (Object, error) {
	var definition json.RawMessage
	if err := json.Unmarshal([]byte(f.Definition), &definition); err != nil {
		return nil, &Refusal{http.StatusBadRequest, "The definition is no JSON: " + err.Error()}
	}
	priority, err := strconv.ParseFloat(f.Priority, 64)
	if err != nil || math.IsNaN(priority) || math.IsInf(priority, 0) {
		return nil, &Refusal{http.StatusBadRequest, "The priority is no number."}
	}
	return Object{"pattern": f.Pattern, "apply-to": f.ApplyTo, "definition": definition, "priority": priority}, nil
}

func (v *visit) setPolicy() act {
	f := v.typed()
	body, err := f.body()
	if err == nil {
		_, err = v.source.Ask(v.request, Question{Method: http.MethodPut, Path: []string{f.Kind, f.VHost, f.Name}, Query: url.Values{}, Body: body})
	}
	return act{goTo: "/policies", err: err}
}

func (v *visit) clearPolicy() act {
	f := v.typed()
	_, err := v.source.Ask(v.request, Question{Method: http.MethodDelete, Path: []string{f.Kind, f.VHost, f.Name}, Query: url.Values{}})
	return act{goTo: "/policies", err: err}
}

// A change is something that a policy would change.
type change struct {
	Title   string
	Lines   []string // what is in force for it
	Effects []string // what that means for messages and clients
}

// preview says what setting or clearing the policy of the form would change. It is for those who may set policies.
func (v *visit) preview(set bool) act {
	f := v.typed()
	if _, err := v.source.Ask(v.request, Question{Path: []string{"parameters", "policy", f.VHost}, Query: url.Values{}}); err != nil {
		return failed(err)
	}
	before, after, err := v.withPolicy(f, set)
	if err != nil {
		return failed(err)
	}
	compared, err := lint.Compare(before, after, v.broker.Profile())
	if err != nil {
		return failed(&Refusal{http.StatusBadRequest, err.Error()})
	}
	done := did("Nothing would change for any queue or exchange.")
	for _, c := range compared.Changes {
		if c.Kind == "queue" || c.Kind == "exchange" {
			done.Text = "This would change, and has not been done. Exclusive queues are not looked at."
			done.Changes = append(done.Changes, changeOf(c))
		}
	}
	return done
}

func changeOf(c lint.Change) change {
	shown := change{Title: c.Kind + " " + c.Name}
	for _, d := range c.Differences {
		shown.Lines = append(shown.Lines, d.String())
	}
	for _, e := range c.Effects {
		shown.Effects = append(shown.Effects, e.Text)
	}
	return shown
}

// withPolicy returns the definitions of the virtual host as they are, and with or without the policy.
func (v *visit) withPolicy(f policyForm, set bool) (before, after []byte, err error) {
	host, err := v.broker.VHost(f.VHost)
	if err != nil {
		return nil, nil, err
	}
	d := definitions.OfVHost(host)
	if before, err = json.Marshal(d); err != nil {
		return nil, nil, err
	}
	d.Policies = slices.DeleteFunc(d.Policies, func(p definitions.Policy) bool { return f.Kind == userPolicies && p.Name == f.Name })
	d.Parameters = slices.DeleteFunc(d.Parameters, func(p definitions.Parameter) bool {
		return f.Kind == operatorPolicies && p.Component == operatorPolicy && p.Name == f.Name
	})
	if set {
		if err := f.addTo(d); err != nil {
			return nil, nil, err
		}
	}
	after, err = json.Marshal(d)
	return before, after, err
}

// addTo adds the policy of the form to definitions.
func (f policyForm) addTo(d *definitions.Definitions) error {
	body, err := f.body()
	if err != nil {
		return err
	}
	if f.Kind == userPolicies {
		body["name"] = f.Name
	}
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if f.Kind == operatorPolicies {
		d.Parameters = append(d.Parameters, definitions.Parameter{Component: operatorPolicy, Name: f.Name, Value: data})
		return nil
	}
	var p definitions.Policy
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	d.Policies = append(d.Policies, p)
	return nil
}
