package leveret

import "math/bits"

// channelNumbers are the numbers of a connection's open channels, a bit for each. With a look at one number after the other
// BenchmarkCurves/channels has the exponent 2.3.
type channelNumbers []uint64

func (s *channelNumbers) add(n uint16) {
	for int(n/64) >= len(*s) {
		*s = append(*s, 0)
	}
	(*s)[n/64] |= 1 << (n % 64)
}

func (s channelNumbers) remove(n uint16) { s[n/64] &^= 1 << (n % 64) }

// lowestFree returns the lowest number that no channel has. It is 0, which no client's channel has, if all are taken.
func (s channelNumbers) lowestFree() uint16 {
	taken := uint64(1) // the number 0
	for i, word := range s {
		if free := ^(word | taken); free != 0 {
			return uint16(i*64 + bits.TrailingZeros64(free))
		}
		taken = 0
	}
	return uint16(max(len(s)*64, 1))
}
