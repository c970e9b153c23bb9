package amqpd

import (
	"syscall"
	"time"
)

const canGather = true

// pauseTime has at least 20 messages gather at the pace of a burst.
const pauseTime = 400 * time.Microsecond

// pause sleeps for not much longer than pauseTime. The timers of package time may take a millisecond more.
func pause() {
	t := syscall.NsecToTimespec(int64(pauseTime))
	_ = syscall.Nanosleep(&t, nil)
}

// setLowWater sets how many octets must have come for the reader of a socket to be woken.
func setLowWater(fd uintptr, octets int) {
	_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, octets)
}
