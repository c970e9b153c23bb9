//go:build unix

package amqpd

import "syscall"

// canTry reports whether sockets can be read and written without waiting.
const canTry = true

// tryRead reads from a descriptor that does not block; again means that nothing is there yet.
func tryRead(fd uintptr, b []byte) (n int, again bool, err error) {
	for {
		n, err = syscall.Read(int(fd), b)
		if err != syscall.EINTR {
			return n, err == syscall.EAGAIN, err
		}
	}
}

// tryWrite writes to a descriptor that does not block and returns how much it took.
func tryWrite(fd uintptr, b []byte) int {
	for {
		n, err := syscall.Write(int(fd), b)
		if err != syscall.EINTR {
			return max(n, 0)
		}
	}
}
