//go:build !linux

package amqpd

const canGather = false

func pause() {}

func setLowWater(uintptr, int) {}
