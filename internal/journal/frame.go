package journal

import (
	"encoding/binary"
	"hash/crc32"
	"strconv"
)

// A frame is a record as it stands in a segment, all numbers little-endian:
//
//	0  4  CRC-32C of what follows, begun with the segment's seed XOR the frame's offset in the file
//	4  4  octets of data
//	8  1  kind
//	9     data
//
// Each segment has a seed of its own, so a frame is good in one place only: neither a block that a disk wrote elsewhere, nor octets
// that a publisher put in a message, nor what stood in the file when it was another segment's are taken for a frame.
const (
	crcAt, lengthAt, kindAt = 0, 4, 8

	// Overhead is how many octets a record takes beside its data.
	Overhead = 9

	// MaxRecord is the most octets of data that one record can have.
	MaxRecord = 1 << 30
)

// A Kind says what a record is. The log's user has those from 1 to LastKind.
type Kind uint8

// LastKind is the last kind that is the user's.
const LastKind Kind = 0xef

// The log's own kinds. Only Records and Check show them. No kind is 0, so zeroed space is not a frame.
const (
	KindSnapshot Kind = 0xf0 + iota // not a frame: the snapshot at the head of a segment
	KindMark                        // begins what is written at once; data: a mark
	KindSeal                        // ends a segment; data: the number of the next one, or 0 if the log was closed
	KindRetired                     // data: the number of the last segment that is no longer needed
)

// String names the log's own kinds and numbers the user's.
func (k Kind) String() string {
	switch k {
	case KindSnapshot:
		return "snapshot"
	case KindMark:
		return "mark"
	case KindSeal:
		return "seal"
	case KindRetired:
		return "retired"
	}
	return strconv.Itoa(int(k))
}

// valid reports whether a frame can be of this kind.
func (k Kind) valid() bool {
	return k >= 1 && k <= LastKind || k == KindMark || k == KindSeal || k == KindRetired
}

// Data of the log's own frames is one number, of a mark two of half the size.
const (
	numberSize = 8
	markSize   = Overhead + numberSize
)

// A mark stands before what is written at once. Offsets are less than 4 GiB.
type mark struct {
	synced int64 // offset up to which the file was synced before; 0 if a segment before was not
	end    int64 // offset behind what is written
}

func (m mark) number() uint64 { return uint64(m.end)<<32 | uint64(m.synced) }

func markOf(data []byte) mark {
	n := number(data)
	return mark{synced: int64(n & (1<<32 - 1)), end: int64(n >> 32)}
}

// mustBeOwners panics for a kind that recovery would not give to the owner.
func (k Kind) mustBeOwners() {
	if k == 0 || k > LastKind {
		panic("journal: a record of kind " + k.String() + " is not the owner's")
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is the CRC of a frame at an offset of a file.
func sum(seed uint32, offset int64, frame []byte) uint32 {
	return crc32.Update(seed^uint32(offset), castagnoli, frame[lengthAt:])
}

// appendFrame adds a frame without its CRC, which is not known before the frame's place is.
func appendFrame(buf []byte, kind Kind, size int, parts ...[]byte) []byte {
	buf = append(buf, 0, 0, 0, 0, byte(size), byte(size>>8), byte(size>>16), byte(size>>24), byte(kind))
	for _, p := range parts {
		buf = append(buf, p...)
	}
	return buf
}

// appendNumber adds one of the log's own frames, without its CRC.
func appendNumber(buf []byte, kind Kind, n uint64) []byte {
	buf = append(buf, 0, 0, 0, 0, numberSize, 0, 0, 0, byte(kind))
	return binary.LittleEndian.AppendUint64(buf, n)
}

// number is the data of one of the log's own frames.
func number(data []byte) uint64 { return binary.LittleEndian.Uint64(data) }

// frameLength is how many octets the frame at the beginning of b has.
func frameLength(b []byte) int {
	return Overhead + int(binary.LittleEndian.Uint32(b[lengthAt:]))
}

// finish gives frames their CRC, and the mark before them, if there is one, what it says. They will be written at offset, in a
// file that is synced up to synced.
func finish(frames []byte, seed uint32, offset, synced int64) {
	m := mark{synced, offset + int64(len(frames))}
	for len(frames) > 0 {
		frame := frames[:frameLength(frames)]
		if Kind(frame[kindAt]) == KindMark {
			binary.LittleEndian.PutUint64(frame[Overhead:], m.number())
		}
		binary.LittleEndian.PutUint32(frame[crcAt:], sum(seed, offset, frame))
		offset += int64(len(frame))
		frames = frames[len(frame):]
	}
}

// goodFrame returns the frame at an offset of a file, nil if there is none that is whole.
func goodFrame(file []byte, seed uint32, offset int64) []byte {
	b := file[offset:]
	if len(b) < Overhead || !Kind(b[kindAt]).valid() {
		return nil
	}
	size := int64(binary.LittleEndian.Uint32(b[lengthAt:]))
	if size > MaxRecord || Overhead+size > int64(len(b)) {
		return nil
	}
	if k := Kind(b[kindAt]); k > LastKind && size != numberSize {
		return nil
	}
	b = b[:Overhead+size]
	if binary.LittleEndian.Uint32(b[crcAt:]) != sum(seed, offset, b) {
		return nil
	}
	return b
}

// A Pos is the place of a record: the number of its segment in the upper half and, in the lower, its offset behind the
// segment's snapshot. A later record has a greater Pos. 0 is no place: it counts as reached at every level.
type Pos uint64

// A Segment is the number of a file of the log. The first is 1. The last, 2^32-1, is begun when some 64 PiB have been written.
type Segment uint32

// Segment returns the segment of the record, which is all that Release and Move need.
func (p Pos) Segment() Segment { return Segment(p >> 32) }

func place(s Segment, offset int64) Pos { return Pos(s)<<32 | Pos(offset) }
