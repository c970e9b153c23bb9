package amqpd

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A reader that lets input gather gets what comes, however little and late, and whichever way it reads.
func TestNothingIsLeftToGather(t *testing.T) {
	if !canGather {
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
	gather := func() {
		fr.sock.inBurst = true
		fr.sock.gather()
		require.Greater(t, fr.sock.lowWater, 1)
	}

	past := time.Unix(1, 0)
	wakeable := func() {
		t.Helper()
		assert.False(t, fr.sock.inBurst || fr.sock.lowWater != 1, "nobody would wake it")
		server.SetReadDeadline(time.Time{})
	}

	gather()
	try := fr.sock.try
	fr.sock.try = func(fd uintptr) bool {
		came := try(fd)
		if !came { // there is nothing: from here on it waits
			server.SetReadDeadline(past)
		}
		return came
	}
	require.ErrorIs(t, fr.fill(), os.ErrDeadlineExceeded)
	fr.sock.try = try
	wakeable()
	client.Write(frameOf(1))
	f, err := fr.readFrame()
	require.NoError(t, err)
	assert.Len(t, f.payload, 1)

	client.Write(frameOf(40_000)[:100])
	require.NoError(t, fr.fill())
	gather()
	server.SetReadDeadline(past)
	require.ErrorIs(t, fr.readPayload(make([]byte, 40_000)), os.ErrDeadlineExceeded)
	wakeable()

	gather()
	go client.Close() // while it waits, or before
	require.ErrorIs(t, fr.fill(), io.EOF)
}

func TestBurstIsJudgedByItsPace(t *testing.T) {
	var b burst
	assert.False(t, b.keepsPace(burstSample-1, false), "too few to tell")
	assert.True(t, b.keepsPace(1, false))
	assert.True(t, b.keepsPace(1, true), "until it is judged anew")
	b.since = b.since.Add(-burstPace)
	assert.False(t, b.keepsPace(burstSample-1, true), "too slow")
	b.since = b.since.Add(-burstPace)
	assert.True(t, b.keepsPace(10*burstSample, false), "many that one read brought")
}

// Only a client that publishes small messages without confirms, and gets nothing, is in a burst.
func TestWhichClientsAreInABurst(t *testing.T) {
	if !canGather {
		t.Skip("nobody is here")
	}
	fr := frameReader{sock: new(socket)}
	judge := func(messages int, other, answered bool) bool {
		for range messages {
			fr.burst.published(burstBody, true)
		}
		fr.burst.other = fr.burst.other || other
		fr.executed(answered)
		return fr.sock.inBurst
	}
	assert.True(t, judge(burstSample, false, false))
	assert.True(t, judge(0, false, false), "part of a frame came")
	assert.False(t, judge(burstSample, true, false), "something else came")
	assert.True(t, judge(burstSample, false, false))
	assert.False(t, judge(burstSample, false, true), "there is something to say")
	assert.True(t, judge(burstSample, false, false))
	fr.burst.published(burstBody+1, true)
	assert.False(t, judge(burstSample, false, false), "one was large")
	assert.True(t, judge(burstSample, false, false))
	fr.burst.published(1, false)
	assert.False(t, judge(burstSample, false, false), "one was answered")
	fr.burst.since = time.Now().Add(-time.Hour)
	fr.burst.run = 1
	assert.False(t, judge(burstSample, false, false), "not that fast")
}

// What a client in a burst published is there when a method that follows it is answered, and what comes after a
// pause at once.
func TestBurstArrives(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	nc, _ := overTCP(t, b)
	declare := func(flags byte) string { return call(1, queueDeclare, u16(0), ss("q"), u8(flags), u32(0)) }
	_, err := nc.Write([]byte(start + startOk("PLAIN", login) + tuneOk(2047, 131072, 0) + openVHost("/") + openChan(1) + declare(2)))
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
