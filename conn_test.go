package leveret_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// A connection that asks for no number of channels may have 2047. A real broker shows the number when it negotiates.
func TestDefaultChannelMax(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	c, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	for range 2047 {
		_, err := c.Channel()
		require.NoError(t, err)
	}
	_, err = c.Channel()
	require.ErrorIs(t, err, leveret.ErrNotAllowed)
}
