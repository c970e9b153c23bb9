package leveret_test

import (
	"errors"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An error whose text names a queue, an exchange, a user or a virtual host has it in Name too, and the method in Op.
func TestErrorsNameWhatTheyAreAbout(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	require.NoError(t, b.AddUser("u", "p"))
	require.NoError(t, b.SetUserLimits("u", leveret.UserLimits{MaxConnections: 0, MaxChannels: -1}))
	require.NoError(t, b.SetPermissions("u", leveret.Permissions{}))
	_, err := b.DeclareQueue("q", leveret.QueueConfig{})
	require.NoError(t, err)

	for _, c := range []struct {
		op, name string
		do       func(conn *leveret.Conn, ch *leveret.Channel) error
	}{
		{"queue.declare", "q", func(_ *leveret.Conn, ch *leveret.Channel) error {
			return declare(ch, "q", leveret.QueueConfig{Durable: true})
		}},
		{"queue.declare", "q2", func(_ *leveret.Conn, ch *leveret.Channel) error {
			return declare(ch, "q2", leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgMaxLength: -1}})
		}},
		{"queue.declare", "q2", func(_ *leveret.Conn, ch *leveret.Channel) error {
			return declare(ch, "q2", leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgDeadLetterExchange: 1}})
		}},
		{"basic.consume", "q", func(_ *leveret.Conn, ch *leveret.Channel) error {
			_, err := ch.Consume("q", leveret.ConsumeConfig{Arguments: leveret.Table{leveret.ArgConsumerPriority: "x"}})
			return err
		}},
		{"channel.open", "", func(conn *leveret.Conn, ch *leveret.Channel) error {
			_, err := conn.OpenChannel(ch.Number())
			return err
		}},
		{"connection.open", "u", func(*leveret.Conn, *leveret.Channel) error {
			_, err := b.Connect("u", "p", "/")
			return err
		}},
		{"connection.open", "missing", func(*leveret.Conn, *leveret.Channel) error {
			_, err := b.Connect("guest", "guest", "missing")
			return err
		}},
	} {
		conn, err := b.Connect("guest", "guest", "/")
		require.NoError(t, err)
		ch, err := conn.Channel()
		require.NoError(t, err)
		var e *leveret.Error
		require.True(t, errors.As(c.do(conn, ch), &e))
		assert.Equal(t, c.op, e.Op, "%v", e)
		assert.Equal(t, c.name, e.Name, "%v", e)
	}
}

func declare(ch *leveret.Channel, name string, cfg leveret.QueueConfig) error {
	_, err := ch.DeclareQueue(name, cfg)
	return err
}
