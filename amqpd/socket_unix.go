//go:build unix

package amqpd

import "syscall"

const canTryRead = true

// tryRead reads from a descriptor that does not block; again means that nothing is there yet.
func tryRead(fd uintptr, b []byte) (n int, again bool, err error) {
	for {
		n, err = syscall.Read(int(fd), b)
		if err != syscall.EINTR {
			return n, err == syscall.EAGAIN, err
		}
	}
}
