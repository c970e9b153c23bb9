package firehose_test

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/firehose"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What RabbitMQ 4.3 put into amq.rabbitmq.trace for the same steps, but for the key of BCC in routing_keys.
func TestFirehose(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	c, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Name: "me -> it"})
	require.NoError(t, err)
	ch, err := c.Channel()
	require.NoError(t, err)
	_, err = ch.DeclareQueue("trace", leveret.QueueConfig{})
	require.NoError(t, err)
	trace, err := b.Queue("trace")
	require.NoError(t, err)
	require.NoError(t, ch.BindQueue("trace", "amq.rabbitmq.trace", "#", nil))
	_, err = ch.DeclareQueue("q", leveret.QueueConfig{})
	require.NoError(t, err)

	publish := func(key string, m leveret.Message) {
		_, err := ch.Publish("", key, m)
		require.NoError(t, err)
	}
	publish("q", leveret.Message{})
	_, _, err = ch.Get("q", leveret.GetConfig{NoAck: true})
	require.NoError(t, err)
	assert.Zero(t, trace.Info().Ready, "nobody traces")

	firehose.Start(b, "n@h", "/")
	firehose.Start(b, "n@h", "/")
	assert.True(t, firehose.Traces(b, "/"))
	publish("q", leveret.Message{Body: []byte("one"), Properties: &leveret.Properties{
		ContentType: "ct", Timestamp: time.Unix(77, 0), DeliveryMode: 2, Headers: leveret.Table{"h": int32(1), "CC": []any{"cc1"}}}})
	publish("nowhere", leveret.Message{Body: []byte("two")})
	_, _, err = ch.Get("q", leveret.GetConfig{NoAck: true})
	require.NoError(t, err)

	properties := leveret.Table{"content_type": "ct", "timestamp": int32(77), "delivery_mode": int32(2),
		"headers": leveret.Table{"h": int32(1), "CC": []any{"cc1"}}}
	want := []struct {
		key, body string
		headers   leveret.Table
	}{
		{"publish.", "one", leveret.Table{"exchange_name": "", "routing_keys": []any{"q", "cc1"}, "properties": properties,
			"node": "n@h", "vhost": "/", "connection": "me -> it", "channel": int32(1), "user": "guest", "routed_queues": []any{"cc1", "q"}}},
		{"publish.", "two", leveret.Table{"exchange_name": "", "routing_keys": []any{"nowhere"}, "properties": leveret.Table{},
			"node": "n@h", "vhost": "/", "connection": "me -> it", "channel": int32(1), "user": "guest", "routed_queues": []any{"nowhere"}}},
		{"deliver.q", "one", leveret.Table{"exchange_name": "", "routing_keys": []any{"q", "cc1"}, "properties": properties,
			"node": "n@h", "vhost": "/", "connection": "me -> it", "channel": int32(1), "user": "guest", "redelivered": int32(0)}},
	}
	for _, w := range want {
		d, ok, err := trace.Get()
		require.NoError(t, err)
		require.True(t, ok, w.key+w.body)
		assert.Equal(t, []any{"amq.rabbitmq.trace", w.key, w.body, w.headers}, []any{d.Exchange, d.RoutingKey, string(d.Body), d.Headers})
		require.NoError(t, d.Ack())
	}
	assert.Zero(t, trace.Info().Ready, "what is fetched of the copies is not copied")

	firehose.Stop(b, "/")
	firehose.Stop(b, "/")
	assert.False(t, firehose.Traces(b, "/"))
	publish("q", leveret.Message{})
	assert.Zero(t, trace.Info().Ready)
	assert.NoError(t, b.Check())
}

// Headers that occur twice, and the order of queues, as a traced broker showed them.
func TestFirehoseOfManyKeys(t *testing.T) {
	twice := leveret.Fields{
		{Name: "CC", Value: []any{"c1"}}, {Name: "BCC", Value: []any{"b1"}}, {Name: "CC", Value: []any{"c2"}}, {Name: "BCC", Value: []any{"b2"}},
	}
	for _, tc := range []struct {
		profile leveret.Profile
		headers leveret.Fields
		fanout  []any
	}{
		{leveret.RabbitMQ43, leveret.Fields{{Name: "BCC", Value: []any{"b2"}}, {Name: "CC", Value: []any{"c1"}}}, []any{"z", "m", "a"}},
		{leveret.RabbitMQ310, leveret.Fields{twice[0], twice[2], twice[3]}, []any{"a", "m", "z"}},
	} {
		b := leveret.New(leveret.WithProfile(tc.profile))
		defer b.Close()
		trace, err := b.DeclareQueue("trace", leveret.QueueConfig{})
		require.NoError(t, err)
		require.NoError(t, trace.Bind("amq.rabbitmq.trace", "publish.#", nil))
		for _, name := range []string{"m", "z", "a"} {
			q, err := b.DeclareQueue(name, leveret.QueueConfig{})
			require.NoError(t, err)
			require.NoError(t, q.Bind("amq.fanout", "", nil))
		}
		firehose.Start(b, "n@h", "/")
		defer firehose.Stop(b, "/")
		for _, exchange := range []string{"", "amq.fanout"} {
			_, err := b.Publish(exchange, "q", leveret.Message{Properties: &leveret.Properties{HeaderFields: twice}})
			require.NoError(t, err)
		}
		for _, routed := range [][]any{{"b1", "c1", "q"}, tc.fanout} {
			d, ok, err := trace.Get()
			require.NoError(t, err)
			require.True(t, ok)
			h := d.WireHeaders()
			got := map[string]any{}
			for _, name := range []string{"routing_keys", "routed_queues", "properties"} {
				got[name], _ = h.Get(name)
			}
			assert.Equal(t, map[string]any{"routing_keys": []any{"q", "c1", "b1"}, "routed_queues": routed,
				"properties": leveret.Fields{{Name: "headers", Value: tc.headers}}}, got)
		}
	}
}

// A virtual host stays traced until it is said otherwise, also while there is none of its name, as on RabbitMQ. One virtual
// host's end is not another's.
func TestTracedVirtualHosts(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	other := leveret.New()
	defer other.Close()
	traced := func() []bool {
		return []bool{firehose.Traces(b, "/"), firehose.Traces(b, "one"), firehose.Traces(other, "/")}
	}
	assert.Equal(t, []bool{false, false, false}, traced())
	firehose.Start(b, "n@h", "/")
	firehose.Start(b, "n@h", "one")
	assert.Equal(t, []bool{true, true, false}, traced())
	firehose.Stop(b, "/")
	assert.Equal(t, []bool{false, true, false}, traced())

	v, err := b.CreateVHost("one")
	require.NoError(t, err)
	trace, err := v.DeclareQueue("trace", leveret.QueueConfig{})
	require.NoError(t, err)
	require.NoError(t, trace.Bind("amq.rabbitmq.trace", "#", nil))
	_, err = v.Publish("", "nowhere", leveret.Message{})
	require.NoError(t, err)
	assert.EqualValues(t, 1, trace.Info().Ready)

	firehose.Start(b, "n@h", "/")
	firehose.Stop(b, "/")
	firehose.Stop(b, "one")
	firehose.Stop(other, "/")
	assert.Equal(t, []bool{false, false, false}, traced())
	_, err = v.Publish("", "nowhere", leveret.Message{})
	require.NoError(t, err)
	assert.EqualValues(t, 1, trace.Info().Ready)
}

// A broker that is closed while it is traced is let go.
func TestTracedBrokerIsLetGo(t *testing.T) {
	began := func() weak.Pointer[leveret.Broker] {
		b := leveret.New()
		firehose.Start(b, "n@h", "/")
		_, err := b.Publish("", "nowhere", leveret.Message{})
		require.NoError(t, err)
		require.NoError(t, b.Close())
		return weak.Make(b)
	}()
	for n := 0; n < 1000 && (began.Value() != nil || firehose.Running() > 0); n++ {
		runtime.GC()
	}
	assert.Nil(t, began.Value())
	assert.Zero(t, firehose.Running(), "nothing is remembered of it")
}
