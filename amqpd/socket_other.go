//go:build !unix

package amqpd

const canTry = false

func tryRead(uintptr, []byte) (n int, again bool, err error) {
	panic("amqpd: sockets are read by package net")
}

func tryWrite(uintptr, []byte) int { return 0 }
