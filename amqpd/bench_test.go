package amqpd

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// These benchmarks measure the server alone: the client's side is octets made beforehand.

// benchConn is a connection in memory, past the handshake and with channel 1 open.
func benchConn(b *testing.B, setup string) net.Conn {
	broker := leveret.New()
	srv := &Server{Broker: broker}
	nc, err := srv.Dial()
	require.NoError(b, err)
	b.Cleanup(func() {
		nc.Close()
		srv.Close()
		broker.Close()
	})
	r := frameReader{r: nc, maxPayload: 1 << 20}
	for _, s := range []string{start, startOk("PLAIN", login), tuneOk(2047, 131072, 0) + openVHost("/"), openChan(1), setup} {
		nc.Write([]byte(s))
		_, err := r.readFrame()
		require.NoError(b, err)
	}
	return nc
}

func message(key string, size int) string {
	return publish(key, 0) + contentHeader(1, classBasic, 0, uint64(size), "\x90\x00"+ss("text/plain")+"\x02") +
		body(strings.Repeat("x", size))
}

// BenchmarkPublish publishes to a queue that keeps one message, and reads the confirms.
func BenchmarkPublish(b *testing.B) {
	const burst = 64
	for _, size := range []int{100, 1 << 10, 64 << 10} {
		for _, confirm := range []bool{false, true} {
			b.Run(fmt.Sprintf("size=%d/confirm=%v", size, confirm), func(b *testing.B) {
				limit := ls(ss("x-max-length") + "I\x00\x00\x00\x01")
				nc := benchConn(b, call(1, queueDeclare, u16(0), ss("q"), u8(0), limit))
				if confirm {
					nc.Write([]byte(call(1, confirmSelect, u8(1))))
				}
				go io.Copy(io.Discard, nc)
				in := []byte(strings.Repeat(message("q", size), burst))
				b.ReportAllocs()
				b.SetBytes(int64(size))
				for i := 0; i < b.N; i += burst {
					nc.Write(in)
				}
			})
		}
	}
}

// BenchmarkDeliver publishes and consumes on one connection, acknowledging each delivery; the
// octets of the acknowledgement are all that the client has to make.
func BenchmarkDeliver(b *testing.B) {
	for _, size := range []int{100, 1 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			nc := benchConn(b, call(1, queueDeclare, u16(0), ss("q"), u8(0), u32(0)))
			nc.Write([]byte(call(1, basicQos, u32(0), u16(100), u8(0)) +
				call(1, basicConsume, u16(0), ss("q"), ss("t"), u8(8), u32(0))))
			const burst = 50
			in := []byte(strings.Repeat(message("q", size), burst))
			r := frameReader{r: nc, maxPayload: 1 << 20}
			b.ReportAllocs()
			b.SetBytes(int64(size))
			acks := []byte{}
			for i := 0; i < b.N; i += burst {
				go nc.Write(in)
				acks = acks[:0]
				for got := 0; got < burst; {
					f, err := r.readFrame()
					if err != nil {
						b.Fatal(err)
					}
					if f.typ == frameMethod && methodOf(f) == basicDeliver {
						got++
						tag := f.payload[4+1+1:][:8] // behind the consumer tag
						acks = append(acks, fr(frameMethod, 1, u32(uint32(basicAck))+string(tag)+"\x00")...)
					}
				}
				nc.Write(acks)
			}
		})
	}
}
