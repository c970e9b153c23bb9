package amqpd

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// confirmsOf returns the confirms that a client gets for what it does, each with its channel and with the time since the client
// began, and how many messages the queue q holds in the end. q is a quorum queue with reject-publish and a limit of one message,
// full a classic queue that refuses all, and kept one that takes all. Channels 1 and 2 are open; 1 confirms.
func confirmsOf(t *testing.T, delay time.Duration, do func(nc io.Writer, srv *Server)) (confirms []string, kept int) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newPeerBroker(t)
		q, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{
			leveret.ArgQueueType: "quorum", leveret.ArgMaxLength: 1, leveret.ArgOverflow: leveret.OverflowRejectPublish,
		}})
		require.NoError(t, err)
		_, err = b.DeclareQueue("full", leveret.QueueConfig{Arguments: leveret.Table{
			leveret.ArgMaxLength: 0, leveret.ArgOverflow: leveret.OverflowRejectPublish,
		}})
		require.NoError(t, err)
		srv := &Server{Broker: b, StopDelay: delay}
		nc := dialed(t, srv, 0, openChan(2)+call(1, confirmSelect, u8(1)))
		var reading sync.WaitGroup
		begin := time.Now()
		reading.Go(func() {
			r := &frameReader{r: nc, maxPayload: 1 << 20}
			for {
				f, err := r.readFrame()
				if err != nil {
					return
				}
				id, args := methodOf(f), f.payload[methodHead:]
				if name, ok := map[methodID]string{basicAck: "ack", basicNack: "nack"}[id]; ok {
					text := fmt.Sprintf("%v %d %s %d", time.Since(begin), f.channel, name, binary.BigEndian.Uint64(args))
					if args[8]&1 > 0 {
						text += " multiple"
					}
					confirms = append(confirms, text)
				}
			}
		})
		synctest.Wait()
		do(nc, srv)
		time.Sleep(2 * max(delay, defaultStopDelay))
		kept = q.Info().Messages
		require.NoError(t, nc.Close())
		srv.Close()
		reading.Wait()
		require.NoError(t, b.Check())
		b.Close()
	})
	return confirms, kept
}

// A channel hears that a quorum queue is over its limit as late as its client hears of the message that led to it: what the client
// sends meanwhile is accepted, as RabbitMQ does.
// Rules: L-11.
func TestStopsAreHeardLate(t *testing.T) {
	one := publish("q", 0) + header(0)
	on2 := call(2, basicPublish, u16(0), ss(""), ss("q"), u8(0)) + contentHeader(2, 60, 0, 0, "\x00\x00")
	send := func(nc io.Writer, frames string) {
		_, err := nc.Write([]byte(frames))
		assert.NoError(t, err)
		synctest.Wait()
	}
	sendEach := func(nc io.Writer, n int, frames string) {
		for range n {
			send(nc, frames)
		}
	}
	for _, test := range []struct {
		name string
		do   func(nc io.Writer, srv *Server)
		kept int
		want []string
	}{
		{"one after the other", func(nc io.Writer, _ *Server) {
			for range 4 {
				send(nc, one)
				time.Sleep(10 * time.Millisecond)
			}
		}, 2, []string{"0s 1 ack 1", "15ms 1 ack 2", "20ms 1 nack 3 multiple", "30ms 1 nack 4 multiple"}},
		{"together", func(nc io.Writer, _ *Server) {
			send(nc, strings.Repeat(one, 30))
			time.Sleep(defaultStopDelay + time.Millisecond)
			send(nc, one)
		}, 30, []string{"5ms 1 ack 30 multiple", "6ms 1 nack 31 multiple"}},
		{"quickly", func(nc io.Writer, _ *Server) {
			for range 20 {
				send(nc, one)
				time.Sleep(300 * time.Microsecond)
			}
		}, 18, []string{"0s 1 ack 1", "5.3ms 1 ack 18 multiple", "5.4ms 1 nack 19 multiple", "5.7ms 1 nack 20 multiple"}},
		{"very many", func(nc io.Writer, _ *Server) { send(nc, strings.Repeat(one, 500)) },
			400, []string{"0s 1 ack 400 multiple", "0s 1 nack 500 multiple"}},
		{"without confirms", func(nc io.Writer, _ *Server) {
			sendEach(nc, 30, on2)
			time.Sleep(defaultStopDelay + time.Millisecond)
			sendEach(nc, 30, on2)
		}, 30, nil},
		{"without confirms, and seen meanwhile", func(nc io.Writer, _ *Server) {
			sendEach(nc, 3, on2)
			send(nc, call(1, queueDeclare, u16(0), ss("q"), u8(1), u32(0)))
			sendEach(nc, 3, on2)
		}, 3, nil},
		{"seen meanwhile", func(nc io.Writer, _ *Server) {
			send(nc, one+one)
			send(nc, call(1, queueDeclare, u16(0), ss("q"), u8(1), u32(0)))
			send(nc, one)
		}, 2, []string{"0s 1 ack 2 multiple", "0s 1 nack 3 multiple"}},
		{"seen by a get", func(nc io.Writer, _ *Server) {
			sendEach(nc, 3, on2)
			send(nc, call(1, basicGet, u16(0), ss("q"), u8(1))+on2)
		}, 2, nil},
		{"with Settle, and nothing behind it", func(nc io.Writer, srv *Server) {
			send(nc, one+one)
			assert.NoError(t, srv.Settle(context.Background()))
		}, 2, []string{"0s 1 ack 2 multiple"}},
		{"told to stop and to go on meanwhile", func(nc io.Writer, _ *Server) {
			get := call(2, basicGet, u16(0), ss("q"), u8(1))
			sendEach(nc, 2, on2)
			send(nc, call(1, queueDeclare, u16(0), ss("q"), u8(1), u32(0))+on2+get+get+on2)
		}, 1, nil},
		{"what another channel is told comes at once", func(nc io.Writer, _ *Server) {
			send(nc, call(2, confirmSelect, u8(1))+one+one)
			send(nc, on2+on2)
		}, 2, []string{"0s 2 nack 2 multiple", "5ms 1 ack 2 multiple"}},
		{"before a confirm that cannot wait", func(nc io.Writer, _ *Server) {
			send(nc, one+one+publish("full", 0)+header(0)+one)
		}, 2, []string{"0s 1 ack 2 multiple", "0s 1 nack 4 multiple"}},
		{"with Settle", func(nc io.Writer, srv *Server) {
			send(nc, one+one)
			assert.NoError(t, srv.Settle(context.Background()))
			send(nc, one)
		}, 2, []string{"0s 1 ack 2 multiple", "0s 1 nack 3 multiple"}},
		{"room meanwhile", func(nc io.Writer, _ *Server) {
			send(nc, one+one+call(2, basicGet, u16(0), ss("q"), u8(1))+call(2, basicGet, u16(0), ss("q"), u8(1)))
			time.Sleep(defaultStopDelay + time.Millisecond)
			send(nc, one)
		}, 1, []string{"5ms 1 ack 2 multiple", "6ms 1 ack 3"}},
		{"again, after there was room", func(nc io.Writer, _ *Server) {
			send(nc, one+one)
			time.Sleep(defaultStopDelay + time.Millisecond)
			send(nc, strings.Repeat(call(2, basicGet, u16(0), ss("q"), u8(1)), 2))
			send(nc, one+one+one)
		}, 3, []string{"5ms 1 ack 2 multiple", "11ms 1 ack 5 multiple"}},
		{"a channel that is closed", func(nc io.Writer, _ *Server) {
			send(nc, one+one)
			send(nc, closeChan(1)+openChan(1)+call(1, confirmSelect, u8(1)))
			send(nc, one)
		}, 2, []string{"0s 1 nack 1 multiple"}},
		{"a connection that is closed", func(nc io.Writer, _ *Server) {
			send(nc, one+one)
			send(nc, closeConn())
		}, 2, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, kept := confirmsOf(t, 0, test.do)
			assert.Equal(t, test.want, got)
			assert.Equal(t, test.kept, kept)
		})
	}
}

// The program can say how long that is.
func TestStopDelay(t *testing.T) {
	two := strings.Repeat(publish("q", 0)+header(0), 2)
	for delay, want := range map[time.Duration][]string{
		-time.Hour:      {"0s 1 ack 2 multiple", "0s 1 nack 4 multiple"},
		2 * time.Second: {"2s 1 ack 4 multiple"},
	} {
		got, _ := confirmsOf(t, delay, func(nc io.Writer, _ *Server) {
			for range 2 {
				_, err := nc.Write([]byte(two))
				assert.NoError(t, err)
				synctest.Wait()
			}
		})
		assert.Equal(t, want, got, "%v", delay)
	}
}
