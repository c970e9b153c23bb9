package ctl

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ended is the id of a process that has been.
func ended(t *testing.T) string {
	cmd := exec.Command(os.Args[0], "-test.run", "^$")
	require.NoError(t, cmd.Run())
	return strconv.Itoa(cmd.Process.Pid)
}

// A caller that waits returns when the server is there, and not before.
func TestAwaitStartup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	out, stderr, status := ask("", "--control", path, "await_startup", "--timeout", "0")
	assert.Equal(t, []any{"", "Error: operation await_startup on node leveret@localhost timed out. Timeout value used: 0\n", 75}, []any{out, stderr, status})
	type answer struct {
		out, err string
		status   int
	}
	answers := make(chan answer, 1)
	go func() {
		out, stderr, status := ask("", "--control", path, "await_startup")
		answers <- answer{out, stderr, status}
	}()
	listen(t, path)
	assert.Equal(t, answer{}, <-answers)
}

// A time that is too long to be counted is not over at once.
func TestLongTimeouts(t *testing.T) {
	for timeout, want := range map[string]time.Duration{"2": 2 * time.Second, "10000000000": 292 * 365 * 24 * time.Hour} {
		argv := []string{"await_startup", "--timeout", timeout}
		_, cmd := find(argv)
		assert.GreaterOrEqual(t, newCall(cmd, argv).patience(), want, timeout)
	}
}

func TestWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	file := filepath.Join(t.TempDir(), "pid")
	gone := ended(t)
	_, stderr, status := ask("", "--control", path, "wait", "--pid", gone)
	assert.Equal(t, []any{"Error:\nprocess_not_running\n", 69}, []any{stderr, status})
	require.NoError(t, os.WriteFile(file, []byte("me\n"), 0o600))
	_, stderr, status = ask("", "--control", path, "wait", file)
	assert.Equal(t, []any{"Error:\nError: garbage in pid file.\n", 69}, []any{stderr, status})

	listen(t, path)
	self := strconv.Itoa(os.Getpid())
	require.NoError(t, os.WriteFile(file, []byte(self+"\n"), 0o600))
	out, stderr, status := ask("", "--control", path, "wait", file)
	assert.Equal(t, []any{strings.Join([]string{"Waiting for pid file '" + file + "' to appear", "pid is " + self,
		"Waiting for erlang distribution on node 'leveret@localhost' while OS process '" + self + "' is running", ""}, "\n"), "", 0}, []any{out, stderr, status})
	out, _, status = ask("", "--control", path, "wait", "-q", "-P", self)
	assert.Equal(t, []any{"", 0}, []any{out, status})
	out, _, _ = ask("", "wait", "--help")
	assert.Contains(t, out, "wait [<pidfile>] [--pid|-P <pid>]")
}

func TestAutocomplete(t *testing.T) {
	out, _, status := ask("", "autocomplete", "list_user")
	assert.Equal(t, []any{"list_user_limits\nlist_user_permissions\nlist_user_topic_permissions\nlist_users\n", 0}, []any{out, status})
}

// The variable that tells leveret serve of the socket tells leveret ctl, too; an option comes before it.
func TestControlVariable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listen(t, path)
	t.Setenv("LEVERET_CONTROL", path)
	out, _, status := ask("", "ping")
	assert.Equal(t, []any{"Ping succeeded\n", 0}, []any{out, status})
	_, stderr, status := ask("", "ping", "--control", path+"-other")
	assert.Equal(t, 69, status)
	assert.Contains(t, stderr, path+"-other")
}
