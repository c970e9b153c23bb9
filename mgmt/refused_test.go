package mgmt_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	applyTo43  = "should be one of: 'queues', 'classic_queues',  'quorum_queues', 'streams', 'exchanges', or 'all'"
	applyTo310 = "should be 'queues', 'exchanges' or 'all'"
)

// Members of other types than the broker wants are refused, in the words of the live brokers.
func TestMembersOfWrongTypes(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		api := direct{t, mgmt.Handler(b, mgmt.Config{NodeName: "rabbit@here"})}
		isOld := profile == leveret.RabbitMQ310
		either := func(new, old string) string {
			if isOld {
				return old
			}
			return new
		}
		invalid := func(what string) string { return "Validation failed\n\n" + what + "\n" }
		for _, c := range []struct {
			path, body string
			reason     any
		}{
			{"policies/%2F/p", `{"pattern":5,"definition":{"max-length":5}}`, invalid("pattern should be a binary but was 5")},
			{"policies/%2F/p", `{"pattern":null,"definition":{"max-length":5}}`, invalid("pattern should be a binary but was null")},
			{"policies/%2F/p", `{"pattern":["q"],"definition":{"max-length":5}}`,
				invalid("pattern should be a binary but was " + either(`[<<"q">>]`, `[&lt;&lt;"q"&gt;&gt;]`))},
			{"operator-policies/%2F/p", `{"pattern":true,"definition":{"max-length":5}}`, invalid("pattern should be a binary but was true")},
			{"policies/%2F/p", `{"pattern":"q","definition":{"max-length":5},"priority":null}`,
				invalid("priority should be a number, actually was null")},
			{"policies/%2F/p", `{"pattern":"q","definition":{"max-length":5},"apply-to":""}`,
				invalid("apply-to '' unrecognised; " + either(applyTo43, applyTo310))},
			{"policies/%2F/p", `{"pattern":"q","definition":{"max-length":5},"apply-to":null}`,
				invalid("apply-to 'null' unrecognised; " + either(applyTo43, applyTo310))},
			{"queues/%2F/q", `{"durable":null}`, []any{"not_boolean", nil}},
			{"exchanges/%2F/x", `{"type":"direct","internal":null}`, []any{"not_boolean", nil}},
			{"exchanges/%2F/x", `{"type":null}`, "invalid exchange type 'null'"},
			{"queues/%2F/q", `{"node":"bogus"}`,
				either("Node bogus is not a cluster member", "Node bogus@here could not be contacted")},
			{"queues/%2F/q", `{"node":""}`, either("Node  is not a cluster member", "Node '@here' could not be contacted")},
		} {
			r := api.send("PUT", c.path, c.body, func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
			assert.Equal(t, 400, r.status, c.body)
			assert.Equal(t, map[string]any{"error": "bad_request", "reason": c.reason}, r.body, c.body)
		}
		assert.Empty(t, b.Policies())
		assert.Empty(t, b.Queues())
		assert.Equal(t, 201, api.send("PUT", "queues/%2F/q", `{"node":"rabbit@here"}`).status)
		if isOld {
			assert.Equal(t, 201, api.send("PUT", "queues/%2F/short", `{"node":"rabbit"}`).status)
		}
	}
}

// The numbers among the properties of a message that is published may have any size, and are no texts.
func TestNumbersOfPublishedProperties(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	q, err := b.DeclareQueue("q", leveret.QueueConfig{})
	require.NoError(t, err)
	api := direct{t, mgmt.Handler(b)}
	publish := func(properties string) any {
		body, err := json.Marshal(map[string]any{"routing_key": "q", "payload": "m", "payload_encoding": "string",
			"properties": json.RawMessage(properties)})
		require.NoError(t, err)
		return api.send("POST", "exchanges/%2F/amq.default/publish", string(body)).body
	}
	for given, want := range map[string]uint8{"300": 44, "256": 0, "-1": 255, "-300": 212, "99999999999999999999": 255} {
		assert.Equal(t, map[string]any{"routed": true}, publish(`{"priority":`+given+`}`))
		d, ok, err := q.Get()
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, want, d.Properties.Priority, given)
		assert.Equal(t, leveret.PropPriority, d.Properties.Has(), given)
	}
	for _, key := range []string{"priority", "delivery_mode", "timestamp"} {
		for _, given := range []string{`"5"`, "1.0", "1e3", "null", "true"} {
			assert.Equal(t, map[string]any{"error": "bad_request", "reason": []any{"not_int", key}}, publish(`{"`+key+`":`+given+`}`))
		}
	}
	assert.Equal(t, map[string]any{"error": "bad_request", "reason": []any{"not_string", "content_type"}}, publish(`{"content_type":null}`))
}
