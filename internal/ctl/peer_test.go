//go:build unix

package ctl

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// impostor answers on a socket with the given responses, one after the other, and keeps the requests.
func impostor(t *testing.T, path string, responses ...Response) (requests func() []Request) {
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	done := make(chan []Request, 1)
	go func() {
		var got []Request
		for _, resp := range responses {
			c, err := l.Accept()
			if err != nil {
				break
			}
			var req Request
			if json.NewDecoder(c).Decode(&req) == nil {
				got = append(got, req)
			}
			json.NewEncoder(c).Encode(resp)
			c.Close()
		}
		done <- got
	}()
	return func() []Request {
		l.Close()
		return <-done
	}
}

// The client knows by itself which file a command reads or writes, and that it is asked for once. A server that wants
// another gets none.
func TestClientObeysItsOwnLineOnly(t *testing.T) {
	dir := t.TempDir()
	secret, named := filepath.Join(dir, "secret"), filepath.Join(dir, "named")
	require.NoError(t, os.WriteFile(secret, []byte("precious"), 0o600))
	require.NoError(t, os.WriteFile(named, []byte("{}"), 0o600))
	file := func(path string) Response { return Response{Need: &Need{Kind: NeedFile, Path: path}} }
	save := func(path string) Response { return Response{Save: &Save{Path: path, Data: []byte("owned")}} }
	for _, c := range []struct {
		args      []string
		responses []Response
		says      string
	}{
		{[]string{"ping"}, []Response{file(secret)}, "asks for something that the command does not need: file"},
		{[]string{"ping"}, []Response{{Need: &Need{Kind: NeedStdin}}}, "asks for something that the command does not need: stdin"},
		{[]string{"ping"}, []Response{save(filepath.Join(dir, "new"))}, "would have the file"},
		{[]string{"ping"}, []Response{save("")}, "would have the file"},
		{[]string{"add_user", "u", "pw"}, []Response{{Need: &Need{Kind: NeedLine}}}, "does not need: line"},
		{[]string{"import_definitions", named}, []Response{file(secret)}, "does not need: file"},
		{[]string{"import_definitions", named}, []Response{file(named), file(named)}, "does not need: file"},
		{[]string{"import_definitions", named}, []Response{file(named), save(named)}, "would have the file"},
		{[]string{"import_definitions"}, []Response{file(secret)}, "does not need: file"},
		{[]string{"export_definitions", named}, []Response{file(named)}, "does not need: file"},
		{[]string{"export_definitions", named}, []Response{save(secret)}, "would have the file"},
		{[]string{"export_definitions", "-"}, []Response{save("-")}, "would have the file"},
		{[]string{"export_definitions"}, []Response{save(named)}, "would have the file"},
		{[]string{"export_definitions", named, "too", "many"}, []Response{save(named)}, "would have the file"},
	} {
		path := filepath.Join(t.TempDir(), "s")
		requests := impostor(t, path, c.responses...)
		_, stderr, status := ask("typed", append([]string{"--control", path}, c.args...)...)
		assert.Equal(t, exitSoftware, status, "%q", c.args)
		assert.Contains(t, stderr, c.says, "%q", c.args)
		for _, req := range requests() {
			if req.Input != nil {
				assert.Equal(t, "{}", string(req.Input.Data), "%q", c.args)
			}
		}
	}
	kept, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, kept, 2, "nothing was written")
	data, err := os.ReadFile(secret)
	require.NoError(t, err)
	assert.Equal(t, "precious", string(data))
}

// The default socket lies in a directory that nobody else can enter, and neither side uses another.
func TestDefaultSocketIsInADirectoryOfItsOwn(t *testing.T) {
	for _, runtimeDir := range []bool{true, false} {
		t.Setenv("TMPDIR", t.TempDir())
		t.Setenv("XDG_RUNTIME_DIR", "")
		if runtimeDir {
			t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
		}
		path := DefaultSocket()
		dir := filepath.Dir(path)
		listen(t, path)
		info, err := os.Lstat(dir)
		require.NoError(t, err)
		assert.Equal(t, fs.ModeDir|0o700, info.Mode())
		_, stderr, status := ask("", "ping")
		assert.Zero(t, status, stderr)

		require.NoError(t, os.Chmod(dir, 0o770))
		_, stderr, status = ask("", "ping")
		assert.Equal(t, exitUnavailable, status)
		assert.Contains(t, stderr, "others may enter "+dir)
		require.NoError(t, os.Chmod(dir, 0o700))
	}
}

func TestDirectoriesThatAreNotPrivate(t *testing.T) {
	for says, make := range map[string]func(t *testing.T, dir string) error{
		"others may enter":      func(_ *testing.T, dir string) error { return os.Mkdir(dir, 0o750) },
		"is not a directory":    func(t *testing.T, dir string) error { return os.Symlink(t.TempDir(), dir) },
		"is not a directory ":   func(_ *testing.T, dir string) error { return os.WriteFile(dir, nil, 0o600) },
		errStranger.Error():     func(t *testing.T, dir string) error { return errorsOf(os.Mkdir(dir, 0o700), chown(t, dir)) },
		"no such file or direc": func(*testing.T, string) error { return nil },
	} {
		t.Run(says, func(t *testing.T) {
			t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
			dir := filepath.Dir(DefaultSocket())
			require.NoError(t, make(t, dir))
			_, stderr, status := ask("", "ping")
			assert.Equal(t, exitUnavailable, status)
			assert.Contains(t, stderr, strings.TrimSpace(says))
			if strings.HasPrefix(says, "no such") {
				return // the server makes it
			}
			_, err := Listen(DefaultSocket(), testNode(t))
			assert.ErrorContains(t, err, strings.TrimSpace(says))
		})
	}
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// nobody is a user who is neither root nor, most likely, the one who runs the tests.
const nobody = 65534

func chown(t *testing.T, path string) error {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	return os.Chown(path, nobody, nobody)
}

// asNobody starts this test binary as another user, who does what the named test does in such a process, and returns
// what it prints.
func asNobody(t *testing.T, test string, env ...string) *bufio.Reader {
	if os.Geteuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("only root on Linux can be somebody else and be told so")
	}
	program := filepath.Join(t.TempDir(), "test")
	data, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(program, data, 0o755))
	for dir := filepath.Dir(program); dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
	cmd := exec.Command(program, "-test.run=^"+test+"$", "-test.count=1")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	return bufio.NewReader(out)
}

const (
	servedAt  = "LEVERET_TEST_SERVE_AT"  // where TestNobodyServes listens
	calledVia = "LEVERET_TEST_CALL_WITH" // which socket TestNobodyCalls uses
)

// TestNobodyServes is the other process of TestServerOfAnotherUser.
func TestNobodyServes(t *testing.T) {
	path := os.Getenv(servedAt)
	if path == "" {
		t.Skip("for TestServerOfAnotherUser")
	}
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(path, 0o666))
	fmt.Println("listening")
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			var req Request
			json.NewDecoder(c).Decode(&req)
			fmt.Println("told:", req.Args)
			json.NewEncoder(c).Encode(Response{Stdout: "ok\n"})
			c.Close()
		}
	}()
	io.Copy(io.Discard, os.Stdin) // until the other process ends
	l.Close()
}

// A password does not go to somebody else, unless root chose a place where nobody else can be.
func TestServerOfAnotherUser(t *testing.T) {
	shared, own := t.TempDir(), t.TempDir()
	require.NoError(t, os.Chmod(shared, 0o777|fs.ModeSticky))
	if os.Geteuid() == 0 {
		require.NoError(t, chown(t, own))
	}
	path := filepath.Join(shared, "s")
	said := asNobody(t, "TestNobodyServes", servedAt+"="+path)
	line, err := said.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "listening\n", line)
	_, stderr, status := ask("", "--control", path, "change_password", "admin", "s3cr3t")
	assert.Equal(t, exitUnavailable, status)
	assert.Contains(t, stderr, "the server belongs to somebody else, user 65534")

	path = filepath.Join(own, "s")
	theirs := asNobody(t, "TestNobodyServes", servedAt+"="+path)
	line, err = theirs.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "listening\n", line)
	out, stderr, status := ask("", "--control", path, "ping")
	assert.Zero(t, status, stderr)
	assert.Equal(t, "ok\n", out)
	line, err = theirs.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "told: [ping]\n", line, "the other one was told nothing")
}

// TestNobodyCalls is the other process of TestClientOfAnotherUser.
func TestNobodyCalls(t *testing.T) {
	path := os.Getenv(calledVia)
	if path == "" {
		t.Skip("for TestClientOfAnotherUser")
	}
	c, err := net.Dial("unix", path)
	require.NoError(t, err)
	json.NewEncoder(c).Encode(Request{Args: []string{"list_users"}})
	answer, _ := io.ReadAll(c)
	fmt.Printf("answer: %q\n", answer)
}

// Even if the socket's mode lets somebody in, the server does not.
func TestClientOfAnotherUser(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	listen(t, path)
	require.NoError(t, os.Chmod(path, 0o666))
	for d := dir; d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		require.NoError(t, os.Chmod(d, 0o755))
	}
	line, err := asNobody(t, "TestNobodyCalls", calledVia+"="+path).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "answer: \"\"\n", line)
}

// What is checked where the system does not tell who is at the other end.
func TestOwnersOfSockets(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	listen(t, path)
	for _, c := range []struct {
		socket, dir fs.FileMode
		fits        bool
	}{
		{0o600, 0o700, true}, {0o600, 0o755, true}, {0o600, 0o777 | fs.ModeSticky, true},
		{0o660, 0o700, false}, {0o602, 0o700, false}, {0o600, 0o777, false}, {0o600, 0o720, false},
	} {
		require.NoError(t, os.Chmod(path, c.socket))
		require.NoError(t, os.Chmod(dir, c.dir))
		err := checkOwners(path)
		assert.Equal(t, c.fits, err == nil, "%v in %v: %v", c.socket, c.dir, err)
	}
	require.NoError(t, os.Chmod(dir, 0o700))
	assert.ErrorIs(t, checkOwners(filepath.Join(dir, "none")), fs.ErrNotExist)
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chmod(path, 0o600))
		require.NoError(t, os.Chown(path, nobody, nobody))
		assert.ErrorIs(t, checkOwners(path), errStranger)
		require.NoError(t, os.Chown(path, 0, 0))
		require.NoError(t, os.Chown(dir, nobody, nobody))
		assert.ErrorIs(t, checkOwners(path), errStranger)
	}
}

// A server that no client could reach does not start.
func TestPathsThatAreTooLong(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{
		filepath.Join(dir, strings.Repeat("x", 108-len(dir))),
		filepath.Join(dir, strings.Repeat("x", 93-len(dir)), "y", strings.Repeat("z", 10)),
		filepath.Join(dir, strings.Repeat("x", 93-len(dir)), "s"), // too long or not by what the name of a temporary directory is
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		_, err := Listen(path, testNode(t))
		assert.ErrorContains(t, err, path+" is too long for a socket: the path may have ")
		if runtime.GOOS == "linux" {
			assert.ErrorContains(t, err, "107 bytes, that of its directory 93")
		}
	}
	if runtime.GOOS != "linux" {
		return
	}
	longestDirectory := filepath.Join(dir, strings.Repeat("x", 93-len(dir)-1))
	require.NoError(t, os.MkdirAll(longestDirectory, 0o700))
	for _, path := range []string{
		filepath.Join(dir, strings.Repeat("x", 107-len(dir)-1)),
		filepath.Join(longestDirectory, strings.Repeat("x", 107-len(longestDirectory)-1)),
	} {
		listen(t, path)
		_, stderr, status := ask("", "--control", path, "ping")
		assert.Zero(t, status, stderr)
	}
}
