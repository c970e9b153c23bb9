package amqpd

import (
	"syscall"
	"time"
)

const canNap = true

// nap sleeps for as short as the kernel can, some 70 microseconds. The timers of package time may take a millisecond.
func nap() {
	t := syscall.NsecToTimespec(int64(10 * time.Microsecond))
	_ = syscall.Nanosleep(&t, nil)
}

// wakeFrom sets how many octets must be there for a reader to be woken.
func wakeFrom(fd uintptr, octets int) {
	_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, octets)
}
