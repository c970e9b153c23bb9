package definitions_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What RabbitMQ says of a document that is imported into one virtual host. The mistake that it tells of is that of the
// section which comes first: exchanges, parameters, policies, queues, bindings.
// Rules: J-8, J-9.
func TestImportVHostTellsTheFirstMistake(t *testing.T) {
	const (
		exchange  = `"exchanges":[{"name":"e","type":"no"}]`
		parameter = `"parameters":[{"component":"x","name":"n","value":{}}]`
		policy    = `"policies":[{"name":"p","pattern":1,"definition":{"max-length":1}}]`
		queue     = `"queues":[{"name":"q","durable":true,"auto_delete":false,"arguments":{"x-max-length":-1}}]`
		binding   = `"bindings":[{"source":"a","destination":"b","destination_type":"queue","routing_key":"","arguments":{}}]`
	)
	for document, want := range map[string]string{
		binding + "," + queue + "," + policy + "," + parameter + "," + exchange:                             "invalid exchange type 'no'",
		binding + "," + queue + "," + policy + "," + parameter:                                              "component x not found",
		binding + "," + queue + "," + policy:                                                                "pattern should be a binary",
		binding + "," + queue:                                                                               "invalid arg 'x-max-length'",
		`"vhosts":5,"users":[{"name":1}],"permissions":[{}],"global_parameters":8,"topic_permissions":null`: "",
		`"exchanges":[{"name":"e","type":""}]`:                                                              "invalid exchange type ''",
		`"exchanges":[{"name":"e","type":null}]`:                                                            "invalid exchange type 'null'",
		`"exchanges":[{"name":"e"}]`:                                                                        "invalid exchange type 'undefined'",
		`"policies":[{"name":"p","pattern":"x","apply-to":"","definition":{"max-length":1}}]`:               "apply-to '' unrecognised",
		`"policies":[{"name":"","pattern":"x","definition":{"max-length":1}}]`:                              "",
		`"parameters":[{"component":"operator_policy","name":"","value":{"pattern":"x","definition":{"max-length":1},"priority":0}}]`: "",
	} {
		b := leveret.New()
		v, err := b.VHost("/")
		require.NoError(t, err)
		err = definitions.ImportVHost(v, []byte("{"+document+"}"))
		if want == "" {
			assert.NoError(t, err, document)
		} else {
			assert.ErrorContains(t, err, want, document)
		}
		b.Close()
	}
}

// Of a whole import it is the other way round with parameters and policies.
// Rules: J-8.
func TestImportTellsTheFirstMistake(t *testing.T) {
	const (
		policy    = `"policies":[{"vhost":"/","name":"p","pattern":"x","apply-to":"foo","definition":{"max-length":1}}]`
		parameter = `"parameters":[{"vhost":"/","component":"x","name":"n","value":1}]`
		queue     = `"queues":[{"vhost":"/","name":"q","durable":true,"auto_delete":false,"arguments":{"x-max-length":-1}}]`
	)
	for document, want := range map[string]string{
		queue + "," + parameter + "," + policy: "apply-to 'foo' unrecognised",
		queue + "," + parameter:                "component x not found",
		queue:                                  "invalid arg 'x-max-length'",
	} {
		b := leveret.New()
		assert.ErrorContains(t, definitions.Import(b, []byte("{"+document+"}")), want)
		b.Close()
	}
}

// A global parameter without a value has the value that RabbitMQ shows then. Numbers are as RabbitMQ writes them.
// Rules: J-10.
func TestGlobalParametersAsRabbitMQWritesThem(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	require.NoError(t, definitions.Import(b, []byte(`{"global_parameters":[{"name":"a"},{"name":"b","value":{"z":1e5,"y":null}}]}`)))
	got := b.GlobalParameters()
	require.Len(t, got, 2)
	assert.Equal(t, `"undefined"`, string(got[0].Value))
	assert.Equal(t, `{"y":null,"z":1.0e5}`, string(got[1].Value))
}
