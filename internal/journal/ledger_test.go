package journal_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/leveretmq/leveret/internal/journal"
)

// A ledger is a small owner of a log, with what an engine has: entries that come and go, records that change an entry that an
// older record brought, and settings that stand in snapshots only. Each operation is one record with its number.
type ledger struct {
	countsNothing bool // the owner's mistake that tests have to find: nothing is live after a recovery

	mu       sync.Mutex
	log      *journal.Log
	op       uint64 // number of the last operation
	entries  map[uint64]entry
	settings map[uint64]uint64
}

// An entry is what a queued message is to an engine. segment is all that it keeps of its place.
type entry struct {
	value   string
	changes uint64
	segment journal.Segment
	size    int // octets that are live
}

// Kinds of the ledger's records.
const (
	kindPut    journal.Kind = iota + 1 // op, id, changes, value
	kindCopy                           // 0, id, changes, value: kindPut for what is there already
	kindDrop                           // op, id
	kindChange                         // op, id, changes
	kindRename                         // op, id, new id: an entry that takes its value from an older record, as a dead letter does
	kindSet                            // op, name, value
)

func newLedger() *ledger {
	return &ledger{entries: map[uint64]entry{}, settings: map[uint64]uint64{}}
}

// open opens the log of a directory with a ledger of its own.
func open(fs journal.FS, options journal.Options) (*ledger, error) {
	l := newLedger()
	var err error
	l.log, err = journal.Open(fs, l, options)
	return l, err
}

func numbers(n ...uint64) (b []byte) {
	for _, n := range n {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

func (l *ledger) Restore(data []byte) error {
	l.op = binary.LittleEndian.Uint64(data)
	for data = data[8:]; len(data) > 0; data = data[16:] {
		l.settings[binary.LittleEndian.Uint64(data)] = binary.LittleEndian.Uint64(data[8:])
	}
	return nil
}

func (l *ledger) Snapshot(buf []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	buf = append(buf, numbers(l.op)...)
	for _, name := range slices.Sorted(maps.Keys(l.settings)) {
		buf = append(buf, numbers(name, l.settings[name])...)
	}
	return buf
}

func (l *ledger) Replay(r journal.Record) error {
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(r.Data[8*i:]) }
	l.op = max(l.op, at(0)) // the snapshot can be later
	switch r.Kind {
	case kindPut, kindCopy:
		l.entries[at(1)] = entry{string(r.Data[24:]), at(2), r.Pos.Segment(), journal.Overhead + len(r.Data)}
	case kindDrop:
		delete(l.entries, at(1))
	case kindChange:
		if e, ok := l.entries[at(1)]; ok {
			e.changes = at(2)
			l.entries[at(1)] = e
		}
	case kindRename:
		if e, ok := l.entries[at(1)]; ok {
			delete(l.entries, at(1))
			l.entries[at(2)] = e
		}
	case kindSet:
		l.settings[at(1)] = at(2)
	default:
		return fmt.Errorf("a record of kind %s", r.Kind)
	}
	return nil
}

func (l *ledger) Live(count func(journal.Segment, int)) {
	for _, e := range l.entries {
		if !l.countsNothing {
			count(e.segment, e.size)
		}
	}
}

func (l *ledger) CopyForward(log *journal.Log, s journal.Segment, budget int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, e := range l.entries {
		if e.segment > s {
			continue
		}
		if budget <= 0 {
			return true
		}
		budget -= e.size
		head := numbers(0, id, e.changes)
		size := journal.Overhead + len(head) + len(e.value)
		p, err := log.Move(e.segment, e.size, kindCopy, size, head, []byte(e.value))
		if err != nil {
			return true
		}
		e.segment, e.size = p.Segment(), size
		l.entries[id] = e
	}
	return false
}

// put adds an entry.
func (l *ledger) put(id uint64, value string) (journal.Pos, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.op++
	head := numbers(l.op, id, 0)
	size := journal.Overhead + len(head) + len(value)
	p, err := l.log.Append(kindPut, size, head, []byte(value))
	if err == nil {
		l.entries[id] = entry{value, 0, p.Segment(), size}
	}
	return p, err
}

// drop removes an entry.
func (l *ledger) drop(id uint64) (journal.Pos, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.op++
	p, err := l.log.Append(kindDrop, 0, numbers(l.op, id))
	if e, ok := l.entries[id]; ok && err == nil {
		delete(l.entries, id)
		l.log.Release(e.segment, e.size)
	}
	return p, err
}

// set changes a setting.
func (l *ledger) set(name, value uint64) (journal.Pos, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.op++
	l.settings[name] = value
	return l.log.Append(kindSet, 0, numbers(l.op, name, value))
}

// alter does one of the operations whose record speaks of an older one, or of no entry.
func (l *ledger) alter(rng *rand.Rand, id uint64) (journal.Pos, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.op++
	e, ok := l.entries[id]
	switch n := rng.IntN(3); {
	case n == 0 || !ok:
		name, value := rng.Uint64N(8), rng.Uint64()
		l.settings[name] = value
		return l.log.Append(kindSet, 0, numbers(l.op, name, value))
	case n == 1:
		e.changes++
		l.entries[id] = e
		return l.log.Append(kindChange, 0, numbers(l.op, id, e.changes))
	default:
		delete(l.entries, id)
		l.entries[l.op] = e
		return l.log.Append(kindRename, 0, numbers(l.op, id, l.op))
	}
}

// step does the operation that follows from the ledger's state and a seed.
func (l *ledger) step(seed uint64) (journal.Pos, error) {
	l.mu.Lock()
	rng := rand.New(rand.NewPCG(seed, l.op))
	ids := slices.Sorted(maps.Keys(l.entries))
	id := l.op + 1
	l.mu.Unlock()
	any := func() uint64 {
		if len(ids) == 0 {
			return 0
		}
		return ids[rng.IntN(len(ids))]
	}
	switch n := rng.IntN(10); {
	case n < 4 || len(ids) == 0 && n < 8:
		return l.put(id, string(make([]byte, rng.IntN(300)))+fmt.Sprint(rng.Uint64()))
	case n < 8 && len(ids) > 1:
		return l.drop(ids[min(rng.IntN(3), len(ids)-1)]) // mostly an old one, as in a queue
	case n < 8:
		return l.drop(any())
	}
	return l.alter(rng, any())
}

// state is a fingerprint of all that the ledger has.
func (l *ledger) state() (sum uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, e := range l.entries {
		sum ^= maphash.String(stateSeed, fmt.Sprint("entry", id, e.changes, e.value))
	}
	for name, value := range l.settings {
		sum ^= maphash.String(stateSeed, fmt.Sprint("setting", name, value))
	}
	return sum
}

var stateSeed = maphash.MakeSeed()

// live is what the entries take.
func (l *ledger) live() (octets int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		octets += int64(e.size)
	}
	return octets
}

// verify compares a recovered ledger with the states that there were, by number of operations.
func (l *ledger) verify(states []uint64, confirmed uint64) error {
	switch {
	case l.op < confirmed:
		return fmt.Errorf("operation %d was confirmed, and the last that is there is %d", confirmed, l.op)
	case l.op >= uint64(len(states)):
		return fmt.Errorf("operation %d is there, and there were only %d", l.op, len(states)-1)
	case l.state() != states[l.op]:
		return fmt.Errorf("the state is not that after operation %d", l.op)
	case l.log.Stats().Live != l.live():
		return fmt.Errorf("%d octets are live by the log, and %d are", l.log.Stats().Live, l.live())
	}
	return nil
}

// A run is a program of operations on a log: the states after each, and what was confirmed.
type run struct {
	*ledger
	states []uint64

	confirming sync.Mutex
	confirmed  [journal.Synced + 1]uint64 // the last operation that came to each level
}

// operate does operations until one fails, and waits for what they were to come to.
func (r *run) operate(seed uint64, n int) (err error) {
	for ; n > 0 && err == nil; n-- {
		if err = r.log.Room(); err != nil {
			return err
		}
		var p journal.Pos
		if p, err = r.step(seed); err != nil {
			return err
		}
		r.states = append(r.states, r.state())
		level := journal.Level(1 + (seed+r.op)%2)
		if (seed+r.op)%7 == 0 {
			err = r.log.Wait(p, level)
			r.confirm(level, r.op, err)
		} else {
			op := r.op
			err = r.log.Notify(p, level, func(err error) { r.confirm(level, op, err) })
		}
	}
	return err
}

func (r *run) confirm(level journal.Level, op uint64, err error) {
	if err != nil {
		return
	}
	r.confirming.Lock()
	defer r.confirming.Unlock()
	r.confirmed[level] = max(r.confirmed[level], op)
}

// sure returns the last operation that the log had confirmed at a level or above it.
func (r *run) sure(level journal.Level) (op uint64) {
	r.confirming.Lock()
	defer r.confirming.Unlock()
	for _, c := range r.confirmed[level:] {
		op = max(op, c)
	}
	return op
}

// begin opens a log with all states that there were before.
func begin(fs journal.FS, states []uint64) (*run, error) {
	l, err := open(fs, small)
	if err != nil {
		return nil, err
	}
	if states == nil {
		states = []uint64{l.state()}
	}
	r := &run{ledger: l, states: slices.Clone(states[:min(l.op+1, uint64(len(states)))])}
	r.confirm(journal.Synced, l.op, nil) // what was replayed is synced
	return r, nil
}

// small has a log of many segments.
var small = journal.Options{SegmentSize: 4096, MaxPending: 2000}

// reason returns the *journal.Error in err, nil if there is none.
func reason(err error) *journal.Error {
	var e *journal.Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}
