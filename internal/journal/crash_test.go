package journal_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/leveretmq/leveret/internal/journal"
	"github.com/leveretmq/leveret/internal/journal/crashfs"
	"github.com/leveretmq/leveret/internal/race"
	"github.com/stretchr/testify/require"
)

// crashOnce runs a program on fs until its crash, and what is left of it a second time, with another crash. It returns what is
// wrong after either.
func crashOnce(seed uint64, fs *crashfs.FS, operations int) error {
	rng := rand.New(rand.NewPCG(seed, uint64(fs.CrashAt)))
	states, synced := []uint64{newLedger().state()}, uint64(0)
	for round := range 2 {
		r, err := begin(fs, states)
		if err == nil {
			_ = r.operate(seed+uint64(round), operations) // ends with the crash
			_ = r.log.Close()
			states, synced = r.states, r.sure(journal.Synced)
		} else if !errors.Is(err, crashfs.ErrCrashed) {
			return fmt.Errorf("round %d: %w", round, err)
		}
		after, sure := rng, synced
		if rng.IntN(4) == 0 && r != nil && err == nil { // only the process ends
			after, sure = nil, r.sure(journal.Written)
		}
		lies := fs.Lies
		fs = fs.Crash(after)
		if err := recovers(fs.Crash(nil), states, sure); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		fs.CrashAt, fs.Lies = 1+rng.IntN(120), lies
	}
	return nil
}

// recovers opens a log and compares it with what there was.
func recovers(fs journal.FS, states []uint64, sure uint64) error {
	l, err := open(fs, small)
	if err != nil {
		return err
	}
	defer l.log.Close()
	names, err := fs.List()
	if err != nil {
		return err
	}
	last := fmt.Sprintf("%08x.journal", uint32(l.log.Stats().End.Segment()))
	for _, name := range names {
		if strings.HasSuffix(name, ".journal") && name > last {
			return fmt.Errorf("%s is there, behind %s in which the log ends", name, last)
		}
	}
	return l.verify(states, sure)
}

// calls returns how many calls of the file system a program makes.
func calls(t *testing.T, seed uint64, operations int) int {
	fs := &crashfs.FS{}
	r, err := begin(fs, nil)
	require.NoError(t, err)
	require.NoError(t, r.operate(seed, operations))
	require.NoError(t, r.log.Close())
	require.Equal(t, uint64(operations), r.sure(journal.Written))
	return fs.Calls()
}

// scale is how many seeds a test has: few under the race detector, or with -short.
func scale(n int) int {
	if race.Enabled || testing.Short() {
		return max(1, n/4)
	}
	if *long {
		n *= 10
	}
	return n
}

func TestCrashAtEveryCall(t *testing.T) {
	const operations = 120
	for range scale(4) {
		seed := rand.Uint64()
		n := calls(t, seed, operations)
		for at := 1; at <= n; at++ {
			if err := crashOnce(seed, &crashfs.FS{CrashAt: at}, operations); err != nil {
				t.Fatalf("seed %d, crash at call %d of %d: %v", seed, at, n, err)
			}
		}
	}
}

// TestCrashFindsMissingSync shows that the test above can fail: it does on a disk that does not sync, as it would with a log
// that confirms before the sync.
func TestCrashFindsMissingSync(t *testing.T) {
	for at := 1; at < 2000; at++ {
		if crashOnce(uint64(at), &crashfs.FS{CrashAt: 20 + at%100, Lies: true}, 120) != nil {
			return
		}
	}
	t.Error("nothing was found")
}

// lostByCompaction opens and closes a log twice, with what the compactor does in between, and returns what is wrong then.
func lostByCompaction(countsNothing bool) error {
	fs := &crashfs.FS{}
	r, err := begin(fs, nil)
	if err != nil {
		return err
	}
	if err := errors.Join(r.operate(1, 200), r.log.Close()); err != nil {
		return err
	}
	l := newLedger()
	l.countsNothing = countsNothing
	if l.log, err = journal.Open(fs, l, small); err != nil {
		return err
	}
	err = l.log.Room() // the compactor has removed at least one segment if there is one to be removed
	for countsNothing && l.log.Stats().Segments > 1 && l.log.Stats().Stuck == nil {
		runtime.Gosched() // the compactor removes all segments but the last
	}
	if err := errors.Join(err, l.log.Close()); err != nil {
		return err
	}
	return recovers(fs, r.states, 200)
}

// TestCompactionKeepsWhatIsLive can fail: it does if the live counts are not rebuilt at opening.
func TestCompactionKeepsWhatIsLive(t *testing.T) {
	require.NoError(t, lostByCompaction(false))
	require.Error(t, lostByCompaction(true))
}

// TestCrashWhileSealing crashes while the disk takes long to sync the first segment, and the second has been begun: what is synced of
// either is chance. Recovery ends where something of the first is missing, and drops the second.
func TestCrashWhileSealing(t *testing.T) {
	fs := &crashfs.FS{}
	r, err := begin(fs, nil)
	require.NoError(t, err)
	goOn := holdFirstSync(fs)
	var p journal.Pos
	for n := 0; n < 5; { // records of the second segment
		p, err = r.step(1)
		require.NoError(t, err)
		r.states = append(r.states, r.state())
		if p.Segment() == 2 {
			n++
		}
	}
	require.NoError(t, r.log.Wait(p, journal.Written))
	whole, cut, dropped := 0, 0, 0
	isMissing := func() bool { return whole == 0 || cut == 0 || dropped == 0 }
	for n := 0; n < scale(400) || isMissing() && n < 100_000; n++ { // cut is one of fifty
		seed := rand.Uint64()
		after := fs.Crash(rand.New(rand.NewPCG(seed, 1)))
		files := len(segmentFiles(t, after))
		l, err := open(after, small)
		require.NoError(t, err, "seed %d", seed)
		require.NoError(t, l.verify(r.states, 0), "seed %d", seed)
		switch found := l.log.Recovered(); {
		case l.op == r.op:
			whole++
		case found.Segments == 2:
			cut++
		default:
			dropped++
			require.True(t, found.Torn != nil || files == 1, "seed %d", seed)
		}
		again := &run{ledger: l, states: slices.Clone(r.states[:l.op+1])}
		require.NoError(t, again.operate(seed, 40), "seed %d", seed)
		require.NoError(t, l.log.Close(), "seed %d", seed)
		require.NoError(t, recovers(after.Crash(rand.New(rand.NewPCG(seed, 2))), again.states, l.op), "seed %d", seed)
	}
	t.Logf("all was there %d times, a part of the second segment %d times, a part of the first %d times", whole, cut, dropped)
	require.False(t, isMissing())
	// The process is killed, and then the machine crashes while the log is opened or right after that.
	opened := false
	for at := 1; !opened; at++ {
		after := fs.Crash(nil)
		after.CrashAt = at
		l, err := open(after, small)
		sure := uint64(0)
		if opened = err == nil; opened {
			sure = r.op
		}
		for seed := range uint64(20) {
			left := after.Crash(rand.New(rand.NewPCG(seed, uint64(at))))
			require.NoError(t, recovers(left, r.states, sure), "crash at call %d, seed %d", at, seed)
		}
		if opened {
			_ = l.log.Close() // fails if the crash comes now
		}
	}
	close(goOn)
	require.NoError(t, r.log.Close())
}

// holdFirstSync has the next sync of the first segment take until goOn is closed.
func holdFirstSync(fs *crashfs.FS) (goOn chan bool) {
	goOn = make(chan bool)
	fs.Before = func(op, name string) {
		if op == "sync" && name == "00000001.journal" {
			<-goOn
		}
	}
	return goOn
}

// fillFirst fills the first segment, and returns the place of the first record of the second when that is written.
func fillFirst(t *testing.T, l *ledger) (p journal.Pos) {
	var err error
	for id := uint64(1); p.Segment() < 2; id++ {
		p, err = l.put(id, "some value")
		require.NoError(t, err)
	}
	require.NoError(t, l.log.Wait(p, journal.Written))
	return p
}

// TestSyncsInOrder has the disk take long to sync the first segment: nothing of the second counts as synced before.
func TestSyncsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := &crashfs.FS{}
		l, err := open(fs, small)
		require.NoError(t, err)
		goOn := holdFirstSync(fs)
		p := fillFirst(t, l)
		synced := false
		require.NoError(t, l.log.Notify(p, journal.Synced, func(error) { synced = true }))
		synctest.Wait()
		require.False(t, synced)
		close(goOn)
		synctest.Wait()
		require.True(t, synced)
		require.NoError(t, l.log.Close())
	})
}

// TestCloseWhileSealing closes the log while the first segment is synced, with nothing to sync in the second one.
func TestCloseWhileSealing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := &crashfs.FS{}
		l, err := open(fs, small)
		require.NoError(t, err)
		goOn := holdFirstSync(fs)
		fillFirst(t, l)
		synctest.Wait()
		before := fs.Calls()
		go func() { _ = l.log.Close() }()
		synctest.Wait()
		require.Equal(t, before, fs.Calls())
		close(goOn)
		synctest.Wait()
		require.NoError(t, journal.Check(fs).Err())
	})
}

// TestSnapshotOfLostOperations has a segment whose snapshot knows an operation of which a crash takes the record. When the
// segments before it have gone the snapshot must not bring the operation back.
func TestSnapshotOfLostOperations(t *testing.T) {
	const second = "00000002.journal"
	at := func(op string) func(int, string, string) error {
		return func(_ int, now, name string) error {
			if now == op && name == second {
				return crashfs.ErrCrashed
			}
			return nil
		}
	}
	fs := &crashfs.FS{Fail: at("write")}
	r, err := begin(fs, nil)
	require.NoError(t, err)
	_, err = r.put(1, string(make([]byte, 4000)))
	require.NoError(t, err)
	require.NoError(t, r.log.Sync())
	r.states = append(r.states, r.state())
	p, err := r.set(7, 1) // the first record of the second segment
	require.NoError(t, err)
	require.Equal(t, journal.Segment(2), p.Segment())
	require.ErrorIs(t, r.log.Wait(p, journal.Written), crashfs.ErrCrashed)
	require.Error(t, r.log.Close())

	fs = fs.Crash(nil)
	fs.Fail = at("rename") // the first segment goes, the second stays
	r, err = begin(fs, r.states)
	require.NoError(t, err)
	require.NoError(t, r.verify(r.states, 1))
	_, err = r.drop(1)
	require.NoError(t, err)
	r.states = append(r.states, r.state())
	for r.log.Stats().Stuck == nil {
		runtime.Gosched()
	}
	require.NoError(t, r.log.Close())

	fs = fs.Crash(nil)
	require.Equal(t, second, segmentFiles(t, fs)[0])
	require.NoError(t, recovers(fs, r.states, 2))
}

// TestEveryFailingCall has one call fail: the log fails, takes nothing and writes nothing from then on, and tells everybody so. Until
// then another goroutine may end what it does, but nobody does again what failed. What had been confirmed is there afterwards.
func TestEveryFailingCall(t *testing.T) {
	const operations = 120
	seed := rand.Uint64()
	broken := errors.New("input/output error")
	n := calls(t, seed, operations)
	for at := 1; at <= n; at++ {
		var failed, after []string
		var log atomic.Pointer[journal.Log]
		fs := &crashfs.FS{Fail: func(call int, op, name string) error {
			if call == at {
				failed = []string{op, name}
				return broken
			}
			if failed != nil && (op == "write" || op == "sync") {
				again := op == failed[0] && name == failed[1]
				if l := log.Load(); again || l != nil && errors.Is(l.Err(), broken) {
					after = append(after, op+" "+name)
				}
			}
			return nil
		}}
		r, err := begin(fs, nil)
		if r != nil {
			log.Store(r.log)
		}
		states, sure := []uint64{newLedger().state()}, uint64(0)
		if err == nil {
			err = errors.Join(r.operate(seed, operations), r.log.Close(), r.log.Stats().Stuck)
			states, sure = r.states, r.sure(journal.Synced)
		}
		if failed == nil {
			continue // this run made fewer calls
		}
		where := fmt.Sprintf("seed %d, %s of call %d", seed, failed, at)
		require.ErrorIs(t, err, broken, where)
		require.NotNil(t, reason(err), where)
		if op := failed[0]; r != nil && (op == "write" || op == "sync" || op == "allocate") {
			require.Empty(t, after, where)
			require.ErrorIs(t, r.log.Err(), broken, where)
			require.ErrorIs(t, r.log.Wait(^journal.Pos(0), journal.Synced), broken, where)
		}
		fs.Fail = nil
		require.NoError(t, recovers(fs.Crash(rand.New(rand.NewPCG(seed, uint64(at)))), states, sure), where)
	}
}
