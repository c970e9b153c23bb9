package journal_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/leveretmq/leveret/internal/journal"
	"github.com/leveretmq/leveret/internal/journal/crashfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBubblesDoNotMeet waits for a log in a bubble of testing/synctest, and for another one outside: they have no channel in common.
func TestBubblesDoNotMeet(t *testing.T) {
	wait := func(t *testing.T) {
		l, err := open(&crashfs.FS{}, small)
		require.NoError(t, err)
		for id := range uint64(20) {
			_, err := l.put(id, "")
			require.NoError(t, err)
			require.NoError(t, l.log.Sync())
		}
		require.NoError(t, l.log.Close())
	}
	synctest.Test(t, wait)
	wait(t)
	synctest.Test(t, wait)
}

// TestOrderOfNotifications has functions registered out of order while no sync ends: they are called in the order of their
// records.
func TestOrderOfNotifications(t *testing.T) {
	syncing, goOn := make(chan bool), make(chan bool)
	fs := &crashfs.FS{}
	l, err := open(fs, small)
	require.NoError(t, err)
	var once sync.Once
	first, err := l.put(1, "")
	require.NoError(t, err)
	require.NoError(t, l.log.Notify(first, journal.Written, func(error) {
		once.Do(func() {
			close(syncing)
			<-goOn
		})
	}))
	<-syncing
	var places, called []journal.Pos
	for id := range uint64(50) {
		p, err := l.put(id, "x")
		require.NoError(t, err)
		places = append(places, p)
	}
	for _, i := range rand.Perm(len(places)) {
		require.NoError(t, l.log.Notify(places[i], journal.Level(1+i%2), func(err error) {
			require.NoError(t, err)
			if i%2 == 1 {
				called = append(called, places[i])
			}
		}))
	}
	close(goOn)
	require.NoError(t, l.log.Sync())
	require.NoError(t, l.log.Close())
	var want []journal.Pos
	for i, p := range places {
		if i%2 == 1 {
			want = append(want, p)
		}
	}
	require.Equal(t, want, called)
}

// TestLevels shows that a record is synced if somebody asks for that, and else only written.
func TestLevels(t *testing.T) {
	syncs := 0
	fs := &crashfs.FS{Fail: func(_ int, op, _ string) error {
		if op == "sync" {
			syncs++
		}
		return nil
	}}
	l, err := open(fs, small)
	require.NoError(t, err)
	opening := syncs
	queued := false
	p, err := l.put(1, "a")
	require.NoError(t, err)
	require.NoError(t, l.log.Notify(p, journal.Queued, func(error) { queued = true }))
	require.True(t, queued)
	require.NoError(t, l.log.Wait(p, journal.Queued))
	require.NoError(t, l.log.Wait(p, journal.Written))
	assert.Equal(t, opening, syncs)
	require.NoError(t, l.log.Wait(p, journal.Synced))
	assert.Equal(t, opening+1, syncs)
	told := make(chan error, 2) // of what has been reached already
	require.NoError(t, l.log.Notify(p, journal.Written, func(err error) { told <- err }))
	require.NoError(t, l.log.Notify(0, journal.Synced, func(err error) { told <- err }))
	require.NoError(t, <-told)
	require.NoError(t, <-told)
	require.NoError(t, l.log.Close())
	assert.Equal(t, opening+2, syncs) // the seal
	_, err = l.put(2, "b")
	require.ErrorIs(t, err, journal.ErrClosed)
	require.ErrorIs(t, l.log.Room(), journal.ErrClosed)
	require.NoError(t, l.log.Wait(p, journal.Synced))
	require.NoError(t, l.log.Close())
}

// TestWhatIsWrittenIsTold holds each write back. Those who wait for the writes before it have been told, and Room has returned.
func TestWhatIsWrittenIsTold(t *testing.T) {
	held, goOn := make(chan bool), make(chan bool)
	holds := false
	fs := &crashfs.FS{Fail: func(_ int, op, _ string) error {
		if holds && op == "write" {
			held <- true
			<-goOn
		}
		return nil
	}}
	l, err := open(fs, journal.Options{MaxPending: 4000}) // a batch of 1,000 octets or more takes no further record
	require.NoError(t, err)
	p, err := l.put(0, "a")
	require.NoError(t, err)
	require.NoError(t, l.log.Wait(p, journal.Written))
	holds = true
	var told []uint64
	put := func(id uint64) {
		p, err := l.put(id, strings.Repeat("x", 600))
		require.NoError(t, err)
		require.NoError(t, l.log.Notify(p, journal.Written, func(err error) {
			assert.NoError(t, err)
			told = append(told, id)
		}))
	}
	put(1)
	<-held
	for id := range uint64(8) {
		put(2 + id)
	}
	after := func(writes int) []uint64 { // lets so many happen, and holds the next
		for range writes {
			goOn <- true
			<-held
		}
		return slices.Clone(told)
	}
	numbers := make(chan []uint64, 1)
	go func() { numbers <- after(2) }()
	require.NoError(t, l.log.Room()) // of more than 4,000 octets some are written now, and no more
	assert.Equal(t, []uint64{1, 2, 3}, <-numbers)
	assert.Equal(t, []uint64{1, 2, 3, 4, 5}, after(1))
	assert.Equal(t, []uint64{1, 2, 3, 4, 5, 6, 7}, after(1))
	goOn <- true
	require.NoError(t, l.log.Wait(^journal.Pos(0), journal.Written))
	holds = false
	require.NoError(t, l.log.Close())
}

// TestClearedSpace counts writes. The first small sync writes zeros for many that follow; other syncs write none, nor do any in a file
// that was another segment's.
func TestClearedSpace(t *testing.T) {
	for _, c := range []struct {
		name    string
		growing bool
		level   journal.Level
		value   int
		clears  int
	}{
		{"synced", false, journal.Synced, 100, 1},
		{"large", false, journal.Synced, 40_000, 0},
		{"written", false, journal.Written, 100, 0},
		{"growing", true, journal.Synced, 100, 0},
		{"used", false, journal.Synced, 30_000, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			writes := 0
			var files fileCount
			fs := &crashfs.FS{Fail: func(call int, op, name string) error {
				if op == "write" {
					writes++
				}
				return files.count(call, op, name)
			}}
			l, err := open(fs, journal.Options{SegmentSize: 1 << 20, Growing: c.growing})
			require.NoError(t, err)
			for c.name == "used" && !files.used.Load() {
				_, err := l.put(0, strings.Repeat("x", 100_000))
				require.NoError(t, err)
				p, err := l.drop(0)
				require.NoError(t, err)
				require.NoError(t, l.log.Wait(p, journal.Synced))
			}
			rest(t, l) // the compactor writes, too
			opening := writes
			for id := range uint64(10) {
				p, err := l.put(id, strings.Repeat("x", c.value))
				require.NoError(t, err)
				require.NoError(t, l.log.Wait(p, c.level))
			}
			assert.Equal(t, 10+c.clears, writes-opening)
			require.NoError(t, l.log.Close())
		})
	}
}

func TestLargeRecords(t *testing.T) {
	fs := &crashfs.FS{}
	r, err := begin(fs, nil)
	require.NoError(t, err)
	for id := range uint64(10) {
		_, err := r.put(id, strings.Repeat("x", int(id)*5000))
		require.NoError(t, err)
		require.NoError(t, r.log.Room())
		r.states = append(r.states, r.state())
	}
	require.NoError(t, r.log.Close())
	require.NoError(t, recovers(fs, r.states, 10))
}

// TestUnfinishedSegment finds files that a crash left: they are removed.
func TestUnfinishedSegment(t *testing.T) {
	fs, states := smallLog(t, true)
	for _, name := range []string{"00000009.journal.new", "00000001.spare", "mine.spare", "x.new"} {
		_, err := fs.Create(name)
		require.NoError(t, err)
	}
	require.NoError(t, recovers(fs, states, uint64(len(states)-1)))
	names, err := fs.List()
	require.NoError(t, err)
	require.Equal(t, []string{"00000001.journal", "00000002.journal", "00000003.journal", "lock", "mine.spare", "x.new"}, names)
}

// TestUsedFiles writes a hundred segments of which nothing stays. They share a few files, but if files are to grow.
func TestUsedFiles(t *testing.T) {
	for _, growing := range []bool{false, true} {
		var files fileCount
		fs := &crashfs.FS{Fail: files.count}
		l, err := open(fs, journal.Options{SegmentSize: 4096, MaxPending: 2000, Growing: growing})
		require.NoError(t, err)
		for id := uint64(0); files.created.Load()+files.again.Load() < 100; id++ {
			require.NoError(t, l.log.Room())
			p, err := l.put(id, strings.Repeat("x", 900))
			require.NoError(t, err)
			require.NoError(t, l.log.Wait(p, journal.Written))
			_, err = l.drop(id)
			require.NoError(t, err)
			bounded(t, l, 4096)
		}
		if growing {
			assert.Zero(t, files.again.Load())
		} else {
			assert.Less(t, files.created.Load(), int64(20))
			rest(t, l)
			require.NotEmpty(t, spareFiles(t, fs))
			octets := 0
			for _, name := range append(spareFiles(t, fs), segmentFiles(t, fs)...) {
				assert.LessOrEqual(t, sizeOf(t, fs, name), 4096)
				octets += sizeOf(t, fs, name)
			}
			assert.Equal(t, int64(octets), l.log.Stats().Octets)
		}
		require.NoError(t, l.log.Close())
		names, err := fs.List()
		require.NoError(t, err)
		assert.Equal(t, append(segmentFiles(t, fs), "lock"), names)
	}
}

// TestLargeFile has the file of a very large record: it is not kept for records that need less.
func TestLargeFile(t *testing.T) {
	fs := &crashfs.FS{}
	l, err := open(fs, small)
	require.NoError(t, err)
	for id := range uint64(100) {
		require.NoError(t, l.log.Room())
		p, err := l.put(id, strings.Repeat("x", map[bool]int{true: 20_000, false: 900}[id%10 == 0]))
		require.NoError(t, err)
		require.NoError(t, l.log.Wait(p, journal.Written))
		_, err = l.drop(id)
		require.NoError(t, err)
		rest(t, l)
		for _, name := range spareFiles(t, fs) {
			require.LessOrEqual(t, sizeOf(t, fs, name), 4096)
		}
	}
	require.NoError(t, l.log.Close())
}

// rest returns when a log in which nothing is live has one segment.
func rest(t *testing.T, l *ledger) {
	require.NoError(t, l.log.Sync())
	for l.log.Stats().Segments > 1 {
		runtime.Gosched()
	}
}

func spareFiles(t *testing.T, fs journal.FS) []string {
	names, err := fs.List()
	require.NoError(t, err)
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, ".spare") })
}

// fill puts so many entries, of which a small segment has three.
func fill(t *testing.T, l *ledger, entries uint64) {
	for id := range entries {
		_, err := l.put(id, strings.Repeat("x", 1000))
		require.NoError(t, err)
	}
}

// TestSeeds opens a log several times: no two segments have the same seed.
func TestSeeds(t *testing.T) {
	fs := &crashfs.FS{}
	for n := range uint64(5) {
		l, err := open(fs, small)
		require.NoError(t, err)
		for id := range uint64(10) { // all of them stay, so that no segment goes
			_, err := l.put(10*n+id, strings.Repeat("x", 1000))
			require.NoError(t, err)
		}
		require.NoError(t, l.log.Close())
	}
	seeds := map[string]bool{}
	files := segmentFiles(t, fs)
	for _, name := range files {
		fs.Edit(name, func(b []byte) []byte {
			seeds[string(b[20:24])] = true
			return b
		})
	}
	require.Greater(t, len(files), 16)
	require.Len(t, seeds, len(files))
}

// TestSpareIsGone has somebody remove the files that the log would use again.
func TestSpareIsGone(t *testing.T) {
	fs := &crashfs.FS{}
	r, err := begin(fs, nil)
	require.NoError(t, err)
	removed := 0
	for removed < 3 {
		require.NoError(t, r.operate(5, 1))
		require.NoError(t, r.log.Sync())
		for _, name := range spareFiles(t, fs) {
			if fs.Remove(name) == nil {
				removed++
			}
		}
	}
	require.NoError(t, r.operate(5, 200))
	for spares := 0; spares == 0; {
		require.NoError(t, r.operate(5, 1))
		require.NoError(t, r.log.Sync())
		for _, name := range spareFiles(t, fs) {
			_ = fs.Remove(name)
			spares++
		}
	}
	require.NoError(t, r.log.Close())
	require.NoError(t, r.log.Stats().Stuck)
	require.NoError(t, recovers(fs, r.states, r.sure(journal.Written)))
}

func TestFree(t *testing.T) {
	fs := &crashfs.FS{}
	fs.SetFree(123)
	l, err := open(fs, small)
	require.NoError(t, err)
	free, err := l.log.Free()
	require.NoError(t, err)
	assert.Equal(t, uint64(123), free)
	require.NoError(t, l.log.Close())
	if free, err = journal.Dir(t.TempDir()).Free(); !errors.Is(err, errors.ErrUnsupported) {
		require.NoError(t, err)
		assert.Positive(t, free)
	}
}

// TestWrongCount has an owner release what it has not, which is a mistake that loses records.
func TestWrongCount(t *testing.T) {
	l, err := open(&crashfs.FS{}, small)
	require.NoError(t, err)
	p, err := l.put(1, "a")
	require.NoError(t, err)
	require.Panics(t, func() { l.log.Release(p.Segment(), 1000) })
	require.Panics(t, func() { l.log.Release(p.Segment()+1, 1) })
	require.Panics(t, func() { _, _ = l.log.Append(0, 0) })
	require.Panics(t, func() { _, _ = l.log.Append(journal.KindSeal, 0, numbers(0)) })
	require.NoError(t, l.log.Close())
}

// TestBound has some entries stay, and then go, too: the files never take more than twice what is live and four segments.
func TestBound(t *testing.T) {
	const segment = 64 << 10
	for _, keep := range []int{2, 10, 100, 1 << 30} {
		fs := &crashfs.FS{}
		l, err := open(fs, journal.Options{SegmentSize: segment, MaxPending: segment / 4})
		require.NoError(t, err)
		for id := range uint64(scale(6000)) {
			require.NoError(t, l.log.Room())
			_, err := l.put(id, strings.Repeat("x", 900))
			require.NoError(t, err)
			if old := id - 50; id >= 50 && old%uint64(keep) != 0 {
				_, err := l.drop(old)
				require.NoError(t, err)
			}
			bounded(t, l, segment)
		}
		s := l.log.Stats()
		l.mu.Lock()
		left := slices.Collect(maps.Keys(l.entries))
		l.mu.Unlock()
		for _, id := range left {
			require.NoError(t, l.log.Room())
			_, err := l.drop(id)
			require.NoError(t, err)
			bounded(t, l, segment)
		}
		require.NoError(t, s.Stuck)
		require.NoError(t, l.log.Close())
		t.Logf("one of %d stays: %d octets live, files of %d, at most %d; %d copied", keep, s.Live, s.Octets, fs.Largest(), s.Copied)
	}
}

func bounded(t *testing.T, l *ledger, segment int64) {
	s := l.log.Stats()
	require.LessOrEqual(t, s.Octets, 2*s.Live+4*segment)
}

// TestConcurrent has many goroutines use a log on a real disk.
func TestConcurrent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	l, err := open(journal.Dir(dir), small)
	require.NoError(t, err)
	var all sync.WaitGroup
	for g := range uint64(8) {
		all.Go(func() {
			for n := range uint64(200) {
				id := g<<32 | n
				assert.NoError(t, l.log.Room())
				p, err := l.put(id, "some value")
				assert.NoError(t, err)
				assert.NoError(t, l.log.Wait(p, journal.Level(n%3)))
				if n%5 > 0 {
					_, err = l.drop(id)
					assert.NoError(t, err)
				}
			}
		})
	}
	all.Wait()
	want, live := l.state(), l.live()
	require.NoError(t, l.log.Close())
	l, err = open(journal.Dir(dir), small)
	require.NoError(t, err)
	require.Equal(t, want, l.state())
	require.Equal(t, live, l.live())
	require.NoError(t, l.log.Close())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Greater(t, len(entries), 1)
}

// TestRecordTooLarge has a record that the log does not take. It takes the next one.
func TestRecordTooLarge(t *testing.T) {
	fs := &crashfs.FS{}
	l, err := open(fs, small)
	require.NoError(t, err)
	part := make([]byte, 64<<20)
	parts := make([][]byte, journal.MaxRecord/len(part)+1)
	for i := range parts {
		parts[i] = part
	}
	_, err = l.log.Append(kindSet, 0, parts...)
	require.EqualError(t, err, "journal: a record of 1140850688 octets is larger than 1073741824")
	require.NoError(t, l.log.Err())
	p, err := l.set(1, 2)
	require.NoError(t, err)
	require.NoError(t, l.log.Wait(p, journal.Synced))
	require.NoError(t, l.log.Close())
}
