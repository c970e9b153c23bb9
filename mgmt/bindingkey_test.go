package mgmt_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bound makes a binding and returns where it is said to be.
func (d direct) bound(path, body string) string {
	r := d.send("POST", "bindings/"+path, body)
	require.Equal(d.t, 201, r.status, "%s %s: %v", path, body, r.body)
	return r.header.Get("Location")
}

// The hashes of arguments are those of the live brokers.
func TestPropertiesKeys(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		api := direct{t, mgmt.Handler(b)}
		api.send("PUT", "queues/%2F/q", `{"durable":true}`)
		for arguments, key := range map[string]string{
			`{}`: "k", `{"a":1}`: "k~Ajat_Q", `{"a":"text"}`: "k~2XPJ9A", `{"a":true}`: "k~a2lJKQ", `{"a":false}`: "k~jVo0GA",
			`{"a":1.5}`: "k~yo4NAg", `{"a":1.0}`: "k~j6r3_g", `{"a":1e3}`: "k~-V6iIQ", `{"a":0.0}`: "k~ciQPWQ",
			`{"a":{}}`: "k~JBz3JQ", `{"a":[]}`: "k~jkxtaQ",
			`{"a":{"z":1,"b":{"c":[1,"x",true,2.5,{"y":1}]}}}`: "k~VciB1Q",
			`{"z":1,"b":2,"a":"é"}`:                            "k~Cvq3OA",
			`{"z":1,"b":[],"a":"é"}`:                           "k~WU8_7Q",
			`{"a":-1}`:                                         "k~ElVmZA",
			`{"a":134217727}`:                                  "k~rEKsPQ",
			`{"a":134217728}`:                                  "k~b_w2HQ",
			`{"a":-134217728}`:                                 "k~qcwLvg",
			`{"a":-134217729}`:                                 "k~VfHuLA",
			`{"a":4294967296}`:                                 "k~3hsLKA",
			`{"a":9223372036854775807}`:                        "k~vTONBA",
			`{"a":-9223372036854775808}`:                       "k~1LcwLA",
			`{"a":9223372036854775808}`:                        "k~prSi8Q",
			`{"a":99999999999999999999}`:                       "k~MEWAbw",
		} {
			for destination, name := range map[string]string{"q/q": "q", "e/amq.topic": "amq.topic"} {
				path := "%2F/e/amq.direct/" + destination
				assert.Equal(t, name+"/"+key, api.bound(path, `{"routing_key":"k","arguments":`+arguments+`}`), arguments)
				list := api.at("bindings/" + path).([]any)
				require.Len(t, list, 1)
				assert.Equal(t, key, list[0].(map[string]any)["properties_key"], arguments)
				assert.Equal(t, 204, api.send("DELETE", "bindings/"+path+"/"+key, "").status, arguments)
				assert.Empty(t, api.at("bindings/"+path))
			}
		}
	}
}

// The hash covers the AMQP types of arguments. The values are those of erlang:phash2 for RabbitMQ's own form of them.
func TestPropertiesKeysOfAllTypes(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b)}
	q, err := b.DeclareQueue("q", leveret.QueueConfig{})
	require.NoError(t, err)
	for _, c := range []struct {
		arguments leveret.Table
		key       string
	}{
		{leveret.Table{"a": int8(-128)}, "k~nGwjMA"}, {leveret.Table{"a": uint8(255)}, "k~c50fmQ"}, {leveret.Table{"a": int16(-5)}, "k~Lpi3iQ"},
		{leveret.Table{"a": uint16(5)}, "k~ArtXuQ"}, {leveret.Table{"a": int32(1)}, "k~rnJaMg"}, {leveret.Table{"a": uint32(4294967295)}, "k~Z_r-oQ"},
		{leveret.Table{"a": float32(0.5)}, "k~X026LA"}, {leveret.Table{"a": leveret.Decimal{Scale: 2, Value: -1}}, "k~LdHYYQ"},
		{leveret.Table{"a": time.Unix(-1, 0)}, "k~vy14xw"}, {leveret.Table{"a": []byte{0, 1}}, "k~P1VyZQ"}, {leveret.Table{"a": nil}, "k~OfJhaA"},
	} {
		require.NoError(t, q.Bind("amq.direct", "k", c.arguments))
		list := api.at("queues/%2F/q/bindings").([]any)
		require.Len(t, list, 2)
		assert.Equal(t, c.key, list[1].(map[string]any)["properties_key"], "%v", c.arguments)
		require.NoError(t, q.Unbind("amq.direct", "k", c.arguments))
	}
}

// RabbitMQ makes a binding with arguments and a tilde in its routing key, and fails at showing it.
func TestTildeBeforeAHash(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b)}
	api.send("PUT", "queues/%2F/q", `{"durable":true}`)
	path := "bindings/%2F/e/amq.direct/q/q"
	assert.Equal(t, "q/a%257Eb", api.bound("%2F/e/amq.direct/q/q", `{"routing_key":"a~b"}`))
	assert.Equal(t, 500, api.send("POST", path, `{"routing_key":"a~b","arguments":{"a":1}}`).status)
	for _, failing := range []string{path, path + "/a%257Eb~Ajat_Q", "queues/%2F/q/bindings", "bindings/%2F"} {
		r := api.send("GET", failing, "")
		assert.Equal(t, 500, r.status, failing)
		assert.Nil(t, r.body, failing)
	}
	assert.Equal(t, 200, api.send("GET", path+"/a%257Eb", "").status)
	assert.Equal(t, 200, api.send("GET", "bindings/%2F/e/amq.topic/q/q", "").status)
	assert.Equal(t, 204, api.send("DELETE", path+"/a%257Eb~Ajat_Q", "").status)
	assert.Equal(t, 200, api.send("GET", path, "").status)
}

// Location is relative to the path of the request. RabbitMQ compares the names as it writes them itself.
func TestLocationsOfBindings(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		api := direct{t, mgmt.Handler(b)}
		for _, name := range []string{"v", "v%20%C3%A9"} {
			assert.Equal(t, 201, api.send("PUT", "vhosts/"+name, "{}").status)
			assert.Equal(t, 201, api.send("PUT", "exchanges/"+name+"/x%20%C3%A9", `{"type":"topic"}`).status)
			assert.Equal(t, 201, api.send("PUT", "queues/"+name+"/q%2F%2a", `{}`).status)
		}
		api.send("PUT", "queues/%2F/q", `{}`)
		for _, c := range []struct{ path, body, location string }{
			{"%2F/e/amq.topic/q/q", `{"routing_key":"k"}`, "q/k"},
			{"%2f/e/amq.topic/q/q", `{"routing_key":"k"}`, "../../../../%2F/e/amq.topic/q/q/k"},
			{"%2F/e/amq.topic/q/q", `{}`, "q/~"},
			{"%2F/e/amq.topic/q/q/", `{}`, "q/~"},
			{"%2F/e/amq.topic/q/q?x=y", `{"routing_key":"k/2"}`, "q/k%252F2"},
			{"v%20%C3%A9/e/amq.topic/q/q%2F%2A", `{"routing_key":"k","arguments":{"a":1}}`,
				"../../../../v+%C3%A9/e/amq.topic/q/q%2F%2A/k~Ajat_Q"},
			{"v/e/x%20%C3%A9/q/q%2F%2a", `{"routing_key":"k"}`, "../../x+%C3%A9/q/q%2F%2A/k"},
			{"v/e/x%20%C3%A9/q/q%2F*", `{"routing_key":"k é/+"}`, "../../x+%C3%A9/q/q%2F%2A/k%2B%25C3%25A9%252F%252B"},
			{"v/e/x%20%C3%A9/e/amq%2Edirect", `{"routing_key":"k","arguments":{"a":1}}`, "../../x+%C3%A9/e/amq.direct/k~Ajat_Q"},
			{"v/e/amq.topic/e/amq%2Edirect", `{"routing_key":"k~/"}`, "amq.direct/k%257E%252F"},
			{"%76/e/amq.topic/e/amq.direct", `{"routing_key":"k~/"}`, "../../../../v/e/amq.topic/e/amq.direct/k%257E%252F"},
		} {
			assert.Equal(t, c.location, api.bound(c.path, c.body), c.path)
		}
	}
}

// Which binding the last segment of a path means. A client may have quoted the routing key once or twice, or for a query.
func TestKeysInPaths(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b)}
	const path = "bindings/%2F/e/amq.topic/q/q"
	api.send("PUT", "queues/%2F/q", `{}`)
	for _, key := range []string{"a.#", "k b", "x/y", "t~u", "p+q", "é", "50%25", "%41", "", "plain", "A"} {
		body, err := json.Marshal(map[string]string{"routing_key": key})
		require.NoError(t, err)
		require.Equal(t, 201, api.send("POST", path, string(body)).status)
	}
	require.Equal(t, 201, api.send("POST", path, `{"routing_key":"arg","arguments":{"a":1}}`).status)
	const missing = "(none)"
	for segment, want := range map[string]string{
		"a.%23": "a.#", "a.%2523": "a.#", "k%20b": "k b", "k+b": "k b", "k%2520b": "k b", "k%2Bb": "k b", "x%2Fy": "x/y", "x%252Fy": "x/y",
		"t~u": missing, "t%7Eu": missing, "t%257Eu": "t~u", "p+q": missing, "p%252Bq": "p+q", "%C3%A9": "é", "%25C3%25A9": "é", "50%25": missing,
		"50%252525": "50%25", "%2541": "A", "%252541": "%41", "~": "", "%7E": "", "plain": "plain", "%41": "A", "arg~Ajat_Q": "arg",
		"arg%7EAjat_Q": "arg", "arg": missing, "plain~": "plain", "plain~x": missing, "~~": missing, "plain~~": missing, "%E9": missing,
	} {
		got := missing
		if r := api.send("GET", path+"/"+segment, ""); r.status == 200 {
			got = r.body.(map[string]any)["routing_key"].(string)
		}
		assert.Equal(t, want, got, segment)
	}
}
