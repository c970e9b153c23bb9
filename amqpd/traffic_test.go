package amqpd_test

import (
	"net"
	"sync/atomic"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counted is a client's end of a connection that counts too.
type counted struct {
	net.Conn
	read, written atomic.Uint64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read.Add(uint64(n))
	return n, err
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(uint64(n))
	return n, err
}

// What a connection has received and sent is what the client has sent and received, handshake and
// bodies that do not go through the read buffer included.
func TestTraffic(t *testing.T) {
	for name, dial := range map[string]func(*testing.T, *amqpd.Server) net.Conn{
		"memory": func(t *testing.T, srv *amqpd.Server) net.Conn {
			nc, err := srv.Dial()
			require.NoError(t, err)
			return nc
		},
		"tcp": func(t *testing.T, srv *amqpd.Server) net.Conn {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			go srv.Serve(l)
			nc, err := net.Dial("tcp", l.Addr().String())
			require.NoError(t, err)
			return nc
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := leveret.New()
			defer b.Close()
			srv := &amqpd.Server{Broker: b}
			defer srv.Close()
			nc := &counted{Conn: dial(t, srv)}
			conn, err := amqp091.Open(nc, asGuest())
			require.NoError(t, err)
			ch := channelOf(t, conn)
			declareQueue(t, ch, "q", nil)
			for _, size := range []int{0, 1000, 300_000, 2 << 20} {
				publishText(t, ch, "q", string(make([]byte, size)))
				_, ok, err := ch.Get("q", true)
				require.NoError(t, err)
				require.True(t, ok)
			}
			traffic := b.Connections()[0].Transport.Traffic
			assert.Equal(t, nc.written.Load(), traffic.Received)
			assert.NotZero(t, traffic.Reads)
			require.NoError(t, conn.Close()) // what was written has been counted
			assert.Greater(t, traffic.Sent, uint64(2<<20))
			assert.LessOrEqual(t, traffic.Sent, nc.read.Load())
			assert.NotZero(t, traffic.Writes)
		})
	}
}
