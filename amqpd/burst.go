package amqpd

import (
	"runtime"
	"sync/atomic"
	"time"
)

// A burst is what a client sends that does nothing but publish small messages, without confirms, and so fast that to be
// woken for each costs more than the message. The reader lets the input of a burst gather before it reads. A client
// that waits for an answer is never in a burst, and what is published arrives half a millisecond late at most.
//
// A client may also wait for what it publishes to arrive on another connection. It publishes less while its input
// gathers. So the reader compares its pace with the one before, and leaves such a client alone, for longer each time.
type burst struct {
	messages int       // small messages, published without an answer, of the frames that were read together
	other    bool      // these frames brought something else, or the client was sent something
	run      int       // messages in a row with which nothing else came or went
	since    time.Time // when the run began

	pace  time.Duration // time for a message before input gathered
	until time.Time     // end of the break in which input does not gather
	rest  time.Duration // length of that break
}

const (
	burstPace   = 20 * time.Microsecond // a message of a burst takes no longer
	burstSample = 32                    // messages by which a run is judged at least
	burstBody   = 8 << 10               // octets; of larger bodies a few fill the socket, and the client would wait
	burstTrial  = 3 * time.Millisecond  // how long the pace is taken, before input gathers and while it does

	shortBreak, longBreak = 20 * time.Millisecond, time.Second // after input has gathered in vain
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
	return b.paced(now, was)
}

// paced judges a run that has lasted until now.
func (b *burst) paced(now time.Time, was bool) bool {
	took := now.Sub(b.since)
	pace := took / time.Duration(b.run)
	switch {
	case pace > burstPace && !was:
		b.run = 0
		return false
	case took < burstTrial:
		return was
	case was && pace > b.pace: // it was faster before
		b.takeBreak(now)
		was = false
	case was:
		b.rest = 0
	default:
		b.pace = pace
		was = !now.Before(b.until)
	}
	b.run = 0
	return was
}

// takeBreak has input not gather for a while, in which the client is faster.
func (b *burst) takeBreak(now time.Time) {
	b.rest = min(max(2*b.rest, shortBreak), longBreak)
	b.until = now.Add(b.rest)
}

// gathering is how many readers sleep in gather.
var gathering atomic.Int32

// gather lets the input of a burst gather for a moment. The kernel is told to wake the reader only when much of it is
// there: package net would be woken for each message in vain, at the cost that is to be saved. A reader that sleeps has
// a processor of Go's for itself, so that only half as many sleep as there are processors, and none if there is one.
func (s *socket) gather() {
	if gathering.Add(1) <= int32(runtime.GOMAXPROCS(0)/2) {
		s.setLowWater(sharedBuffer / 4)
		runtime.Gosched() // the thread sleeps: others first
		pause()
	}
	gathering.Add(-1)
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
