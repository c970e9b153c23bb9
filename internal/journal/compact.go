package journal

import "fmt"

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
	total   int64 // octets of all files
	live    int64 // octets that the owner needs
	credit  int64 // octets that may be copied
	copied  int64 // octets that were
	steps   Pos   // calls of CopyForward and removals of files
	waiting line  // by steps
	err     error // why nothing is compacted any more
}

// spare is the size up to which nothing is copied, and most the size that is not to be exceeded.
func (s *space) spare(segment int64) int64 { return s.live + s.live/2 + 2*segment }
func (s *space) most(segment int64) int64  { return 2*s.live + 4*segment }

// copyBudgetLocked is how much one call of CopyForward is to copy.
func (l *Log) copyBudgetLocked() int64 { return min(maxCopyBudget, l.capacity/4) }

func (l *Log) resizeLocked(s *segment, octets int64) {
	l.space.total += octets - s.file
	s.file = octets
}

func (l *Log) releaseLocked(s Segment, octets int) {
	l.countLocked(s, -octets)
	if l.removableLocked() || l.copyableLocked() {
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
	return l.segments[0].sealed && l.space.credit > 0 && l.space.total > l.space.spare(l.capacity)
}

// compact is the compactor. It works in small steps, and between them others get their turn at the owner's locks and the disk.
func (l *Log) compact() {
	defer close(l.compactor.done)
	for {
		oldest, remove := l.nextStep()
		if oldest == nil {
			return
		}
		var err error
		if remove {
			err = l.remove(oldest)
		} else {
			err = l.copyForward(oldest)
		}
		l.stepped(err)
	}
}

// nextStep waits for a segment to be removed or copied. It returns nil when there is to be no more step.
func (l *Log) nextStep() (oldest *segment, remove bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		switch {
		case l.err != nil || l.compactor.stopping || l.space.err != nil:
			return nil, false
		case l.removableLocked():
			return l.segments[0], true
		case l.copyableLocked():
			return l.segments[0], false
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
// have gone rightly.
func (l *Log) remove(oldest *segment) error {
	var number [numberSize]byte
	for i := range 4 {
		number[i] = byte(oldest.number >> (8 * i))
	}
	l.mu.Lock()
	p, _, err := l.appendLocked(KindRetired, 0, [][]byte{number[:]})
	l.mu.Unlock()
	if err == nil {
		err = l.Wait(p, Synced)
	}
	if err != nil {
		return err
	}
	name := oldest.number.fileName()
	if err := l.fs.Remove(name); err != nil {
		return failed("remove", name, -1, err)
	}
	if err := l.fs.SyncDir(); err != nil { // so that the next removal cannot survive a crash that this one does not
		return failed("sync the directory of", name, -1, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resizeLocked(oldest, 0)
	l.segments = l.segments[1:]
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

// crowdedLocked reports whether the log may soon take more than it should, and the compactor is about to change that. Before a
// segment is removed two can be begun: one for the copies and one for what clients ask for.
func (l *Log) crowdedLocked() bool {
	soon := l.space.total + 2*l.capacity + l.copyBudgetLocked()
	return soon > l.space.most(l.capacity) && l.space.err == nil && !l.compactor.stopping &&
		(l.removableLocked() || l.copyableLocked())
}
