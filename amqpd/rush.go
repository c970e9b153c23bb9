package amqpd

import (
	"runtime"
	"time"
)

// A rush is a client that does nothing but publish small messages, without confirms, and so fast that to be woken for each
// costs more than the message. Then the reader lets some gather. Whoever waits for an answer is never in a rush, and what is
// published arrives half a millisecond late at most.
type rush struct {
	only  int // messages in a row with which nothing else came or went
	since time.Time
}

const (
	rushSample = 32                                 // messages after which it is judged anew
	rushPace   = rushSample * 20 * time.Microsecond // it is one if they took no longer
	rushBody   = 8 << 10                            // octets; of larger bodies a few fill the socket, and the client would wait
)

// published counts a message with a body of size octets.
func (b *batch) published(size int, unanswered bool) {
	if unanswered && size <= rushBody {
		b.messages++
	} else {
		b.other = true
	}
}

// goes counts n messages that one read brought and reports whether to let more gather before the next.
func (r *rush) goes(n int, was bool) bool {
	if r.only == 0 {
		r.since = time.Now()
	}
	r.only += n
	if r.only < rushSample {
		return was
	}
	now := time.Now()
	is := now.Sub(r.since) <= rushPace*time.Duration(r.only)/rushSample
	r.only, r.since = 0, now
	return is
}

// judgeRushLocked looks at what one read has brought.
func (c *conn) judgeRushLocked() {
	n, other := c.batch.messages, c.batch.other || c.out.size() > 0
	c.batch.messages, c.batch.other = 0, false
	s := c.in.sock
	switch {
	case s == nil || !canNap:
	case other:
		c.rush.only, s.rushing = 0, false
	case n > 0:
		s.rushing = c.rush.goes(n, s.rushing)
	}
}

// gather lets input gather for a moment. Until there is none, the kernel wakes nobody for a little: package net would be
// woken for nothing, at the same cost.
func (s *socket) gather() {
	if !s.hushed {
		s.hushed = true
		_ = s.raw.Control(s.hush)
	}
	runtime.Gosched() // the thread sleeps: others first
	nap()
}

// listen has the kernel wake the reader for anything again, and reports whether it was otherwise.
func (s *socket) listen() bool {
	if !s.hushed {
		return false
	}
	s.rushing, s.hushed = false, false
	_ = s.raw.Control(s.wake)
	return true
}
