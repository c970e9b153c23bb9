package main

import (
	"bytes"
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
