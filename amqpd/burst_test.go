package amqpd

import (
	"io"
	"os"
	"runtime"
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
	if runtime.GOMAXPROCS(0) < 2 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
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
	assert.False(t, b.keepsPace(1, false), "too short to tell")
	assert.True(t, b.keepsPace(1, true), "it was")

	now := time.Now()
	ran := func(messages int, took time.Duration, was bool) bool {
		b.run, b.since = messages, now
		now = now.Add(took)
		return b.paced(now, was)
	}
	const fast = 1000 // messages in a trial
	b = burst{}
	assert.False(t, ran(burstSample, burstSample*burstPace+1, false), "too slow")
	assert.False(t, ran(fast, burstTrial-1, false), "too short to tell")
	assert.True(t, ran(fast, burstTrial, false))
	assert.True(t, ran(fast, burstTrial, true), "no slower than before")
	assert.True(t, ran(2*fast, burstTrial, true), "faster")
}

// A client that publishes less while its input gathers is left alone, for longer each time.
func TestInputGathersOnlyIfThatHelps(t *testing.T) {
	var b burst
	now := time.Now()
	ran := func(messages int, was bool) bool {
		b.run, b.since = messages, now
		now = now.Add(burstTrial)
		return b.paced(now, was)
	}
	for _, rest := range []time.Duration{shortBreak, 2 * shortBreak, 4 * shortBreak} {
		require.True(t, ran(1000, false))
		require.False(t, ran(900, true), "slower")
		require.Equal(t, now.Add(rest), b.until)
		require.False(t, ran(1000, false), "left alone")
		now = b.until
	}
	for range 20 {
		ran(1000, false)
		ran(900, true)
		now = b.until
	}
	require.Equal(t, longBreak, b.rest)
	require.True(t, ran(1000, false))
	require.True(t, ran(1100, true), "it helps now")
	require.False(t, ran(900, true))
	require.Equal(t, shortBreak, b.rest)
}

// A reader that sleeps keeps a processor from others, so that no more than half of them are taken.
func TestFewReadersSleep(t *testing.T) {
	if !canGather {
		t.Skip("nothing gathers here")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	client, fr, _ := socketPair(t)
	defer client.Close()
	for processors, sleeps := range map[int]bool{1: false, 2: true} {
		runtime.GOMAXPROCS(processors)
		fr.sock.endBurst()
		fr.sock.gather()
		require.Equal(t, sleeps, fr.sock.lowWater > 1, "%d processors", processors)
	}
	fr.sock.endBurst()
	gathering.Add(1)
	defer gathering.Add(-1)
	fr.sock.gather()
	require.Equal(t, 1, fr.sock.lowWater, "another one sleeps")
}

// Only a client that publishes small messages without confirms, and gets nothing, is in a burst.
func TestWhichClientsAreInABurst(t *testing.T) {
	if !canGather {
		t.Skip("nobody is here")
	}
	fr := frameReader{sock: new(socket)}
	judge := func(messages int, other, answered bool) bool {
		if fr.burst.run == 0 {
			fr.burst.run, fr.burst.since = 1000, time.Now().Add(-burstTrial)
		}
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
	fr.burst.run, fr.burst.since = 1, time.Now().Add(-time.Hour)
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
