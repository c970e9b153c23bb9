package blackbox_test

import (
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRevokedPermissionHoldsUntilIdle(t *testing.T) {
	b, clk := newTestBroker(t)
	require.NoError(t, b.AddUser("u", "p"))
	require.NoError(t, b.SetPermissions("u", leveret.Permissions{Read: ".*"}))
	_, err := b.DeclareQueue("q", leveret.QueueConfig{})
	require.NoError(t, err)
	conn, err := b.Connect("u", "p", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	get := func() error {
		_, _, err := ch.Get("q", leveret.GetConfig{})
		return err
	}
	require.NoError(t, get())
	require.NoError(t, b.SetPermissions("u", leveret.Permissions{}))
	require.NoError(t, get())
	clk.Advance(999 * time.Millisecond)
	require.NoError(t, get(), "used within the last second")
	clk.Advance(999 * time.Millisecond)
	require.NoError(t, get())
	clk.Advance(time.Second)
	require.ErrorIs(t, get(), leveret.ErrAccessRefused, "an idle channel forgets")
}

func TestPermissionOperations(t *testing.T) {
	b, _ := newTestBroker(t)
	require.NoError(t, b.AddUser("ann", "x"))
	require.NoError(t, b.SetPermissions("ann", leveret.Permissions{Configure: "^c", Write: "^w", Read: "^r"}))
	assert.Equal(t, []leveret.PermissionInfo{
		{User: "ann", VHost: "/", Permissions: leveret.Permissions{Configure: "^c", Write: "^w", Read: "^r"}},
		{User: "guest", VHost: "/", Permissions: leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"}},
	}, b.Permissions())
	require.NoError(t, b.ClearPermissions("ann"))
	assert.Len(t, b.Permissions(), 1)

	assert.ErrorIs(t, b.SetTopicPermissions("ann", "nosuch", leveret.TopicPermissions{}), leveret.ErrNotFound)
	topic := leveret.TopicPermissions{Write: "^a", Read: "^b"}
	require.NoError(t, b.SetTopicPermissions("ann", "amq.topic", topic))
	require.NoError(t, b.SetTopicPermissions("ann", "amq.direct", topic))
	assert.Equal(t, []leveret.TopicPermissionInfo{
		{User: "ann", VHost: "/", Exchange: "amq.direct", TopicPermissions: topic},
		{User: "ann", VHost: "/", Exchange: "amq.topic", TopicPermissions: topic},
	}, b.TopicPermissions())
	require.NoError(t, b.ClearTopicPermissions("ann", "amq.direct"))
	assert.Len(t, b.TopicPermissions(), 1)
	require.NoError(t, b.ClearTopicPermissions("ann", ""))
	assert.Empty(t, b.TopicPermissions())

	old := leveret.New(leveret.WithProfile(leveret.RabbitMQ310))
	defer old.Close()
	assert.NoError(t, old.SetTopicPermissions("guest", "nosuch", leveret.TopicPermissions{}))
}
