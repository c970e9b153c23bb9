package journal

// Scan calls visit for the records of a segment that is complete, from an offset of its file on, until visit returns false. It
// returns the offset behind the last one, or 0 if the segment has no more. An offset of 0 is that of the first record. Only
// CopyForward may call it: a segment stays in memory until another one is scanned. The error is an *Error.
func (l *Log) Scan(s Segment, from int64, visit func(Record) (more bool)) (next int64, err error) {
	if l.scanned.file == nil || l.scanned.number != s {
		if l.scanned, err = readImage(l.fs, s.fileName(), l.scanned.file); err != nil {
			l.scanned = image{}
			return 0, err
		}
	}
	i := l.scanned
	if from == 0 {
		from = i.start()
	}
	for {
		frame := goodFrame(i.file, i.seed, from)
		if frame == nil {
			return 0, damaged(i.name, from, "no record is here, and the segment has no seal before")
		}
		r := Record{Kind(frame[kindAt]), frame[Overhead:], place(i.number, from-i.start()), i.name, from}
		from += int64(len(frame))
		switch {
		case r.Kind == KindSeal:
			l.scanned = image{}
			return 0, nil
		case r.Kind > LastKind:
		case !visit(r):
			return from, nil
		}
	}
}
