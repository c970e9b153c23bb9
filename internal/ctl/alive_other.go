//go:build !unix

package ctl

import "os"

// isAlive reports whether there is a process with an id.
func isAlive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	p.Release()
	return true
}
