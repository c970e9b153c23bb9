package definitions_test

import (
	"fmt"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestErrorNamesTheEntry(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	err := definitions.Import(b, []byte(`{"queues":[{"name":"a","vhost":"/"},{"name":"b","vhost":"/","arguments":{"x-max-length":"s"}}]}`))
	var e *definitions.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, []any{"queues", 1, "b"}, []any{e.Section, e.Index, e.Name})
	require.ErrorIs(t, err, leveret.ErrPreconditionFailed)
	assert.Equal(t, `precondition_failed: invalid arg 'x-max-length' for queue 'b' in vhost '/': "expected integer, got longstr"`, explanation(t, err))

	require.ErrorAs(t, definitions.Import(b, []byte(`{"queues":5}`)), &e)
	assert.Equal(t, []any{"queues", -1, ""}, []any{e.Section, e.Index, e.Name})
}

func TestSyntaxErrorNamesThePlace(t *testing.T) {
	for _, c := range []struct {
		document     string
		line, column int
	}{
		{"", 1, 1},
		{"[]", 1, 1},
		{"null", 1, 1},
		{"x", 1, 1},
		{"{\"é\":x}", 1, 6},
		{"{\n\n  \"queues\": [,]}", 3, 14},
		{"{} {}", 1, 4},
		{"{\n\"é\":1e400}", 2, 10},
		{"{\n\"é\":\"\xff\"}", 2, 6},
		{`{"\ud800":1}`, 1, 3},
	} {
		_, err := definitions.Parse([]byte(c.document))
		var e *definitions.SyntaxError
		require.ErrorAs(t, err, &e, c.document)
		assert.Equal(t, []int{c.line, c.column}, []int{e.Line, e.Column}, "%q", c.document)
		assert.ErrorIs(t, err, leveret.ErrPreconditionFailed)
		assert.Contains(t, explanation(t, err), "failed_to_parse_json: ")
	}
}

// 3.10 takes octets that are no UTF-8, and both releases a byte order mark.
func TestDocumentsThatAreTaken(t *testing.T) {
	for document, profile := range map[string]leveret.Profile{
		"\ufeff{}":                leveret.RabbitMQ43,
		"\ufeff {}":               leveret.RabbitMQ310,
		"{\"a\":\"\xff\\udc00\"}": leveret.RabbitMQ310,
	} {
		b := leveret.New(leveret.WithProfile(profile))
		assert.NoError(t, definitions.Import(b, []byte(document)), "%q", document)
		b.Close()
	}
}

func TestImportIntoAClosedBroker(t *testing.T) {
	b := leveret.New()
	require.NoError(t, b.Close())
	assert.ErrorIs(t, definitions.Import(b, []byte(`{"queues":[{"name":"q","vhost":"/"}]}`)), leveret.ErrClosed)
}

// A binding to a queue whose name the broker made up is rehearsed like any other.
func TestBindingToAGeneratedName(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	q, err := b.DeclareQueue("", leveret.QueueConfig{Durable: true})
	require.NoError(t, err)
	const document = `{"users":[{"name":"new","tags":[]}],"bindings":[{"source":%q,"vhost":"/","destination":%q,"destination_type":"queue","arguments":{"x-match":%q}}]}`
	for _, c := range []struct{ source, destination, match, want string }{
		{"amq.headers", q.Name(), "some", "precondition_failed: Invalid x-match field value <<\"some\">>; expected all, any, all-with-x, or any-with-x"},
		{"nowhere", q.Name(), "all", `{resources_missing,[{not_found,{resource,<<"/">>,exchange,<<"nowhere">>}}]}`},
		{"amq.headers", "amq.gen-none", "all", `{resources_missing,[{not_found,{resource,<<"/">>,queue,<<"amq.gen-none">>}}]}`},
	} {
		err := definitions.Import(b, fmt.Appendf(nil, document, c.source, c.destination, c.match))
		require.Error(t, err)
		assert.Equal(t, c.want, explanation(t, err))
		_, err = b.User("new")
		assert.ErrorIs(t, err, leveret.ErrNotFound, "nothing has changed")
	}
	require.NoError(t, definitions.Import(b, fmt.Appendf(nil, document, "amq.headers", q.Name(), "any")))
	assert.Len(t, b.Bindings(), 2)
}
