package journal

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"strconv"
	"strings"
)

// A segment is a file: a header, a snapshot, frames, and up to the size that was allocated zeros, or what stood there when the file
// was another segment's.
//
//	 0  8  "leveretJ"
//	 8  4  version of the format
//	12  4  number of the segment
//	16  4  number of the oldest segment when this one was begun
//	20  4  seed
//	24  4  octets of the snapshot
//	28  4  CRC-32C of the snapshot, begun with the seed
//	32  8  place up to which the snapshot may know the records
//	40  8  place at which the segment before ended; 0 if there was none
//	48  4  1 if the log was opened for this segment, 0 if the segment follows in the course of writing
//	52  4  CRC-32C of the 52 octets before
//	56     snapshot
//
// The name is the number in hexadecimal. A segment is made under a name that ends in .new, and renamed when header and snapshot
// are written, or synced if the log is opened for it.
const (
	magic      = "leveretJ"
	version    = 6
	headerSize = 56

	segmentSuffix = ".journal"
	newSuffix     = ".new"
	spareSuffix   = ".spare"

	// The lock file is empty until the first segment is there. A directory that has the text and no segment has lost them.
	lockName = "lock"
	lockText = "leveret journal, format 6\n"
)

// fileName is the name of a segment's file.
func (s Segment) fileName() string { return fmt.Sprintf("%08x", uint32(s)) + segmentSuffix }

// segmentOf returns the segment that a file's name names, 0 for any other file.
func segmentOf(name string) Segment {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	n, err := strconv.ParseUint(digits, 16, 32)
	if !ok || err != nil || Segment(n).fileName() != name {
		return 0
	}
	return Segment(n)
}

// A header is what a segment begins with.
type header struct {
	number, oldest Segment
	seed           uint32
	snapshot       []byte
	known          Pos  // the snapshot has no effect of what is behind
	before         Pos  // where the segment before ended; what it had behind was lost in a crash
	opened         bool // the log was opened for the segment
}

// start is the offset of the first frame.
func (h header) start() int64 { return headerSize + int64(len(h.snapshot)) }

// spareName is the name of a segment's file when the segment is no longer needed.
func (s Segment) spareName() string {
	return strings.TrimSuffix(s.fileName(), segmentSuffix) + spareSuffix
}

// seedStep is the difference between the seeds of two segments that follow each other. It is odd, so no two of a log have the same
// seed, and no frame is good in a file that was another segment's.
const seedStep = 0x9e3779b9

// newSeed draws the seed of the first segment.
func newSeed() uint32 {
	var seed [4]byte
	_, _ = rand.Read(seed[:]) // never fails
	return binary.LittleEndian.Uint32(seed[:])
}

// encode returns header and snapshot as they stand in the file.
func (h header) encode() []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, h.start())
	b = append(b, magic...)
	for _, n := range []uint32{version, uint32(h.number), uint32(h.oldest), h.seed,
		uint32(len(h.snapshot)), crc32.Update(h.seed, castagnoli, h.snapshot)} {
		b = le.AppendUint32(b, n)
	}
	b = le.AppendUint64(le.AppendUint64(b, uint64(h.known)), uint64(h.before))
	opened := uint32(0)
	if h.opened {
		opened = 1
	}
	b = le.AppendUint32(b, opened)
	b = le.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return append(b, h.snapshot...)
}

// decodeHeader reads the beginning of a file. The snapshot is part of b.
func decodeHeader(name string, b []byte) (h header, err error) {
	h, size, err := decodeFields(name, b)
	switch {
	case err != nil:
		return h, err
	case headerSize+size > int64(len(b)):
		return h, damaged(name, int64(len(b)), "the snapshot is cut off")
	}
	h.snapshot = b[headerSize : headerSize+size : headerSize+size]
	if crc32.Update(h.seed, castagnoli, h.snapshot) != binary.LittleEndian.Uint32(b[28:]) {
		return h, damaged(name, headerSize, "the snapshot has a wrong CRC")
	}
	return h, nil
}

// decodeFields reads a header without the snapshot, and returns the snapshot's size.
func decodeFields(name string, b []byte) (h header, snapshot int64, err error) {
	le := binary.LittleEndian
	switch {
	case len(b) < headerSize:
		return h, 0, damaged(name, int64(len(b)), "the header is cut off")
	case !bytes.Equal(b[:8], []byte(magic)):
		return h, 0, &Error{"read", name, 0, fmt.Errorf("%w: it does not begin with %q", ErrFormat, magic)}
	case le.Uint32(b[8:]) != version:
		return h, 0, &Error{"read", name, 8, fmt.Errorf("%w: it is of format %d, this reads format %d", ErrFormat, le.Uint32(b[8:]), version)}
	case le.Uint32(b[headerSize-4:]) != crc32.Checksum(b[:headerSize-4], castagnoli):
		return h, 0, damaged(name, 0, "the header has a wrong CRC")
	}
	h = header{number: Segment(le.Uint32(b[12:])), oldest: Segment(le.Uint32(b[16:])), seed: le.Uint32(b[20:]),
		known: Pos(le.Uint64(b[32:])), before: Pos(le.Uint64(b[40:])), opened: le.Uint32(b[48:]) != 0}
	if h.number != segmentOf(name) {
		return h, 0, damaged(name, 12, "it is segment %d by its header", h.number)
	}
	return h, int64(le.Uint32(b[24:])), nil
}

// createSegment makes the file of a segment with its header, and opens it. With allocate octets are reserved for it. If there is a file
// named spare it is used. settleSegment makes the file durable. One for which the log is opened has a header as soon as it has its name.
func createSegment(fs FS, h header, allocate int64, spare string) (f File, err error) {
	name := h.number.fileName()
	temporary := name + newSuffix
	if f, err = createFile(fs, temporary, spare); err != nil {
		return nil, err
	}
	if err = fillSegment(f, temporary, h, allocate); err != nil {
		f.Close()
		return nil, err
	}
	if err = f.Close(); err != nil { // Windows renames no open file
		return nil, failed("close", temporary, -1, err)
	}
	if err = fs.Rename(temporary, name); err != nil {
		return nil, failed("rename", temporary, -1, err)
	}
	f, err = fs.Open(name)
	return f, failed("open", name, -1, err)
}

// settleSegment makes durable that a segment is there.
func settleSegment(fs FS, s Segment, f File) error {
	name := s.fileName()
	if err := f.Sync(); err != nil {
		return failed("sync", name, -1, err)
	}
	return failed("sync the directory of", name, -1, fs.SyncDir())
}

func createFile(fs FS, name, spare string) (f File, err error) {
	if spare != "" {
		switch err = fs.Rename(spare, name); {
		case err == nil:
			f, err = fs.Open(name)
			return f, failed("open", name, -1, err)
		case !errors.Is(err, os.ErrNotExist): // somebody made room
			return nil, failed("rename", spare, -1, err)
		}
	}
	f, err = fs.Create(name)
	return f, failed("create", name, -1, err)
}

func fillSegment(f File, name string, h header, allocate int64) error {
	if allocate > 0 {
		if err := f.Allocate(h.start() + allocate); err != nil {
			return failed("allocate", name, h.start()+allocate, err)
		}
	}
	_, err := f.WriteAt(h.encode(), 0)
	if err == nil && h.opened {
		return failed("sync", name, -1, f.Sync())
	}
	return failed("write", name, 0, err)
}

// sealSegment ends a file behind its last frame, at end, and makes it durable.
func sealSegment(f File, h header, end int64, next Segment) error {
	name := h.number.fileName()
	seal := appendNumber(nil, KindSeal, uint64(next))
	finish(seal, h.seed, end, end)
	if _, err := f.WriteAt(seal, end); err != nil {
		return failed("write", name, end, err)
	}
	if err := f.Truncate(end + markSize); err != nil {
		return failed("truncate", name, end+markSize, err)
	}
	return failed("sync", name, -1, f.Sync())
}
