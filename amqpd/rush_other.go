//go:build !linux

package amqpd

const canNap = false

func nap() {}

func wakeFrom(uintptr, int) {}
