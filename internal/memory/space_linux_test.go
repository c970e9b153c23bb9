package memory

import (
	"math"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAddressSpace limits the address space of this process. The limit is more than a processor can address, so the process does not reach
// the limit.
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
