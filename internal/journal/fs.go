package journal

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// An FS is the directory of one log. Names are base names. Dir returns that of the operating system; tests have others, that
// fail or forget.
type FS interface {
	Make() error                        // makes the directory if it is not there, durably
	List() ([]string, error)            // names of all files, sorted
	Create(name string) (File, error)   // for reading and writing; an existing file is emptied
	Open(name string) (File, error)     // for reading and writing
	ReadFile(name string) (File, error) // for reading only
	Rename(from, to string) error       // a file of the new name is replaced
	Remove(name string) error
	SyncDir() error                      // makes what Create, Rename and Remove did durable
	Lock(name string) (io.Closer, error) // makes the file if it can; ErrLocked if somebody has it
	Free() (octets uint64, err error)    // space that is left for this process; errors.ErrUnsupported
}

// A File is an open file.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Truncate(size int64) error
	Allocate(size int64) error // reserves space and makes the file that long, where that can be had
	Sync() error               // makes the file's data and size durable
}

// Dir returns the FS of a directory of the operating system, or what is mounted there.
func Dir(path string) FS {
	if fs, ok := mounted.Load(path); ok {
		return fs.(FS)
	}
	return dir(path)
}

// Mount has Dir return fs for a path until unmount is called. So a test has a file system of its own below a broker that it opens
// as everybody does.
func Mount(path string, fs FS) (unmount func()) {
	mounted.Store(path, fs)
	return func() { mounted.Delete(path) }
}

var mounted sync.Map // of FS by path

type dir string

func (d dir) path(name string) string { return filepath.Join(string(d), name) }

func (d dir) Make() error {
	if info, err := os.Stat(string(d)); err == nil && info.IsDir() {
		return nil
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	return dir(filepath.Dir(filepath.Clean(string(d)))).SyncDir()
}

func (d dir) List() (names []string, err error) {
	entries, err := os.ReadDir(string(d))
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, err
}

func (d dir) open(name string, flags int) (File, error) {
	f, err := os.OpenFile(d.path(name), flags, 0o600)
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

func (d dir) Create(name string) (File, error) {
	return d.open(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

func (d dir) Open(name string) (File, error)     { return d.open(name, os.O_RDWR) }
func (d dir) ReadFile(name string) (File, error) { return d.open(name, os.O_RDONLY) }
func (d dir) Rename(from, to string) error       { return os.Rename(d.path(from), d.path(to)) }
func (d dir) Remove(name string) error           { return os.Remove(d.path(name)) }
func (d dir) SyncDir() error                     { return syncDir(string(d)) }
func (d dir) Free() (uint64, error)              { return freeSpace(string(d)) }

// Lock takes the lock of a file. A file in a directory that cannot be written is locked all the same, so that a store can be
// checked there.
func (d dir) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(d.path(name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		var errRead error
		if f, errRead = os.Open(d.path(name)); errRead != nil {
			return nil, err
		}
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

type file struct{ *os.File }

func (f file) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f file) Sync() error               { return syncFile(f.File) }
func (f file) Allocate(size int64) error { return ignoreUnsupported(allocate(f.File, size)) }

func ignoreUnsupported(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
