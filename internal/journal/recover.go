package journal

import (
	"slices"
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
	if err := l.keep(w); err != nil {
		return nil, err
	}
	l.recovered.Torn, l.recovered.Lost = w.torn()
	l.recovered.Segments = len(segments) - len(w.dropped)
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

// keep syncs what was found before it is built on: a process that was killed may have synced nothing, not even a seal. Segments behind the
// end that was found are removed, the last one first: so there is never a gap.
func (l *Log) keep(w walked) error {
	for _, e := range w.ends {
		if err := l.with(e.name, func(f File) error { return failed("sync", e.name, -1, f.Sync()) }); err != nil {
			return err
		}
	}
	for _, s := range slices.Backward(w.dropped) {
		if err := l.fs.Remove(s.fileName()); err != nil {
			return failed("remove", s.fileName(), -1, err)
		}
	}
	return failed("sync", "the directory", -1, l.fs.SyncDir())
}

// with calls do with an open file.
func (l *Log) with(name string, do func(File) error) error {
	f, err := l.fs.Open(name)
	if err != nil {
		return failed("open", name, -1, err)
	}
	err = do(f)
	if errClose := f.Close(); err == nil {
		err = failed("close", name, -1, errClose)
	}
	return err
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

// resume begins a new segment and seals those before.
func (l *Log) resume(w walked) (*output, error) {
	next := &segment{number: w.last.number + 1}
	l.segments = append(l.segments, next)
	l.end = place(next.number, 0)
	out := &output{header: header{seed: w.last.seed}}
	if w.last.name == "" {
		out.header.seed = newSeed()
	}
	if err := l.begin(out, next, w.place(), true); err != nil {
		return nil, err
	}
	if err := l.settle(out, w.ends); err != nil {
		out.file.Close()
		return nil, err
	}
	l.space.credit = creditPerOctet * (l.space.total - l.space.live)
	l.progress.reached = [...]Pos{Queued: l.end, Written: l.end, Synced: l.end}
	return out, nil
}

// settle makes sure that the new segment is there, and seals the others in their order: a seal says that those before are whole, too.
func (l *Log) settle(out *output, ends []end) error {
	if err := settleSegment(l.fs, out.header.number, out.file); err != nil {
		return err
	}
	if err := l.signDirectory(); err != nil {
		return err
	}
	for n, e := range ends {
		if e.continued() {
			continue
		}
		if err := l.with(e.name, func(f File) error { return sealSegment(f, e.header, e.offset, e.number+1) }); err != nil {
			return err
		}
		l.resizeLocked(l.segments[n], e.offset+markSize)
	}
	return nil
}

// signDirectory says in the lock file that there is a segment: a directory without one is not taken for a new one any more.
func (l *Log) signDirectory() error {
	return l.with(lockName, func(f File) error {
		_, err := f.WriteAt([]byte(lockText), 0)
		if err == nil {
			err = f.Sync()
		}
		return failed("write", lockName, 0, err)
	})
}
