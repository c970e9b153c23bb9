//go:build windows

package journal

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

var (
	kernel32           = syscall.NewLazyDLL("kernel32.dll")
	lockFileEx         = kernel32.NewProc("LockFileEx")
	getDiskFreeSpaceEx = kernel32.NewProc("GetDiskFreeSpaceExW")
)

const (
	lockFailImmediately = 1
	lockExclusive       = 2
	errLockViolation    = syscall.Errno(33)
)

// lockFile takes the lock of an open file for as long as the file is open. The octet that is locked lies far behind the text.
func lockFile(f *os.File) error {
	at := syscall.Overlapped{OffsetHigh: 1}
	ok, _, err := lockFileEx.Call(f.Fd(), lockExclusive|lockFailImmediately, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, errLockViolation) || errors.Is(err, syscall.ERROR_IO_PENDING):
		return ErrLocked
	}
	return err
}

// syncDir does nothing: NTFS keeps the order of renames by itself, and a directory cannot be synced.
func syncDir(string) error { return nil }

func freeSpace(path string) (free uint64, err error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	ok, _, err := getDiskFreeSpaceEx.Call(uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&free)), 0, 0)
	if ok == 0 {
		return 0, err
	}
	return free, nil
}
