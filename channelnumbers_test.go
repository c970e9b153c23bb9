package leveret

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLowestFreeChannelNumber(t *testing.T) {
	var numbers channelNumbers
	taken := map[uint16]bool{}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		n := uint16(1 + r.IntN(300))
		if taken[n] {
			numbers.remove(n)
		} else {
			numbers.add(n)
		}
		taken[n] = !taken[n]
		lowest := uint16(1)
		for taken[lowest] {
			lowest++
		}
		require.Equal(t, lowest, numbers.lowestFree())
		if r.IntN(2) == 0 { // so that there are long runs without a gap
			numbers.add(lowest)
			taken[lowest] = true
		}
	}
	for n := range uint16(maxChannelNumber) {
		numbers.add(n + 1)
	}
	require.Zero(t, numbers.lowestFree(), "all are taken")
}
