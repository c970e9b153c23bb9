// Package crashfs has a file system in memory that forgets, when it crashes, what was not synced: octets of files, and the names
// that files were given. It fails or crashes at any call, so that a test can try all of them.
package crashfs

import (
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"

	"github.com/leveretmq/leveret/internal/journal"
)

// ErrCrashed is what every call returns after the crash.
var ErrCrashed = errors.New("the machine has crashed")

// An FS is one directory. Its zero value is empty. Set the fields before it is used.
type FS struct {
	CrashAt int                                   // the number of the call that does not happen any more; 0: none
	Fail    func(call int, op, name string) error // is asked before each call, and makes it fail without effect
	Before  func(op, name string)                 // is called before each call, which it can hold up while there are others
	Lies    bool                                  // Sync and SyncDir succeed without doing anything

	mu          sync.Mutex
	calls       int
	now, synced map[string]*inode
	locked      bool
	space       *int64 // nil: it is not known
	largest     int64
}

// An inode is a file, whatever its name is.
type inode struct {
	now, synced []byte
	unsynced    []change
}

// A change is a write at an offset or, with nil octets, a new size.
type change struct {
	offset int64
	octets []byte
}

func (c change) apply(b []byte) []byte {
	if c.octets == nil {
		return resize(b, c.offset)
	}
	b = resize(b, max(int64(len(b)), c.offset+int64(len(c.octets))))
	copy(b[c.offset:], c.octets)
	return b
}

func resize(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		return b[:size:size]
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}

// Calls returns how many calls there were.
func (fs *FS) Calls() int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.calls
}

// Largest returns the largest sum of the sizes of all files that there was after a call.
func (fs *FS) Largest() int64 {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.largest
}

// Crash returns what is there after a crash now. Of what was not synced each name and each change survives or not, and a
// change may survive in part. Without a rng only the process is killed: all survives, and what was not synced is not synced yet.
func (fs *FS) Crash(rng *rand.Rand) *FS {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if rng == nil {
		return fs.copyLocked()
	}
	after := &FS{now: map[string]*inode{}, synced: map[string]*inode{}}
	names := maps.Clone(fs.synced)
	for _, name := range fs.namesLocked() {
		if now := fs.now[name]; now != names[name] && rng.IntN(2) == 0 {
			if now == nil {
				delete(names, name)
			} else {
				names[name] = now
			}
		}
	}
	for name, i := range names {
		b := i.survivor(rng)
		after.now[name] = &inode{now: b, synced: slices.Clone(b)}
		after.synced[name] = after.now[name]
	}
	return after
}

func (fs *FS) copyLocked() *FS {
	files := map[*inode]*inode{}
	of := func(names map[string]*inode) map[string]*inode {
		copies := map[string]*inode{}
		for name, i := range names {
			if files[i] == nil {
				files[i] = &inode{slices.Clone(i.now), slices.Clone(i.synced), slices.Clone(i.unsynced)}
			}
			copies[name] = files[i]
		}
		return copies
	}
	return &FS{now: of(fs.now), synced: of(fs.synced)}
}

// namesLocked returns all names, sorted: a seed has to mean the same again.
func (fs *FS) namesLocked() []string {
	names := maps.Clone(fs.synced)
	maps.Copy(names, fs.now)
	return slices.Sorted(maps.Keys(names))
}

func (i *inode) survivor(rng *rand.Rand) []byte {
	b := slices.Clone(i.synced)
	mode := rng.IntN(3) // nothing survives, all, or some
	for _, c := range i.unsynced {
		switch {
		case mode == 0 || mode == 2 && rng.IntN(3) == 0:
		case mode == 2 && len(c.octets) > 0 && rng.IntN(2) == 0:
			for _, c := range c.torn(rng) {
				b = c.apply(b)
			}
		default:
			b = c.apply(b)
		}
	}
	return b
}

// torn returns parts of a write: the beginning, or all but a piece. In place of what is missing stands what stood there before.
func (c change) torn(rng *rand.Rand) []change {
	at := rng.IntN(len(c.octets))
	parts := []change{{c.offset, c.octets[:at:at]}}
	if rng.IntN(2) == 0 {
		return parts
	}
	end := min(len(c.octets), at+1+rng.IntN(512))
	return append(parts, change{c.offset + int64(end), c.octets[end:]})
}

// call begins a call.
func (fs *FS) call(op, name string) error {
	if fs.now == nil {
		fs.now, fs.synced = map[string]*inode{}, map[string]*inode{}
	}
	if fs.CrashAt > 0 && fs.calls >= fs.CrashAt {
		return ErrCrashed
	}
	fs.calls++
	if fs.calls == fs.CrashAt && op != "write" {
		return ErrCrashed
	}
	if fs.Fail != nil {
		return fs.Fail(fs.calls, op, name)
	}
	return nil
}

// do makes a call with the lock held.
func (fs *FS) do(op, name string, f func() error) error {
	if fs.Before != nil {
		fs.Before(op, name)
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err := fs.call(op, name); err != nil {
		return err
	}
	err := f()
	var sum int64
	for _, i := range fs.now {
		sum += int64(len(i.now))
	}
	fs.largest = max(fs.largest, sum)
	return err
}

// Make does nothing: the directory is there.
func (fs *FS) Make() error { return fs.do("make", "", func() error { return nil }) }

// List returns the names of the files.
func (fs *FS) List() (names []string, err error) {
	err = fs.do("list", "", func() error {
		names = slices.Sorted(maps.Keys(fs.now))
		return nil
	})
	return names, err
}

// Create makes or empties a file.
func (fs *FS) Create(name string) (journal.File, error) {
	i := &inode{}
	return handle{fs, name, i}, fs.do("create", name, func() error {
		fs.now[name] = i
		return nil
	})
}

// Open opens a file.
func (fs *FS) Open(name string) (f journal.File, err error) {
	err = fs.do("open", name, func() error {
		i := fs.now[name]
		if i == nil {
			return os.ErrNotExist
		}
		f = handle{fs, name, i}
		return nil
	})
	return f, err
}

// ReadFile opens a file.
func (fs *FS) ReadFile(name string) (journal.File, error) { return fs.Open(name) }

// Rename gives a file another name.
func (fs *FS) Rename(from, to string) error {
	return fs.do("rename", from, func() error {
		if fs.now[from] == nil {
			return os.ErrNotExist
		}
		fs.now[to] = fs.now[from]
		delete(fs.now, from)
		return nil
	})
}

// Remove removes a name.
func (fs *FS) Remove(name string) error {
	return fs.do("remove", name, func() error {
		if fs.now[name] == nil {
			return os.ErrNotExist
		}
		delete(fs.now, name)
		return nil
	})
}

// SyncDir makes the names durable.
func (fs *FS) SyncDir() error {
	return fs.do("sync directory", "", func() error {
		if !fs.Lies {
			fs.synced = maps.Clone(fs.now)
		}
		return nil
	})
}

// Lock locks the directory, whichever file is named.
func (fs *FS) Lock(name string) (io.Closer, error) {
	return unlocker{fs}, fs.do("lock", name, func() error {
		if fs.locked {
			return journal.ErrLocked
		}
		fs.locked = true
		if fs.now[name] == nil {
			fs.now[name] = &inode{}
		}
		return nil
	})
}

type unlocker struct{ fs *FS }

func (u unlocker) Close() error {
	u.fs.mu.Lock()
	defer u.fs.mu.Unlock()
	u.fs.locked = false
	return nil
}

// Free returns what SetFree was told.
func (fs *FS) Free() (uint64, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.space == nil {
		return 0, errors.ErrUnsupported
	}
	return uint64(*fs.space), nil
}

// SetFree sets what Free returns.
func (fs *FS) SetFree(octets int64) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.space = &octets
}

// Edit changes the content of a file, as a failing disk does.
func (fs *FS) Edit(name string, edit func([]byte) []byte) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	b := edit(slices.Clone(fs.now[name].now))
	fs.now[name] = &inode{now: b, synced: slices.Clone(b)}
	fs.synced[name] = fs.now[name]
}

// A handle is an open file.
type handle struct {
	fs   *FS
	name string
	*inode
}

func (h handle) ReadAt(b []byte, at int64) (n int, err error) {
	err = h.fs.do("read", h.name, func() error {
		if at < int64(len(h.now)) {
			n = copy(b, h.now[at:])
		}
		if n < len(b) {
			return io.EOF
		}
		return nil
	})
	return n, err
}

// change makes a change that a crash forgets. A write at which the machine crashes may have happened.
func (h handle) change(op string, c change) error {
	return h.fs.do(op, h.name, func() error {
		h.now = c.apply(h.now)
		h.unsynced = append(h.unsynced, c)
		if h.fs.calls == h.fs.CrashAt {
			return ErrCrashed
		}
		return nil
	})
}

func (h handle) WriteAt(b []byte, at int64) (int, error) {
	return len(b), h.change("write", change{at, append([]byte{}, b...)})
}

func (h handle) Truncate(size int64) error { return h.change("truncate", change{size, nil}) }

func (h handle) Allocate(size int64) error {
	return h.change("allocate", change{max(size, int64(len(h.now))), nil})
}

func (h handle) Size() (int64, error) { return int64(len(h.now)), nil }

func (h handle) Sync() error {
	return h.fs.do("sync", h.name, func() error {
		if !h.fs.Lies {
			h.synced, h.unsynced = slices.Clone(h.now), nil
		}
		return nil
	})
}

func (h handle) Close() error { return nil }
