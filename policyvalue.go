package leveret

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/leveretmq/leveret/internal/erl"
)

// The values of a policy's definition: which Go types stand for them, and how RabbitMQ prints them.

// policyValue brings the value of a definition to one of the types of policy.definition. These are fewer than those of
// canonicalValue, because JSON has one type for integers of any size, one for other numbers and one for texts. A
// float64 is no integer even if it is whole; a json.Number is what it says. The members of tables and arrays stay as
// they are.
// Rules: P-5.
func policyValue(v any) any {
	switch v := v.(type) {
	case *big.Int, []any, Table:
		return v
	case map[string]any:
		return Table(v)
	case Fields:
		return v.Table()
	case json.Number:
		return numberValue(v)
	case uint:
		return canonicalInteger(new(big.Int).SetUint64(uint64(v)))
	case uint64:
		return canonicalInteger(new(big.Int).SetUint64(v))
	}
	canonical, err := canonicalValue(&fieldPath{}, v)
	if err != nil {
		return v
	}
	switch v := canonical.(type) {
	case []byte:
		return string(v)
	case float32:
		return float64(v)
	}
	if n, ok := asInteger(canonical); ok {
		return n
	}
	return canonical
}

func numberValue(n json.Number) any {
	if i, err := n.Int64(); err == nil {
		return i
	}
	if i, ok := new(big.Int).SetString(n.String(), 10); ok {
		return i
	}
	if f, err := n.Float64(); err == nil {
		return f
	}
	return n // which is no number
}

// checkPolicyValues refuses a definition with a value that JSON has no type for.
func checkPolicyValues(definition map[string]any) *Error {
	if err := checkJSONTable(nil, definition); err != nil {
		return SyntaxError.errorf("", "leveret: policy: %v", err)
	}
	return nil
}

func checkJSONTable(at *fieldPath, t map[string]any) error {
	for _, key := range sortedKeys(t) {
		inner, err := at.within(key, -1)
		if err != nil {
			return err
		}
		if err := checkJSONValue(inner, policyValue(t[key])); err != nil {
			return err
		}
	}
	return nil
}

func checkJSONValue(at *fieldPath, v any) error {
	switch v := v.(type) {
	case nil, bool, string, int64, *big.Int:
		return nil
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return nil
		}
		return fmt.Errorf("%q: JSON has no number %v", at.String(), v)
	case Table:
		return checkJSONTable(at, v)
	case []any:
		for i := range v {
			inner, err := at.within("", i)
			if err != nil {
				return err
			}
			if err := checkJSONValue(inner, policyValue(v[i])); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%q: no JSON type for Go type %T", at.String(), v)
}

// wholeNumber returns an integer of a definition, the largest there is for one that is larger.
func wholeNumber(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case *big.Int:
		return clampedInteger(v), true
	}
	return 0, false
}

// policyTermText prints a value as error texts do.
func policyTermText(v any, r *rules) string { return r.notation().Format(policyTerm(v), 0) }

// policyTerm is the term by which RabbitMQ prints a value of a definition.
func policyTerm(v any) any { return erl.JSON(policyJSON(v)) }

// policyJSON returns a value of a definition, one of policyValue's types, as decoded JSON has it.
func policyJSON(v any) any {
	switch v := v.(type) {
	case Table:
		object := make(map[string]any, len(v))
		for key, member := range v {
			object[key] = policyJSON(policyValue(member))
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = policyJSON(policyValue(v[i]))
		}
		return list
	default:
		return v
	}
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
