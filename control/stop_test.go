package control_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/control"
	"github.com/leveretmq/leveret/leverettest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// The test binary is a program with a broker when it is started with the path of a socket in its environment.
const asProgram = "CONTROL_TEST_SOCKET"

func TestMain(m *testing.M) {
	if path := os.Getenv(asProgram); path != "" {
		program(path)
		return
	}
	goleak.VerifyTestMain(m)
}

// program has a broker until an operator ends it.
func program(path string) {
	b := leveret.New()
	end := make(chan struct{})
	socket, err := control.Open(b, control.Config{Path: path, NodeName: "orders@farm", Stop: func() { close(end); select {} }})
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString("ready\n")
	<-end
	socket.Close()
	b.Close()
}

// start starts the program and returns its number and what waits for its end.
func start(t *testing.T, path string) (pid string, ended func() error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asProgram+"="+path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.ReadFull(out, make([]byte, len("ready\n")))
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }() // a process that nobody has waited for still counts as alive
	t.Cleanup(func() { cmd.Process.Kill() })
	return strconv.Itoa(cmd.Process.Pid), func() error { return <-done }
}

// stop answers when Stop has returned, and Stop may close the socket and the broker.
func TestStop(t *testing.T) {
	e := &embedded{leverettest.New(t), t, nil}
	stopped := false
	e.open(control.Config{Stop: func() {
		assert.NoError(t, e.socket.Close())
		assert.NoError(t, e.Close())
		stopped = true
	}})
	assert.Equal(t, outcome{out: "Stopping and halting node leveret@localhost ...\n"}, e.call("stop"))
	assert.True(t, stopped)

	o := e.call("stop")
	assert.Equal(t, 69, o.status)
	assert.Contains(t, o.err, "Error: no leveret answers at "+e.socket.Path())
	assert.Equal(t, outcome{out: "Node leveret@localhost is no longer running\n"}, e.call("stop", "--idempotent"))
	assert.Equal(t, 69, e.call("stop", "--idempotent=false").status)
	assert.Equal(t, 69, e.call("shutdown").status)
}

// Of several callers one ends the program, and all wait until it has ended.
func TestStopIsCalledOnce(t *testing.T) {
	const callers = 3
	e := &embedded{leverettest.New(t), t, nil}
	var calls atomic.Int32
	began, end := make(chan struct{}), make(chan struct{})
	e.open(control.Config{Stop: func() { calls.Add(1); close(began); <-end }})
	done := make(chan outcome, callers)
	for range callers {
		go func() { done <- e.call("stop", "-q") }()
	}
	<-began
	e.ctl("ping")
	assert.Empty(t, done)
	close(end)
	for range callers {
		assert.Equal(t, outcome{}, <-done)
	}
	assert.EqualValues(t, 1, calls.Load())
}

// A line that is wrong, or that only asks, ends nothing.
func TestStopIsNotCalled(t *testing.T) {
	e := embed(t, control.Config{Stop: func() { t.Error("called") }})
	o := e.call("stop", "one", "two")
	assert.Equal(t, 64, o.status)
	assert.Contains(t, o.err, "Error (argument validation): too many arguments.\nArguments given:\n\tstop one two\n")
	assert.Equal(t, 64, e.call("shutdown", "now").status)
	assert.Equal(t, 64, e.call("stop", "--idempotently").status)
	assert.Contains(t, e.call("stop", "--help").out, "stop [--idempotent] [<pidfile>]")
	assert.Equal(t, outcome{out: "Stopping and halting node leveret@localhost ...\n"}, e.call("stop", "--dry-run"))
}

// shutdown, and stop with a file, return when the process is gone.
func TestProcessIsGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	pid, ended := start(t, path)
	assert.Equal(t, outcome{out: strings.ReplaceAll("Shutting down RabbitMQ node orders@farm running at PID N\nWaiting for PID N to terminate\n"+
		"RabbitMQ node orders@farm running at PID N successfully shut down\n", "N", pid)}, call(path, "shutdown"))
	assert.NoError(t, ended())

	pid, ended = start(t, path)
	file := filepath.Join(t.TempDir(), "pid")
	require.NoError(t, os.WriteFile(file, []byte(pid+"\n"), 0o600))
	assert.Equal(t, outcome{out: "Stopping and halting node orders@farm (will monitor pid file " + file + ") ...\n" +
		"process " + pid + " (take from pid file " + file + ") is no longer running\n"}, call(path, "stop", file))
	assert.NoError(t, ended())

	_, ended = start(t, path)
	require.NoError(t, os.WriteFile(file, []byte("none"), 0o600))
	o := call(path, "stop", file, "-q")
	assert.Equal(t, 69, o.status)
	assert.Contains(t, o.err, "could not read pid from file "+file)
	assert.NoError(t, ended(), "the node has ended all the same, as with rabbitmqctl")

	_, ended = start(t, path)
	assert.Equal(t, outcome{}, call(path, "shutdown", "--no-wait"))
	assert.NoError(t, ended())
}
