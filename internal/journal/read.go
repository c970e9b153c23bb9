package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
)

// A Record is what Append was given, as it was found again.
type Record struct {
	Kind   Kind
	Data   []byte // only good until the function that got the record returns
	Pos    Pos
	File   string // base name of the segment
	Offset int64  // in the file, in octets
}

// An image is the whole content of a segment's file.
type image struct {
	header
	name string
	file []byte
}

// An ending is what stands behind the last good frame of a segment.
type ending struct {
	offset int64   // in the file
	sealed bool    // a seal ends the segment
	next   Segment // of the last seal
	lost   int64   // octets that are missing from offset on of what was written at once; 0 if there is a clean end
}

// continued reports whether there must be a next segment.
func (e ending) continued() bool { return e.next != 0 }

// readImage reads a segment into buf, or into a larger buffer. The octets are there, too, if they do not begin with a good header.
func readImage(fs FS, name string, buf []byte) (image, error) {
	buf, err := readWhole(fs, name, buf)
	if err != nil {
		return image{}, err
	}
	h, err := decodeHeader(name, buf)
	return image{h, name, buf}, err
}

// readWhole reads a file into buf, or into a larger buffer.
func readWhole(fs FS, name string, buf []byte) ([]byte, error) {
	f, err := fs.ReadFile(name)
	if err != nil {
		return nil, failed("open", name, -1, err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, failed("read", name, -1, err)
	}
	buf = slices.Grow(buf[:0], int(size))[:size]
	if n, err := f.ReadAt(buf, 0); err != nil && (err != io.EOF || int64(n) < size) {
		return nil, failed("read", name, int64(n), err)
	}
	return buf, nil
}

// frames calls visit for each good frame from the first on, up to a seal that names the next segment.
func (i image) frames(visit func(Record) error) (e ending, err error) {
	e.offset = i.start()
	var last mark
	for !e.continued() {
		frame := goodFrame(i.file, i.seed, e.offset)
		if frame == nil {
			break
		}
		r := Record{Kind(frame[kindAt]), frame[Overhead:], place(i.number, e.offset-i.start()), i.name, e.offset}
		e.offset += int64(len(frame))
		if e.sealed && r.Kind != KindSeal {
			return e, damaged(i.name, r.Offset, "a record stands behind the seal")
		}
		switch r.Kind {
		case KindSeal:
			e.sealed, e.next = true, Segment(number(r.Data))
		case KindMark:
			last = markOf(r.Data)
		}
		if err := visit(r); err != nil {
			return e, err
		}
	}
	if !e.continued() {
		e.lost = max(last.end-e.offset, 0)
		err = i.verifyTail(e)
	}
	return e, err
}

// verifyTail tells a torn write, which nobody was told of, from damage. A mark or a seal behind the last good frame that
// was written when the frames before were synced already proves damage: a synced frame can only be bad if the disk lost it.
func (i image) verifyTail(e ending) error {
	for kind, frame := range i.search(e.offset) {
		if kind == KindSeal || markOf(i.file[frame+Overhead:]).synced > e.offset {
			return damaged(i.name, e.offset, "no record is here, but %s at offset %d says that there was one", kind, frame)
		}
	}
	return nil
}

// provesBefore looks for a frame that was written when all segments before were synced, and this one was sure to be there.
func (i image) provesBefore() (kind Kind, offset int64, proves bool) {
	for kind, frame := range i.search(0) {
		if kind == KindSeal || markOf(i.file[frame+Overhead:]).synced > 0 {
			return kind, frame, true
		}
	}
	return 0, 0, false
}

// search yields the offsets of good marks and seals from one on, wherever they stand.
func (i image) search(from int64) iter.Seq2[Kind, int64] {
	return func(yield func(Kind, int64) bool) {
		for _, kind := range []Kind{KindMark, KindSeal} {
			pattern := appendNumber(nil, kind, 0)[lengthAt:Overhead]
			for at := from; ; at++ {
				next := bytes.Index(i.file[min(at+lengthAt, int64(len(i.file))):], pattern)
				if next < 0 {
					break
				}
				at += int64(next)
				if goodFrame(i.file, i.seed, at) != nil && !yield(kind, at) {
					return
				}
			}
		}
	}
}

// segmentsOf lists the segments of a directory, oldest first. It fails if one between the first and the last is not there, or
// all of them.
func segmentsOf(fs FS) (segments []Segment, err error) {
	names, err := fs.List()
	if err != nil {
		return nil, failed("list", "the directory", -1, err)
	}
	for _, name := range names {
		if s := segmentOf(name); s != 0 {
			segments = append(segments, s)
		}
	}
	slices.SortFunc(segments, cmp.Compare)
	for i, s := range segments {
		if want := segments[0] + Segment(i); s != want {
			return nil, missing(want, "segment %s is there", s.fileName())
		}
	}
	if len(segments) == 0 && slices.Contains(names, lockName) {
		return nil, verifyNew(fs)
	}
	return segments, nil
}

// verifyNew fails if the directory had segments, or if another format's lock file is in it.
func verifyNew(fs FS) error {
	f, err := fs.ReadFile(lockName)
	if err != nil {
		return failed("open", lockName, -1, err)
	}
	defer f.Close()
	text := make([]byte, len(lockText))
	n, err := f.ReadAt(text, 0)
	switch {
	case err != nil && err != io.EOF:
		return failed("read", lockName, 0, err)
	case n == 0:
		return nil
	case string(text) != lockText:
		return &Error{"read", lockName, 0, fmt.Errorf("%w: it says %q", ErrFormat, text[:n])}
	}
	return missing(1, "%s says that there were segments, and there is none", lockName)
}

func missing(s Segment, format string, args ...any) error {
	return &Error{"open", s.fileName(), -1, fmt.Errorf("%w: "+format, append([]any{ErrMissing}, args...)...)}
}

// snapshotOf returns the segment whose snapshot recovery begins with: the oldest whose snapshot knows no record that a crash has
// lost since. A snapshot is taken while records are appended, so it can know some of its own segment's; if these are lost before
// they are written, the snapshot tells of operations that never were. The log was then opened, and has a later snapshot. Replaying
// older records on top of that leads to the same, because the last record about each thing says what the snapshot says.
func snapshotOf(fs FS, headers []header) (base image, err error) {
	found := ^Pos(0) // the earliest end at which a later segment says that the log was found
	var at Segment
	for _, h := range slices.Backward(headers) {
		if h.known <= found {
			at = h.number
		}
		if h.opened && h.before != 0 {
			found = min(found, h.before)
		}
	}
	if at == 0 {
		return image{}, damaged(headers[0].number.fileName(), 32, "no segment has a snapshot of what the log has")
	}
	return readImage(fs, at.fileName(), nil)
}

// readHeaders reads the headers of segments up to one that has none, as a crash of the machine can leave the last ones.
func readHeaders(fs FS, segments []Segment) (headers []header, err error) {
	for n, s := range segments {
		h, err := readHeader(fs, s.fileName())
		switch {
		case n > 0 && isBad(err):
			return headers, nil
		case err != nil:
			return nil, err
		}
		headers = append(headers, h)
	}
	return headers, nil
}

// isBad reports whether an error is about what was read, not about the reading.
func isBad(err error) bool { return errors.Is(err, ErrDamaged) || errors.Is(err, ErrFormat) }

// readHeader reads a header without the snapshot.
func readHeader(fs FS, name string) (header, error) {
	f, err := fs.ReadFile(name)
	if err != nil {
		return header{}, failed("open", name, -1, err)
	}
	defer f.Close()
	var b [headerSize]byte
	n, err := f.ReadAt(b[:], 0)
	if err != nil && err != io.EOF {
		return header{}, failed("read", name, int64(n), err)
	}
	h, _, err := decodeFields(name, b[:n])
	return h, err
}

// walk reads all segments in order, up to where the log ends. open is called for each before its records are, with the segment whose
// snapshot comes first.
func walk(fs FS, segments []Segment, open func(i, base image) error, visit func(Record) error) (w walked, err error) {
	if len(segments) == 0 {
		return w, nil
	}
	headers, err := readHeaders(fs, segments)
	if err != nil {
		return w, err
	}
	base, err := snapshotOf(fs, headers)
	if err != nil {
		return w, err
	}
	var buf []byte
	for n, s := range segments {
		i, err := readImage(fs, s.fileName(), buf)
		// Behind a segment without a seal nothing was sure to be there, and that segment was not sure to be whole.
		if n > 0 && !w.end.continued() && (isBad(err) || err == nil && i.before != w.place()) {
			if err := w.drop(fs, base, segments[n:]); err != nil {
				return w, err
			}
			break
		}
		if err != nil {
			return w, err
		}
		buf = i.file
		if err := open(i, base); err != nil {
			return w, err
		}
		w.needed = max(w.needed, i.oldest)
		w.end, err = i.frames(func(r Record) error {
			if r.Kind == KindRetired {
				w.needed = max(w.needed, Segment(number(r.Data))+1)
			}
			return visit(r)
		})
		w.last = image{header: i.header, name: i.name} // of the snapshot only the size is good: buf is overwritten
		if err != nil {
			return w, err
		}
		w.ends = append(w.ends, end{w.last, w.end})
	}
	return w, w.verify(segments)
}

// walked is what is known after the last segment that the log has.
type walked struct {
	last    image     // without file
	end     ending    // of last
	needed  Segment   // what is before was no longer needed
	ends    []end     // of all segments
	dropped []Segment // that stand behind the end
}

// An end is how a segment ends.
type end struct {
	image // without file
	ending
}

// drop ends the log where it is, before segments that were begun when what is missing was not synced. If one of them says that it was,
// the disk has lost something.
func (w *walked) drop(fs FS, base image, behind []Segment) error {
	seed := w.last.seed
	for _, s := range behind {
		seed += seedStep
		i, errHeader := readImage(fs, s.fileName(), nil)
		if errHeader != nil && !isBad(errHeader) {
			return errHeader
		}
		if s == base.number {
			return damaged(w.last.name, w.end.offset, "no record is here, and the first snapshot that can be used is that of %s", i.name)
		}
		whole := i
		whole.seed = seed
		switch kind, frame, proves := whole.provesBefore(); {
		case proves && errHeader != nil:
			return errHeader
		case proves:
			return damaged(w.last.name, w.end.offset, "no record is here, but %s at offset %d of %s says that there was one", kind, frame, i.name)
		case errHeader == nil:
			if i.before > w.place() && i.before.Segment() == w.last.number {
				w.end.lost = int64(i.before - w.place())
			}
			e, err := i.frames(func(Record) error { return nil })
			if err != nil {
				return err
			}
			w.end.lost += e.offset - i.start()
		}
		w.dropped = append(w.dropped, s)
	}
	return nil
}

// place is where the log ends.
func (w walked) place() Pos {
	if w.last.name == "" {
		return 0
	}
	return place(w.last.number, w.end.offset-w.last.start())
}

// verify looks for segments that are missing at either end.
func (w walked) verify(segments []Segment) error {
	if len(segments) == 0 {
		return nil
	}
	if first := segments[0]; first > w.needed {
		return missing(w.needed, "segment %s is the first", first.fileName())
	}
	if w.end.continued() {
		return missing(w.end.next, "%s goes on there", w.last.name)
	}
	return nil
}

// torn tells where the last writes were cut off, and how many octets of them are dropped, as far as that is known.
func (w walked) torn() (*Error, int64) {
	if w.end.lost == 0 && len(w.dropped) == 0 {
		return nil, 0
	}
	return &Error{"read", w.last.name, w.end.offset, errTorn}, w.end.lost
}
