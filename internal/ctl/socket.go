package ctl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// The control socket is a Unix socket that only its owner can open. A connection carries one
// request and one response, both JSON. Who is at the other end is checked by both sides: see peer.go.

// DefaultSocket returns the path that the server and its clients of the same user agree on: control in a directory that
// only this user may enter, which is leveret in the user's runtime directory, or else leveret-UID in the directory for
// temporary files.
func DefaultSocket() string { return filepath.Join(defaultDirectory(), "control") }

func defaultDirectory() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "leveret")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("leveret-%d", os.Getuid()))
}

// ErrInUse says that another server answers on the socket.
var ErrInUse = errors.New("another leveret serves there")

const requestTimeout = 10 * time.Second

// A Server answers requests on a control socket until it is closed.
type Server struct {
	node     *Node
	listener *net.UnixListener
	path     string

	closing sync.Once

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool

	done sync.WaitGroup
}

// Listen opens the control socket at path. A socket that a server left behind is replaced; one
// that is served, and anything else at path, is not touched.
func Listen(path string, node *Node) (*Server, error) {
	if path == DefaultSocket() {
		if err := makePrivate(filepath.Dir(path)); err != nil {
			return nil, err
		}
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	l, err := listenPrivately(path)
	if err != nil {
		return nil, err
	}
	s := &Server{node: node, listener: l, path: path, conns: map[net.Conn]struct{}{}}
	s.done.Add(1)
	go s.accept()
	return s, nil
}

// listenPrivately makes the socket in a directory that nobody else can enter and moves it to
// path when it has its mode: made at path, it would be open to others for a moment. A link, unlike
// a rename, does not replace what another server has put there meanwhile.
func listenPrivately(path string) (*net.UnixListener, error) {
	most := maxSocketPath()
	mostForDirectory := most - len("/.4294967295/s") // the longest name that MkdirTemp gives, so that chance does not decide
	if len(path) > most || len(filepath.Dir(path)) > mostForDirectory {
		return nil, fmt.Errorf("%s is too long for a socket: the path may have %d bytes, that of its directory %d",
			path, most, mostForDirectory)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	private := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: private, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(private, 0o600), os.Link(private, path)); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// maxSocketPath is how long the path of a socket may be for clients to connect, in bytes.
func maxSocketPath() int {
	if runtime.GOOS == "linux" {
		return 107
	}
	return 103
}

func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s exists and is not a socket", path)
	}
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return fmt.Errorf("%s: %w", path, ErrInUse)
	}
	return os.Remove(path)
}

// Close stops the server, drops its connections, removes the socket, and ends what commands have put in force.
// A command that ends the node is not waited for, because it may be who calls.
func (s *Server) Close() (err error) {
	s.closing.Do(func() { err = s.close() })
	return err
}

func (s *Server) close() error {
	s.mu.Lock()
	s.closed = true
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	os.Remove(s.path)
	err := s.listener.Close()
	s.done.Wait()
	s.node.Close()
	return err
}

func (s *Server) accept() {
	defer s.done.Done()
	for {
		c, err := s.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // out of descriptors, most likely
			continue
		}
		if checkClient(c) != nil {
			c.Close()
			continue
		}
		if !s.add(c) {
			c.Close()
			return
		}
		go s.answer(c)
	}
}

func (s *Server) add(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns[c] = struct{}{}
	s.done.Add(1)
	return true
}

// letGo has Close neither end a connection nor wait for it.
func (s *Server) letGo(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, held := s.conns[c]; held {
		delete(s.conns, c)
		s.done.Done()
	}
}

func (s *Server) answer(c net.Conn) {
	defer s.letGo(c)
	defer c.Close()
	var req Request
	c.SetReadDeadline(time.Now().Add(requestTimeout))
	if err := json.NewDecoder(c).Decode(&req); err != nil {
		return
	}
	if endsNode(req) && s.node.Stop != nil {
		s.letGo(c) // ending the node closes the server
	}
	if follows(req) {
		s.follow(c, req)
		return
	}
	resp := s.node.Run(req)
	c.SetWriteDeadline(time.Now().Add(requestTimeout))
	json.NewEncoder(c).Encode(resp) // a client that went away does not miss it
}
