package blackbox_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A definition is JSON. What JSON cannot say used to panic when RabbitMQ's text about it was made.
func TestPolicyValuesThatAreNoJSON(t *testing.T) {
	b, _ := newTestBroker(t)
	within := leveret.Table{}
	within["ha-params"] = []any{within}
	for want, definition := range map[string]leveret.Table{
		`"max-length": no JSON type for Go type leveret.Decimal`: {"max-length": leveret.Decimal{}},
		`"max-age": no JSON type for Go type time.Time`:          {"max-age": time.Unix(0, 0)},
		`"x": no JSON type for Go type chan int`:                 {"x": make(chan int)},
		`"x": JSON has no number NaN`:                            {"x": math.NaN()},
		`"x.y[1].z": JSON has no number +Inf`:                    {"x": leveret.Table{"y": []any{1, map[string]any{"z": math.Inf(1)}}}},
		`"max-length": no JSON type for Go type json.Number`:     {"max-length": json.Number("many")},
		`nested deeper than 100 tables and arrays`:               within,
	} {
		for _, set := range []func(leveret.Policy) error{b.SetPolicy, b.SetOperatorPolicy} {
			err := set(leveret.Policy{Name: "p", Definition: definition})
			assert.ErrorIs(t, err, leveret.ErrSyntax)
			assert.EqualError(t, err, "SYNTAX_ERROR - leveret: policy: "+want)
		}
	}
	assert.Empty(t, b.Policies())
	for _, definition := range []leveret.Table{{"max-length": json.Number("5")}, {"message-ttl": time.Second}, {"max-length": uint8(5)},
		{"dead-letter-exchange": leveret.Direct}} {
		assert.NoError(t, b.SetPolicy(leveret.Policy{Name: "p", Definition: definition}))
	}
}

// One global parameter that is no JSON kept all definitions from being exported.
func TestGlobalParametersAreJSON(t *testing.T) {
	b, _ := newTestBroker(t)
	for _, value := range []string{"", "{", "1 2", "nul"} {
		err := b.SetGlobalParameter(leveret.GlobalParameter{Name: "p", Value: json.RawMessage(value)})
		assert.ErrorIs(t, err, leveret.ErrSyntax)
		assert.ErrorContains(t, err, "the value of global parameter 'p' is no JSON")
	}
	assert.Empty(t, b.GlobalParameters())
	require.NoError(t, b.SetGlobalParameter(leveret.GlobalParameter{Name: "p"}))
	data, err := definitions.Export(b)
	require.NoError(t, err)
	assert.Contains(t, strings.Join(strings.Fields(string(data)), ""), `"global_parameters":[{"name":"p","value":null}]`)
}
