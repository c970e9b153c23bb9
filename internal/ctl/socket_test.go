package ctl

import (
	"bytes"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func testNode(t *testing.T) *Node {
	b := leveret.New()
	t.Cleanup(func() { b.Close() })
	return &Node{Broker: b, Name: "leveret@localhost", Started: time.Now()}
}

func listen(t *testing.T, path string) *Server {
	s, err := Listen(path, testNode(t))
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// ask runs a command line and returns what a shell would see of it.
func ask(stdin string, argv ...string) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	status = Call(argv, Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs})
	return out.String(), errs.String(), status
}

func TestSocketIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	s := listen(t, path)
	info, err := os.Lstat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.ModeSocket|0o600, info.Mode())
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, left, 1, "nothing but the socket")

	require.NoError(t, s.Close())
	_, err = os.Lstat(path)
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestSocketInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listen(t, path)
	_, err := Listen(path, testNode(t))
	require.ErrorIs(t, err, ErrInUse)
	_, _, status := ask("", "--control", path, "await_startup")
	assert.Zero(t, status, "the first server is untouched")
}

func TestStaleSocketIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	l.Close()
	listen(t, path)
	_, _, status := ask("", "--control", path, "await_startup")
	assert.Zero(t, status)
}

func TestOtherFilesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, []byte("precious"), 0o600))
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(file, link))
	for _, path := range []string{file, link, dir, filepath.Join(dir, "no", "such")} {
		_, err := Listen(path, testNode(t))
		assert.Error(t, err, path)
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "precious", string(data))
}

func TestServerOutlivesBadRequests(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	s := listen(t, path)
	for _, junk := range []string{"", "{", "[]\n", "null\n", `{"args":[]}` + "\n", `{"args":["--","x"]}` + "\n", strings.Repeat("x", 1<<16)} {
		c, err := net.Dial("unix", path)
		require.NoError(t, err)
		c.Write([]byte(junk)) // the server may have hung up
		c.Close()
	}
	hanging, err := net.Dial("unix", path)
	require.NoError(t, err)
	defer hanging.Close()
	_, _, status := ask("", "--control", path, "await_startup")
	assert.Zero(t, status)
	s.Close() // a client that says nothing does not hold it up
}

func TestManyClientsAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listen(t, path)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			out, stderr, status := ask("", "--control="+path, "list_exchanges", "-s", "name")
			assert.Zero(t, status, stderr)
			assert.Contains(t, out, "amq.topic\n")
		})
	}
	all.Wait()
}

func TestNoServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	_, stderr, status := ask("", "--control", path, "status")
	assert.Equal(t, exitUnavailable, status)
	assert.True(t, strings.HasPrefix(stderr, "Error: no leveret answers at "+path), stderr)

	out, _, status := ask("", "help", "set_policy")
	assert.Zero(t, status)
	assert.Contains(t, out, "set_policy [--vhost <vhost>]")
	_, stderr, status = ask("", "list_qeues")
	assert.Equal(t, exitUsage, status)
	assert.Contains(t, stderr, "Did you mean 'list_queues'?")
}

func TestWithoutControl(t *testing.T) {
	assert.Equal(t, []string{"a", "b", "--", "--control", "x"},
		withoutControl([]string{"--control", "s", "a", "--control=t", "b", "--", "--control", "x"}))
}
