package mgmt_test

import (
	"encoding/json"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// PUT of a virtual host turns its firehose on and off; a body that does not mention it leaves it as it is. The Terraform
// provider says so with each virtual host.
func TestTracing(t *testing.T) {
	b, a, _ := newAPI(t)
	tracing := func() any { return a.object("vhosts/traced")["tracing"] }
	put := func(body string) int { return a.do("PUT", "vhosts/traced", body).status }

	assert.Equal(t, 201, put(`{"tracing":true}`))
	assert.Equal(t, true, tracing())
	v, err := b.VHost("traced")
	require.NoError(t, err)
	trace, err := v.DeclareQueue("trace", leveret.QueueConfig{})
	require.NoError(t, err)
	require.NoError(t, trace.Bind("amq.rabbitmq.trace", "#", nil))
	require.Equal(t, 200, a.do("POST", "exchanges/traced/amq.topic/publish",
		`{"routing_key":"k","payload":"p","payload_encoding":"string","properties":{}}`).status)
	copied, ok, err := trace.Get()
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, []any{"publish.amq.topic", "p", nodeName}, []any{copied.RoutingKey, string(copied.Body), copied.Headers["node"]})

	assert.Equal(t, 204, put(`{"description":"x"}`))
	assert.Equal(t, true, tracing())
	assert.Equal(t, 204, put(`{"tracing":"false"}`))
	assert.Equal(t, false, tracing())

	refused := a.do("PUT", "vhosts/other", `{"tracing":"maybe"}`)
	said, err := json.Marshal(refused.body)
	require.NoError(t, err)
	assert.Equal(t, 400, refused.status)
	assert.JSONEq(t, `{"error":"bad_request","reason":["not_boolean","maybe"]}`, string(said))
	assert.Equal(t, 404, a.do("GET", "vhosts/other", nil).status, "a refused PUT makes no virtual host")

	assert.Equal(t, 204, put(`{"tracing":true}`))
	assert.Equal(t, 204, a.do("DELETE", "vhosts/traced", nil).status)
	assert.Equal(t, 201, put(`{}`))
	assert.Equal(t, true, tracing(), "a virtual host of the same name is traced again")
	assert.Equal(t, 204, put(`{"tracing":false}`))
}
