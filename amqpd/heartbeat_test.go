package amqpd

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPulse(t *testing.T) {
	var p pulse
	assert.False(t, p.look(100, 10))
	assert.False(t, p.look(100, 20), "one miss is no death")
	assert.True(t, p.look(100, 30), "what is sent is no sign of life")

	p = pulse{}
	assert.False(t, p.look(100, 10))
	assert.False(t, p.look(100, 10))
	assert.False(t, p.look(101, 10), "a single octet is life")
	assert.False(t, p.look(101, 10))

	p = pulse{unread: true}
	assert.False(t, p.look(100, 10))
	for i := range uint64(10) {
		assert.False(t, p.look(100, 11+i), "the client reads")
	}
	assert.False(t, p.look(100, 20))
	assert.True(t, p.look(100, 20), "the client reads nothing")
}

// A server that was held up looks once, late, at a client that sent all the while. By the next look the octets have
// been read.
func TestPulseOfAServerThatWasHeldUp(t *testing.T) {
	var p pulse
	received := uint64(100)
	p.look(received, 0)
	for range 100 {
		assert.False(t, p.look(received, 0), "nothing was read while the server stood still")
		received++
		assert.False(t, p.look(received, 0))
	}
}

// dialed is a connection to a server, behind open-ok, with a heartbeat in seconds.
func dialed(t *testing.T, srv *Server, heartbeat uint16, requests string) net.Conn {
	t.Helper()
	nc, err := srv.Dial()
	require.NoError(t, err)
	_, err = nc.Write([]byte(start + startOk("PLAIN", login) + tuneOk(2047, 131072, heartbeat) + openVHost("/") + openChan(1) + requests))
	require.NoError(t, err)
	return nc
}

// A client that does not read what it has asked for, and falls silent, is found out like any other, however much waits
// for it.
func TestSilentClientThatDoesNotRead(t *testing.T) {
	for name, gets := range map[string]int{"the reader reads": 40, "the reader waits": 2000} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				b, q := newPeerBroker(t)
				srv := &Server{Broker: b, Logger: slog.New(slog.NewTextHandler(&log, nil))}
				body := make([]byte, 64<<10)
				for range gets {
					_, err := b.Publish("", "kept", leveret.Message{Body: body})
					require.NoError(t, err)
				}
				begin := time.Now()
				nc := dialed(t, srv, 2, "")
				for range gets {
					_, err := nc.Write([]byte(call(1, basicGet, u16(0), ss("kept"), u8(0))))
					require.NoError(t, err)
				}
				synctest.Wait()
				require.Positive(t, q.Info().Unacked)
				assert.LessOrEqual(t, q.Info().Unacked*len(body), maxPending+2*pipeBuffer+len(body))
				for len(b.Connections()) > 0 {
					time.Sleep(time.Second / 2)
				}
				assert.GreaterOrEqual(t, time.Since(begin), 4*time.Second)
				assert.LessOrEqual(t, time.Since(begin), 6*time.Second+time.Second/2)
				synctest.Wait()
				assert.Equal(t, gets+1, q.Info().Ready)
				assert.Contains(t, log.String(), "missed heartbeats")
				nc.Close()
				srv.Close()
				b.Close()
			})
		})
	}
}

// Who takes little at a time while the server waits, or sends a large body little by little, is alive.
func TestSlowClientsLive(t *testing.T) {
	t.Run("reads", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, _ := newPeerBroker(t)
			srv := &Server{Broker: b}
			nc := dialed(t, srv, 2, "")
			body := make([]byte, 1<<20)
			for range 80 {
				_, err := b.Publish("", "kept", leveret.Message{Body: body})
				require.NoError(t, err)
				_, err = nc.Write([]byte(call(1, basicGet, u16(0), ss("kept"), u8(0))))
				require.NoError(t, err)
			}
			for range 60 { // 256 KiB a second, and not a word
				_, err := io.CopyN(io.Discard, nc, maxWrite)
				require.NoError(t, err)
				time.Sleep(time.Second)
			}
			assert.Len(t, b.Connections(), 1)
			nc.Close()
			srv.Close()
			b.Close()
		})
	})
	t.Run("sends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, q := newPeerBroker(t)
			srv := &Server{Broker: b}
			const size = 100_000
			nc := dialed(t, srv, 2, call(1, basicPublish, u16(0), ss(""), ss("kept"), u8(0))+header(size))
			go io.Copy(io.Discard, nc)
			for piece := []byte(fr(frameBody, 1, string(make([]byte, size)))); len(piece) > 0; {
				n := min(1000, len(piece))
				_, err := nc.Write(piece[:n])
				require.NoError(t, err)
				piece = piece[n:]
				time.Sleep(time.Second)
			}
			assert.Equal(t, 2, q.Info().Ready)
			nc.Close()
			srv.Close()
			b.Close()
		})
	})
}

// A client is not held to be dead while nobody reads from it: during the memory alarm, and while a hook of the program
// takes its time.
func TestNobodyLooksWhileNobodyReads(t *testing.T) {
	t.Run("alarm", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, q := newPeerBroker(t)
			srv := &Server{Broker: b}
			nc := dialed(t, srv, 2, "")
			go io.Copy(io.Discard, nc)
			b.SetMemoryLimit(-1)
			_, err := nc.Write([]byte(publish("kept", 0) + header(1) + body("m")))
			require.NoError(t, err)
			time.Sleep(time.Hour)
			b.SetMemoryLimit(0)
			synctest.Wait()
			assert.Equal(t, 2, q.Info().Ready)
			start := time.Now()
			for len(b.Connections()) > 0 {
				time.Sleep(time.Second / 2)
			}
			assert.LessOrEqual(t, time.Since(start), 6*time.Second+time.Second/2, "it is silent now")
			nc.Close()
			srv.Close()
			b.Close()
		})
	})
	t.Run("hook", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, q := newPeerBroker(t)
			b.Watch(leveret.Events{Published: func(leveret.PublishedEvent) { time.Sleep(time.Hour) }})
			srv := &Server{Broker: b}
			nc := dialed(t, srv, 2, "")
			go io.Copy(io.Discard, nc)
			var sending sync.WaitGroup
			stop := make(chan struct{})
			sending.Go(func() {
				for {
					select {
					case <-stop:
						return
					case <-time.After(time.Second):
						nc.Write([]byte(fr(frameHeartbeat, 0, "")))
					}
				}
			})
			_, err := nc.Write([]byte(publish("kept", 0) + header(1) + body("m") + publish("kept", 0) + header(1) + body("m")))
			require.NoError(t, err)
			time.Sleep(3 * time.Hour)
			assert.Equal(t, 3, q.Info().Ready)
			assert.Len(t, b.Connections(), 1)
			close(stop)
			sending.Wait()
			nc.Close()
			srv.Close()
			b.Close()
		})
	})
}

// A client that sends everything before it reads anything is served: 40,000 mandatory messages of 1 kB come back.
func TestClientThatSendsEverythingFirst(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	nc, _ := overTCP(t, b)
	_, err := nc.Write([]byte(start + startOk("PLAIN", login) + tuneOk(2047, 131072, 0) + openVHost("/") + openChan(1)))
	require.NoError(t, err)
	const n, size = 40_000, 1000
	message := []byte(publish("missing", 1) + header(size) + body(string(make([]byte, size))))
	for range n {
		_, err := nc.Write(message)
		require.NoError(t, err)
	}
	answers := bufio.NewReader(nc)
	for returned := 0; returned < n; {
		id, _ := readMethod(t, answers)
		if id == basicReturn {
			returned++
		}
	}
	assert.EqualValues(t, n, b.Counters().UnroutableReturned)
}
