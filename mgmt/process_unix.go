//go:build linux || darwin

package mgmt

import "syscall"

// freeDisk returns how many bytes are free where the program runs.
func freeDisk() int64 {
	var s syscall.Statfs_t
	if syscall.Statfs(".", &s) != nil {
		return 0
	}
	return int64(s.Bavail) * int64(s.Bsize)
}

// maxFiles returns how many files the process may open.
func maxFiles() int64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return int64(l.Cur)
}
