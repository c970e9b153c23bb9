package mgmt_test

import (
	"net/http"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// As RabbitMQ 4.3.6 answered with default_queue_type = quorum.
// Rules: A-20.
func TestDefaultQueueTypeOfTheNode(t *testing.T) {
	b := leveret.New(leveret.WithDefaultQueueType(leveret.QueueTypeQuorum))
	defer b.Close()
	api := direct{t, mgmt.Handler(b)}
	json := func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }
	assert.Equal(t, "quorum", api.at("overview", "default_queue_type"))
	assert.Equal(t, "quorum", api.at("vhosts/%2F", "default_queue_type"))
	for _, c := range []struct{ method, path, body, vhost, want string }{
		{"PUT", "vhosts/a", `{}`, "a", "quorum"},
		{"PUT", "vhosts/b", `{"default_queue_type":"undefined"}`, "b", "quorum"},
		{"PUT", "vhosts/c", `{"default_queue_type":null}`, "c", "quorum"},
		{"PUT", "vhosts/d", `{"default_queue_type":"classic"}`, "d", "classic"},
		{"PUT", "vhosts/d", `{"description":"x"}`, "d", "quorum"},
		{"POST", "definitions", `{"vhosts":[{"name":"e"}]}`, "e", "quorum"},
		{"POST", "definitions", `{"vhosts":[{"name":"f","metadata":{"default_queue_type":"undefined"}}]}`, "f", "quorum"},
		{"POST", "definitions", `{"vhosts":[{"name":"g","metadata":{"description":"d"}}]}`, "g", "quorum"},
		{"POST", "definitions", `{"vhosts":[{"name":"h","default_queue_type":"classic"}]}`, "h", "quorum"},
		{"POST", "definitions", `{"vhosts":[{"name":"h","metadata":{"default_queue_type":"classic"}}]}`, "h", "classic"},
		{"POST", "definitions", `{"vhosts":[{"name":"h"}]}`, "h", "quorum"},
	} {
		require.Less(t, api.send(c.method, c.path, c.body, json).status, 300, c.body)
		assert.Equal(t, c.want, api.at("vhosts/"+c.vhost, "default_queue_type"), "%s %s", c.path, c.body)
	}
	for name, c := range map[string]struct{ body, want string }{
		"durable":   {`{"durable":true}`, "quorum"},
		"transient": {`{"durable":false}`, "classic"},
		"deleted":   {`{"durable":true,"auto_delete":true}`, "classic"},
	} {
		require.Less(t, api.send("PUT", "queues/%2F/"+name, c.body, json).status, 300, c.body)
		assert.Equal(t, c.want, api.at("queues/%2F/"+name, "type"), c.body)
	}
}
