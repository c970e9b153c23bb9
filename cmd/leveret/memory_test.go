package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/leveretmq/leveret/internal/memory"
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

// A flood fills the memory of a server with what is in no queue.
type flood struct {
	t       *testing.T
	url     string
	blocked chan amqp.Blocking
	nc      *deafConn
	conn    *amqp.Connection
	ch      *amqp.Channel // of conn; it has number 1
}

const (
	floodPart  = 1 << 20 // octets
	floodParts = 1000
)

// floods go on until they are stopped, or for a gigabyte.
var floods = map[string]func(*flood) error{
	"a transaction that is not committed": func(f *flood) error {
		require.NoError(f.t, f.ch.Tx())
		return f.publish(floodParts, "q", amqp.Publishing{Body: make([]byte, floodPart)})
	},
	"headers": func(f *flood) error {
		return f.publish(10*floodParts, "q", amqp.Publishing{Headers: amqp.Table{"h": strings.Repeat("h", floodPart/10)}})
	},
	"bodies without an end": func(f *flood) error {
		for n := range uint16(floodParts) {
			if _, err := f.conn.Channel(); err != nil {
				return err
			}
			if _, err := f.nc.Write(halfAMessage(n+2, 2*floodPart)); err != nil {
				return err
			}
		}
		return nil
	},
	"replies that nobody reads": func(f *flood) error {
		_, err := f.ch.Consume("amq.rabbitmq.reply-to", "", true, false, false, false, nil)
		require.NoError(f.t, err)
		require.NoError(f.t, f.ch.Publish("", "q", false, false, amqp.Publishing{ReplyTo: "amq.rabbitmq.reply-to"}))
		request, ok, err := f.ch.Get("q", true)
		require.NoError(f.t, err)
		require.True(f.t, ok)
		f.nc.deaf.Store(true)
		f.connect()
		return f.publish(floodParts, request.ReplyTo, amqp.Publishing{Body: make([]byte, floodPart)})
	},
}

// connect has what follows happen on a new connection.
func (f *flood) connect() {
	nc, err := net.Dial("tcp", strings.TrimPrefix(f.url, "amqp://"))
	require.NoError(f.t, err)
	f.nc = &deafConn{Conn: nc, closed: make(chan struct{})}
	f.conn, err = amqp.Open(f.nc, amqp.Config{Vhost: "/", SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "guest", Password: "guest"}}})
	require.NoError(f.t, err)
	told := f.conn.NotifyBlocked(make(chan amqp.Blocking))
	go func() {
		for b := range told {
			f.blocked <- b
		}
	}()
	f.ch, err = f.conn.Channel()
	require.NoError(f.t, err)
	_, err = f.ch.QueueDeclare("q", true, false, false, false, nil)
	require.NoError(f.t, err)
}

func (f *flood) publish(n int, key string, m amqp.Publishing) error {
	for range n {
		if err := f.ch.Publish("", key, false, false, m); err != nil {
			return err
		}
	}
	return nil
}

// A deafConn can stop reading.
type deafConn struct {
	net.Conn
	deaf   atomic.Bool
	once   sync.Once
	closed chan struct{}
}

func (c *deafConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.deaf.Load() {
		<-c.closed
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *deafConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// halfAMessage is the frames of a message to the queue q, up to the middle of its body.
func halfAMessage(channel uint16, size int) (frames []byte) {
	frame := func(kind byte, payload []byte) {
		frames = binary.BigEndian.AppendUint16(append(frames, kind), channel)
		frames = binary.BigEndian.AppendUint32(frames, uint32(len(payload)))
		frames = append(append(frames, payload...), 0xce)
	}
	frame(1, []byte{0, 60, 0, 40, 0, 0, 0, 1, 'q', 0})
	frame(2, append(binary.BigEndian.AppendUint64([]byte{0, 60, 0, 0}, uint64(size)), 0, 0))
	for range size / 2 >> 16 {
		frame(3, make([]byte, 1<<16))
	}
	return frames
}

// Whatever fills the memory of the process raises the alarm, also what is in no queue, and the client that does it is
// stopped.
func TestAlarmGoesByTheProcess(t *testing.T) {
	for name, pour := range floods {
		t.Run(name, func(t *testing.T) {
			p, url := spawnControlled(t, "--vm-memory-high-watermark", "100MB", "--log", "none")
			f := &flood{t: t, url: url, blocked: make(chan amqp.Blocking, 10)}
			f.connect()
			poured := make(chan error, 1)
			go func() { poured <- pour(f) }()
			select {
			case b := <-f.blocked:
				assert.Equal(t, amqp.Blocking{Active: true, Reason: "low on memory"}, b)
				assert.Contains(t, p.ctl("status"), "\nMemory alarm on node leveret@localhost\n")
			case err := <-poured:
				t.Error("nothing stopped it: ", err)
				poured <- nil
			}
			p.Process.Kill() // a client that is blocked is waited for otherwise
			<-poured
		})
	}
}
