package leveret_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// No limit counts a connection that is not to be counted, or refuses it or its channels, and nobody is told of it.
func TestUncounted(t *testing.T) {
	told := 0
	b := leveret.New(leveret.WithEvents(leveret.Events{
		ConnectionOpened: func(leveret.ConnectionEvent) { told++ }, ConnectionClosed: func(leveret.ConnectionEvent) { told++ },
		ChannelOpened: func(leveret.ChannelEvent) { told++ }, ChannelClosed: func(leveret.ChannelEvent) { told++ }}))
	defer b.Close()
	v, err := b.VHost("/")
	require.NoError(t, err)
	require.NoError(t, v.SetLimits(leveret.VHostLimits{MaxConnections: 1, MaxQueues: leveret.NoLimit}))
	require.NoError(t, b.SetUserLimits("guest", leveret.UserLimits{MaxConnections: 1, MaxChannels: 1}))
	open := func(uncounted bool) (*leveret.Conn, error) {
		return b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Uncounted: uncounted})
	}
	var channels []*leveret.Channel
	for range 2 {
		conn, err := open(true)
		require.NoError(t, err)
		for range 2 {
			ch, err := conn.Channel()
			require.NoError(t, err)
			channels = append(channels, ch)
		}
	}
	assert.Zero(t, told)
	conn, err := open(false)
	require.NoError(t, err, "the others do not count")
	_, err = conn.Channel()
	require.NoError(t, err)
	_, err = open(false)
	assert.ErrorIs(t, err, leveret.ErrNotAllowed)
	more, err := open(true)
	require.NoError(t, err, "the limit does not refuse it")
	_, err = channels[0].DeclareQueue("amq.q", leveret.QueueConfig{})
	assert.ErrorIs(t, err, leveret.ErrAccessRefused, "permissions and rules hold")
	require.NoError(t, conn.Close())
	require.NoError(t, more.Close())
	again, err := open(false)
	require.NoError(t, err, "what ended has made room for one")
	_, err = again.Channel()
	require.NoError(t, err)
	b.Settle()
	assert.Equal(t, 6, told)
}
