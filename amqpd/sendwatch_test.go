package amqpd

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A client that has taken nothing for 30 seconds is given up, and its messages are back in their queue. One that takes a little now and
// then is not, nor one that has nothing to take. RabbitMQ 4.3.6 and 3.10.8 reset the connection after 31 seconds.
func TestClientsThatDoNotRead(t *testing.T) {
	for _, test := range []struct {
		name    string
		bodies  int // 100 KiB each, of which the pipe and the inbox hold some
		wait    time.Duration
		reads   int // octets that the client reads every 20 seconds
		isEnded bool
	}{
		{"nothing to read", 0, time.Hour, 0, false},
		{"does not read", 300, 29 * time.Second, 0, false},
		{"has not read for too long", 300, 36 * time.Second, 0, true},
		{"reads slowly", 300, 400 * time.Second, 2 * maxWrite, false},
		{"has read all", 3, time.Hour, 1 << 20, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, q := newPeerBroker(t)
				srv := &Server{Broker: b}
				nc := dialed(t, srv, 0, "")
				for id := methodID(0); id != channelOpenOk; {
					id, _ = readMethod(t, nc)
				}
				for range test.bodies {
					_, err := b.Publish("", "kept", leveret.Message{Body: make([]byte, 100<<10)})
					require.NoError(t, err)
				}
				_, err := nc.Write([]byte(call(1, basicConsume, u16(0), ss("kept"), ss("tag"), u8(0), u32(0))))
				require.NoError(t, err)
				for until := time.Now().Add(test.wait); time.Now().Before(until); {
					time.Sleep(min(time.Until(until), 20*time.Second))
					for n := test.reads; n > 0; {
						require.NoError(t, nc.SetReadDeadline(time.Now().Add(time.Millisecond)))
						read, err := nc.Read(make([]byte, n))
						if n -= read; err != nil {
							break
						}
					}
				}
				synctest.Wait()
				info := q.Info()
				if test.isEnded {
					assert.Empty(t, b.Connections())
					assert.Equal(t, info.Messages, info.Ready)
				} else {
					assert.Len(t, b.Connections(), 1)
					assert.Positive(t, info.Unacked)
				}
				require.NoError(t, nc.Close())
				_, _ = io.Copy(io.Discard, nc)
				srv.Close()
				require.NoError(t, b.Check())
				b.Close()
			})
		})
	}
}

// A client that is late again and again is not given up: each time counts for itself, also if the client still has much to take.
func TestClientsThatReadLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newPeerBroker(t)
		srv := &Server{Broker: b}
		nc := dialed(t, srv, 0, call(1, basicConsume, u16(0), ss("kept"), ss("tag"), u8(2), u32(0)))
		const body = pipeBuffer * 3 / 4 // one fits into the pipe, two do not
		publish := func() {
			_, err := b.Publish("", "kept", leveret.Message{Body: make([]byte, body)})
			require.NoError(t, err)
		}
		publish()
		for range 3 {
			time.Sleep(sendTimeout / 2)
			publish()
			time.Sleep(sendTimeout * 2 / 3)
			_, err := io.CopyN(io.Discard, nc, body)
			require.NoError(t, err)
		}
		assert.Len(t, b.Connections(), 1)
		require.NoError(t, nc.Close())
		srv.Close()
		b.Close()
	})
}
