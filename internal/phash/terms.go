package phash

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"

	"github.com/leveretmq/leveret/internal/erl"
)

// What the kinds of terms put in: multiples of the golden ratio, by which terms of equal bits and other kinds differ.
const (
	smallStart    = golden
	octetStart    = 4 * golden & (1<<32 - 1)
	atomStart     = 3 * golden & (1<<32 - 1)
	tupleStart    = 9 * golden & (1<<32 - 1)
	positiveStart = 11 * golden & (1<<32 - 1)
	negativeStart = 10 * golden & (1<<32 - 1)
	floatStart    = 12 * golden & (1<<32 - 1)

	// nilAlone is the hash of an empty list that is no part of another term.
	nilAlone = 3468870702

	// Integers of at most so many bits, their sign included, are hashed as one word, others as large integers.
	smallBits = 28
)

// Term returns erlang:phash2(term, 1 bsl 32), for atoms in ASCII, binaries, tuples, lists, integers as int64 or
// *big.Int, and float64. It panics for a term of another type.
func Term(term any) uint32 { return hash(term, 0) }

// hash puts a term into what the terms before it have come to. An atom and an empty list on their own, before which
// the hash is 0, are not mixed.
func hash(term any, h uint32) uint32 {
	switch term := term.(type) {
	case erl.Atom:
		if h == 0 {
			return atomHash(string(term))
		}
		return put(atomHash(string(term)), 0, atomStart, h)
	case erl.Binary:
		return binaryHash(string(term), h+binaryStart)
	case erl.Tuple:
		h = put(uint32(len(term)), 0, tupleStart, h)
		for _, element := range term {
			h = hash(element, h)
		}
		return h
	case erl.List:
		return listHash(term, h)
	case int64:
		return integerHash(term, h)
	case *big.Int:
		return bigHash(term, h)
	case float64:
		return floatHash(term, h)
	}
	panic(fmt.Sprintf("phash: no hash of a %T", term))
}

// put mixes two words into a hash, as a term of the kind that start stands for.
func put(x, y, start, h uint32) uint32 {
	_, _, h = mix(start+x, start+y, h)
	return h
}

// atomHash is hashpjw of an atom's name.
func atomHash(name string) (h uint32) {
	for _, octet := range []byte(name) {
		h = h<<4 + uint32(octet)
		if high := h & 0xf0000000; high != 0 {
			h ^= high>>24 | high
		}
	}
	return h
}

// listHash takes the octets that a list, or what is left of it, begins with four at a time, and then one other member.
func listHash(list erl.List, h uint32) uint32 {
	for len(list) > 0 {
		var octets []byte
		for len(list) > 0 && isOctet(list[0]) {
			octets, list = append(octets, byte(list[0].(int64))), list[1:]
		}
		h = octetsHash(octets, h)
		if len(list) > 0 {
			h, list = hash(list[0], h), list[1:]
		}
	}
	if h == 0 {
		return nilAlone
	}
	return put(nilTag, 0, listEnd, h)
}

func isOctet(term any) bool {
	n, ok := term.(int64)
	return ok && n >= 0 && n <= math.MaxUint8
}

func octetsHash(octets []byte, h uint32) uint32 {
	for len(octets) > 0 {
		n := min(len(octets), 4)
		word := uint32(0)
		for _, octet := range octets[:n] {
			word = word<<8 | uint32(octet)
		}
		h, octets = put(word, 0, octetStart, h), octets[n:]
	}
	return h
}

func integerHash(n int64, h uint32) uint32 {
	const limit = 1 << (smallBits - 1)
	switch {
	case n < -limit || n >= limit:
		return bigHash(big.NewInt(n), h)
	case n < 0:
		h = put(uint32(-n), 0, smallStart, h) // a negative number is put in twice
	}
	return put(uint32(n), 0, smallStart, h)
}

// bigHash takes 64 bits of the amount at a time, the lowest first.
func bigHash(n *big.Int, h uint32) uint32 {
	start := uint32(positiveStart)
	if n.Sign() < 0 {
		start = negativeStart
	}
	octets := new(big.Int).Abs(n).Bytes()
	for end := len(octets); end > 0; end -= 8 {
		var digit [8]byte
		part := octets[max(end-8, 0):end]
		copy(digit[8-len(part):], part)
		h = put(binary.BigEndian.Uint32(digit[4:]), binary.BigEndian.Uint32(digit[:]), start, h)
	}
	return h
}

// floatHash takes both zeros as one.
func floatHash(f float64, h uint32) uint32 {
	if f == 0 {
		f = 0
	}
	bits := math.Float64bits(f)
	return put(uint32(bits>>32), uint32(bits), floatStart, h)
}
