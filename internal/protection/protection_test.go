package protection_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/protection"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProtection(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	v, err := b.VHost("/")
	require.NoError(t, err)
	of := func() []bool {
		on, set := protection.Of(v)
		return []bool{on, set}
	}
	assert.Equal(t, []bool{false, false}, of())
	protection.Set(v, true)
	assert.Equal(t, []bool{true, true}, of())
	protection.Set(v, false)
	assert.Equal(t, []bool{false, true}, of())
	protection.Forget(v)
	assert.Equal(t, []bool{false, false}, of())
}
