package journal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/leveretmq/leveret/internal/journal"
	"github.com/leveretmq/leveret/internal/journal/crashfs"
	"github.com/leveretmq/leveret/internal/race"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// smallLog makes a log of two segments, closed or as a kill leaves it, and returns the states that there were.
func smallLog(t *testing.T, closed bool) (*crashfs.FS, []uint64) {
	fs := &crashfs.FS{}
	r, err := begin(fs, nil)
	require.NoError(t, err)
	require.NoError(t, r.operate(3, 6))
	require.NoError(t, r.log.Close())
	r, err = begin(fs, r.states)
	require.NoError(t, err)
	return finishLog(t, fs, r, closed)
}

// usedLog makes a log whose last segment stands in a file that was another segment's.
func usedLog(t *testing.T, closed bool) (*crashfs.FS, []uint64) {
	var files fileCount
	fs := &crashfs.FS{Fail: files.count}
	r, err := begin(fs, nil)
	require.NoError(t, err)
	for files.again.Load() < 3 || !files.used.Load() {
		require.NoError(t, r.operate(3, 1))
		require.NoError(t, r.log.Sync())
	}
	return finishLog(t, fs, r, closed)
}

// A fileCount tells where segments stand.
type fileCount struct {
	created, again atomic.Int64 // new files, and files that were another segment's
	used           atomic.Bool  // the last one was
}

func (c *fileCount) count(_ int, op, name string) error {
	switch {
	case op == "create" && strings.HasSuffix(name, ".new"):
		c.created.Add(1)
		c.used.Store(false)
	case op == "rename" && strings.HasSuffix(name, ".spare"):
		c.again.Add(1)
		c.used.Store(true)
	}
	return nil
}

var logs = map[string]func(*testing.T, bool) (*crashfs.FS, []uint64){"new files": smallLog, "used files": usedLog}

func finishLog(t *testing.T, fs *crashfs.FS, r *run, closed bool) (*crashfs.FS, []uint64) {
	for range 6 {
		require.NoError(t, r.operate(3, 1))
		require.NoError(t, r.log.Sync())
	}
	if !closed {
		defer r.log.Close()
		return fs.Crash(nil), r.states
	}
	require.NoError(t, r.log.Close())
	return fs, r.states
}

func segmentFiles(t *testing.T, fs journal.FS) (files []string) {
	names, err := fs.List()
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, ".journal") {
			files = append(files, name)
		}
	}
	return files
}

// inspect opens a damaged log. It has to be refused, with file and offset, or to be in a state that was, with all up to
// sure. Check has to agree.
func inspect(t *testing.T, fs *crashfs.FS, states []uint64, sure uint64, what string) (refused bool) {
	checked := journal.Check(fs.Crash(nil)).Err()
	l, err := open(fs, small)
	require.Equal(t, err == nil, checked == nil, "%s: Open says %v, Check %v", what, err, checked)
	if err != nil {
		e := reason(err)
		require.NotNil(t, e, what)
		require.True(t, errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrFormat) || errors.Is(err, journal.ErrMissing), "%s: %v", what, err)
		require.NotEmpty(t, e.File, what)
		require.True(t, e.Offset >= 0 || errors.Is(err, journal.ErrMissing), "%s: %v", what, err)
		return true
	}
	defer l.log.Close()
	require.NoError(t, l.verify(states, sure), what)
	return false
}

func sizeOf(t *testing.T, fs journal.FS, name string) int {
	f, err := fs.ReadFile(name)
	require.NoError(t, err)
	size, err := f.Size()
	require.NoError(t, err)
	return int(size)
}

// used is how many octets of a file are not zeros at its end.
func used(t *testing.T, fs *crashfs.FS, name string) (n int) {
	fs.Edit(name, func(b []byte) []byte {
		for n = len(b); n > 0 && b[n-1] == 0; {
			n--
		}
		return b
	})
	return n
}

func TestEveryBit(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine does it all, slowly")
	}
	for kind, log := range logs {
		for _, closed := range []bool{true, false} {
			original, states := log(t, closed)
			flips, refusals := 0, 0
			for _, name := range segmentFiles(t, original) {
				for bit := range 8 * used(t, original, name) {
					if testing.Short() && bit%7 != 0 {
						continue
					}
					fs := original.Crash(nil)
					fs.Edit(name, func(b []byte) []byte {
						b[bit/8] ^= 1 << (bit % 8)
						return b
					})
					what := fmt.Sprintf("%s: bit %d of octet %d of %s", kind, bit%8, bit/8, name)
					flips++
					sure := uint64(len(states) - 1) // closed: the flip can destroy the seal, and nothing else
					if !closed {
						sure-- // the last operation: those before were synced when it was written, as its mark says
					}
					if inspect(t, fs, states, sure, what) {
						refusals++
					}
				}
			}
			t.Logf("%s, closed %v: of %d flips %d were refused, after the others the state was one that had been", kind, closed, flips, refusals)
		}
	}
}

func TestEveryPrefix(t *testing.T) {
	for kind, log := range logs {
		for _, closed := range []bool{true, false} {
			original, states := log(t, closed)
			files := segmentFiles(t, original)
			for i, name := range files {
				for size := range sizeOf(t, original, name) {
					fs := original.Crash(nil)
					fs.Edit(name, func(b []byte) []byte { return b[:size] })
					what := fmt.Sprintf("%s: %s cut to %d octets", kind, name, size)
					sure := uint64(0)
					if i < len(files)-1 { // only a seal can be missing
						sure = uint64(len(states) - 1)
					}
					inspect(t, fs, states, sure, what)
				}
			}
		}
	}
}

func TestMissingSegment(t *testing.T) {
	fs := &crashfs.FS{}
	l, err := open(fs, small)
	require.NoError(t, err)
	fill(t, l, 20)
	require.NoError(t, l.log.Close())
	files := segmentFiles(t, fs)
	require.Greater(t, len(files), 3)
	for _, name := range files[:len(files)-1] {
		damaged := fs.Crash(nil)
		require.NoError(t, damaged.Remove(name))
		_, err := open(damaged, small)
		require.ErrorIs(t, err, journal.ErrMissing)
		require.Equal(t, name, reason(err).File)
	}
	last := fs.Crash(nil)
	require.NoError(t, last.Remove(files[len(files)-1]))
	_, err = open(last, small)
	require.ErrorIs(t, err, journal.ErrMissing)
	none := fs.Crash(nil)
	for _, name := range files {
		require.NoError(t, none.Remove(name))
	}
	_, err = open(none, small)
	require.ErrorIs(t, err, journal.ErrMissing)
}

func TestTornTailIsReported(t *testing.T) {
	fs, states := smallLog(t, false)
	files := segmentFiles(t, fs)
	last := files[len(files)-1]
	end := used(t, fs, last)
	fs.Edit(last, func(b []byte) []byte { return b[:end-1] })
	report := journal.Check(fs)
	require.NoError(t, report.Err())
	l, err := open(fs, small)
	require.NoError(t, err)
	defer l.log.Close()
	require.NoError(t, l.verify(states, uint64(len(states)-2)))
	found := l.log.Recovered()
	require.NotNil(t, found.Torn)
	assert.Equal(t, last, found.Torn.File)
	assert.Equal(t, int64(end), found.Torn.Offset+found.Lost)
	assert.Equal(t, report.Torn, found.Torn)
}

func TestOtherFormat(t *testing.T) {
	for at, octet := range map[int]byte{0: 'x', 8: 1} {
		fs, _ := smallLog(t, true)
		fs.Edit(segmentFiles(t, fs)[0], func(b []byte) []byte {
			b[at] = octet
			return b
		})
		_, err := open(fs, small)
		require.ErrorIs(t, err, journal.ErrFormat)
		require.Equal(t, int64(at), reason(err).Offset)
	}
	other := &crashfs.FS{}
	_, err := other.Create("lock")
	require.NoError(t, err)
	other.Edit("lock", func([]byte) []byte { return []byte("leveret journal, format 9\n") })
	_, err = open(other, small)
	require.ErrorIs(t, err, journal.ErrFormat)
	require.ErrorIs(t, journal.Check(&crashfs.FS{}).Err(), journal.ErrFormat)
}

func TestOneProcess(t *testing.T) {
	fs := journal.Dir(filepath.Join(t.TempDir(), "a", "b"))
	l, err := open(fs, small)
	require.NoError(t, err)
	_, err = open(fs, small)
	require.ErrorIs(t, err, journal.ErrLocked)
	require.ErrorIs(t, journal.Check(fs).Err(), journal.ErrLocked)
	require.NoError(t, l.log.Close())
	require.NoError(t, journal.Check(fs).Err())
	l, err = open(fs, small)
	require.NoError(t, err)
	require.NoError(t, l.log.Close())
}

func TestReadOnlyDirectory(t *testing.T) {
	denied := &crashfs.FS{Fail: func(_ int, op, _ string) error {
		if op == "lock" || op == "create" {
			return os.ErrPermission
		}
		return nil
	}}
	_, err := open(denied, small)
	require.ErrorIs(t, err, os.ErrPermission)
	require.Equal(t, "lock", reason(err).File)
	if os.Geteuid() == 0 {
		return // for whom no directory is read-only
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o500))
	_, err = open(journal.Dir(dir), small)
	require.ErrorIs(t, err, os.ErrPermission)
}

// TestFullDisk has the disk full when a segment is begun. What was confirmed is there when there is room again.
func TestFullDisk(t *testing.T) {
	full := errors.New("no space left on device")
	fs := &crashfs.FS{Fail: func(call int, op, _ string) error {
		if op == "allocate" && call > 60 {
			return full
		}
		return nil
	}}
	r, err := begin(fs, nil)
	require.NoError(t, err)
	require.ErrorIs(t, r.operate(1, 1000), full)
	_, err = r.log.Append(1, 0)
	require.ErrorIs(t, err, full)
	require.ErrorIs(t, r.log.Notify(1, journal.Written, nil), full)
	require.ErrorIs(t, r.log.Close(), full)
	_, err = open(fs, small)
	require.ErrorIs(t, err, full)
	fs.Fail = nil
	require.NoError(t, recovers(fs, r.states, r.sure(journal.Written)))
}

func TestRecords(t *testing.T) {
	fs, _ := smallLog(t, true)
	var kinds []journal.Kind
	var last journal.Record
	for r, err := range journal.Records(fs) {
		require.NoError(t, err)
		require.True(t, r.File > last.File || r.Offset >= last.Offset)
		kinds, last = append(kinds, r.Kind), r
	}
	require.Equal(t, journal.KindSnapshot, kinds[0])
	require.Equal(t, journal.KindSeal, last.Kind)
	report := journal.Check(fs)
	require.NoError(t, report.Err())
	require.Len(t, report.Segments, 2)
	require.Equal(t, 12, report.Segments[0].Records+report.Segments[1].Records)
	require.True(t, report.Segments[1].Sealed)
	for range journal.Records(fs) {
		break
	}
	fs.Edit(last.File, func(b []byte) []byte { b[last.Offset] ^= 1; return b })
	var err error
	for _, err = range journal.Records(fs) {
	}
	require.NoError(t, err) // only the seal is gone
	require.False(t, journal.Check(fs).Segments[1].Sealed)
	require.True(t, slices.Contains(kinds, journal.KindMark))
}
