package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync"
)

// An Owner is the log's user: it has in memory what the log has on disk. The log calls it without holding a lock of its own,
// and the Owner may take its own locks; see the lock order in the package comment.
type Owner interface {
	// Restore begins a recovery with the oldest snapshot. data is only good until Restore returns.
	Restore(data []byte) error

	// Replay applies a record, all in the order in which they were appended. A record can say again what the snapshot or a
	// record that Move wrote has said before, and can speak of what is no longer there: the latest word counts.
	Replay(Record) error

	// Live ends a recovery: it calls count with the octets that are live in each segment, in as many calls as it likes.
	Live(count func(s Segment, octets int))

	// Snapshot appends to buf what Restore needs, and returns it. It has the effects of every record of which Append had
	// returned before the call; it may have those of records that were appended meanwhile. At most MaxRecord octets.
	Snapshot(buf []byte) []byte

	// CopyForward appends, with Move, some of what is still live in the segment, about as many octets as budget says, and
	// reports whether there is more. It is called again and again until there is not. The first call can come before Open
	// has returned: so it is given the log.
	CopyForward(l *Log, s Segment, budget int) (more bool)
}

// Options are settings of a log. Zero values are the defaults.
type Options struct {
	// SegmentSize is how many octets a segment's file has, by default 16 MiB and at least 4 KiB. A larger record has a segment of
	// its own; with a snapshot of more than an eighth of this the segments are eight times the snapshot.
	SegmentSize int

	// MaxPending is how many octets may wait to be written before Room waits. By default 8 MiB.
	MaxPending int

	// Growing has files grow as they are written. By default a segment's space is allocated when it is begun.
	Growing bool

	// Failed is called once when the log fails, after those who wait have been told. It must not wait for the log. nil: nobody
	// is called.
	Failed func(error)
}

const (
	defaultSegmentSize = 16 << 20
	minSegmentSize     = 4 << 10
	maxSegmentSize     = 1 << 30
	defaultMaxPending  = 8 << 20

	snapshotShare = 8 // a segment is at least so many times its snapshot
)

// A Log is an append-only log in a directory. Its methods can be called from any goroutine.
type Log struct {
	fs      FS
	owner   Owner
	options Options
	lock    io.Closer
	wakers  wakers

	mu       sync.Mutex // guards all below; the innermost lock: nothing is called while it is held
	segments []*segment // oldest first; records go to the last
	fileSize int64      // octets of the last segment's file, unless one record needs more
	capacity int64      // octets of records that the last segment may have
	end      Pos        // where the next record goes
	backlog  backlog    // what the committer has not taken
	progress progress
	sealing  sealing
	space    space
	err      error // the log has failed or is closed

	committer worker
	sealer    worker
	compactor worker
	scanned   image // by Scan
	recovered Recovery
}

// A segment is what is known of a file of the log.
type segment struct {
	number Segment
	live   int64 // octets of records that the owner still needs
	used   int64 // octets of records
	file   int64 // octets of the file; 0 if it is not there yet
	sealed bool  // it is complete and closed
}

// Open opens the log of a directory, which is made if it is not there, and restores its owner: Restore, Replay for each
// record, Live and then Snapshot for a new segment are called on the caller's goroutine before Open returns. When it
// returns, all that was replayed is synced. The errors are *Error: ErrLocked, ErrFormat, ErrMissing, ErrDamaged, or the
// operating system's; an error of the owner is returned as it is.
func Open(fs FS, owner Owner, options Options) (*Log, error) {
	options.SegmentSize = min(max(cmp.Or(options.SegmentSize, defaultSegmentSize), minSegmentSize), maxSegmentSize)
	options.MaxPending = cmp.Or(options.MaxPending, defaultMaxPending)
	if err := fs.Make(); err != nil {
		return nil, failed("make", "the directory", -1, err)
	}
	lock, err := fs.Lock(lockName)
	if err != nil {
		return nil, failed("take", lockName, -1, err)
	}
	l := &Log{fs: fs, owner: owner, options: options, lock: lock, committer: newWorker(), sealer: newWorker(), compactor: newWorker()}
	l.sealing.changed = sync.NewCond(&l.mu)
	l.backlog.full = max(options.MaxPending/backlogBatches, 1)
	out, err := l.recover()
	if err != nil {
		lock.Close()
		return nil, err
	}
	go l.commit(out)
	go l.seal()
	go l.compact()
	return l, nil
}

// Append adds a record, whose data is the parts one after the other, and returns its place without waiting for anything. Of
// the record live octets are still needed, until Release has been called for them; 0 for a record that only speaks of
// others. The octets that are live have to add up to the same in Append, Release, Move and Live; those of a whole record are
// its data and Overhead. Append copies the parts. It fails if the log has failed or is closed. A kind that is not from 1 to
// LastKind panics.
func (l *Log) Append(kind Kind, live int, parts ...[]byte) (Pos, error) {
	kind.mustBeOwners()
	l.mu.Lock()
	defer l.mu.Unlock()
	p, size, err := l.appendLocked(kind, live, parts)
	if err == nil {
		l.space.credit += int64(size-live) * creditPerOctet
	}
	return p, err
}

// Move adds a record as Append does, in place of released octets of another segment: CopyForward's way to append.
func (l *Log) Move(from Segment, released int, kind Kind, live int, parts ...[]byte) (Pos, error) {
	kind.mustBeOwners()
	l.mu.Lock()
	defer l.mu.Unlock()
	p, size, err := l.appendLocked(kind, live, parts)
	if err != nil {
		return 0, err
	}
	l.space.credit -= int64(size)
	l.space.copied += int64(size)
	l.releaseLocked(from, released)
	return p, nil
}

// Release says that octets of a segment are no longer needed. They can be those of several records.
func (l *Log) Release(s Segment, octets int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.space.credit += int64(octets) * creditPerOctet
	l.releaseLocked(s, octets)
}

// appendLocked returns the record's place, and how many octets it takes in the file.
func (l *Log) appendLocked(kind Kind, live int, parts [][]byte) (Pos, int, error) {
	if l.err != nil {
		return 0, 0, l.err
	}
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if size > MaxRecord {
		return 0, 0, fmt.Errorf("journal: a record of %d octets is larger than %d", size, MaxRecord)
	}
	s := l.segmentLocked(Overhead + size)
	b := l.backlog.batchLocked(s)
	b.frames = appendFrame(b.frames, kind, size, parts...)
	p := place(s.number, s.used)
	s.used += int64(Overhead + size)
	b.end = place(s.number, s.used)
	l.end = b.end
	l.backlog.octets += Overhead + size
	s.live += int64(live)
	l.space.live += int64(live)
	l.committer.wakeLocked()
	return p, Overhead + size, nil
}

// segmentLocked returns the segment for a frame and a mark, a new one if the last has no room.
func (l *Log) segmentLocked(size int) *segment {
	s := l.segments[len(l.segments)-1]
	if s.used > 0 && s.used+markSize+int64(size) > l.capacity {
		s = &segment{number: s.number + 1}
		l.segments = append(l.segments, s)
	}
	return s
}

// Stats are figures of a log.
type Stats struct {
	Segments int   // files
	Octets   int64 // sizes of the files, those of no segment, too
	Live     int64 // octets that are still needed
	Pending  int   // octets that wait to be written
	Copied   int64 // octets that were copied forward since the log was opened
	End      Pos   // behind the last record
	Stuck    error // why no segment is removed any more; nil if that works
}

// Stats returns the present figures.
func (l *Log) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Stats{len(l.segments), l.space.files(), l.space.live, l.backlog.octets, l.space.copied, l.end, l.space.err}
}

// Recovered tells what Open found.
func (l *Log) Recovered() Recovery { return l.recovered }

// Free returns the octets that are left for this process on the log's file system; errors.ErrUnsupported where that is not known.
func (l *Log) Free() (uint64, error) { return l.fs.Free() }

// Err returns why the log takes no more records, nil if it does.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close writes and syncs all records, and seals the log: what is damaged from now on is found, be it the last record. Every Wait
// ends, every function that was given to Notify has returned. Close fails if the log has failed before. It must not be called
// from such a function.
func (l *Log) Close() error {
	l.stop(&l.compactor) // first: its work needs the committer
	l.stop(&l.committer)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil {
		return nil
	}
	err := l.lock.Close()
	l.lock = nil
	if !errors.Is(l.err, ErrClosed) {
		return l.err
	}
	return failed("unlock", lockName, -1, err)
}
