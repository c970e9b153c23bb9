package journal

import (
	"fmt"
	"slices"
)

// A batch is what is written at once.
type batch struct {
	segment *segment // where it stands
	frames  []byte
	end     Pos // behind the last frame
}

// A backlog is what the committer has not taken. A large backlog has several batches: those who wait for the first batch are told
// while the others are written. With one batch bench's BenchmarkDurable/queue=classic/outstanding=1000/body=65536 takes up to 15 %
// longer, and its p99 is 20 to 30 % longer.
type backlog struct {
	batches []batch
	octets  int      // of all batches
	full    int      // a batch of so many octets takes no further frame
	spares  [][]byte // emptied frames, for their space
}

const backlogBatches = 4 // so many batches have MaxPending octets

// batchLocked returns the batch for the next frame, which stands in s. A new one begins with a mark.
func (b *backlog) batchLocked(s *segment) *batch {
	if n := len(b.batches); n > 0 && b.batches[n-1].segment == s && len(b.batches[n-1].frames) < b.full {
		return &b.batches[n-1]
	}
	var frames []byte
	if n := len(b.spares); n > 0 {
		frames, b.spares = b.spares[n-1], b.spares[:n-1]
	}
	b.batches = append(b.batches, batch{segment: s, frames: appendNumber(frames, KindMark, 0)})
	b.octets += markSize
	s.used += markSize
	return &b.batches[len(b.batches)-1]
}

// takeLocked removes the first batch.
func (b *backlog) takeLocked() batch {
	first := b.batches[0]
	b.batches = slices.Delete(b.batches, 0, 1)
	b.octets -= len(first.frames)
	return first
}

// keepLocked keeps the space of frames that were written, unless it is for one large record, or nobody heeded Room.
func (b *backlog) keepLocked(frames []byte) {
	if cap(frames) <= 2*b.full && len(b.spares) <= backlogBatches {
		b.spares = append(b.spares, frames[:0])
	}
}

// An output is the segment that is written. It is the committer's own.
type output struct {
	file    File
	header  header
	segment *segment
	written int64 // offset in the file behind the last frame
	synced  int64 // offset in the file up to which it is synced
	cleared int64 // offset in the file up to which something has been written once, if only zeros, or by another segment
	end     int64 // offset in the file up to which there is space
	settled bool  // the segments before are synced, and this one is sure to be there
	due     []waiter
}

// place is where the segment ends so far.
func (o *output) place() Pos { return place(o.header.number, o.written-o.header.start()) }

// proven is what a mark says of the syncs before it.
func (o *output) proven() int64 {
	if !o.settled {
		return 0
	}
	return o.synced
}

// commit is the committer: it writes what has collected while it wrote and synced the batch before. So there is one sync for all
// that wait, and no timer.
func (l *Log) commit(out *output) {
	defer close(l.committer.done)
	var err error
	var b batch
	for err == nil {
		if b, err = l.take(out, b.frames); err == nil {
			err = l.commitBatch(out, b)
		}
	}
	if err == ErrClosed {
		err = l.finish(out)
	}
	l.stop(&l.sealer)
	out.file.Close() // what matters is synced
	l.fail(out, err)
}

// finish syncs and seals the last segment. It returns ErrClosed if nothing fails.
func (l *Log) finish(out *output) error {
	if err := l.awaitSealed(); err != nil {
		return err
	}
	if err := out.sync(); err != nil {
		return err
	}
	if err := sealSegment(out.file, out.header, out.written, 0); err != nil {
		return err
	}
	l.reached(out, Written, l.end) // nobody appends any more
	l.reached(out, Synced, l.end)
	return ErrClosed
}

// take waits for something to write or to sync, and keeps the space of what was written. The error is the sealer's, or ErrClosed when
// the log is to be closed and all is written.
func (l *Log) take(out *output, written []byte) (batch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if written != nil {
		l.backlog.keepLocked(written)
	}
	for l.backlog.octets == 0 && !l.progress.hasWork() && l.sealing.err == nil {
		if l.committer.stopping {
			l.err = ErrClosed // no record comes behind the seal
			return batch{}, ErrClosed
		}
		l.sleepLocked(&l.committer)
	}
	if l.sealing.err != nil {
		return batch{}, l.sealing.err
	}
	out.settled = l.sealing.full == nil
	if l.backlog.octets == 0 {
		return batch{segment: out.segment, end: l.end}, nil
	}
	return l.backlog.takeLocked(), nil
}

// commitBatch writes a batch, tells those who wait for that, and syncs if somebody waits for that.
func (l *Log) commitBatch(out *output, b batch) error {
	if b.segment != out.segment {
		if err := l.roll(out, b.segment); err != nil {
			return err
		}
	}
	if err := out.write(b.frames); err != nil {
		return err
	}
	l.reached(out, Written, b.end)
	synced, wanted := l.syncWanted()
	if wanted {
		if err := l.awaitSealed(); err != nil {
			return err
		}
		if err := out.clear(); err != nil {
			return err
		}
		if err := out.sync(); err != nil {
			return err
		}
		synced = b.end
	}
	l.reached(out, Synced, synced)
	return nil
}

// write completes frames and writes them behind those before.
func (o *output) write(frames []byte) error {
	if len(frames) == 0 {
		return nil
	}
	finish(frames, o.header.seed, o.written, o.proven())
	if _, err := o.file.WriteAt(frames, o.written); err != nil {
		return failed("write", o.header.number.fileName(), o.written, err)
	}
	o.written += int64(len(frames))
	return nil
}

// sync makes what was written durable. After a failure nobody knows what is on the disk, and a second sync can succeed without
// it: so the log has failed.
func (o *output) sync() error {
	if o.synced == o.written {
		return nil
	}
	if err := o.file.Sync(); err != nil {
		return failed("sync", o.header.number.fileName(), o.synced, err)
	}
	o.synced = o.written
	return nil
}

// clear writes zeros where the next batches will stand, before a sync. When something is written for the first time to space
// that was only allocated, a file system such as ext4 notes that in its own log, and a sync waits for the log, too. Without the
// zeros BenchmarkCommit/synced/growing=false/100B/100 takes 1.6 times as long, and bench's
// BenchmarkDurable/queue=quorum/outstanding=100 13 to 15 % longer with 20 % more processor time. Large syncs gain less, and
// everything would be written twice.
func (o *output) clear() error {
	from := max(o.cleared, o.written)
	to := min(from+clearSize, o.end)
	if o.written-o.synced > clearBelow || from-o.written > clearBelow || from >= to {
		return nil
	}
	if _, err := o.file.WriteAt(zeros[:to-from], from); err != nil {
		return failed("write", o.header.number.fileName(), from, err)
	}
	o.cleared = to
	return nil
}

const (
	clearSize  = 256 << 10 // octets that are cleared at once
	clearBelow = 32 << 10  // a sync of more octets clears nothing, nor does one that leaves more cleared octets behind it
)

var zeros [clearSize]byte

// roll begins the next segment, and leaves the full one to the sealer, which has sealed the one before.
func (l *Log) roll(out *output, next *segment) error {
	if err := l.awaitSealed(); err != nil {
		return err
	}
	full := *out
	if err := l.begin(out, next, full.place(), false); err != nil {
		return err
	}
	l.sealLater(&full, out)
	return nil
}

// begin makes the file of a segment, with a snapshot. before is where the segment before ended.
func (l *Log) begin(out *output, next *segment, before Pos, opened bool) error {
	snapshot := l.owner.Snapshot(out.header.snapshot[:0])
	if len(snapshot) > MaxRecord {
		return failed("write", next.number.fileName(), headerSize, fmt.Errorf("the snapshot has %d octets, more than %d", len(snapshot), MaxRecord))
	}
	l.mu.Lock()
	h := header{next.number, l.segments[0].number, out.header.seed + seedStep, snapshot, l.end, before, opened}
	l.fileSize = min(max(int64(l.options.SegmentSize), snapshotShare*int64(len(snapshot))), maxSegmentSize)
	l.capacity = max(l.fileSize-h.start()-markSize, l.fileSize/2) // the half if a snapshot is as large as a segment can be
	space := max(l.capacity, next.used) + markSize
	if l.options.Growing {
		space = 0
	}
	used := l.space.takeSpareLocked()
	l.resizeLocked(next, max(used.octets, h.start()+space))
	l.mu.Unlock()
	f, err := createSegment(l.fs, h, space, used.name)
	if err != nil {
		return err
	}
	out.file, out.header, out.segment = f, h, next
	out.written, out.synced, out.end = h.start(), h.start(), h.start()+space
	out.cleared, out.settled = max(h.start(), used.octets), false
	return nil
}
