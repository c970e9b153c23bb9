package blackbox_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/leveretmq/leveret"
)

// FuzzPolicyInForce sets any policy on queues of both types and on an exchange: it is refused with a
// RabbitMQ text and changes nothing, or it is in force and can be cleared.
func FuzzPolicyInForce(f *testing.F) {
	for _, s := range []string{
		`{"max-length":1}`, `{"message-ttl":0,"expires":1}`, `{"overflow":"reject-publish","max-length-bytes":0}`,
		`{"dead-letter-exchange":"","dead-letter-routing-key":"c","dead-letter-strategy":"at-least-once","overflow":"reject-publish"}`,
		`{"delayed-retry-type":"all","delayed-retry-min":5,"delayed-retry-max":4}`, `{"alternate-exchange":"x"}`,
		`{"delivery-limit":-1}`,
		`{"max-length":-1}`, `{"max-length":1.5}`, `{"queue-mode":{"a":[1]}}`, `{}`, `{"":null}`,
	} {
		f.Add(s, "^(c|q)", "all", 1.5, false)
		f.Add(s, "^(?!amq\\.)", "queues", -1.0, true)
	}
	f.Add(`{"max-length":1}`, "(", "streams", 0.0, false)
	f.Fuzz(func(t *testing.T, definition, pattern, applyTo string, priority float64, operator bool) {
		var def map[string]any
		if json.Unmarshal([]byte(definition), &def) != nil {
			return
		}
		b, clk := newTestBroker(t)
		waiting := []*leveret.Queue{mustDeclare(t, b, "c", nil),
			mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum"})}
		for range 3 {
			mustPublish(t, b, "c", "m", "1000")
			mustPublish(t, b, "q", "m", "1000")
		}
		set, clear, list := b.SetPolicy, b.ClearPolicy, b.Policies
		if operator {
			set, clear, list = b.SetOperatorPolicy, b.ClearOperatorPolicy, b.OperatorPolicies
		}
		err := set(leveret.Policy{Name: "p", Pattern: pattern, ApplyTo: leveret.ApplyTo(applyTo), Definition: def,
			Priority: priority})
		if err != nil {
			var e *leveret.Error
			if !errors.As(err, &e) || e.Reason == "" {
				t.Fatalf("%v is no refusal in RabbitMQ's words", err)
			}
			if len(list()) != 0 {
				t.Fatal("a refused policy is there")
			}
			for _, q := range waiting {
				if q.Info().Ready != 3 {
					t.Fatalf("a refused policy changed %s", q.Name())
				}
			}
			return
		}
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
		for _, q := range waiting {
			if e := q.Effective(); q.Info().Policy != e.Policy || q.Info().OperatorPolicy != e.OperatorPolicy {
				t.Fatalf("%s: %+v", q.Name(), e)
			}
		}
		b.Publish("", "c", leveret.Message{})
		b.Publish("", "q", leveret.Message{})
		clk.Advance(1_000_000)
		if err := clear("p"); err != nil {
			t.Fatal(err)
		}
		for _, q := range waiting {
			if _, err := b.Queue(q.Name()); err != nil {
				continue // the policy had it expire
			}
			if i := q.Info(); i.Policy != "" || i.OperatorPolicy != "" || len(i.EffectivePolicy) != 0 {
				t.Fatalf("%+v", i)
			}
		}
	})
}
