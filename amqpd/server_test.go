package amqpd_test

import (
	"net"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	"github.com/leveretmq/leveret/leverettest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A server that cannot serve says why, whoever asks.
func TestServerFieldsOutOfRange(t *testing.T) {
	b := leverettest.New(t)
	old := leverettest.New(t, leveret.WithProfile(leveret.RabbitMQ310))
	for want, srv := range map[string]*amqpd.Server{
		"amqpd: Server.Broker is nil":                                   {},
		"amqpd: Server.Heartbeat is 18h12m16s, more than 65535 seconds": {Broker: b, Heartbeat: 65536 * time.Second},
		"amqpd: Server.ChannelMax is -1, not from 1 to 65535":           {Broker: b, ChannelMax: -1},
		"amqpd: Server.ChannelMax is 65536, not from 1 to 65535":        {Broker: b, ChannelMax: 65536},
		"amqpd: Server.HandshakeTimeout is -1s, in the past":            {Broker: b, HandshakeTimeout: -time.Second},
		"amqpd: Server.FrameMax is 8191, not from 8192 to 2147483647":   {Broker: b, FrameMax: 8191},
		"amqpd: Server.FrameMax is 4095, not from 4096 to 2147483647":   {Broker: old, FrameMax: 4095},
		"amqpd: Server.FrameMax is -1, not from 8192 to 2147483647":     {Broker: b, FrameMax: -1},
	} {
		_, err := srv.Dial()
		assert.EqualError(t, err, want)
		_, server := amqpd.Pipe()
		assert.EqualError(t, srv.ServeConn(server), want)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		assert.EqualError(t, srv.Serve(l), want)
		_, err = l.Accept()
		assert.ErrorIs(t, err, net.ErrClosed)
	}
}
