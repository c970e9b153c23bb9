package leveret_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Descriptions have the names in JSON that RabbitMQ's management API gives them, where it has the field.
func TestDescriptionsInJSON(t *testing.T) {
	clock := leveret.NewManualClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()
	require.NoError(t, b.SetUser("clerk", leveret.PasswordHash{Hash: []byte("salt and digest")}, "monitoring"))
	require.NoError(t, b.SetUserLimits("clerk", leveret.UserLimits{MaxConnections: 5, MaxChannels: leveret.NoLimit}))
	require.NoError(t, b.SetMetadata("the shop", "production"))
	require.NoError(t, b.SetPolicy(leveret.Policy{Name: "p", Definition: leveret.Table{"max-length": 5}}))
	q, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{
		leveret.ArgMessageTTL: 1000, leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "dead"}})
	require.NoError(t, err)
	dead, err := b.DeclareQueue("dead", leveret.QueueConfig{})
	require.NoError(t, err)
	require.NoError(t, b.BindQueue("q", "amq.topic", "order.#", nil))
	_, err = b.Publish("", "q", leveret.Message{Body: []byte("hello"), Properties: &leveret.Properties{ContentType: "text/plain"}})
	require.NoError(t, err)
	clock.Advance(time.Second)
	_, err = b.Publish("", "q", leveret.Message{Body: []byte("hi")})
	require.NoError(t, err)
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.Consume("q", leveret.ConsumeConfig{Tag: "c"})
	require.NoError(t, err)

	x, err := b.Exchange("amq.topic")
	require.NoError(t, err)
	clerk, err := b.User("clerk")
	require.NoError(t, err)
	v, err := b.VHost("/")
	require.NoError(t, err)
	bindings := b.Bindings()
	got, err := json.MarshalIndent(map[string]any{
		"vhost": v.Info(), "user": clerk, "policy": b.Policies()[0], "exchange": x.Info(), "queue": q.Info(),
		"binding": bindings[len(bindings)-1], "connection": b.Connections()[0], "consumer": b.Consumers()[0],
		"messages": dead.Messages(), "counters": b.Counters(), "queue counters": q.Counters(), "memory": b.Memory(),
		"permission": b.Permissions()[0],
	}, "", "  ")
	require.NoError(t, err)
	const file = "testdata/descriptions.json"
	if *update {
		require.NoError(t, os.WriteFile(file, append(got, '\n'), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got)+"\n")
}

// What a program and a listener give is shown in the units of the management API.
func TestUnitsInJSON(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	transport := leveret.Transport{Mechanism: "PLAIN", FrameMax: 131072, Heartbeat: time.Minute,
		TLS: leveret.TLSInfo{Version: "TLS 1.3", CipherSuite: "TLS_AES_128_GCM_SHA256"}, Traffic: leveret.Traffic{Received: 5}}
	flat := `"auth_mechanism":"PLAIN","frame_max":131072,"timeout":60,"ssl":true,"ssl_protocol":"TLS 1.3",` +
		`"ssl_cipher":"TLS_AES_128_GCM_SHA256","recv_oct":5,"recv_cnt":0,"send_oct":0,"send_cnt":0,"send_pend":0`
	for _, c := range []struct {
		value any
		want  string
	}{
		{transport, "{" + flat + "}"},
		{leveret.ConnInfo{ID: 1, ConnectedAt: at, Blocked: true, Transport: transport, Channels: make([]leveret.ChannelInfo, 0, 1)},
			`{"id":1,"name":"","user":"","vhost":"","client_properties":{},"channel_max":0,"channel_details":[],"blocked":true,` +
				flat + `,"connected_at":1767323045678,"channels":0,"state":"blocked"}`},
		{leveret.MessageInfo{Body: []byte{0xff}, Properties: &leveret.Properties{Timestamp: at, Present: leveret.PropPriority,
			HeaderFields: leveret.Fields{{Name: "a", Value: int32(5)}}}},
			`{"exchange":"","routing_key":"","redelivered":false,"properties":{"headers":{"a":5},"timestamp":1767323045},` +
				`"payload":"/w==","payload_encoding":"base64","payload_bytes":1}`},
		{leveret.MessageInfo{}, `{"exchange":"","routing_key":"","redelivered":false,"properties":{},"payload":"",` +
			`"payload_encoding":"string","payload_bytes":0}`},
		{leveret.GlobalParameter{Name: "n", Value: json.RawMessage(`{"a":5}`)}, `{"name":"n","value":{"a":5}}`},
		{leveret.Effective{Policy: "p", Settings: []leveret.Setting{{Key: "max-length", Value: int64(5), Source: leveret.SourcePolicy}}},
			`{"policy":"p","operator_policy":"","settings":[{"key":"max-length","value":5,"source":"policy"}]}`},
		{leveret.QueueState{Name: "q", Messages: 5}, `{"name":"q","messages":5,"consumers":0}`},
	} {
		got, err := json.Marshal(c.value)
		require.NoError(t, err)
		assert.Equal(t, c.want, string(got))
	}
}
