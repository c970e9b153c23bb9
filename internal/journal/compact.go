package journal

import (
	"errors"
	"fmt"
	"os"
)

// The space of the log is bounded by the segments' live octets, which the owner reports. Segments go only from the oldest on: so a
// record that speaks of another one is never older than that one, need not be counted as live, and never meets a log in which
// it is not there and what it ended is. What is live in the oldest segment is appended again before.
//
// A store of live octets L and segments of S octets is copied forward when it takes more than 1.5 L + 2 S, and is never to
// take more than 2 L + 4 S. Copying pays for itself: an octet that died may cost at most three that are copied. A cycle
// through a log of 1.5 L copies L to free 0.5 L, so this is enough, and a log in which nothing dies is left alone.
const (
	creditPerOctet = 3
	maxCopyBudget  = 128 << 10 // octets of one call of CopyForward
)

// space is what the log takes and what of it is needed. The log's lock guards it.
type space struct {
	total   int64 // octets of all segments' files
	live    int64 // octets that the owner needs
	credit  int64 // octets that may be copied
	copied  int64 // octets that were
	steps   Pos   // calls of CopyForward and removals of files
	waiting line  // by steps
	spares  []spare
	err     error // why nothing is compacted any more
}

// enough is the size up to which nothing is copied, and most the size that is not to be exceeded.
func (s *space) enough(segment int64) int64 { return s.live + s.live/2 + 2*segment }
func (s *space) most(segment int64) int64   { return 2*s.live + 4*segment }

// A spare is the file of a segment that is no longer needed. The next segment takes it: its space is allocated, has been written
// once, and is in the operating system's cache. With new files only, bench's BenchmarkDurable/body=65536 takes 1.1 to 1.35 times as
// long, with up to 1.2 times the processor time, and its p99 is up to twice as long.
type spare struct {
	name   string
	octets int64
}

// maxSpares is how many there are when nothing is live: with the segment that is written they are four files.
const maxSpares = 3

// takeSpareLocked returns a spare, which is none if it has no name.
func (s *space) takeSpareLocked() (taken spare) {
	if n := len(s.spares); n > 0 {
		taken, s.spares = s.spares[n-1], s.spares[:n-1]
	}
	return taken
}

// files is what all files take.
func (s *space) files() int64 {
	sum := s.total
	for _, spare := range s.spares {
		sum += spare.octets
	}
	return sum
}

// copyBudgetLocked is how much one call of CopyForward is to copy.
func (l *Log) copyBudgetLocked() int64 { return min(maxCopyBudget, l.capacity/4) }

func (l *Log) resizeLocked(s *segment, octets int64) {
	l.space.total += octets - s.file
	s.file = octets
}

func (l *Log) releaseLocked(s Segment, octets int) {
	l.countLocked(s, -octets)
	if l.hasStepLocked() {
		l.compactor.wakeLocked()
	}
}

// countLocked changes what is live. A figure below zero means that the owner counts wrong, and that records it needs could go.
func (l *Log) countLocked(s Segment, octets int) {
	at := int(s) - int(l.segments[0].number)
	if at < 0 || at >= len(l.segments) || l.segments[at].live+int64(octets) < 0 {
		panic(fmt.Sprintf("journal: %d octets of segment %d are counted that it does not have", octets, s))
	}
	l.segments[at].live += int64(octets)
	l.space.live += int64(octets)
}

// removableLocked reports whether the oldest segment holds nothing that is needed.
func (l *Log) removableLocked() bool {
	oldest := l.segments[0]
	return oldest.sealed && oldest.live == 0
}

// copyableLocked reports whether the oldest segment is to be copied forward.
func (l *Log) copyableLocked() bool {
	return l.segments[0].sealed && l.space.credit > 0 && l.space.total > l.space.enough(l.fileSize)
}

// tightLocked reports whether the log may soon take more than it should. Before a segment is removed two can be begun: one for the
// copies and one for what clients ask for. Either takes a spare if there is one. Meanwhile what is live can become less, and with it
// the size that is not to be exceeded.
func (l *Log) tightLocked() bool {
	soon := l.space.total + int64(max(2, len(l.space.spares)))*l.fileSize
	released := min(l.copyBudgetLocked(), 2*l.space.live)
	return soon > l.space.most(l.fileSize)-released
}

// surplusLocked reports whether a spare is to go.
func (l *Log) surplusLocked() bool { return len(l.space.spares) > 0 && l.tightLocked() }

// hasStepLocked reports whether the compactor has something to do.
func (l *Log) hasStepLocked() bool {
	return l.surplusLocked() || l.removableLocked() || l.copyableLocked()
}

// sparesLocked reports whether a segment's file is to be a spare. The file of a very large record is none.
func (l *Log) sparesLocked(s *segment) bool {
	return len(l.space.spares) < maxSpares && s.file <= l.fileSize && !l.options.Growing
}

// compact is the compactor. It works in small steps, and between them others get their turn at the owner's locks and the disk.
func (l *Log) compact() {
	defer close(l.compactor.done)
	for step := l.nextStep(); step != nil; step = l.nextStep() {
		l.stepped(step())
	}
	for range maxSpares {
		l.stepped(l.removeSpare())
	}
}

// nextStep waits for a segment to be removed or copied, or for a spare to be removed. It returns nil when there is to be no more step.
func (l *Log) nextStep() (step func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		oldest := l.segments[0]
		switch {
		case l.err != nil || l.compactor.stopping || l.space.err != nil:
			return nil
		case l.removableLocked():
			return func() error { return l.remove(oldest) }
		case l.surplusLocked():
			return l.removeSpare
		case l.copyableLocked():
			return func() error { return l.copyForward(oldest) }
		}
		l.sleepLocked(&l.compactor)
	}
}

// copyForward has the owner append some of a segment's live records again, and waits until they are written: so no more than
// a step waits to be.
func (l *Log) copyForward(oldest *segment) error {
	l.mu.Lock()
	budget := l.copyBudgetLocked()
	l.mu.Unlock()
	more := l.owner.CopyForward(l, oldest.number, int(budget))
	l.mu.Lock()
	left, last := oldest.live, l.end-1
	l.mu.Unlock()
	if left > 0 && !more {
		return fmt.Errorf("journal: %d octets of %s are live, and the owner has none to copy", left, oldest.number.fileName())
	}
	return l.Wait(last, Written)
}

// remove removes the oldest segment, of which nothing is live. Before, all is synced that made it so: the copies, and the
// records that ended what was not copied. The record of the removal is synced with them. With it the segment is known to
// have gone rightly. Its file can become a spare.
func (l *Log) remove(oldest *segment) error {
	var number [numberSize]byte
	for i := range 4 {
		number[i] = byte(oldest.number >> (8 * i))
	}
	l.mu.Lock()
	p, _, err := l.appendLocked(KindRetired, 0, [][]byte{number[:]})
	kept := spare{oldest.number.spareName(), oldest.file}
	keeps := l.sparesLocked(oldest)
	l.mu.Unlock()
	if err == nil {
		err = l.Wait(p, Synced)
	}
	if err != nil {
		return err
	}
	name := oldest.number.fileName()
	if keeps {
		err = failed("rename", name, -1, l.fs.Rename(name, kept.name))
	} else {
		err = failed("remove", name, -1, l.fs.Remove(name))
	}
	if err != nil {
		return err
	}
	// Synced, so that the next removal cannot survive a crash that this one does not, and nothing is written to a segment's file.
	if err := l.fs.SyncDir(); err != nil {
		return failed("sync the directory of", name, -1, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resizeLocked(oldest, 0)
	l.segments = l.segments[1:]
	if keeps {
		l.space.spares = append(l.space.spares, kept)
	}
	return nil
}

// removeSpare removes a spare, if there is one. After a crash it may be there again, and recovery removes it.
func (l *Log) removeSpare() error {
	l.mu.Lock()
	s := l.space.takeSpareLocked()
	l.mu.Unlock()
	if s.name == "" {
		return nil
	}
	if err := l.fs.Remove(s.name); !errors.Is(err, os.ErrNotExist) { // somebody made room
		return failed("remove", s.name, -1, err)
	}
	return nil
}

// stepped tells those who wait in Room. An error ends the compactor, and not the log: nothing is lost, but space.
func (l *Log) stepped(err error) {
	l.mu.Lock()
	if l.space.err == nil {
		l.space.err = err
	}
	l.space.steps++
	due := l.space.waiting.take(nil, l.space.steps)
	l.mu.Unlock()
	tell(due, nil)
}

// Room waits while too much waits to be written. While the log takes more space than it should, each call waits for a step
// of the compactor, so that the log shrinks although it is written. Call it before an operation that a client asked for,
// with no lock held. It fails if the log has failed or is closed.
func (l *Log) Room() error {
	l.mu.Lock()
	switch {
	case l.err != nil:
		defer l.mu.Unlock()
		return l.err
	case l.backlog.octets > l.options.MaxPending:
		last := l.backlog.batches[0].end - 1
		l.mu.Unlock()
		return l.Wait(last, Written)
	case !l.crowdedLocked():
		l.mu.Unlock()
		return nil
	}
	woken := l.wakers.get()
	l.space.waiting.add(waiter{pos: l.space.steps, woken: woken})
	l.compactor.wakeLocked() // it may sleep since before there was something to do
	l.mu.Unlock()
	return l.wakers.await(woken)
}

// crowdedLocked reports whether the log may soon take more than it should, and the compactor is about to change that.
func (l *Log) crowdedLocked() bool {
	return l.tightLocked() && l.space.err == nil && !l.compactor.stopping &&
		l.hasStepLocked()
}
