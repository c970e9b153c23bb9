package journal

import (
	"bytes"
	"cmp"
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

// readImage reads a segment into buf, or into a larger buffer.
func readImage(fs FS, name string, buf []byte) (image, error) {
	f, err := fs.ReadFile(name)
	if err != nil {
		return image{}, failed("open", name, -1, err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return image{}, failed("read", name, -1, err)
	}
	buf = slices.Grow(buf[:0], int(size))[:size]
	if n, err := f.ReadAt(buf, 0); err != nil && (err != io.EOF || int64(n) < size) {
		return image{}, failed("read", name, int64(n), err)
	}
	h, err := decodeHeader(name, buf)
	return image{h, name, buf}, err
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

// begun reports whether something was written behind the snapshot.
func (i image) begun() bool {
	for range i.search(i.start()) {
		return true
	}
	return false
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
func snapshotOf(fs FS, segments []Segment) (base image, err error) {
	var headers []header
	for _, s := range segments {
		h, err := readHeader(fs, s.fileName())
		if err != nil {
			return image{}, err
		}
		headers = append(headers, h)
	}
	found := ^Pos(0) // the earliest end at which a later segment says that the log was found
	var at Segment
	for _, h := range slices.Backward(headers) {
		if h.known <= found {
			at = h.number
		}
		if h.found != 0 {
			found = min(found, h.found)
		}
	}
	if at == 0 {
		return image{}, damaged(segments[0].fileName(), 32, "no segment has a snapshot of what the log has")
	}
	return readImage(fs, at.fileName(), nil)
}

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

// walk reads all segments in order. open is called for each before its records are, with the segment whose snapshot comes first.
func walk(fs FS, segments []Segment, open func(i, base image) error, visit func(Record) error) (w walked, err error) {
	if len(segments) == 0 {
		return w, nil
	}
	base, err := snapshotOf(fs, segments)
	if err != nil {
		return w, err
	}
	var buf []byte
	for n, s := range segments {
		i, err := readImage(fs, s.fileName(), buf)
		if err != nil {
			return w, err
		}
		buf = i.file
		if n > 0 && !w.end.continued() {
			// The process ended between making this segment and sealing the one before, or the seal was destroyed.
			if n < len(segments)-1 || i.begun() {
				return w, damaged(w.last.name, w.end.offset, "the segment has no seal here, and %s was begun", i.name)
			}
			w.unused = i.name
			break
		}
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
	}
	return w, w.verify(segments)
}

// walked is what is known after the last segment.
type walked struct {
	last   image   // without file
	end    ending  // of last
	needed Segment // what is before was no longer needed
	unused string  // a segment that was made and not begun; "" if there is none
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

// torn tells where the last write was cut off, and how many octets of it are dropped.
func (w walked) torn() (*Error, int64) {
	if w.end.lost == 0 {
		return nil, 0
	}
	return &Error{"read", w.last.name, w.end.offset, errTorn}, w.end.lost
}
