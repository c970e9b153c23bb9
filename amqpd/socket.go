package amqpd

import (
	"io"
	"net"
	"sync"
	"syscall"
)

// A socket is a connection of the operating system's that is read into a buffer it shares with others: while
// nothing comes it holds none. So the buffers can be large, and one read brings many frames.
type socket struct {
	fr   *frameReader
	raw  syscall.RawConn
	try  func(fd uintptr) bool // tryRead, made once
	held *[]byte               // what fr.buf is, if it is one of readBuffers
	rest []byte                // for what is left of a buffer that was given back
	much bool                  // the last read filled a small buffer
	err  error

	inBurst       bool             // input is to gather before it is read
	lowWater      int              // how many octets must have come for the reader to be woken
	applyLowWater func(fd uintptr) // made once

	put   func(fd uintptr) bool // writes out, made once
	out   []byte
	wrote int
}

// sharedBuffer is the size of readBuffers, in octets.
const sharedBuffer = 256 << 10

var readBuffers = sync.Pool{New: func() any {
	b := make([]byte, sharedBuffer)
	return &b
}}

// smallBuffer is the size of a buffer for connections whose last read brought little, in octets: many of them may
// be at work at once.
const smallBuffer = 8 << 10

var smallBuffers = sync.Pool{New: func() any {
	b := make([]byte, smallBuffer)
	return &b
}}

func putBuffer(b *[]byte) {
	if len(*b) == smallBuffer {
		smallBuffers.Put(b)
	} else {
		readBuffers.Put(b)
	}
}

// share makes fr read nc as a socket, if it is one that is not wrapped, as by TLS.
func (fr *frameReader) share(nc net.Conn) {
	var raw syscall.RawConn
	switch nc := nc.(type) {
	case *net.TCPConn:
		raw, _ = nc.SyscallConn()
	case *net.UnixConn:
		raw, _ = nc.SyscallConn()
	}
	if raw == nil || !canTry {
		return
	}
	fr.sock = &socket{fr: fr, raw: raw, lowWater: 1}
	fr.sock.try = fr.sock.tryRead
	fr.sock.applyLowWater = func(fd uintptr) { setLowWater(fd, fr.sock.lowWater) }
	fr.sock.put = func(fd uintptr) bool {
		fr.sock.wrote = tryWrite(fd, fr.sock.out)
		return true
	}
	if fr.start == fr.end {
		fr.buf, fr.start, fr.end = nil, 0, 0
	}
}

// fill reads once, waiting for input if there is none.
func (s *socket) fill() error {
	s.err = nil
	if s.inBurst {
		s.gather()
	}
	err := s.raw.Read(s.try)
	if err == nil {
		err = s.err
	}
	return err
}

// tryRead reads what there is and reports false if there is nothing.
func (s *socket) tryRead(fd uintptr) bool {
	fr := s.fr
	s.makeRoom()
	n, again, err := tryRead(fd, fr.buf[fr.end:])
	if again && s.endBurst() {
		n, again, err = tryRead(fd, fr.buf[fr.end:])
	}
	switch {
	case again:
		s.release()
		return false
	case err != nil:
		s.err = err
	case n == 0:
		s.err = io.EOF
	}
	if n > 0 {
		fr.end += n
		fr.meter.received(n)
	}
	s.much = n >= smallBuffer || fr.end == len(fr.buf)
	return true
}

// tryWrite writes what can be written without waiting and returns how much that was. An error shows when the writer
// writes next.
func (s *socket) tryWrite(b []byte) (n int) {
	s.out, s.wrote = b, 0
	_ = s.raw.Write(s.put)
	s.out = nil
	return s.wrote
}

// makeRoom makes room for at least the rest of the next frame.
func (s *socket) makeRoom() {
	fr := s.fr
	need := minReadBuffer
	if h, ok := fr.head(); ok && h.size <= fr.maxPayload {
		need = h.size + frameOverhead
	}
	if s.held == nil && need <= sharedBuffer || need > len(fr.buf) || s.much && len(fr.buf) == smallBuffer {
		s.replace(need)
		return
	}
	if fr.start == fr.end {
		fr.start, fr.end = 0, 0
	}
	if fr.start+need > len(fr.buf) || len(fr.buf)-fr.end < len(fr.buf)/4 {
		pending := copy(fr.buf, fr.buffered())
		fr.start, fr.end = 0, pending
	}
}

// replace goes on with a shared buffer or, for a frame of need octets that has no room in one, with
// a buffer of the connection's own.
func (s *socket) replace(need int) {
	fr := s.fr
	pending, old := fr.buffered(), s.held
	need = max(need, len(pending))
	switch {
	case need <= smallBuffer && !s.much:
		s.held = smallBuffers.Get().(*[]byte)
		fr.buf = *s.held
	case need <= sharedBuffer:
		s.held = readBuffers.Get().(*[]byte)
		fr.buf = *s.held
	default:
		s.held = nil
		fr.buf = make([]byte, need)
	}
	fr.start, fr.end = 0, copy(fr.buf, pending)
	if old != nil {
		putBuffer(old)
	}
}

// release gives the buffer back, if no large part of a frame is in it.
func (s *socket) release() {
	fr := s.fr
	pending := fr.buffered()
	if s.held == nil || len(pending) > minReadBuffer {
		return
	}
	s.rest = append(s.rest[:0], pending...)
	fr.buf, fr.start, fr.end = s.rest, 0, len(s.rest)
	putBuffer(s.held)
	s.held = nil
}
