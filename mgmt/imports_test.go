package mgmt_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What comes by an import over the API is made by the user who sends it, and what a program imports by the broker. What
// exists stays somebody else's, and what has the name later is not the user's.
func TestWhoMadeWhatIsImported(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b)}
	require.NoError(t, definitions.Import(b, []byte(`{"exchanges":[{"name":"file","vhost":"/","type":"fanout","durable":true,"auto_delete":false,"arguments":{}}]}`)))
	maker := func(exchange string) any { return api.at("exchanges/%2F/"+exchange, "user_who_performed_action") }
	document := func(exchange, queue string) string {
		return `{"exchanges":[{"name":"file","vhost":"/","type":"fanout","durable":true,"auto_delete":false,"arguments":{}},` +
			`{"name":"` + exchange + `","vhost":"/","type":"fanout","durable":true,"auto_delete":false,"arguments":{}}],` +
			`"queues":[{"name":"` + queue + `","vhost":"/","durable":true,"auto_delete":false,"arguments":{}}]}`
	}
	assert.Equal(t, 204, api.send("POST", "definitions", document("all", "q1"), sentAsJSON).status)
	assert.Equal(t, 204, api.send("POST", "definitions/%2F", document("part", "q2"), sentAsJSON).status)
	assert.Equal(t, []any{"rmq-internal", "guest", "guest"}, []any{maker("file"), maker("all"), maker("part")})
	var names []any
	for _, q := range api.send("GET", "users/guest/queues", "").body.([]any) {
		names = append(names, q.(map[string]any)["name"])
	}
	assert.Equal(t, []any{"q1", "q2"}, names)

	require.NoError(t, b.DeleteExchange("all", leveret.DeleteConfig{}))
	_, err := b.DeclareExchange("all", leveret.Fanout, leveret.ExchangeConfig{})
	require.NoError(t, err)
	assert.Equal(t, "rmq-internal", maker("all"))
}
