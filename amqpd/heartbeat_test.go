package amqpd

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
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

// tuned2 is what a client sends in the tests of moments: up to tune-ok, with a heartbeat of two seconds.
var tuned2 = start + startOk("PLAIN", login) + tuneOk(2047, 131072, 2)

// moments returns when frames came from the server and of what type, and when the connection ended, in seconds since
// the client sent what comes first. A heartbeat of the last moment is left out: whether the server sends one in the
// moment in which it ends the connection is left to chance.
func moments(t *testing.T, first string, then func(nc net.Conn, b *leveret.Broker)) string {
	var got []string
	synctest.Test(t, func(t *testing.T) {
		b, _ := newPeerBroker(t)
		srv := &Server{Broker: b}
		nc, err := srv.Dial()
		require.NoError(t, err)
		begin := time.Now()
		_, err = nc.Write([]byte(first))
		require.NoError(t, err)
		var acting sync.WaitGroup
		acting.Go(func() { then(nc, b) })
		r := &frameReader{r: nc, maxPayload: 1 << 20}
		for err == nil {
			var f frame
			f, err = r.readFrame()
			now := time.Since(begin).Seconds()
			switch {
			case err != nil:
				beat := fmt.Sprintf("%.1f beat", now)
				got = slices.DeleteFunc(got, func(m string) bool { return m == beat })
				got = append(got, fmt.Sprintf("%.1f end", now))
			case f.typ == frameHeartbeat:
				got = append(got, fmt.Sprintf("%.1f beat", now))
			case methodOf(f) == connectionOpenOk, methodOf(f) == connectionClose, methodOf(f) == connectionCloseOk:
				got = append(got, fmt.Sprintf("%.1f %s", now, map[methodID]string{connectionOpenOk: "open-ok",
					connectionClose: "close", connectionCloseOk: "close-ok"}[methodOf(f)]))
			}
		}
		acting.Wait()
		nc.Close()
		srv.Close()
		assert.Empty(t, b.Connections())
		b.Close()
	})
	return strings.Join(got, ", ")
}

// sent returns what sends texts at times, which are in milliseconds since the one before.
func sent(texts ...any) func(net.Conn, *leveret.Broker) {
	return func(nc net.Conn, _ *leveret.Broker) {
		for i := 0; i < len(texts); i += 2 {
			time.Sleep(time.Duration(texts[i].(int)) * time.Millisecond)
			nc.Write([]byte(texts[i+1].(string)))
		}
	}
}

// beating sends a heartbeat a second.
func beating(nc net.Conn, _ *leveret.Broker) {
	for {
		time.Sleep(time.Second)
		if _, err := nc.Write([]byte(fr(frameHeartbeat, 0, ""))); err != nil {
			return
		}
	}
}

// The server sends heartbeats from tune-ok to the end of the connection, also before connection.open and while it waits
// for the answer to connection.close. It looks after the client's as long as it sends no connection.close. All moments
// are RabbitMQ's.
func TestMomentsOfHeartbeats(t *testing.T) {
	open, flow := openVHost("/"), call(1, methodID(20<<16|20), u8(1))
	for _, tc := range []struct {
		name, first string
		then        func(net.Conn, *leveret.Broker)
		moments     string
	}{
		{"nothing behind tune-ok", tuned2, sent(),
			"1.0 beat, 2.0 beat, 3.0 beat, 4.0 beat, 5.0 beat, 6.0 end"},
		{"heartbeats behind tune-ok, up to the handshake's timeout", tuned2, beating,
			"1.0 beat, 2.0 beat, 3.0 beat, 4.0 beat, 5.0 beat, 6.0 beat, 7.0 beat, 8.0 beat, 9.0 beat, 10.0 end"},
		{"open, and silence", tuned2, sent(2500, open),
			"1.0 beat, 2.0 beat, 2.5 open-ok, 4.0 beat, 5.0 beat, 6.0 beat, 7.0 beat, 8.0 end"},
		{"the first one comes however busy the server is", tuned2 + open + openChan(1),
			sent(500, flow, 700, flow, 900, flow, 800, flow, 900, flow), "0.0 open-ok, 1.0 beat, 5.0 beat, 6.0 beat, 7.0 beat, 8.0 end"},
		{"virtual host refused", tuned2, sent(200, openVHost("nope")), "0.2 close, 1.0 beat, 2.0 beat, 2.2 end"},
		{"frame instead of open", tuned2, sent(200, fr(frameHeader, 0, "abc")), "0.2 close, 1.0 beat, 2.0 beat, 2.2 end"},
		{"lost frame boundary instead of open", tuned2, sent(200, "\x08\x00\x00\x00\x00\x00\x00xyyy"),
			"0.2 close, 1.0 beat, 2.0 beat, 3.0 beat, 3.2 end"},
		{"open that is cut short", tuned2, sent(200, call(0, connectionOpen, ss("/"))), "1.0 beat, 2.0 beat, 3.0 beat, 3.2 end"},
		{"unknown method instead of open", tuned2, sent(200, call(0, methodID(99<<16|40))), "0.2 end"},
		{"lost frame boundary", tuned2 + open, sent(200, "\x08\x00\x00\x00\x00\x00\x00xyyy"),
			"0.0 open-ok, 0.2 close, 1.0 beat, 2.0 beat, 3.0 beat, 3.2 end"},
		{"error", tuned2 + open, sent(1200, call(0, channelOpen, ss(""))), "0.0 open-ok, 1.0 beat, 1.2 close, 3.0 beat, 3.2 end"},
		{"error, answered", tuned2 + open, sent(1200, call(0, channelOpen, ss("")), 1900, call(0, connectionCloseOk)),
			"0.0 open-ok, 1.0 beat, 1.2 close, 3.0 beat, 3.1 end"},
		{"client closes", tuned2 + open, sent(200, closeConn()), "0.0 open-ok, 0.2 close-ok, 1.0 beat, 2.0 beat, 2.2 end"},
		{"closed by an operator after silence", tuned2 + open, func(_ net.Conn, b *leveret.Broker) {
			time.Sleep(5500 * time.Millisecond)
			b.CloseConnection(b.Connections()[0].ID, "enough")
		}, "0.0 open-ok, 1.0 beat, 2.0 beat, 3.0 beat, 4.0 beat, 5.0 beat, 5.5 close, 7.0 beat, 7.5 end"},
	} {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.moments, moments(t, tc.first, tc.then)) })
	}
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
