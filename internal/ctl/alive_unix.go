//go:build unix

package ctl

import (
	"errors"
	"syscall"
)

// isAlive reports whether there is a process with an id, be it somebody else's.
func isAlive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
