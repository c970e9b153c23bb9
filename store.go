package leveret

import (
	"fmt"
	"math"
	"time"
)

// A store is what a queue holds: the ready messages in the order in which they leave, and the figures of all messages.
// It knows no virtual host, no clock and no consumer: the time is an argument. The queue's type (classic.go, quorum.go)
// decides what happens to a message; the store keeps it and counts it.
type store struct {
	backlog
	countsProperties bool // the size of a message includes its properties // L-3
	ready            kept
	unacked          kept // delivered and not yet settled
	deadlines        int  // ready messages that have one
	shared           *storeSums
	aside            holdings // neither ready nor unacked: delayed retries and pending dead letters
	departing        int64    // bytes of dead letters that a purge left on their way: only the memory alarm counts them
}

// storeSums are what all stores of a virtual host count together.
type storeSums struct {
	lastCopy uint64 // the number of the last copy, that is of a message's place in a queue
	growth   int64  // bytes of messages added and not yet reported to the broker's memory figure
	reported int64  // bytes of messages in the broker's memory figure
	orphans  int64  // bytes of messages of deleted queues that channels may hold
}

// holdings are a number of messages and what their sizes add up to, in bytes.
type holdings struct {
	n     int
	bytes int64
}

func (h *holdings) add(n int, bytes int64) {
	h.n += n
	h.bytes += bytes
}

// kept are holdings, and those of them that were published as persistent.
type kept struct {
	holdings
	persistent holdings
}

// count adds m, which has a size of bytes, with n = -1 it takes m out.
func (k *kept) count(m *message, n int, bytes int64) {
	k.add(n, int64(n)*bytes)
	if m.isPersistent() {
		k.persistent.add(n, int64(n)*bytes)
	}
}

// size is how many bytes m counts for in this store.
// Rules: L-3.
func (s *store) size(m *message) int64 {
	n := int64(len(m.body))
	if s.countsProperties {
		n += int64(m.propertiesSize())
	}
	return n
}

// nextSequence numbers a message that arrives.
func (s *store) nextSequence() uint64 {
	s.shared.lastCopy++
	return s.shared.lastCopy
}

// countReady adds a message to the ready ones, with n = -1 it takes the message out.
func (s *store) countReady(e entry, n int) {
	s.count(&s.ready, e.m, n)
	if e.deadline != 0 {
		s.deadlines += n
	}
}

// removedExpired takes messages with a deadline out of the ready ones.
func (s *store) removedExpired(gone kept) {
	s.ready.add(-gone.n, -gone.bytes)
	s.ready.persistent.add(-gone.persistent.n, -gone.persistent.bytes)
	s.deadlines -= gone.n
	s.shared.growth -= gone.bytes
}

// countUnacked adds a message to the unacknowledged ones, with n = -1 it takes the message out.
func (s *store) countUnacked(m *message, n int) { s.count(&s.unacked, m, n) }

// countAside adds a message to those set aside, with n = -1 it takes the message out.
func (s *store) countAside(m *message, n int) {
	bytes := int64(n) * s.size(m)
	s.aside.add(n, bytes)
	s.shared.growth += bytes
}

// removedAside takes all of a kind out of the messages set aside.
func (s *store) removedAside(gone holdings) {
	s.aside.add(-gone.n, -gone.bytes)
	s.shared.growth -= gone.bytes
}

func (s *store) count(k *kept, m *message, n int) {
	bytes := s.size(m)
	k.count(m, n, bytes)
	s.shared.growth += int64(n) * bytes
}

// length is what limits count: what is unacknowledged does not count.
// Rules: T-15, T-17, L-2.
func (s *store) length() holdings {
	return holdings{s.ready.n + s.aside.n, s.ready.bytes + s.aside.bytes}
}

// bytes is what the memory alarm counts.
func (s *store) bytes() int64 {
	return s.ready.bytes + s.unacked.bytes + s.aside.bytes + s.departing
}

// oldest is the earliest time that messages of the highest priority among heads, of which some may be nil, were made at; zero: none of them tells.
func (s *store) oldest(heads ...*entry) (at time.Time) {
	top := math.MinInt
	for _, e := range heads {
		if e == nil {
			continue
		}
		level, made := s.level(e.m), e.m.made()
		if level > top {
			top, at = level, time.Time{}
		}
		if level == top && !made.IsZero() && (at.IsZero() || made.Before(at)) {
			at = made
		}
	}
	return at
}

// headExpired reports whether the head is due. There must be a head.
func (s *store) headExpired(now int64) bool {
	d := s.head().deadline
	return d != 0 && d <= now // T-3
}

// clear removes all ready messages and returns how many there were.
func (s *store) clear() int {
	n := s.ready.n
	s.shared.growth -= s.ready.bytes
	s.backlog.clear()
	s.ready, s.deadlines = kept{}, 0
	return n
}

// verify compares the figures with what they count; unacked are the messages that channels hold.
func (s *store) verify(unacked kept) error {
	var ready kept
	deadlines := 0
	for e := range s.all() {
		ready.count(e.m, 1, s.size(e.m))
		if e.deadline != 0 {
			deadlines++
		}
	}
	switch {
	case ready != s.ready:
		return fmt.Errorf("%d messages of %d bytes are ready, counted are %d of %d",
			ready.n, ready.bytes, s.ready.n, s.ready.bytes)
	case unacked != s.unacked:
		return fmt.Errorf("%d messages of %d bytes are unacknowledged, counted are %d of %d",
			unacked.n, unacked.bytes, s.unacked.n, s.unacked.bytes)
	case deadlines != s.deadlines:
		return fmt.Errorf("%d messages have a deadline, counted are %d", deadlines, s.deadlines)
	}
	return nil
}

// countDeparting adds e to the dead letters that a purge left on their way, with n = -1 it takes e out.
func (s *store) countDeparting(m *message, n int) {
	bytes := int64(n) * s.size(m)
	s.departing += bytes
	s.shared.growth += bytes
}
