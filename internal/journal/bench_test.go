package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leveretmq/leveret/internal/journal"
	"github.com/stretchr/testify/require"
)

// A flow is an owner whose records are dead as soon as they are confirmed: only the log is measured.
type flow struct{ records int }

func (f *flow) Restore([]byte) error                                { return nil }
func (f *flow) Replay(journal.Record) error                         { f.records++; return nil }
func (f *flow) Live(func(journal.Segment, int))                     {}
func (f *flow) Snapshot(buf []byte) []byte                          { return buf }
func (f *flow) CopyForward(*journal.Log, journal.Segment, int) bool { return false }

// benchDir is a directory for a benchmark: of LEVERET_BENCH_DIR if that is set, because the directory for temporary files is often
// no disk.
func benchDir(b testing.TB) string {
	dir, err := os.MkdirTemp(os.Getenv("LEVERET_BENCH_DIR"), "journal")
	require.NoError(b, err)
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// BenchmarkCommit appends with so many records outstanding, each of which waits for its level.
func BenchmarkCommit(b *testing.B) {
	for _, growing := range []bool{false, true} {
		for _, level := range []journal.Level{journal.Written, journal.Synced} {
			for _, size := range []int{100, 1 << 10, 64 << 10} {
				for _, window := range []int{1, 100, 1000} {
					name := fmt.Sprintf("%s/growing=%v/%dB/%d", map[journal.Level]string{1: "written", 2: "synced"}[level], growing, size, window)
					b.Run(name, func(b *testing.B) { benchmarkCommit(b, growing, level, size, window) })
				}
			}
		}
	}
}

func benchmarkCommit(b *testing.B, growing bool, level journal.Level, size, window int) {
	l, err := journal.Open(journal.Dir(benchDir(b)), &flow{}, journal.Options{Growing: growing})
	require.NoError(b, err)
	free := make(chan bool, window)
	for range window {
		free <- true
	}
	data := make([]byte, size)
	done := func(error) { free <- true }
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		<-free
		p, err := l.Append(1, 0, data)
		if err == nil {
			err = l.Notify(p, level, done)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for range window {
		<-free
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
	b.StopTimer()
	require.NoError(b, l.Close())
}

// BenchmarkReplay opens a log of a million records of 100 octets.
func BenchmarkReplay(b *testing.B) {
	fs := journal.Dir(benchDir(b))
	keep := &keeper{}
	l, err := journal.Open(fs, keep, journal.Options{})
	require.NoError(b, err)
	data := make([]byte, 100)
	for range 1_000_000 {
		require.NoError(b, l.Room())
		_, err := l.Append(1, journal.Overhead+len(data), data)
		require.NoError(b, err)
	}
	require.NoError(b, l.Close())
	b.ResetTimer()
	for range b.N {
		keep.records, keep.live = 0, map[journal.Segment]int{}
		l, err := journal.Open(fs, keep, journal.Options{})
		require.NoError(b, err)
		require.Equal(b, 1_000_000, keep.records)
		b.StopTimer()
		require.NoError(b, l.Close())
		b.StartTimer()
	}
}

// A keeper is an owner that keeps everything.
type keeper struct {
	flow
	live map[journal.Segment]int
}

func (k *keeper) Replay(r journal.Record) error {
	k.live[r.Pos.Segment()] += journal.Overhead + len(r.Data)
	k.records++
	return nil
}

func (k *keeper) Live(count func(journal.Segment, int)) {
	for s, octets := range k.live {
		count(s, octets)
	}
}

// BenchmarkEveryHundredthStays is the pattern that makes logs large: half a million entries of 1 KiB, each dropped a thousand
// later, except every hundredth; then all. It reports what the directory takes.
func BenchmarkEveryHundredthStays(b *testing.B) {
	for range b.N {
		dir := benchDir(b)
		l, err := open(journal.Dir(dir), journal.Options{})
		require.NoError(b, err)
		var largest, written atomic.Int64
		const entries = 500_000
		value := string(make([]byte, 1024))
		began := time.Now()
		for id := range uint64(entries) {
			require.NoError(b, l.log.Room())
			p, err := l.put(id, value)
			require.NoError(b, err)
			if id%100 == 0 {
				require.NoError(b, l.log.Wait(p, journal.Synced))
				largest.Store(max(largest.Load(), du(b, dir)))
			}
			if old := id - 1000; id >= 1000 && old%100 != 0 {
				_, err := l.drop(old)
				require.NoError(b, err)
			}
		}
		took := time.Since(began)
		end := du(b, dir)
		for id := range uint64(entries) {
			if _, ok := l.entries[id]; ok {
				_, err := l.drop(id)
				require.NoError(b, err)
			}
		}
		written.Store(l.log.Stats().Copied)
		require.NoError(b, l.log.Close())
		b.ReportMetric(float64(largest.Load())/1e6, "MB-largest")
		b.ReportMetric(float64(end)/1e6, "MB-end")
		b.ReportMetric(float64(du(b, dir))/1e6, "MB-empty")
		b.ReportMetric(float64(written.Load())/1e6, "MB-copied")
		b.ReportMetric(entries/took.Seconds(), "msg/s")
	}
}

// du is how many octets the files of a directory have.
func du(b testing.TB, dir string) (sum int64) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(b, err)
	for _, name := range files {
		if info, err := os.Stat(name); err == nil { // it may just have been removed
			sum += info.Size()
		}
	}
	return sum
}
