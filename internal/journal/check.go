package journal

import (
	"errors"
	"fmt"
	"iter"
)

// A Report is what Check found.
type Report struct {
	Segments []SegmentReport
	Torn     *Error  // where the last write was cut off by a crash, which is no problem; nil if it was not
	Lost     int64   // octets of that write that are dropped
	Problems []error // why Open refuses the log; empty if it does not
}

// A SegmentReport describes one file.
type SegmentReport struct {
	File     string
	Octets   int64 // of the file
	Snapshot int   // octets
	Records  int   // the owner's
	Data     int64 // octets of their data
	Sealed   bool
}

// Err returns all problems as one error, nil if there is none.
func (r Report) Err() error { return errors.Join(r.Problems...) }

// Check reads the whole log of a directory and changes nothing. It goes on behind a segment that is damaged, so that the report
// names what is wrong in all of them.
func Check(fs FS) (r Report) {
	unlock, err := lockToRead(fs)
	if err != nil {
		return Report{Problems: []error{err}}
	}
	defer unlock()
	names, err := fs.List()
	if err != nil {
		return Report{Problems: []error{failed("list", "the directory", -1, err)}}
	}
	var buf []byte
	for _, name := range names {
		if segmentOf(name) != 0 {
			buf = r.segment(fs, name, buf)
		}
	}
	segments, err := segmentsOf(fs)
	if err != nil {
		r.Problems = append(r.Problems, err)
	}
	if len(r.Problems) > 0 {
		return r
	}
	w, err := walk(fs, segments, func(image, image) error { return nil }, func(Record) error { return nil })
	if err != nil {
		r.Problems = append(r.Problems, err)
	} else {
		r.Torn, r.Lost = w.torn()
	}
	return r
}

// segment adds what is in one file.
func (r *Report) segment(fs FS, name string, buf []byte) []byte {
	s := SegmentReport{File: name}
	i, err := readImage(fs, name, buf)
	if err == nil {
		s.Snapshot = len(i.snapshot)
		var e ending
		e, err = i.frames(func(record Record) error {
			if record.Kind <= LastKind {
				s.Records++
				s.Data += int64(len(record.Data))
			}
			return nil
		})
		s.Sealed = e.sealed
	}
	if err != nil {
		r.Problems = append(r.Problems, err)
	}
	s.Octets = int64(len(i.file))
	r.Segments = append(r.Segments, s)
	return i.file
}

// Records yields everything that stands in the log, the log's own records and the snapshots of all segments too. An error
// comes last.
func Records(fs FS) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		err := forEach(fs, func(r Record) error {
			if !yield(r, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(Record{}, err)
		}
	}
}

var errEnough = errors.New("no more is wanted")

func forEach(fs FS, visit func(Record) error) error {
	unlock, err := lockToRead(fs)
	if err != nil {
		return err
	}
	defer unlock()
	segments, err := segmentsOf(fs)
	if err != nil {
		return err
	}
	_, err = walk(fs, segments, func(i, _ image) error {
		return visit(Record{KindSnapshot, i.snapshot, place(i.number, 0), i.name, headerSize})
	}, visit)
	return err
}

// lockToRead keeps others away. It makes no lock file: a directory without one is no log.
func lockToRead(fs FS) (unlock func(), err error) {
	f, err := fs.ReadFile(lockName)
	if err != nil {
		return nil, &Error{"open", lockName, -1, fmt.Errorf("%w: %w", ErrFormat, err)}
	}
	f.Close()
	lock, err := fs.Lock(lockName)
	if err != nil {
		return nil, failed("take", lockName, -1, err)
	}
	return func() { lock.Close() }, nil
}
