package definitions

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/jsondoc"
	"github.com/leveretmq/leveret/internal/phrase"
)

// How an import reads policies. RabbitMQ takes any JSON value for any key of a policy, and complains about all keys at
// once.

// The keys of a policy's document that RabbitMQ checks, in this order.
const (
	keyDefinition = "definition"
	keyApplyTo    = "apply-to"
	keyPattern    = "pattern"
	keyPriority   = "priority"
)

// UnmarshalJSON reads a policy. A value of a wrong type is no reason to refuse the document: what is wrong with a
// policy is told when it is applied.
func (e *Policy) UnmarshalJSON(data []byte) error {
	v, err := jsondoc.Decode(data, jsondoc.First)
	if err != nil {
		return err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return errors.New("not an object")
	}
	*e = Policy{}
	var names struct{ VHost, Name string }
	if err := json.Unmarshal(data, &names); err != nil {
		return err
	}
	e.VHost, e.Name = names.VHost, names.Name
	for key, v := range object {
		e.take(key, v)
	}
	return nil
}

// take puts a value in its field, or among the odd ones if it is not for the field.
func (e *Policy) take(key string, v any) {
	taken := false
	switch key {
	case "vhost", "name":
		taken = true
	case keyPattern:
		var pattern string
		if pattern, taken = v.(string); taken {
			e.Pattern = &pattern
		}
	case keyApplyTo:
		e.ApplyTo, taken = v.(string)
		taken = taken && e.ApplyTo != "" // RabbitMQ refuses an empty text; without a text it is all
	case keyDefinition:
		e.Definition.Table, taken = definitionTable(v)
	case keyPriority:
		var priority Priority
		if priority, taken = asPriority(v); taken {
			e.Priority = &priority
		}
	}
	if !taken {
		e.keepOdd(key, v)
	}
}

func (e *Policy) keepOdd(key string, v any) {
	if e.odd == nil {
		e.odd = map[string]any{}
	}
	e.odd[key] = v
}

// definitionTable returns a policy's definition: an object, or the empty list that some tools make of an empty one.
func definitionTable(v any) (leveret.Table, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case []any:
		if len(v) == 0 {
			return leveret.Table{}, true
		}
	}
	return nil, false
}

// asPriority returns the priority that a number is.
func asPriority(v any) (Priority, bool) {
	switch v := v.(type) {
	case int64:
		return Priority(v), true
	case float64:
		return Priority(v), true
	}
	return 0, false
}

// A policyKind is one of the two kinds of policies, which RabbitMQ checks in different ways.
type policyKind struct {
	set       func(leveret.Policy) error
	validator string
	complete  bool // every key but apply-to must be there, and no other
}

// setPolicy sets a policy, or tells everything that is wrong with it.
// Rules: P-3, J-9.
func (im *importer) setPolicy(e *Policy, kind policyKind) error {
	before, after := im.oddDefinition(e, kind), im.oddRest(e, kind)
	if kind.complete {
		before = append(im.unknownKeys(e), before...)
	}
	// The engine finds what is wrong with the other keys: a definition before all others, a pattern behind them.
	err := withEmptyApplyTo(kind.set(e.policy(before != nil, im.terms)))
	if before == nil && after == nil {
		return refused(err)
	}
	var refusal *leveret.Error
	if err != nil && !errors.As(err, &refusal) {
		return err
	}
	if refusal != nil {
		findings := strings.TrimSuffix(strings.TrimPrefix(refusal.Reason, validationFailed), "\n")
		before = append(before, findings)
	}
	return refuse(validationFailed+"%s\n", strings.Join(append(before, after...), "\n"))
}

// withEmptyApplyTo returns the refusal with the empty text in the place of what stands for it.
func withEmptyApplyTo(err error) error {
	var refusal *leveret.Error
	if !errors.As(err, &refusal) {
		return err
	}
	told := *refusal
	told.Reason = phrase.WithEmptyApplyTo(told.Reason)
	return &told
}

const validationFailed = "Validation failed\n\n"

// policy is the policy with what is well-formed of it. Without its definition it is one that no rule refuses.
func (e *Policy) policy(anyDefinition bool, terms erl.Notation) leveret.Policy {
	p := leveret.Policy{Name: e.Name, ApplyTo: leveret.ApplyTo(e.ApplyTo), Definition: e.Definition.Table}
	if p.Definition == nil && anyDefinition {
		p.Definition = leveret.Table{"max-length": 0}
	}
	if e.Pattern != nil {
		p.Pattern = *e.Pattern
	}
	if e.Priority != nil {
		p.Priority = float64(*e.Priority)
	}
	switch v, odd := e.odd[keyApplyTo]; {
	case odd && v == "":
		p.ApplyTo = phrase.EmptyApplyTo
	case odd:
		p.ApplyTo = leveret.ApplyTo(strings.Trim(terms.Format(erl.JSON(v), 0), `"`))
	}
	return p
}

// unknownKeys is the finding about keys that an operator policy does not have.
func (im *importer) unknownKeys(e *Policy) []string {
	var unknown erl.List
	for _, key := range slices.Sorted(maps.Keys(e.odd)) {
		switch key {
		case keyDefinition, keyApplyTo, keyPattern, keyPriority:
		default:
			unknown = append(unknown, erl.Tuple{erl.Binary(key), erl.JSON(e.odd[key])})
		}
	}
	if unknown == nil {
		return nil
	}
	return []string{"Unrecognised terms " + im.terms.Format(unknown, 0) + " in " + e.Name}
}

// oddDefinition is the finding about a definition that is missing or no object.
func (im *importer) oddDefinition(e *Policy, kind policyKind) []string {
	v, odd := e.odd[keyDefinition]
	list, isList := v.([]any)
	switch {
	case !odd && e.Definition.Table != nil:
		return nil
	case !odd && kind.complete:
		return []string{e.keyNotFound(keyDefinition)}
	case isList:
		return []string{"definition must be a dictionary: " + im.terms.Format(erl.JSON(list), 0)}
	}
	return []string{"parse error while reading policy definition: " + im.termOf(v, odd) +
		". Validator: " + kind.validator + "."}
}

// oddRest are the findings about a pattern and a priority that are missing or of a wrong type.
func (im *importer) oddRest(e *Policy, kind policyKind) (findings []string) {
	pattern, odd := e.odd[keyPattern]
	switch {
	case odd, e.Pattern == nil && !kind.complete:
		findings = append(findings, "pattern should be a binary but was "+im.termOf(pattern, odd))
	case e.Pattern == nil:
		findings = append(findings, e.keyNotFound(keyPattern))
	}
	priority, odd := e.odd[keyPriority]
	switch {
	case odd:
		findings = append(findings, "priority should be a number, actually was "+im.termOf(priority, odd))
	case e.Priority == nil && kind.complete:
		findings = append(findings, e.keyNotFound(keyPriority))
	}
	return findings
}

func (e *Policy) keyNotFound(key string) string { return `Key "` + key + `" not found in ` + e.Name }

// termOf is the term that RabbitMQ shows of a value, undefined if there is none.
func (im *importer) termOf(v any, given bool) string {
	if !given {
		return "undefined"
	}
	return im.terms.Format(erl.JSON(v), 0)
}
