package amqpd_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tally counts the octets that the server has written.
type tally struct {
	net.Conn
	written atomic.Int64
}

func (c *tally) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
}

// What the broker has for a client has been written when Settle returns.
func TestSettleWrites(t *testing.T) {
	b := leverettest.New(t)
	srv := &amqpd.Server{Broker: b}
	t.Cleanup(func() { srv.Close() })
	client, server := amqpd.Pipe()
	end := &tally{Conn: server}
	go srv.ServeConn(end)
	conn, err := amqp091.Open(client, asGuest())
	require.NoError(t, err)
	ch := channelOf(t, conn)
	declareQueue(t, ch, "q", nil)
	_, err = ch.Consume("q", "", true, false, false, false, nil)
	require.NoError(t, err)
	for range 1000 {
		before := end.written.Load()
		_, err := b.Publish("", "q", leveret.Message{Body: make([]byte, 100)})
		require.NoError(t, err)
		require.NoError(t, srv.Settle(t.Context()))
		require.Greater(t, end.written.Load(), before+100)
	}
	require.NoError(t, conn.Close())
	require.NoError(t, srv.Settle(t.Context()))
}

// A client that reads nothing is waited for until the context is done, and named.
func TestSettleWithAClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leverettest.New(t)
		srv := &amqpd.Server{Broker: b}
		t.Cleanup(func() { srv.Close() })
		nc, err := srv.Dial()
		require.NoError(t, err)
		stuck := &stopper{Conn: nc, resume: make(chan struct{})}
		conn, err := amqp091.Open(stuck, asGuest())
		require.NoError(t, err)
		ch := channelOf(t, conn)
		declareQueue(t, ch, "q", nil)
		_, err = ch.Consume("q", "", true, false, false, false, nil)
		require.NoError(t, err)
		stuck.stop()
		_, err = b.Publish("", "q", leveret.Message{Body: make([]byte, 1<<20)})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = srv.Settle(ctx)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "amqpd: memory:client does not read what is sent to it")
		nc.Close()
		close(stuck.resume)
	})
}
