package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret/cmd/leveret/internal/memory"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWatermarkFlag(t *testing.T) {
	for given, want := range map[string]memory.Watermark{
		"0.6": memory.Relative(0.6), "0.25": memory.Relative(0.25), "1": memory.Relative(1), "0": memory.Relative(0), "none": {},
		"2GB": {Given: "2GB", Bytes: 2e9}, "5000": {Given: "5000", Bytes: 5000}, "1MiB": {Given: "1MiB", Bytes: 1 << 20},
	} {
		s, err := parseSettings([]string{"--vm-memory-high-watermark", given}, io.Discard)
		require.NoError(t, err, given)
		assert.Equal(t, want, s.watermark, given)
	}
	for _, given := range []string{"", "-1", "1.5", "much", "2 GB", "5XB"} {
		_, err := parseSettings([]string{"--vm-memory-high-watermark", given}, io.Discard)
		assert.ErrorContains(t, err, "--vm-memory-high-watermark is \""+given+"\"")
	}
	s, err := parseSettings(nil, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, memory.Relative(0.6), s.watermark, "RabbitMQ's default")
}

// A leveret process with its ctl.
type controlled struct {
	*process
	t      *testing.T
	socket string
}

func spawnControlled(t *testing.T, args ...string) (p controlled, url string) {
	p = controlled{t: t, socket: filepath.Join(t.TempDir(), "s")}
	p.process = spawn(t, append([]string{"serve", "--amqp=127.0.0.1:0", "--control=" + p.socket}, args...)...)
	url, _ = p.greeting()
	return p, url
}

func (p controlled) ctl(args ...string) string {
	p.t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"ctl", "--control", p.socket}, args...)...)
	cmd.Env = append(os.Environ(), asLeveret+"=1")
	out, err := cmd.Output()
	require.NoError(p.t, err)
	return string(out)
}

// An idle server says that it needs little, though its ballast is large, and what its limit is as it was given.
func TestStatusOfMemory(t *testing.T) {
	p, _ := spawnControlled(t)
	status := p.ctl("status", "--unit", "mb")
	var used float64
	_, rest, ok := strings.Cut(status, "Total memory used: ")
	require.True(t, ok)
	_, err := fmt.Sscan(rest, &used)
	require.NoError(t, err)
	assert.Less(t, used, 60.0)
	assert.Contains(t, status, "\nCalculation strategy: allocated\n")
	if _, err := memory.Available(); err == nil {
		assert.Contains(t, status, "\nMemory high watermark setting: 0.6 of available memory, computed to: ")
		assert.Contains(t, p.ctl("status", "--formatter", "json"), `"vm_memory_high_watermark_setting":{"relative":0.6}`)
	}
	p.ctl("set_vm_memory_high_watermark", "absolute", "100MB")
	status = p.ctl("status", "--unit", "mb")
	assert.Contains(t, status, "\nMemory high watermark setting: 100MB, computed to: 100.0 mb\n")
	assert.Contains(t, status, "\nAlarms\n\n(none)\n", "an idle server is below it")
	p.ctl("set_vm_memory_high_watermark", "0")
	status = p.ctl("status")
	assert.Contains(t, status, "\nAlarms\n\nMemory alarm on node leveret@localhost\n")
	assert.Contains(t, status, "\nMemory high watermark setting: 0 of available memory, computed to: 0.0 gb\n")

	p, _ = spawnControlled(t, "--vm-memory-high-watermark", "none")
	assert.Contains(t, p.ctl("status"), "\nMemory high watermark setting: none, computed to: none\n")
}

// Whatever fills the memory of the process raises the alarm, also what is in no queue: here transactions that are not
// committed.
func TestAlarmGoesByTheProcess(t *testing.T) {
	p, url := spawnControlled(t, "--vm-memory-high-watermark", "150MB", "--log", "none")
	conn, err := amqp.Dial(withGuest(url))
	require.NoError(t, err)
	defer conn.Close()
	defer p.Process.Kill() // a blocked connection is not closed otherwise
	blocked := conn.NotifyBlocked(make(chan amqp.Blocking, 1))
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.QueueDeclare("q", true, false, false, false, nil)
	require.NoError(t, err)
	require.NoError(t, ch.Tx())
	published := make(chan error, 1)
	go func() {
		body := make([]byte, 1<<20)
		var err error
		for range 2000 { // 2 GB
			if err = ch.Publish("", "q", false, false, amqp.Publishing{Body: body}); err != nil {
				break
			}
		}
		published <- err
	}()
	select {
	case b := <-blocked:
		assert.Equal(t, amqp.Blocking{Active: true, Reason: "low on memory"}, b)
	case err := <-published:
		t.Error("nothing stopped it: ", err)
	case <-time.After(time.Minute):
		t.Error("it was not told")
	}
}
