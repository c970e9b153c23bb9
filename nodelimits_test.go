package leveret_test

import (
	"fmt"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func ExampleWithNodeLimits() {
	b := leveret.New(leveret.WithNodeLimits(leveret.NodeLimits{MaxConnections: 1}))
	defer b.Close()

	try(b.Connect("guest", "guest", "/"))
	_, err := b.Connect("guest", "guest", "/")
	fmt.Println(err)
	// Output: connection.open: NOT_ALLOWED - connection refused: node connection limit (1) is reached
}

func ExampleBroker_NodeLimits() {
	b := leveret.New(leveret.WithNodeLimits(leveret.NodeLimits{MaxVHosts: 1}))
	defer b.Close()

	_, err := b.CreateVHost("orders")
	fmt.Println(b.NodeLimits().MaxVHosts, err)
	// Output: 1 PRECONDITION_FAILED - cannot create vhost 'orders': vhost limit of 1 is reached
}

// The limit of the node is looked at before the virtual host, whose own limit and whose permissions come later. What an operator's tool
// opens does not count, and what was refused neither.
// Rules: A-15.
func TestNodeConnectionLimit(t *testing.T) {
	b := leveret.New(leveret.WithNodeLimits(leveret.NodeLimits{MaxConnections: 2}))
	defer b.Close()
	v, err := b.CreateVHost("other")
	require.NoError(t, err)
	connect := func(vhost string) (*leveret.Conn, error) { return b.Connect("guest", "guest", vhost) }

	for range 3 {
		_, err = connect("other")
		require.ErrorContains(t, err, "access to vhost 'other' refused")
		_, err = connect("nowhere")
		require.ErrorContains(t, err, "vhost nowhere not found")
	}
	first, err := connect("/")
	require.NoError(t, err)
	require.NoError(t, v.SetPermissions("guest", leveret.Permissions{Configure: ".*"}))
	_, err = connect("other")
	require.NoError(t, err)
	for _, vhost := range []string{"/", "other", "nowhere"} {
		_, err = connect(vhost)
		assert.ErrorIs(t, err, leveret.ErrNotAllowed)
		assert.ErrorContains(t, err, "connection refused: node connection limit (2) is reached")
	}
	tool, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Uncounted: true})
	require.NoError(t, err)
	require.NoError(t, tool.Close())
	require.NoError(t, first.Close())
	_, err = connect("/")
	assert.NoError(t, err)
}

// A channel beyond the limit ends its connection, whose channels count no more.
// Rules: A-15.
func TestNodeChannelLimit(t *testing.T) {
	b := leveret.New(leveret.WithNodeLimits(leveret.NodeLimits{MaxChannels: 2}))
	defer b.Close()
	connect := func() *leveret.Conn {
		c, err := b.Connect("guest", "guest", "/")
		require.NoError(t, err)
		return c
	}
	one, other := connect(), connect()
	_, err := one.Channel()
	require.NoError(t, err)
	_, err = other.Channel()
	require.NoError(t, err)
	_, err = one.Channel()
	require.EqualError(t, err, "channel.open: NOT_ALLOWED - number of channels opened on node 'leveret@localhost' has reached the maximum allowed limit of 2")
	require.Error(t, one.Err())
	_, err = other.Channel()
	require.NoError(t, err)

	require.NoError(t, b.SetUserLimits("guest", leveret.UserLimits{MaxConnections: leveret.NoLimit, MaxChannels: 1}))
	_, err = other.Channel()
	assert.ErrorContains(t, err, "number of channels opened for user 'guest' has reached the maximum allowed user limit of 1", "the user's limit comes first")
}

// A consumer of direct replies does not count, but is refused beyond the limit.
// Rules: A-15.
func TestConsumerLimit(t *testing.T) {
	b := leveret.New(leveret.WithNodeLimits(leveret.NodeLimits{MaxConsumersPerChannel: 1}))
	defer b.Close()
	_, err := b.DeclareQueue("q", leveret.QueueConfig{})
	require.NoError(t, err)
	c, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	const tooMany = "reached maximum (1) of consumers per channel"
	for _, queues := range [][]string{{"amq.rabbitmq.reply-to", "q", "q"}, {"q", "amq.rabbitmq.reply-to"}, {"q", "nothing"}} {
		ch, err := c.Channel()
		require.NoError(t, err)
		for i, queue := range queues {
			_, err = ch.Consume(queue, leveret.ConsumeConfig{NoAck: true, Tag: fmt.Sprint("c", i)})
			if i < len(queues)-1 {
				require.NoError(t, err)
			}
		}
		assert.ErrorIs(t, err, leveret.ErrNotAllowed)
		assert.ErrorContains(t, err, tooMany)
		c, err = b.Connect("guest", "guest", "/")
		require.NoError(t, err)
	}
	ch, err := c.Channel()
	require.NoError(t, err)
	_, err = ch.Consume("q", leveret.ConsumeConfig{Tag: "c"})
	require.NoError(t, err)
	_, err = ch.Consume("q", leveret.ConsumeConfig{Tag: "c"})
	assert.ErrorContains(t, err, "attempt to reuse consumer tag 'c'")
}

func TestNegativeNodeLimit(t *testing.T) {
	assert.PanicsWithValue(t, "leveret: WithNodeLimits({MaxConnections:0 MaxChannels:0 MaxConsumersPerChannel:0 MaxVHosts:-1}): no limit is negative",
		func() { leveret.New(leveret.WithNodeLimits(leveret.NodeLimits{MaxVHosts: -1})) })
}
