package amqpd

import (
	"runtime"
	"time"
)

// A burst is what a client sends that does nothing but publish small messages, without confirms, and so fast that to be
// woken for each costs more than the message. The reader lets the input of a burst gather before it reads. A client
// that waits for an answer is never in a burst, and what is published arrives half a millisecond late at most.
type burst struct {
	messages int       // small messages, published without an answer, in the frames that were read together
	other    bool      // these frames brought something else, too, or the client was sent something
	run      int       // messages in a row with which nothing else came or went
	since    time.Time // when the run began
}

const (
	burstSample = 32                                  // messages after which a run is judged anew
	burstPace   = burstSample * 20 * time.Microsecond // a run is a burst if its messages took no longer
	burstBody   = 8 << 10                             // octets; a few larger bodies would fill the socket
)

// published counts a message with a body of size octets.
func (b *burst) published(size int, unanswered bool) {
	if unanswered && size <= burstBody {
		b.messages++
	} else {
		b.other = true
	}
}

// judge looks at what the frames that were read together have brought, and reports whether they belong to a burst. was
// says whether the frames before them did.
func (b *burst) judge(was bool) bool {
	n, other := b.messages, b.other
	b.messages, b.other = 0, false
	switch {
	case other:
		b.run = 0
		return false
	case n == 0: // a part of a frame
		return was
	}
	return b.keepsPace(n, was)
}

// keepsPace adds n messages to the run and reports whether the run is a burst. A run that is too short to tell is what
// it was.
func (b *burst) keepsPace(n int, was bool) bool {
	if b.run == 0 {
		b.since = time.Now()
	}
	b.run += n
	if b.run < burstSample {
		return was
	}
	now := time.Now()
	is := now.Sub(b.since) <= burstPace*time.Duration(b.run)/burstSample
	b.run, b.since = 0, now
	return is
}

// gather lets the input of a burst gather for a moment. The kernel is told to wake the reader only when much of it is
// there: package net would be woken for each message in vain, at the cost that is to be saved.
func (s *socket) gather() {
	s.setLowWater(sharedBuffer / 4)
	runtime.Gosched() // the thread sleeps: others first
	pause()
}

// endBurst has the kernel wake the reader for a single octet again, and reports whether it did not before.
func (s *socket) endBurst() bool {
	s.inBurst = false
	return s.setLowWater(1)
}

// setLowWater sets how many octets must have come for the reader to be woken, and reports whether it was another
// number.
func (s *socket) setLowWater(octets int) bool {
	if s.lowWater == octets {
		return false
	}
	s.lowWater = octets
	_ = s.raw.Control(s.applyLowWater)
	return true
}
