package amqpd

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/leveretmq/leveret/internal/wire"
)

// A frame is: type octet, channel, payload size, payload, end octet 0xCE.

const (
	frameMethod    = 1
	frameHeader    = 2
	frameBody      = 3
	frameHeartbeat = 8

	frameEnd      = 0xCE
	frameOverhead = wire.FrameOverhead
	headerSize    = 7                // octets in front of the payload
	methodHead    = 4                // octets of a method frame's payload at least: class and method
	contentHead   = wire.ContentHead // octets of a content header frame's payload at least
)

// Sizes of the read buffer. It starts small because most connections are idle, and doubles
// whenever a read fills it.
const (
	minReadBuffer = 1 << 10
	maxReadBuffer = 64 << 10
)

// A frame's payload aliases the read buffer: it is good until the next read.
type frame struct {
	typ     byte
	channel uint16
	payload []byte
}

// frameHead is the part of a frame that arrives first.
type frameHead struct {
	typ     byte
	channel uint16
	size    int
}

// frameTooLarge and badFrameEnd mean that the peer and we no longer agree on where frames begin.
type frameTooLarge struct {
	frameHead
	limit int
}

type badFrameEnd struct {
	frame
	end byte
}

func (frameTooLarge) Error() string { return "frame too large" }
func (badFrameEnd) Error() string   { return "invalid frame end" }

// frameReader cuts the byte stream of a connection into frames. It reads as much as there is, so that
// one read usually brings many frames.
type frameReader struct {
	r          io.Reader
	sock       *socket // nil: there is but r
	buf        []byte
	start, end int
	maxPayload int
	burst      burst // under the connection's lock
	names      names // of exchanges and so on, met again and again
	meter      meter // counts what is read, and what the connection writes
}

// executed tells the reader that the frames that were there have been executed, and whether the client is answered. The
// reader then judges whether to let input gather.
func (fr *frameReader) executed(answered bool) {
	if fr.sock == nil || !canGather {
		return
	}
	fr.burst.other = fr.burst.other || answered
	fr.sock.inBurst = fr.burst.judge(fr.sock.inBurst)
}

// direct reports whether the reader has the socket itself, so that tryWrite can write.
func (fr *frameReader) direct() bool { return fr.sock != nil }

// tryWrite writes what the socket takes without waiting, counts it and returns how much that was.
func (fr *frameReader) tryWrite(b []byte) int {
	n := fr.sock.tryWrite(b)
	if n > 0 {
		fr.meter.sent(n)
	}
	return n
}

// buffered returns what has been read but not consumed.
func (fr *frameReader) buffered() []byte { return fr.buf[fr.start:fr.end] }

// head returns the head of the next frame, if it is there.
func (fr *frameReader) head() (frameHead, bool) {
	b := fr.buffered()
	if len(b) < headerSize {
		return frameHead{}, false
	}
	return frameHead{b[0], binary.BigEndian.Uint16(b[1:]), int(binary.BigEndian.Uint32(b[3:]))}, true
}

// next returns the next frame if all of it is there. The error is frameTooLarge or badFrameEnd.
func (fr *frameReader) next() (f frame, ok bool, err error) {
	h, ok := fr.head()
	if !ok {
		return frame{}, false, nil
	}
	if h.size > fr.maxPayload {
		return frame{}, false, frameTooLarge{h, fr.maxPayload - frameOverhead}
	}
	b := fr.buffered()
	if len(b) < h.size+frameOverhead {
		return frame{}, false, nil
	}
	f = frame{h.typ, h.channel, b[headerSize : headerSize+h.size]}
	if e := b[headerSize+h.size]; e != frameEnd {
		return frame{}, false, badFrameEnd{f, e}
	}
	fr.start += h.size + frameOverhead
	return f, true, nil
}

// fill reads once, having made room for at least the rest of the next frame.
func (fr *frameReader) fill() error {
	if fr.sock != nil {
		return fr.sock.fill()
	}
	fr.makeRoom()
	n, err := fr.r.Read(fr.buf[fr.end:])
	fr.end += n
	if n > 0 {
		fr.meter.received(n)
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

func (fr *frameReader) makeRoom() {
	need := minReadBuffer
	if fr.end == len(fr.buf) && len(fr.buf) < maxReadBuffer {
		need = max(need, 2*len(fr.buf)) // the last read filled the buffer
	}
	if h, ok := fr.head(); ok && h.size <= fr.maxPayload {
		need = max(need, h.size+frameOverhead)
	}
	pending := fr.end - fr.start
	if need > len(fr.buf) {
		buf := make([]byte, need)
		copy(buf, fr.buffered())
		fr.buf = buf
	} else if fr.start > 0 {
		copy(fr.buf, fr.buffered())
	}
	fr.start, fr.end = 0, pending
}

// readPayload reads the payload of a frame whose head has been seen straight into dst, which
// is of the payload's size, and consumes the whole frame. It blocks until all of it is there.
func (fr *frameReader) readPayload(dst []byte) error {
	h, _ := fr.head()
	fr.start += headerSize
	n := copy(dst, fr.buffered())
	fr.start += n
	if fr.sock != nil && n < len(dst) {
		fr.sock.release()
		fr.sock.endBurst()
	}
	for n < len(dst) { // what has come counts at once: a slow client is alive
		read, err := fr.r.Read(dst[n:])
		n += read
		fr.meter.received(read)
		if err != nil && n < len(dst) {
			return err
		}
	}
	for fr.start == fr.end {
		if err := fr.fill(); err != nil {
			return err
		}
	}
	end := fr.buf[fr.start]
	fr.start++
	if end != frameEnd {
		return badFrameEnd{frame{h.typ, h.channel, dst}, end}
	}
	return nil
}

// readFrame blocks until the next frame is there.
func (fr *frameReader) readFrame() (frame, error) {
	for {
		f, ok, err := fr.next()
		if ok || err != nil {
			return f, err
		}
		if err := fr.fill(); err != nil {
			return frame{}, err
		}
	}
}

// readExact blocks until n octets are there and consumes them.
func (fr *frameReader) readExact(n int) ([]byte, error) {
	for fr.end-fr.start < n {
		if err := fr.fill(); err != nil {
			return nil, err
		}
	}
	b := fr.buf[fr.start : fr.start+n]
	fr.start += n
	return b, nil
}

// lostSync reports whether err leaves the reader without a frame boundary to go on from.
func lostSync(err error) bool {
	var large frameTooLarge
	var end badFrameEnd
	return errors.As(err, &large) || errors.As(err, &end)
}
