package main

import (
	"bytes"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// limitFiles has the system refuse what the process writes behind an offset of a file, as it does when the disk is full.
func (p *process) limitFiles(octets uint64) {
	limit := syscall.Rlimit{Cur: octets, Max: octets}
	_, _, errno := syscall.Syscall6(syscall.SYS_PRLIMIT64, uintptr(p.Process.Pid), syscall.RLIMIT_FSIZE, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	require.Zero(p.t, errno)
}

// When the disk takes no more, nothing is confirmed, clients are told why, and so is the log of the server. What was confirmed
// before is there afterwards.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	p, url := serveData(t, dir)
	publishData(t, url)
	p.limitFiles(64 << 10)
	for range 2 { // as often as a client tries
		ch := channelTo(t, side{url: url})
		closed := ch.NotifyClose(make(chan *amqp.Error, 1))
		c, err := ch.PublishWithDeferredConfirm("", "classic", true, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: bytes.Repeat([]byte("m"), 100<<10)})
		require.NoError(t, err)
		told := <-closed
		require.NotNil(t, told)
		assert.Equal(t, amqp.InternalError, told.Code)
		assert.Contains(t, told.Reason, "the message store has failed: journal: write 00000001.journal at offset ")
		assert.Contains(t, told.Reason, "file too large")
		assert.False(t, c.Wait())
	}
	status, stderr := p.endsWith(syscall.SIGTERM)
	assert.Equal(t, 1, status, "what was not confirmed is not kept")
	assert.Contains(t, stderr, "level=WARN")
	assert.Equal(t, 1, strings.Count(stderr, `level=ERROR msg="the directory takes nothing more"`), stderr)
	assert.Contains(t, stderr, "the message store has failed: journal: write 00000001.journal at offset ")
	t.Log(stderr)

	p, url = serveData(t, dir)
	for queue := range dataQueues {
		q, err := channelTo(t, side{url: url}).QueueDeclarePassive(queue, true, false, false, false, nil)
		require.NoError(t, err)
		assert.Equal(t, 3, q.Messages)
	}
	p.end(syscall.SIGTERM)
}

// A disk that fills up blocks who publishes before it is full, and lets them go on when consumers have made room. Nothing that was
// confirmed is lost, and nothing fails.
func TestDiskFillsUp(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=128m"); err != nil {
		t.Skip("no disk of a small size can be had here: ", err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, 0)) })
	p, url := serveData(t, dir)
	publisher, consumer := side{url: url}, channelTo(t, side{url: url})
	conn, err := amqp.Dial(publisher.url)
	require.NoError(t, err)
	defer conn.Close()
	told := conn.NotifyBlocked(make(chan amqp.Blocking, 2))
	ch, err := conn.Channel()
	require.NoError(t, err)
	require.NoError(t, ch.Confirm(false))
	_, err = ch.QueueDeclare("q", true, false, false, false, nil)
	require.NoError(t, err)
	published, body := 0, make([]byte, 1<<20)
	var last *amqp.DeferredConfirmation
	for blocked := false; !blocked; published++ {
		require.Less(t, published, 128, "the disk is full, and nobody was told")
		last, err = ch.PublishWithDeferredConfirm("", "q", false, false, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: body})
		require.NoError(t, err)
		select {
		case b := <-told:
			assert.Equal(t, amqp.Blocking{Active: true, Reason: "low on disk"}, b)
			blocked = true
		case <-last.Done():
			assert.True(t, last.Acked())
		}
	}
	assert.Greater(t, published, 30)
	for range published - 1 { // the last one has to wait
		_, ok, err := consumer.Get("q", true)
		require.NoError(t, err)
		require.True(t, ok)
	}
	assert.Equal(t, amqp.Blocking{Active: false}, <-told)
	assert.True(t, last.Wait())
	d, ok, err := consumer.Get("q", true)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Len(t, d.Body, len(body))
	p.end(syscall.SIGTERM)
}
