//go:build linux

package journal

import (
	"errors"
	"os"
	"syscall"
)

// syncFile makes data and size durable. What fsync does besides, the time of the last change, costs a write of its own.
func syncFile(f *os.File) error {
	return control(f, func(fd int) error { return syscall.Fdatasync(fd) })
}

// allocate reserves space up to size, so that a full disk is noticed when a segment is begun, not in its middle.
func allocate(f *os.File, size int64) error {
	return control(f, func(fd int) error { return syscall.Fallocate(fd, 0, 0, size) })
}

// control makes a system call until it is not interrupted.
func control(f *os.File, call func(fd int) error) (err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	errControl := raw.Control(func(fd uintptr) {
		for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
			err = call(int(fd))
		}
	})
	return errors.Join(err, errControl)
}
