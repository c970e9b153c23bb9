package definitions_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A document as a RabbitMQ with streams and plugins exports it: what leveret has is imported, the rest is told.
func TestImportLeavesOutWhatIsNotSupported(t *testing.T) {
	const document = `{
	 "vhosts":[{"name":"v","metadata":{"description":"d","default_queue_type":"stream"}}],
	 "exchanges":[
	  {"name":"hash","vhost":"v","type":"x-consistent-hash"},
	  {"name":"mod","vhost":"v","type":"x-modulus-hash"},
	  {"name":"topic","vhost":"v","type":"topic","durable":true}],
	 "queues":[
	  {"name":"log","vhost":"v","durable":true,"auto_delete":false,"arguments":{"x-queue-type":"stream"}},
	  {"name":"q","vhost":"v","durable":true,"auto_delete":false,"arguments":{}}],
	 "topic_permissions":[
	  {"user":"guest","vhost":"v","exchange":"hash","write":"","read":""},
	  {"user":"guest","vhost":"v","exchange":"topic","write":"","read":""}],
	 "parameters":[
	  {"component":"shovel","vhost":"v","name":"s","value":{}},
	  {"component":"operator_policy","vhost":"v","name":"o","value":{"pattern":"","apply-to":"streams","definition":{"max-length-bytes":1},"priority":0}},
	  {"component":"operator_policy","vhost":"v","name":"kept","value":{"pattern":"","definition":{"max-length":1},"priority":0}}],
	 "policies":[
	  {"vhost":"v","name":"fed","pattern":"","definition":{"federation-upstream-set":"all"}},
	  {"vhost":"v","name":"kept","pattern":"","definition":{"max-length":1}}],
	 "bindings":[
	  {"source":"hash","vhost":"v","destination":"q","destination_type":"queue","routing_key":"1"},
	  {"source":"topic","vhost":"v","destination":"hash","destination_type":"exchange","routing_key":"1"},
	  {"source":"topic","vhost":"v","destination":"log","destination_type":"queue","routing_key":"1"},
	  {"source":"topic","vhost":"v","destination":"q","destination_type":"queue","routing_key":"1"}]}`
	for _, c := range []struct {
		profile leveret.Profile
		leftOut []string
	}{
		{leveret.RabbitMQ43, []string{
			"exchanges[0] 'hash': there are no exchanges of type 'x-consistent-hash'",
			"queues[0] 'log': there are no streams",
			"vhosts[0] 'v': there are no streams; the default queue type stays as it is",
			"topic_permissions[0] 'guest': exchange 'hash' is left out",
			"parameters[0] 's': there is no plugin for parameters of component 'shovel'",
			"parameters[1] 'o': there are no streams",
			"policies[0] 'fed': there is no plugin for 'federation-upstream-set'",
			"bindings[0] 'hash -> q': exchange 'hash' is left out",
			"bindings[1] 'topic -> hash': exchange 'hash' is left out",
			"bindings[2] 'topic -> log': queue 'log' is left out",
		}},
		{leveret.RabbitMQ310, []string{
			"exchanges[0] 'hash': there are no exchanges of type 'x-consistent-hash'",
			"exchanges[1] 'mod': there are no exchanges of type 'x-modulus-hash'",
			"queues[0] 'log': there are no streams",
			"vhosts[0] 'v': there are no streams; the default queue type stays as it is",
			"topic_permissions[0] 'guest': exchange 'hash' is left out",
			"parameters[0] 's': there is no plugin for parameters of component 'shovel'",
			"parameters[1] 'o': there are no streams",
			"policies[0] 'fed': there is no plugin for 'federation-upstream-set'",
			"bindings[0] 'hash -> q': exchange 'hash' is left out",
			"bindings[1] 'topic -> hash': exchange 'hash' is left out",
			"bindings[2] 'topic -> log': queue 'log' is left out",
		}},
	} {
		b := leveret.New(leveret.WithProfile(c.profile))
		defer b.Close()
		require.Error(t, definitions.Import(b, []byte(document)))
		leftOut, err := definitions.ImportSupported(b, []byte(document))
		require.NoError(t, err)
		var said []string
		for _, e := range leftOut {
			assert.ErrorIs(t, e, leveret.ErrNotImplemented)
			said = append(said, e.Error())
		}
		assert.Equal(t, c.leftOut, said)
		v, err := b.VHost("v")
		require.NoError(t, err)
		assert.Len(t, v.Queues(), 1)
		assert.Len(t, v.Policies(), 1)
		assert.Len(t, v.OperatorPolicies(), 1)
		assert.Len(t, v.Bindings(), 2, "the default exchange's and the topic exchange's")
		assert.Equal(t, "d", v.Info().Description)
		assert.Equal(t, leveret.QueueType(leveret.QueueTypeClassic), v.Info().DefaultQueueType)
	}
}

// What is refused for another reason still changes nothing.
func TestImportSupportedChangesAllOrNothing(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	leftOut, err := definitions.ImportSupported(b, []byte(`{"queues":[{"name":"log","vhost":"/","arguments":{"x-queue-type":"stream"}},
		{"name":"a","vhost":"/"},{"name":"b","vhost":"/","arguments":{"x-max-length":-1}}]}`))
	require.ErrorIs(t, err, leveret.ErrPreconditionFailed)
	assert.Len(t, leftOut, 1)
	assert.Empty(t, b.Queues())
	_, err = definitions.ImportSupported(b, []byte(`{`))
	assert.Error(t, err)
}
