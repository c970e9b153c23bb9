package control_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	"github.com/leveretmq/leveret/control"
	"github.com/leveretmq/leveret/leverettest"
	"github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An embedded is a broker in this process with a control socket.
type embedded struct {
	*leveret.Broker
	t      *testing.T
	socket *control.Socket
}

func embed(t *testing.T, c control.Config, opts ...leveret.Option) *embedded {
	e := &embedded{leverettest.New(t, opts...), t, nil}
	e.open(c)
	return e
}

// open opens a socket in a directory of its own, unless the path is given.
func (e *embedded) open(c control.Config) {
	if c.Path == "" {
		c.Path = filepath.Join(e.t.TempDir(), "control")
	}
	var err error
	e.socket, err = control.Open(e.Broker, c)
	require.NoError(e.t, err)
	e.t.Cleanup(func() { e.socket.Close() })
}

// An outcome is what a shell sees of a command.
type outcome struct {
	out, err string
	status   int
}

// call runs a command as leveret ctl does.
func (e *embedded) call(args ...string) outcome { return call(e.socket.Path(), args...) }

func call(path string, args ...string) outcome {
	var out, errs bytes.Buffer
	status := control.Call(append([]string{"--control", path}, args...), control.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return outcome{out.String(), errs.String(), status}
}

// ctl runs a command that has to succeed, without its banner.
func (e *embedded) ctl(args ...string) string {
	e.t.Helper()
	o := e.call(append(args, "-q")...)
	require.Zero(e.t, o.status, o.err)
	return o.out
}

// What has no part in the configuration is refused in words, and everything else works.
func TestZeroConfig(t *testing.T) {
	e := embed(t, control.Config{})
	for command, says := range map[string]string{
		"advance 1s":               "the clock of this node cannot be moved",
		"fault publish nack":       "this node takes no faults",
		"lift_fault all":           "this node takes no faults",
		"stop":                     "this node is part of a program that leveret ctl cannot end",
		"shutdown":                 "this node is part of a program that leveret ctl cannot end",
		"check_port_listener 5672": "No listener for port 5672 is active",
	} {
		o := e.call(append(strings.Fields(command), "-q")...)
		assert.Equal(t, 69, o.status, command)
		assert.Contains(t, o.err, says, command)
	}
	status := e.ctl("status")
	assert.Contains(t, status, "\nNode name: leveret@localhost\n")
	assert.Contains(t, status, "\nMemory high watermark setting: none, computed to: none\n")
	assert.Equal(t, "No certificates are expiring within 4 weeks.\n", e.ctl("check_certificate_expiration"))
}

func TestListenersAndName(t *testing.T) {
	e := embed(t, control.Config{NodeName: "orders@farm", Listeners: []control.Listener{{Protocol: "amqp", Address: "127.0.0.1", Port: 5673}}})
	assert.Zero(t, e.call("check_port_listener", "5673").status)
	assert.Contains(t, e.ctl("listeners"), "Interface: 127.0.0.1, port: 5673, protocol: amqp, purpose: AMQP 0-9-1\n")
	assert.Contains(t, e.call("check_running").out, "node orders@farm")
}

// advance moves the clock, and returns when clients have been written to.
func TestAdvance(t *testing.T) {
	clock := leveret.NewManualClock(time.Now())
	settled := 0
	e := embed(t, control.Config{Clock: clock, Settle: func(ctx context.Context) error {
		settled++
		if settled > 1 {
			return errors.New("somebody does not read")
		}
		return nil
	}}, leveret.WithClock(clock))
	q, err := e.DeclareQueue("short", leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgMessageTTL: 60_000}})
	require.NoError(t, err)
	_, err = e.Publish("", "short", leveret.Message{})
	require.NoError(t, err)
	before := clock.Now()
	assert.Equal(t, before.Add(time.Minute).UTC().Format(time.RFC3339Nano)+"\n", e.ctl("advance", "60s"))
	assert.Equal(t, before.Add(time.Minute), clock.Now())
	assert.Zero(t, q.Info().Ready)
	assert.Contains(t, e.call("advance", "1s").err, "somebody does not read")
}

// Without Settle the clock moves, and clients are not waited for.
func TestAdvanceWithoutClients(t *testing.T) {
	clock := leveret.NewManualClock(time.Now())
	e := embed(t, control.Config{Clock: clock}, leveret.WithClock(clock))
	before := clock.Now()
	e.ctl("advance", "1h")
	assert.Equal(t, before.Add(time.Hour), clock.Now())
}

// Clients of a listener are waited for with its Settle.
func TestAdvanceWithAListener(t *testing.T) {
	clock := leveret.NewManualClock(time.Now())
	b := leverettest.New(t, leveret.WithClock(clock))
	srv := &amqpd.Server{Broker: b}
	t.Cleanup(func() { srv.Close() })
	e := &embedded{b, t, nil}
	e.open(control.Config{Clock: clock, Settle: srv.Settle})
	conn, err := amqp091.DialConfig("amqp://guest:guest@embedded/", amqp091.Config{
		Dial: func(string, string) (net.Conn, error) { return srv.Dial() }})
	require.NoError(t, err)
	defer conn.Close()
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.QueueDeclare("work", false, false, false, false, nil)
	require.NoError(t, err)
	deliveries, err := ch.Consume("work", "", true, false, false, false, nil)
	require.NoError(t, err)
	_, err = b.DeclareQueue("wait", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgMessageTTL: 60_000, leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "work"}})
	require.NoError(t, err)
	_, err = b.Publish("", "wait", leveret.Message{Body: []byte("late")})
	require.NoError(t, err)
	e.ctl("advance", "1m")
	assert.Equal(t, "late", string((<-deliveries).Body))
}

// Clients of package leverettest meet faults, until they are lifted or the socket is closed.
func TestFaults(t *testing.T) {
	e := embed(t, control.Config{Faults: true})
	conn := leverettest.Dial(t, e.Broker)
	ch, err := conn.Channel()
	require.NoError(t, err)
	require.NoError(t, ch.Confirm(false))
	_, err = ch.QueueDeclare("work", false, false, false, false, nil)
	require.NoError(t, err)
	publish := func() bool {
		c, err := ch.PublishWithDeferredConfirm("", "work", false, false, amqp091.Publishing{})
		require.NoError(t, err)
		return c.Wait()
	}
	assert.Equal(t, "1\n", e.ctl("fault", "--keep", "publish", "nack"))
	assert.False(t, publish())
	require.NoError(t, e.socket.Close())
	assert.True(t, publish())
}

// The limit is the broker's, who sets it is asked first, and the setting is shown as it was given.
func TestMemoryLimit(t *testing.T) {
	b := leverettest.New(t)
	b.SetMemoryLimit(2e9)
	e := &embedded{b, t, nil}
	var told []int64
	e.open(control.Config{MemoryLimit: "2GB", BeforeMemoryLimit: func(bytes int64) {
		told = append(told, bytes)
		assert.NotEqual(t, bytes, b.Memory().Limit)
	}})
	assert.Contains(t, e.ctl("status"), "\nMemory high watermark setting: 2GB, computed to: 2.0 gb\n")
	e.ctl("set_vm_memory_high_watermark", "absolute", "3MB")
	assert.Contains(t, e.ctl("status"), "\nMemory high watermark setting: 3MB, computed to: 0.003 gb\n")
	assert.EqualValues(t, 3e6, b.Memory().Limit)
	b.SetMemoryLimit(5e6)
	assert.Contains(t, e.ctl("status"), "\nMemory high watermark setting: 5000000, computed to: 0.005 gb\n")
	b.SetMemoryLimit(0)
	assert.Contains(t, e.ctl("status"), "\nMemory high watermark setting: none, computed to: none\n")
	e.ctl("set_vm_memory_high_watermark", "0")
	assert.Equal(t, []int64{3e6, -1}, told)
	assert.Contains(t, e.ctl("status"), "\nMemory high watermark setting: 0 of available memory, computed to: 0.0 gb\n")

	_, err := control.Open(b, control.Config{Path: filepath.Join(t.TempDir(), "s"), MemoryLimit: "much"})
	assert.EqualError(t, err, `control: MemoryLimit is "much", not a fraction from 0 to 1 or a size such as 2GB`)
}

// What only commands can end ends with the socket.
func TestCloseEndsWhatCommandsHaveBegun(t *testing.T) {
	e := embed(t, control.Config{})
	e.SetMemoryLimit(1e9)
	e.ctl("eval", "rabbit_alarm:set_alarm({{resource_limit, disk, node()}, []}).")
	assert.Equal(t, leveret.DiskAlarm, e.Alarms())
	assert.Contains(t, e.ctl("status"), "\nMemory high watermark setting: 1000000000, computed to: 1.0 gb\n", "not that of the alarm")

	require.NoError(t, e.socket.Close())
	assert.Zero(t, e.Alarms())
	assert.EqualValues(t, 1e9, e.Memory().Limit)
}

// A socket that has been closed does not take away the one that another program has opened since.
func TestCloseTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	first := embed(t, control.Config{Path: path})
	require.NoError(t, first.socket.Close())
	second := embed(t, control.Config{Path: path})
	require.NoError(t, first.socket.Close())
	second.ctl("ping")
}

func TestOpenFails(t *testing.T) {
	e := embed(t, control.Config{})
	_, err := control.Open(e.Broker, control.Config{Path: e.socket.Path()})
	assert.ErrorIs(t, err, control.ErrInUse)
	_, err = control.Open(e.Broker, control.Config{Path: filepath.Join(t.TempDir(), "no", "directory")})
	assert.ErrorIs(t, err, fs.ErrNotExist)

	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	dir := filepath.Dir(control.DefaultPath())
	require.NoError(t, os.Mkdir(dir, 0o777))
	require.NoError(t, os.Chmod(dir, 0o777))
	_, err = control.Open(e.Broker, control.Config{})
	assert.ErrorContains(t, err, "others may enter "+dir)
}

// Two brokers of a program are two nodes, and Call takes the one that the environment names.
func TestTwoBrokers(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	east, west := &embedded{leverettest.New(t), t, nil}, &embedded{leverettest.New(t), t, nil}
	var err error
	east.socket, err = control.Open(east.Broker, control.Config{NodeName: "east@farm"})
	require.NoError(t, err)
	defer east.socket.Close()
	west.open(control.Config{NodeName: "west@farm"})
	ping := func() string {
		var out bytes.Buffer
		control.Call([]string{"eval", "node()."}, control.Streams{In: strings.NewReader(""), Out: &out, Err: &out})
		return out.String()
	}
	assert.Contains(t, ping(), "east@farm")
	t.Setenv("LEVERET_CONTROL", west.socket.Path())
	assert.Contains(t, ping(), "west@farm")
}
