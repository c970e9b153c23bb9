package amqpd

import (
	"encoding/binary"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"runtime/debug"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A session exercises every class; cutting it off at any octet leaves the server in any state.
var wholeSession = start + startOk("PLAIN", login) + tuneOk(2047, 131072, 10) + openVHost("/") + openChan(1) +
	call(1, exchangeDeclare, u16(0), ss("x"), ss("fanout"), u8(4), u32(0)) +
	call(1, queueDeclare, u16(0), ss("q"), u8(4), u32(0)) +
	call(1, queueBind, u16(0), ss("q"), ss("x"), ss(""), u8(0), u32(0)) +
	call(1, confirmSelect, u8(0)) + publish("kept", 0) + header(4) + body("ab") + body("cd") +
	call(1, basicGet, u16(0), ss("kept"), u8(0)) +
	call(1, basicConsume, u16(0), ss("q"), ss("tag"), u8(0), u32(0)) +
	call(1, basicPublish, u16(0), ss("x"), ss(""), u8(1)) + contentHeader(1, 60, 0, 2, "\xa0\x00\x01t"+ls(inField+"A"+ls("t\x01"))) + body("hi") +
	call(1, basicAck, u64(2), u8(0)) + openChan(2) + call(2, txSelect) +
	call(2, basicPublish, u16(0), ss(""), ss("kept"), u8(0)) + contentHeader(2, 60, 0, 0, "\x00\x00") + call(2, txCommit) +
	getMissing + call(1, channelCloseOk) + fr(frameHeartbeat, 0, "") + closeChan(2) + closeConn()

// newPeerBroker has a queue that outlives the sessions, with a message in it.
func newPeerBroker(t testing.TB) (*leveret.Broker, *leveret.Queue) {
	b := leveret.New()
	q, err := b.DeclareQueue("kept", leveret.QueueConfig{})
	require.NoError(t, err)
	_, err = b.Publish("", "kept", leveret.Message{Body: []byte("first")})
	require.NoError(t, err)
	return b, q
}

// A peer that disappears leaves nothing behind, wherever it was, and what it had not acknowledged is
// back in its queue. A synctest bubble fails if a goroutine or timer is left.
func TestAbruptDisconnect(t *testing.T) {
	for at := range wholeSession {
		synctest.Test(t, func(t *testing.T) {
			b, q := newPeerBroker(t)
			srv := &Server{Broker: b}
			nc, err := srv.Dial()
			require.NoError(t, err)
			go io.Copy(io.Discard, nc)
			nc.Write([]byte(wholeSession[:at]))
			synctest.Wait()
			nc.Close()
			synctest.Wait()
			assert.Empty(t, b.Connections(), "cut after %d octets", at)
			info := q.Info()
			assert.Equal(t, info.Messages, info.Ready, "cut after %d octets", at)
			assert.NotZero(t, info.Ready)
			_, err = b.Queue("q")
			assert.Error(t, err, "its owner is gone")
			require.NoError(t, b.Check())
			srv.Close()
			b.Close()
		})
	}
}

// A client that answers connection.close need not close its end: the server does so at once, as RabbitMQ does.
func TestAnsweredClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newPeerBroker(t)
		srv := &Server{Broker: b}
		nc, err := srv.Dial()
		require.NoError(t, err)
		at := time.Now()
		nc.Write([]byte(start + startOk("PLAIN", login) + tuneOk(2047, 131072, 10) + openVHost("/") + call(1, basicGet, u16(0), ss("q"), u8(0)) +
			call(0, connectionCloseOk)))
		_, err = io.Copy(io.Discard, nc)
		require.NoError(t, err)
		assert.Equal(t, at, time.Now())
		nc.Close()
		srv.Close()
		b.Close()
	})
}

// When a virtual host is deleted the client sees the end of the stream right behind connection.close, as with RabbitMQ. Of
// other connections that the broker closes the client's answer is waited for.
// Rules: A-11.
func TestWhoseAnswerIsWaitedFor(t *testing.T) {
	for name, tc := range map[string]struct {
		act   func(t *testing.T, b *leveret.Broker)
		waits time.Duration
		fault string // what the client sends
	}{
		"virtual host deleted": {func(t *testing.T, b *leveret.Broker) { require.NoError(t, b.DeleteVHost("/")) }, 0, ""},
		"user deleted":         {func(t *testing.T, b *leveret.Broker) { require.NoError(t, b.DeleteUser("guest")) }, 10 * time.Second, ""},
		"closed by an operator": {func(t *testing.T, b *leveret.Broker) {
			require.NoError(t, b.CloseConnection(b.Connections()[0].ID, "enough"))
		}, 10 * time.Second, ""},
		"its client's fault": {func(*testing.T, *leveret.Broker) {}, 10 * time.Second, call(0, connectionTune)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, _ := newPeerBroker(t)
				srv := &Server{Broker: b}
				nc, err := srv.Dial()
				require.NoError(t, err)
				nc.Write([]byte(start + startOk("PLAIN", login) + tuneOk(2047, 131072, 10) + openVHost("/") + tc.fault))
				synctest.Wait()
				at := time.Now()
				tc.act(t, b)
				sent, err := io.ReadAll(nc)
				require.NoError(t, err)
				assert.Contains(t, string(sent), "\x00\x0a\x00\x32", "connection.close comes before the end of the stream")
				assert.Equal(t, tc.waits, time.Since(at))
				nc.Write([]byte(call(0, connectionCloseOk)))
				synctest.Wait()
				nc.Close()
				srv.Close()
				b.Close()
			})
		})
	}
}

// A peer that stays but says no more is cut off: by the handshake timeout, or for want of heartbeats.
func TestHalfOpen(t *testing.T) {
	for at := 0; at < len(wholeSession); at += 7 {
		synctest.Test(t, func(t *testing.T) {
			b, _ := newPeerBroker(t)
			srv := &Server{Broker: b}
			nc, err := srv.Dial()
			require.NoError(t, err)
			closed := make(chan struct{})
			go func() {
				defer close(closed)
				io.Copy(io.Discard, nc)
			}()
			start := time.Now()
			nc.Write([]byte(wholeSession[:at]))
			<-closed
			assert.LessOrEqual(t, time.Since(start), 30*time.Second, "stopped after %d octets", at)
			assert.Empty(t, b.Connections())
			srv.Close()
			b.Close()
		})
	}
}

// Close ends connections in any state within its bound.
func TestServerCloseInAnyState(t *testing.T) {
	for at := 0; at < len(wholeSession); at += 5 {
		synctest.Test(t, func(t *testing.T) {
			b, _ := newPeerBroker(t)
			srv := &Server{Broker: b}
			nc, err := srv.Dial()
			require.NoError(t, err)
			go io.Copy(io.Discard, nc)
			nc.Write([]byte(wholeSession[:at]))
			synctest.Wait()
			start := time.Now()
			require.NoError(t, srv.Close())
			assert.LessOrEqual(t, time.Since(start), shutdownWait, "at %d octets", at)
			assert.Empty(t, b.Connections())
			nc.Close()
			b.Close()
		})
	}
}

// Changed octets end in a close or a dropped connection, never in a panic or a connection that hangs.
func TestCorruptedSessions(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 500 {
		in := []byte(wholeSession)
		for range 1 + random.IntN(3) {
			in[random.IntN(len(in))] = byte(random.IntN(256))
		}
		serveBytes(t, in)
	}
}

// serveBytes sends a server some input, and more time than any of its timeouts.
func serveBytes(t *testing.T, in []byte) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newPeerBroker(t)
		client, server := Pipe()
		srv := &Server{Broker: b}
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%v after %q\n%s", p, in, debug.Stack())
				}
			}()
			srv.ServeConn(server)
		}()
		go io.Copy(io.Discard, client)
		client.Write(in)
		time.Sleep(time.Minute)
		client.Close()
		select {
		case <-done:
		case <-time.After(5 * time.Minute):
			t.Fatalf("still serving after %q", in)
		}
		assert.Empty(t, b.Connections())
		assert.NoError(t, b.Check())
		b.Close()
	})
}

func FuzzServeConn(f *testing.F) {
	f.Add([]byte(wholeSession))
	for _, tc := range wireCases {
		steps := start + startOk("PLAIN", login) + tuneOk(2047, 131072, 0) + openVHost("/") + openChan(1)
		if tc.stage == onChannel1 && len(tc.input) < 10000 {
			f.Add([]byte(steps + tc.input))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) { serveBytes(t, in) })
}

// FuzzSession starts behind the handshake, which random input hardly ever gets past.
func FuzzSession(f *testing.F) {
	const steps = start
	handshake := steps + startOk("PLAIN", login) + tuneOk(2047, 131072, 0) + openVHost("/") + openChan(1)
	f.Add([]byte(wholeSession[len(wholeSession)-300:]))
	for _, tc := range wireCases {
		if tc.stage >= opened && len(tc.input) < 10000 {
			f.Add([]byte(tc.input))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) { serveBytes(t, append([]byte(handshake), in...)) })
}

// A body that is announced costs nothing until it comes.
func TestAnnouncedBodiesCostNothing(t *testing.T) {
	var m assembly
	m.left = 512 << 20
	m.state = wantBody
	m.add(make([]byte, 1000))
	assert.LessOrEqual(t, cap(m.body), eagerBody)
	for len(m.body) < 5<<20 {
		m.add(make([]byte, 100000))
		assert.LessOrEqual(t, cap(m.body), max(eagerBody, 2*len(m.body)))
	}
}

// What a client does not read shows as pending.
func TestUnreadOutputIsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, q := newPeerBroker(t)
		srv := &Server{Broker: b}
		nc, err := srv.Dial()
		require.NoError(t, err)
		nc.Write([]byte(start + startOk("PLAIN", login) + tuneOk(2047, 131072, 0) + openVHost("/") + openChan(1) +
			call(1, basicConsume, u16(0), ss("kept"), ss("tag"), u8(0), u32(0))))
		synctest.Wait()
		assert.Zero(t, b.Connections()[0].Transport.Traffic.Pending)
		_, err = b.Publish("", q.Name(), leveret.Message{Body: make([]byte, 5<<20)})
		require.NoError(t, err)
		synctest.Wait()
		assert.Greater(t, b.Connections()[0].Transport.Traffic.Pending, int64(5<<20))
		go io.Copy(io.Discard, nc)
		synctest.Wait()
		assert.Zero(t, b.Connections()[0].Transport.Traffic.Pending)
		nc.Close()
		srv.Close()
		b.Close()
	})
}

// overTCP returns a client's connection to a new server of b over a socket. Reads and writes fail after a minute.
func overTCP(t *testing.T, b *leveret.Broker) (nc net.Conn, srv *Server) {
	t.Helper()
	srv = &Server{Broker: b}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go srv.Serve(l)
	nc, err = net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	nc.SetDeadline(time.Now().Add(time.Minute))
	t.Cleanup(func() {
		nc.Close()
		srv.Close()
	})
	return nc, srv
}

// In a connection's idle state there is no output buffer, nor one to read into.
func TestIdleConnectionHoldsNoBuffers(t *testing.T) {
	b, _ := newPeerBroker(t)
	defer b.Close()
	nc, srv := overTCP(t, b)
	r := frameReader{r: nc, maxPayload: 1 << 20}
	for _, s := range []string{start, startOk("PLAIN", login), tuneOk(2047, 131072, 0) + openVHost("/"), openChan(1)} {
		nc.Write([]byte(s))
		_, err := r.readFrame()
		require.NoError(t, err)
	}
	srv.mu.Lock()
	conns := slices.Collect(maps.Keys(srv.conns))
	srv.mu.Unlock()
	require.Len(t, conns, 1)
	c := conns[0]
	require.NoError(t, srv.Settle(t.Context())) // the writer gives the buffer back after the client has read
	c.mu.Lock()
	defer c.mu.Unlock()
	assert.Zero(t, cap(c.out.b))
}

// A server without a limit of channels takes what the client answers, also that there is none.
func TestNoLimitOfChannels(t *testing.T) {
	for wanted, open := range map[uint16]int{0: 3000, 2: 2, 65535: 3000} {
		synctest.Test(t, func(t *testing.T) {
			b := leveret.New()
			defer b.Close()
			srv := &Server{Broker: b, ChannelMax: leveret.NoLimit}
			defer srv.Close()
			nc, err := srv.Dial()
			require.NoError(t, err)
			defer nc.Close()
			var channels string
			for n := range uint16(3000) {
				channels += openChan(n + 1)
			}
			nc.Write([]byte(start + startOk("PLAIN", login) + tuneOk(wanted, 131072, 0) + openVHost("/")))
			r := &frameReader{r: nc, maxPayload: 1 << 20}
			opened := 0
			for opened < open {
				f, err := r.readFrame()
				require.NoError(t, err)
				switch methodOf(f) {
				case connectionTune:
					assert.Zero(t, binary.BigEndian.Uint16(f.payload[4:]), "no limit is proposed")
				case connectionOpenOk:
					assert.EqualValues(t, wanted, b.Connections()[0].ChannelMax)
					go nc.Write([]byte(channels))
				case channelOpenOk:
					opened++
				}
			}
			if open < 3000 {
				f, err := r.readFrame()
				require.NoError(t, err)
				assert.Equal(t, connectionClose, methodOf(f))
			}
		})
	}
}
