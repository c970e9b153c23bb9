package mgmt_test

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// body returns an answer.
func (d direct) body(path string) []byte {
	req := httptest.NewRequest("GET", "/api/"+path, nil)
	req.RemoteAddr = "127.0.0.1:50000"
	req.SetBasicAuth("guest", "guest")
	rec := httptest.NewRecorder()
	d.ServeHTTP(rec, req)
	require.Equal(d.t, 200, rec.Code, path)
	return rec.Body.Bytes()
}

// raw returns the members of an answer as JSON has them; of a list those of its first item.
func (d direct) raw(path string) (o map[string]json.RawMessage) {
	data := d.body(path)
	if data[0] == '[' {
		var all []json.RawMessage
		require.NoError(d.t, json.Unmarshal(data, &all))
		require.NotEmpty(d.t, all, path)
		data = all[0]
	}
	require.NoError(d.t, json.Unmarshal(data, &o))
	return o
}

// memberNames returns the names of the members of an answer, or of the first item of a list.
func (d direct) memberNames(path string) []string { return slices.Sorted(maps.Keys(d.raw(path))) }

// members returns those of the names that there are, with their values as JSON has them.
func members(o map[string]json.RawMessage, names ...string) map[string]string {
	found := map[string]string{}
	for _, name := range names {
		if value, ok := o[name]; ok {
			found[name] = string(value)
		}
	}
	return found
}

// busyBroker has a queue q with three messages, of which one is persistent, and a consumer of the queue busy.
func busyBroker(t *testing.T, profile leveret.Profile) (*leveret.Broker, direct) {
	b := leveret.New(leveret.WithProfile(profile))
	q, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
	require.NoError(t, err)
	for i := range 3 {
		_, err = b.Publish("", q.Name(), leveret.Message{Body: []byte("abc"), Properties: &leveret.Properties{
			DeliveryMode: uint8(i%2 + 1), Timestamp: time.Unix(1700000000+int64(i), 0)}})
		require.NoError(t, err)
	}
	conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Name: "own"})
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.DeclareQueue("busy", leveret.QueueConfig{})
	require.NoError(t, err)
	_, err = ch.Consume("busy", leveret.ConsumeConfig{Tag: "c"})
	require.NoError(t, err)
	return b, direct{t, mgmt.Handler(b)}
}

// Members that only one release tells, of a queue, a consumer, a channel and a connection.
func TestMembersOfEachRelease(t *testing.T) {
	for profile, has := range map[leveret.Profile]bool{leveret.RabbitMQ43: true, leveret.RabbitMQ310: false} {
		b, api := busyBroker(t, profile)
		defer b.Close()
		told := func(path, name string) bool {
			_, ok := api.raw(path)[name]
			return ok
		}
		for _, path := range []string{"queues/%2F", "queues/%2F/q"} {
			for _, name := range []string{"internal", "internal_owner", "storage_version"} {
				assert.Equal(t, has, told(path, name), path+" "+name)
			}
			for _, name := range []string{"backing_queue_status", "messages_paged_out", "message_bytes_paged_out", "recoverable_slaves"} {
				assert.Equal(t, !has, told(path, name), path+" "+name)
			}
		}
		assert.Equal(t, has, told("consumers/%2F", "consumer_timeout"))
		assert.Equal(t, has, told("channels/own%20(1)", "cached_segments"))
		assert.Equal(t, has, told("vhosts/%2F/connections", "peer_cert_serial_number"))
		assert.True(t, told("exchanges/%2F", "internal"))
	}
}

// 3.10 tells of the mirrors of a queue that a policy mirrors. An exclusive queue has none, and only a durable one has mirrors to recover.
func TestMirrors(t *testing.T) {
	b, api := busyBroker(t, leveret.RabbitMQ310)
	defer b.Close()
	require.NoError(t, b.SetPolicy(leveret.Policy{Name: "ha", Pattern: "^(q|transient|own)$", Definition: leveret.Table{"ha-mode": "all"}}))
	for name, cfg := range map[string]leveret.QueueConfig{"transient": {}, "own": {Durable: true, Exclusive: true}, "other": {Durable: true}} {
		_, err := b.DeclareQueue(name, cfg)
		require.NoError(t, err)
	}
	for name, want := range map[string]struct{ nodes, recoverable, seen string }{
		"q": {"[]", "[]", "0"}, "transient": {"[]", "null", "0"}, "own": {"", "null", ""}, "other": {"", "null", ""},
	} {
		q := api.raw("queues/%2F/" + name)
		assert.Equal(t, want.nodes, string(q["slave_nodes"]), name)
		assert.Equal(t, want.nodes, string(q["synchronised_slave_nodes"]), name)
		assert.Equal(t, want.recoverable, string(q["recoverable_slaves"]), name)
		var status map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(q["backing_queue_status"], &status))
		assert.Equal(t, want.seen, string(status["mirror_seen"]), name)
		assert.Equal(t, want.nodes, string(api.raw("queues/%2F/" + name + "?disable_stats=true")["slave_nodes"]), name)
	}
}

// 3.10 tells how a classic queue keeps its messages.
func TestBackingQueueStatus(t *testing.T) {
	b, api := busyBroker(t, leveret.RabbitMQ310)
	defer b.Close()
	assert.JSONEq(t, `{"avg_ack_egress_rate": 0.0, "avg_ack_ingress_rate": 0.0, "avg_egress_rate": 0.0, "avg_ingress_rate": 0.0,
		"delta": ["delta", "undefined", 0, 0, "undefined"], "len": 3, "mode": "default", "next_deliver_seq_id": 0, "next_seq_id": 3,
		"q1": 0, "q2": 0, "q3": 0, "q4": 3, "target_ram_count": "infinity", "version": 1}`, string(api.raw("queues/%2F/q")["backing_queue_status"]))

	for name, want := range map[string]struct {
		arguments leveret.Table
		status    map[string]string
	}{
		"two priorities": {leveret.Table{"x-max-priority": uint8(1), "x-queue-version": int64(2)},
			map[string]string{"priority_lengths": `{"0":1,"1":2}`, "version": "4", "delta": `["delta","todo","todo","todo","todo"]`, "mode": `"default"`}},
		"one priority": {leveret.Table{"x-max-priority": 0, "x-queue-mode": "lazy"},
			map[string]string{"priority_lengths": `{"0":3}`, "version": "1", "delta": `["delta","undefined",0,0,"undefined"]`, "mode": `"lazy"`}},
		"by policy": {nil, map[string]string{"version": "2", "mode": `"lazy"`}},
	} {
		require.NoError(t, b.SetPolicy(leveret.Policy{Name: "p", Pattern: "^by policy$", Definition: leveret.Table{"queue-mode": "lazy", "queue-version": 2}}))
		_, err := b.DeclareQueue(name, leveret.QueueConfig{Durable: true, Arguments: want.arguments})
		require.NoError(t, err)
		for i := range 3 {
			_, err = b.Publish("", name, leveret.Message{Properties: &leveret.Properties{Priority: uint8(i)}})
			require.NoError(t, err)
		}
		var status map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(api.raw("queues/%2F/" + url.PathEscape(name))["backing_queue_status"], &status))
		for member, value := range want.status {
			assert.JSONEq(t, value, string(status[member]), name+" "+member)
		}
	}
}

// What RabbitMQ computes has a point. Without consumers nothing is computed.
func TestDecimals(t *testing.T) {
	b, api := busyBroker(t, leveret.RabbitMQ43)
	defer b.Close()
	names := []string{"consumer_capacity", "consumer_utilisation", "messages_details"}
	assert.Equal(t, map[string]string{"consumer_capacity": "1.0", "consumer_utilisation": "1.0", "messages_details": `{"rate":0.0}`},
		members(api.raw("queues/%2F/busy"), names...))
	assert.Equal(t, map[string]string{"consumer_capacity": "0", "consumer_utilisation": "0", "messages_details": `{"rate":0.0}`},
		members(api.raw("queues/%2F/q"), names...))
}

// Details tell what is null; lists of 4.3 do not, unless they are asked for columns.
func TestNullMembers(t *testing.T) {
	names := []string{"policy", "operator_policy", "exclusive_consumer_tag", "single_active_consumer_tag", "head_message_timestamp"}
	none := map[string]string{"policy": "null", "operator_policy": "null", "exclusive_consumer_tag": "null", "single_active_consumer_tag": "null",
		"head_message_timestamp": "null"}
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b, api := busyBroker(t, profile)
		defer b.Close()
		assert.Equal(t, none, members(api.raw("queues/%2F/busy"), names...))
		assert.Equal(t, "1700000000", string(api.raw("queues/%2F/q")["head_message_timestamp"]))
		assert.Equal(t, `null`, string(api.raw("queues/%2F?columns=policy")["policy"]))
		listed := map[string]string{}
		if profile == leveret.RabbitMQ310 {
			listed = none
		}
		assert.Equal(t, listed, members(api.raw("queues/%2F"), names...), profile.Version())
	}
}

// What is not known of a connection's encryption is an empty text in its details, and null in lists.
func TestPlainConnection(t *testing.T) {
	b, api := busyBroker(t, leveret.RabbitMQ43)
	defer b.Close()
	for _, name := range []string{"ssl_protocol", "ssl_cipher", "ssl_hash", "ssl_key_exchange", "peer_cert_subject", "peer_cert_issuer",
		"peer_cert_validity", "peer_cert_serial_number"} {
		assert.Equal(t, `""`, string(api.raw("connections/own")[name]), name)
		assert.Equal(t, `null`, string(api.raw("connections")[name]), name)
	}
	assert.Equal(t, `""`, string(api.raw("connections/own?columns=name")["ssl_hash"]), "columns do not cut it")
}

// Since when a queue or a channel has had nothing to do is known once it has been looked at for some time.
func TestIdleSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
			b, api := busyBroker(t, profile)
			first := time.Now()
			since := func(path string) string { return string(api.raw(path)["idle_since"]) }
			at := first.UTC().Format(`"2006-01-02T15:04:05.000+00:00"`)
			for _, path := range []string{"queues/%2F/q", "channels/own%20(1)", "channels"} {
				assert.Empty(t, since(path), path)
			}
			time.Sleep(10_500 * time.Millisecond) // between two looks, which are a second apart
			for _, path := range []string{"queues/%2F/q", "channels/own%20(1)", "channels"} {
				assert.Equal(t, at, since(path), path)
			}
			assert.Equal(t, profile == leveret.RabbitMQ310, since("queues/%2F") != "", "a list of 4.3 does not tell")
			_, err := b.Publish("", "q", leveret.Message{})
			require.NoError(t, err)
			assert.Empty(t, since("queues/%2F/q"))
			require.NoError(t, b.Close())
		}
	})
}
