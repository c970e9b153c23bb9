package memory

import (
	"math"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The limit is more than any processor can address, so that nothing in this process reaches it.
func TestAddressSpace(t *testing.T) {
	const limit = 1 << 60
	var was syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_AS, &was))
	if was.Max < limit {
		t.Skip("the process may not set such a limit: its hard limit is", was.Max)
	}
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: limit, Max: was.Max}))
	defer func() { assert.NoError(t, syscall.Setrlimit(syscall.RLIMIT_AS, &was)) }()
	assert.EqualValues(t, limit, addressSpace(math.MaxInt64))
	assert.EqualValues(t, 1<<40, addressSpace(1<<40), "the machine has less")
}
