package journal

import (
	"strings"
	"time"
)

// Recovery is what Open found, for the operator to read.
type Recovery struct {
	Segments int
	Records  int           // that were replayed
	Octets   int64         // of the files
	Took     time.Duration // reading and replaying
	Torn     *Error        // where the last write was cut off by a crash; nil if it was not
	Lost     int64         // octets of that write that are dropped
}

// recover reads the log and begins a new segment.
func (l *Log) recover() (*output, error) {
	began := time.Now()
	if err := l.removeUnfinished(); err != nil {
		return nil, err
	}
	segments, err := segmentsOf(l.fs)
	if err != nil {
		return nil, err
	}
	w, err := walk(l.fs, segments, l.restore, l.replay)
	if err != nil {
		return nil, err
	}
	if w.unused != "" {
		segments = segments[:len(segments)-1] // the file is replaced by the new segment
	}
	l.recovered.Torn, l.recovered.Lost = w.torn()
	l.recovered.Segments = len(segments)
	l.recovered.Took = time.Since(began)
	l.owner.Live(l.countLocked) // nobody else has the log yet
	return l.resume(w)
}

// removeUnfinished removes segments that were not renamed when the process ended, and spares.
func (l *Log) removeUnfinished() error {
	names, err := l.fs.List()
	if err != nil {
		return failed("list", "the directory", -1, err)
	}
	for _, name := range names {
		old, unfinished := strings.CutSuffix(name, newSuffix)
		number, used := strings.CutSuffix(name, spareSuffix)
		if unfinished && segmentOf(old) != 0 || used && segmentOf(number+segmentSuffix) != 0 {
			if err := l.fs.Remove(name); err != nil {
				return failed("remove", name, -1, err)
			}
		}
	}
	return nil
}

// restore begins a segment. Before the first the owner gets a snapshot.
func (l *Log) restore(i image, base image) error {
	l.segments = append(l.segments, &segment{number: i.number, file: int64(len(i.file)), sealed: true})
	l.space.total += int64(len(i.file))
	l.recovered.Octets += int64(len(i.file))
	if len(l.segments) > 1 {
		return nil
	}
	return l.owner.Restore(base.snapshot)
}

func (l *Log) replay(r Record) error {
	if r.Kind > LastKind {
		return nil
	}
	l.recovered.Records++
	return l.owner.Replay(r)
}

// resume begins a new segment and seals the last one, which syncs what was replayed.
func (l *Log) resume(w walked) (*output, error) {
	next := &segment{number: w.last.number + 1}
	l.segments = append(l.segments, next)
	l.end = place(next.number, 0)
	out := &output{header: header{seed: w.last.seed}}
	if w.last.name == "" {
		out.header.seed = newSeed()
	}
	if err := l.begin(out, next, w.place()); err != nil {
		return nil, err
	}
	if err := l.sealLast(w, next.number); err != nil {
		out.file.Close()
		return nil, err
	}
	l.space.credit = creditPerOctet * (l.space.total - l.space.live)
	l.progress.reached = [...]Pos{Queued: l.end, Written: l.end, Synced: l.end}
	return out, nil
}

func (l *Log) sealLast(w walked, next Segment) error {
	if err := l.signDirectory(); err != nil || w.last.name == "" {
		return err
	}
	f, err := l.fs.Open(w.last.name)
	if err != nil {
		return failed("open", w.last.name, -1, err)
	}
	err = sealSegment(f, w.last.header, w.end.offset, next)
	if errClose := f.Close(); err == nil {
		err = failed("close", w.last.name, -1, errClose)
	}
	last := l.segments[len(l.segments)-2]
	l.resizeLocked(last, w.end.offset+markSize)
	return err
}

// signDirectory says in the lock file that there is a segment: a directory without one is not taken for a new one any more.
func (l *Log) signDirectory() error {
	f, err := l.fs.Open(lockName)
	if err != nil {
		return failed("open", lockName, -1, err)
	}
	_, err = f.WriteAt([]byte(lockText), 0)
	if err == nil {
		err = f.Sync()
	}
	if errClose := f.Close(); err == nil {
		err = errClose
	}
	return failed("write", lockName, 0, err)
}
