package mgmt_test

import (
	"net/http"
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

// A form may have the document without the name of a file. One without the document is none. RabbitMQ 4.3 and 3.10 agree.
func TestFormsOfDefinitions(t *testing.T) {
	part := func(head, body string) string {
		return "--BB\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + body + "\r\n--BB--\r\n"
	}
	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b)}
	for _, c := range []struct {
		form   string
		status int
	}{
		{part(`name="file"`, `{"vhosts":[{"name":"a"}]}`), 204},
		{part(`name="file"; filename="x.json"`, `{"vhosts":[{"name":"b"}]}`), 204},
		{part(`name="file"`, ""), 204},
		{part(`name="file"`, `{"vhosts":`), 400},
		{part(`name="other"; filename="x.json"`, `{"vhosts":[]}`), 400},
		{"--BB--\r\n", 400},
	} {
		got := api.send("POST", "definitions", c.form,
			func(r *http.Request) { r.Header.Set("Content-Type", "multipart/form-data; boundary=BB") })
		assert.Equal(t, c.status, got.status, c.form)
	}
	assert.Len(t, b.VHosts(), 3)
}
