package blackbox_test

import (
	"fmt"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// An x-modulus-hash exchange chooses among the bindings that there are, whatever it has chosen among before. The choice is the same in
// each broker, whatever its seed.
func TestModulusHashFollowsItsBindings(t *testing.T) {
	spread := func(seed uint64) (shares [][2]int) {
		b, _ := newTestBroker(t, leveret.WithSeed(seed))
		x, err := b.DeclareExchange("x", leveret.ModulusHash, leveret.ExchangeConfig{})
		require.NoError(t, err)
		queues := [2]*leveret.Queue{mustDeclare(t, b, "a", nil), mustDeclare(t, b, "b", nil)}
		publish := func() (share [2]int) {
			for i := range 100 {
				_, err := x.Publish(fmt.Sprint("key ", i), leveret.Message{})
				require.NoError(t, err)
			}
			for i, q := range queues {
				share[i] = q.Info().Ready
				_, err := q.Purge()
				require.NoError(t, err)
			}
			return share
		}
		require.NoError(t, b.BindQueue("a", "x", "", nil))
		shares = append(shares, publish())
		require.NoError(t, b.BindQueue("b", "x", "", nil))
		shares = append(shares, publish())
		require.NoError(t, b.UnbindQueue("a", "x", "", nil))
		return append(shares, publish())
	}
	first := spread(1)
	require.Equal(t, [2]int{100, 0}, first[0])
	require.Equal(t, 100, first[1][0]+first[1][1])
	require.Greater(t, min(first[1][0], first[1][1]), 25)
	require.Equal(t, [2]int{0, 100}, first[2])
	require.Equal(t, first, spread(2))
}
