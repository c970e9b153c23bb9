package journal_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/leveretmq/leveret/internal/journal"
	"github.com/leveretmq/leveret/internal/journal/crashfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A scanner is a ledger that finds in the segment itself what is live there, as the engine does.
type scanner struct {
	*ledger
	t       *testing.T
	wrote   map[journal.Segment]int // how many of its records a segment has
	segment journal.Segment         // that is scanned
	next    int64
	seen    int // records of it
	scanned int // segments
	err     error
}

func openScanner(t *testing.T, fs journal.FS) *scanner {
	s := &scanner{ledger: newLedger(), t: t, wrote: map[journal.Segment]int{}}
	log, err := journal.Open(fs, s, small)
	require.NoError(t, err)
	s.log = log
	return s
}

func (s *scanner) CopyForward(log *journal.Log, segment journal.Segment, budget int) (more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.segment != segment {
		s.segment, s.next, s.seen = segment, 0, 0
	}
	var last journal.Record
	next, err := log.Scan(segment, s.next, func(r journal.Record) bool {
		assert.Equal(s.t, segment, r.Pos.Segment())
		assert.Greater(s.t, r.Offset, last.Offset)
		s.seen, last = s.seen+1, r
		id := binary.LittleEndian.Uint64(r.Data[8:])
		e, there := s.entries[id]
		if r.Kind == kindDrop || !there || e.segment != segment {
			return true
		}
		assert.Equal(s.t, e.value, string(r.Data[24:]))
		p, err := log.Move(segment, e.size, kindCopy, e.size, r.Data)
		if err != nil {
			return false
		}
		s.wrote[p.Segment()]++
		e.segment = p.Segment()
		s.entries[id] = e
		budget -= e.size
		return budget > 0
	})
	if err != nil {
		s.err = err
		return false
	}
	if s.next = next; next != 0 {
		return true
	}
	assert.Equal(s.t, s.wrote[segment], s.seen)
	s.scanned++
	return false
}

// play puts entries, of which few stay.
func (s *scanner) play(n int) {
	wrote := func(p journal.Pos, err error) {
		require.NoError(s.t, err)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.wrote[p.Segment()]++
	}
	for id := range uint64(n) {
		require.NoError(s.t, s.log.Room())
		wrote(s.put(id, strings.Repeat("x", int(id%300))))
		if id >= 10 && id%7 != 0 {
			wrote(s.drop(id - 10))
		}
	}
}

// TestScan has an owner that knows of what is live only in which segment it is: scans, which go on where the one before was ended,
// find all of it, and every other record once.
func TestScan(t *testing.T) {
	fs := &crashfs.FS{}
	s := openScanner(t, fs)
	s.play(scale(3000))
	want, live := s.state(), s.live()
	require.NoError(t, s.log.Close())
	require.NoError(t, s.err)
	require.Greater(t, s.scanned, 10)
	require.Positive(t, s.log.Stats().Copied)
	again, err := open(fs, small)
	require.NoError(t, err)
	require.Equal(t, want, again.state())
	require.Equal(t, live, again.live())
	require.NoError(t, again.log.Close())
}

// TestScanFails has a disk that does not read any more, or reads something else than was written: the segment stays, and nothing in it
// is lost.
func TestScanFails(t *testing.T) {
	onFire := errors.New("the disk is on fire")
	for name, c := range map[string]struct {
		fs   *crashfs.FS
		want error
	}{
		"unreadable": {&crashfs.FS{Fail: func(_ int, op, name string) error {
			if op == "read" && strings.HasSuffix(name, ".journal") {
				return onFire
			}
			return nil
		}}, onFire},
		"damaged": {&crashfs.FS{}, journal.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			s := openScanner(t, c.fs)
			if c.want == journal.ErrDamaged {
				s.play(1)
				require.NoError(t, s.log.Sync())
				c.fs.Edit("00000001.journal", func(b []byte) []byte { b[len(b)-100] ^= 1; return b })
			}
			s.play(scale(600))
			require.NoError(t, s.log.Sync())
			_ = s.log.Close()
			require.ErrorIs(t, s.err, c.want)
			var where *journal.Error
			require.ErrorAs(t, s.err, &where)
			assert.Equal(t, "00000001.journal", where.File)
			assert.Error(t, s.log.Stats().Stuck)
		})
	}
}
