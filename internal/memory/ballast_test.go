package memory

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// heapGoal is the size of the heap, in bytes, at which the next collection ends.
func heapGoal() uint64 {
	runtime.GC()
	s := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// defaultCollector has the collector as it is without GOGC and GOMEMLIMIT, whatever the environment of the test is.
func defaultCollector(t *testing.T) {
	t.Setenv("GOGC", "")
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(math.MaxInt64)
	t.Cleanup(func() {
		ballast = nil
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}

func TestBallastPutsCollectionsOff(t *testing.T) {
	defaultCollector(t)
	TakeBallast()
	require.GreaterOrEqual(t, heapGoal(), uint64(2*ballastSize))
}

func TestBallastIsNotTakenFromAUsersLimits(t *testing.T) {
	t.Run("GOGC", func(t *testing.T) {
		defaultCollector(t)
		t.Setenv("GOGC", "100")
		TakeBallast()
		require.Nil(t, ballast)
	})
	t.Run("GOMEMLIMIT", func(t *testing.T) {
		defaultCollector(t)
		debug.SetMemoryLimit(1 << 30)
		TakeBallast()
		require.Nil(t, ballast)
	})
}

// Memory that is never touched is not memory that is used, nor is what the collector has freed.
func TestUse(t *testing.T) {
	defaultCollector(t)
	runtime.GC()
	before := InUse()
	assert.Less(t, before, int64(ballastSize))
	TakeBallast()
	assert.InDelta(t, before, InUse(), 8<<20)
	held := make([]byte, 64<<20)
	assert.InDelta(t, before+64<<20, InUse(), 8<<20)
	runtime.KeepAlive(held)
	held = nil
	runtime.GC()
	assert.InDelta(t, before, InUse(), 8<<20)
}
