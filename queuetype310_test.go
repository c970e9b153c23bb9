package leveret_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A default queue type that definitions give a virtual host of 3.10 holds for durable queues of clients.
// Rules: J-3, Q-7.
func TestDefaultQueueTypeOf310(t *testing.T) {
	b := leveret.New(leveret.WithProfile(leveret.RabbitMQ310))
	defer b.Close()
	require.NoError(t, definitions.Import(b, []byte(`{"vhosts":[{"name":"v","metadata":{"default_queue_type":"quorum"}}],
		"permissions":[{"user":"guest","vhost":"v","configure":".*","write":".*","read":".*"}]}`)))
	require.NoError(t, definitions.Import(b, []byte(`{"vhosts":[{"name":"v"}],"queues":[{"vhost":"v","name":"imported","durable":true,"auto_delete":false}]}`)))
	v, err := b.VHost("v")
	require.NoError(t, err)
	conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "v"})
	require.NoError(t, err)
	declare := func(name string, cfg leveret.QueueConfig) error {
		ch, err := conn.Channel()
		require.NoError(t, err)
		_, err = ch.DeclareQueue(name, cfg)
		return err
	}
	typed := leveret.Table{leveret.ArgQueueType: leveret.QueueTypeClassic}
	quorum := leveret.Table{leveret.ArgQueueType: leveret.QueueTypeQuorum}
	require.NoError(t, declare("durable", leveret.QueueConfig{Durable: true}))
	require.NoError(t, declare("durable", leveret.QueueConfig{Durable: true, Arguments: quorum}))
	require.NoError(t, declare("transient", leveret.QueueConfig{}))
	require.NoError(t, declare("exclusive", leveret.QueueConfig{Durable: true, Exclusive: true}))
	require.NoError(t, declare("auto", leveret.QueueConfig{Durable: true, AutoDelete: true}))
	require.NoError(t, declare("explicit", leveret.QueueConfig{Durable: true, Arguments: typed}))
	assert.ErrorContains(t, declare("explicit", leveret.QueueConfig{Durable: true}),
		"inequivalent arg 'x-queue-type' for queue 'explicit' in vhost 'v': received 'quorum' but current is 'classic'")
	assert.ErrorContains(t, declare("", leveret.QueueConfig{Durable: true}), "Cannot declare a server-named queue for type rabbit_quorum_queue")
	for name, want := range map[string]leveret.Table{"durable": quorum, "transient": {}, "exclusive": {}, "auto": {}, "explicit": typed, "imported": {}} {
		q, err := v.Queue(name)
		require.NoError(t, err)
		info := q.Info()
		assert.Equal(t, want[leveret.ArgQueueType], info.Arguments[leveret.ArgQueueType], name)
		assert.Equal(t, name == "durable", info.Type == leveret.QueueTypeQuorum, name)
	}
}
