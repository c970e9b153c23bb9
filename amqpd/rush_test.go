package amqpd

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A reader that lets input gather gets what comes, however little and late, and whichever way it reads.
func TestNothingIsLeftToGather(t *testing.T) {
	if !canNap {
		t.Skip("nothing gathers here")
	}
	client, fr, server := socketPair(t)
	defer client.Close()
	frameOf := func(size int) []byte {
		var o output
		at := o.begin(frameBody, 1)
		o.b = append(o.b, make([]byte, size)...)
		o.end(at)
		return o.b
	}
	hush := func() {
		fr.sock.rushing = true
		fr.sock.gather()
		require.True(t, fr.sock.hushed)
	}

	waits := func(read func() error) {
		server.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		require.ErrorIs(t, read(), os.ErrDeadlineExceeded)
		assert.False(t, fr.sock.rushing || fr.sock.hushed, "nobody would wake it")
		server.SetReadDeadline(time.Now().Add(time.Minute))
	}

	hush()
	waits(fr.fill)
	client.Write(frameOf(1))
	f, err := fr.readFrame()
	require.NoError(t, err)
	assert.Len(t, f.payload, 1)

	client.Write(frameOf(40_000)[:100])
	require.NoError(t, fr.fill())
	hush()
	waits(func() error { return fr.readPayload(make([]byte, 40_000)) })

	hush()
	go client.Close() // while it waits, or before
	require.ErrorIs(t, fr.fill(), io.EOF)
}

func TestRushIsJudgedByItsPace(t *testing.T) {
	var r rush
	assert.False(t, r.goes(rushSample-1, false), "too few to tell")
	assert.True(t, r.goes(1, false))
	assert.True(t, r.goes(1, true), "until it is judged anew")
	r.since = r.since.Add(-rushPace)
	assert.False(t, r.goes(rushSample-1, true), "too slow")
	r.since = r.since.Add(-rushPace)
	assert.True(t, r.goes(10*rushSample, false), "many that one read brought")
}

// Only a client that publishes small messages without confirms, and gets nothing, is in a rush.
func TestWhoIsInARush(t *testing.T) {
	if !canNap {
		t.Skip("nobody is here")
	}
	b := leveret.New()
	defer b.Close()
	server, client := net.Pipe()
	defer client.Close()
	c := newConn(&Server{Broker: b}, server)
	c.in.sock = new(socket)
	judge := func(messages int, other, out bool) bool {
		for range messages {
			c.batch.published(rushBody, true)
		}
		c.batch.other = c.batch.other || other
		c.out.release()
		if out {
			c.out.bare(1, basicCancelOk)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.judgeRushLocked()
		return c.in.sock.rushing
	}
	assert.True(t, judge(rushSample, false, false))
	assert.True(t, judge(0, false, false), "part of a frame came")
	assert.False(t, judge(rushSample, true, false), "something else came")
	assert.True(t, judge(rushSample, false, false))
	assert.False(t, judge(rushSample, false, true), "there is something to say")
	assert.True(t, judge(rushSample, false, false))
	c.batch.published(rushBody+1, true)
	assert.False(t, judge(rushSample, false, false), "one was large")
	assert.True(t, judge(rushSample, false, false))
	c.batch.published(1, false)
	assert.False(t, judge(rushSample, false, false), "one was answered")
	c.rush.since = time.Now().Add(-time.Hour)
	c.rush.only = 1
	assert.False(t, judge(rushSample, false, false), "not that fast")
}

// What a client in a rush published is there when a method that follows it is answered, and what comes after a
// pause at once.
func TestRushArrives(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	srv := &Server{Broker: b}
	defer srv.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go srv.Serve(l)
	nc, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(time.Minute))
	declare := func(flags byte) string { return call(1, queueDeclare, u16(0), ss("q"), u8(flags), u32(0)) }
	_, err = nc.Write([]byte(start + startOk("PLAIN", login) + tuneOk(2047, 131072, 0) + openVHost("/") + openChan(1) + declare(2)))
	require.NoError(t, err)
	for id := methodID(0); id != queueDeclareOk; {
		id, _ = readMethod(t, nc)
	}
	message := call(1, basicPublish, u16(0), ss(""), ss("q"), u8(0)) + header(5) + body("hello")
	for round := 1; round <= 50; round++ {
		for range 200 {
			_, err := nc.Write([]byte(message))
			require.NoError(t, err)
		}
		_, err := nc.Write([]byte(declare(1)))
		require.NoError(t, err)
		_, payload := readMethod(t, nc)
		assert.Equal(t, ss("q")+u32(uint32(200*round))+u32(0), string(payload))
	}
}
