package amqpd

import (
	"syscall"
	"time"
)

const canNap = true

// napTime has at least 20 messages gather at the pace of a rush.
const napTime = 400 * time.Microsecond

// nap sleeps for not much longer than napTime. The timers of package time may take a millisecond more.
func nap() {
	t := syscall.NsecToTimespec(int64(napTime))
	_ = syscall.Nanosleep(&t, nil)
}

// wakeFrom sets how many octets must be there for a reader to be woken.
func wakeFrom(fd uintptr, octets int) {
	_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, octets)
}
