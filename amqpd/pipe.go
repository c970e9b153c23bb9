package amqpd

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// pipeBuffer is how many octets each direction of a pipe holds before a write waits.
const pipeBuffer = 256 << 10

// Pipe returns the two ends of a connection in memory. Unlike net.Pipe it is buffered, as a
// socket is: a write returns once the data is in the buffer, of 256 KiB in each direction, and
// what was written before a Close can still be read. Deadlines work, and each end has a method
// CloseWrite, as a *net.TCPConn has. It starts no goroutine, so it can be used inside a
// testing/synctest bubble.
func Pipe() (client, server net.Conn) {
	up, down := newStream(), newStream()
	return &pipeEnd{in: down, out: up, local: "client"}, &pipeEnd{in: up, out: down, local: "server"}
}

// pipeEnd is one end: it reads from one stream and writes to the other.
type pipeEnd struct {
	in, out *stream
	local   pipeAddr
}

type pipeAddr string

func (a pipeAddr) Network() string { return "pipe" }
func (a pipeAddr) String() string  { return "memory:" + string(a) }

func (p *pipeEnd) Read(b []byte) (int, error)  { return p.in.read(b) }
func (p *pipeEnd) Write(b []byte) (int, error) { return p.out.write(b) }
func (p *pipeEnd) LocalAddr() net.Addr         { return p.local }

func (p *pipeEnd) RemoteAddr() net.Addr {
	if p.local == "client" {
		return pipeAddr("server")
	}
	return pipeAddr("client")
}

// CloseWrite ends one direction: the other end reads what is buffered and then io.EOF.
func (p *pipeEnd) CloseWrite() error {
	p.out.endWriter()
	return nil
}

// Close ends both directions. The other end reads what is buffered and then io.EOF.
func (p *pipeEnd) Close() error {
	p.out.endWriter()
	p.in.endReader()
	return nil
}

func (p *pipeEnd) SetDeadline(t time.Time) error {
	p.in.readUntil.set(p.in, t)
	p.out.writeUntil.set(p.out, t)
	return nil
}

func (p *pipeEnd) SetReadDeadline(t time.Time) error {
	p.in.readUntil.set(p.in, t)
	return nil
}

func (p *pipeEnd) SetWriteDeadline(t time.Time) error {
	p.out.writeUntil.set(p.out, t)
	return nil
}

// stream is one direction of a pipe.
type stream struct {
	mu   sync.Mutex
	cond sync.Cond // signalled on every change

	ring       []byte // a power of two; grows up to pipeBuffer
	head, n    int    // where the data starts, and how much there is
	writerGone bool
	readerGone bool
	readUntil  deadline
	writeUntil deadline
}

func newStream() *stream {
	s := &stream{}
	s.cond.L = &s.mu
	return s
}

func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.readerGone:
			return 0, io.ErrClosedPipe
		case s.readUntil.passed:
			return 0, os.ErrDeadlineExceeded
		case s.n > 0 || len(b) == 0:
			return s.takeLocked(b), nil
		case s.writerGone:
			return 0, io.EOF
		}
		s.cond.Wait()
	}
}

func (s *stream) write(b []byte) (written int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.writerGone:
			return written, io.ErrClosedPipe
		case s.readerGone:
			return written, &net.OpError{Op: "write", Net: "pipe", Err: io.ErrClosedPipe}
		case s.writeUntil.passed:
			return written, os.ErrDeadlineExceeded
		case written == len(b):
			return written, nil
		case s.n < pipeBuffer:
			written += s.putLocked(b[written:])
			continue
		}
		s.cond.Wait()
	}
}

// takeLocked moves data from the ring to b.
func (s *stream) takeLocked(b []byte) int {
	total := 0
	for s.n > 0 && len(b) > 0 {
		run := s.ring[s.head:min(s.head+s.n, len(s.ring))]
		k := copy(b, run)
		b = b[k:]
		total += k
		s.head = (s.head + k) & (len(s.ring) - 1)
		s.n -= k
	}
	s.cond.Broadcast()
	return total
}

// putLocked moves data from b to the ring, as much as there is room for.
func (s *stream) putLocked(b []byte) int {
	s.growLocked(min(s.n+len(b), pipeBuffer))
	total := 0
	for s.n < len(s.ring) && len(b) > 0 {
		at := (s.head + s.n) & (len(s.ring) - 1)
		k := copy(s.ring[at:min(at+len(s.ring)-s.n, len(s.ring))], b)
		b = b[k:]
		total += k
		s.n += k
	}
	s.cond.Broadcast()
	return total
}

// growLocked makes the ring hold at least size octets.
func (s *stream) growLocked(size int) {
	if size <= len(s.ring) {
		return
	}
	c := max(1024, len(s.ring))
	for c < size {
		c *= 2
	}
	ring := make([]byte, c)
	n := 0
	if s.n > 0 {
		n = copy(ring, s.ring[s.head:min(s.head+s.n, len(s.ring))])
		copy(ring[n:], s.ring[:s.n-n])
	}
	s.ring, s.head = ring, 0
}

// endWriter notes that nothing more is written.
func (s *stream) endWriter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writerGone = true
	s.writeUntil.stop()
	s.cond.Broadcast()
}

// endReader notes that nothing more is read. What was not read is lost.
func (s *stream) endReader() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readerGone = true
	s.ring, s.head, s.n = nil, 0, 0
	s.readUntil.stop()
	s.cond.Broadcast()
}

// A deadline is guarded by its stream's mutex.
type deadline struct {
	timer      *time.Timer
	generation int
	passed     bool
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.generation++ // a timer that could not be stopped any more has no effect
}

func (d *deadline) set(s *stream, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.stop()
	wait := time.Until(t)
	d.passed = !t.IsZero() && wait <= 0
	if !t.IsZero() && !d.passed {
		generation := d.generation
		d.timer = time.AfterFunc(wait, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if d.generation == generation {
				d.passed = true
				s.cond.Broadcast()
			}
		})
	}
	s.cond.Broadcast()
}
