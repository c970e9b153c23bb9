package memory

import "syscall"

// addressSpace returns the limit of the process's address space in bytes (ulimit -v), most if that is less.
func addressSpace(most int64) int64 {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &r); err != nil || r.Cur > uint64(most) {
		return most
	}
	return int64(r.Cur)
}
