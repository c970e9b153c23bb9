// Package phash computes erlang:phash2, the hash by which Erlang programs spread things on every machine alike. It is
// Bob Jenkins' lookup2 of 1996 with start values of Erlang's.
package phash

import "encoding/binary"

const (
	golden = 0x9e3779b9 // from which lookup2 starts

	// What a binary and the end of a list put in.
	binaryStart = 13 * golden & (1<<32 - 1)
	listEnd     = 2 * golden & (1<<32 - 1)
	nilTag      = 2

	// Range is the number of values that phash2 has: 0 to Range-1.
	Range = 1 << 27
)

// Binaries returns erlang:phash2 of a list of binaries, at least one.
func Binaries(list ...string) uint32 {
	h := uint32(0)
	for _, b := range list {
		h = binaryHash(b, h+binaryStart)
	}
	_, _, h = mix(listEnd+nilTag, listEnd, h)
	return h % Range
}

// binaryHash is lookup2 of the bytes; of no bytes it is the start value.
func binaryHash(bytes string, start uint32) uint32 {
	if bytes == "" {
		return start
	}
	a, b, c := uint32(golden), uint32(golden), start
	rest := bytes
	for ; len(rest) >= 12; rest = rest[12:] {
		block := []byte(rest[:12])
		a += binary.LittleEndian.Uint32(block)
		b += binary.LittleEndian.Uint32(block[4:])
		c += binary.LittleEndian.Uint32(block[8:])
		a, b, c = mix(a, b, c)
	}
	// The last byte of c is the length's, so the last block has 11 bytes.
	var last [12]byte
	copy(last[:8], rest)
	if len(rest) > 8 {
		copy(last[9:], rest[8:])
	}
	a += binary.LittleEndian.Uint32(last[:])
	b += binary.LittleEndian.Uint32(last[4:])
	c += binary.LittleEndian.Uint32(last[8:]) + uint32(len(bytes))
	_, _, c = mix(a, b, c)
	return c
}

// mix is that of lookup2.
func mix(a, b, c uint32) (uint32, uint32, uint32) {
	a = (a - b - c) ^ c>>13
	b = (b - c - a) ^ a<<8
	c = (c - a - b) ^ b>>13
	a = (a - b - c) ^ c>>12
	b = (b - c - a) ^ a<<16
	c = (c - a - b) ^ b>>5
	a = (a - b - c) ^ c>>3
	b = (b - c - a) ^ a<<10
	c = (c - a - b) ^ b>>15
	return a, b, c
}
