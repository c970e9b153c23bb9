package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/require"
)

// heapGoal is the size of the heap, in bytes, at which the next collection ends.
func heapGoal() uint64 {
	runtime.GC()
	s := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func TestBallastPutsCollectionsOff(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Cleanup(func() { ballast = nil })
	takeBallast()
	require.GreaterOrEqual(t, heapGoal(), uint64(2*ballastSize))
}

func TestBallastIsNotTakenFromAUsersLimits(t *testing.T) {
	t.Run("GOGC", func(t *testing.T) {
		t.Setenv("GOGC", "100")
		takeBallast()
		require.Nil(t, ballast)
	})
	t.Run("GOMEMLIMIT", func(t *testing.T) {
		t.Setenv("GOGC", "")
		old := debug.SetMemoryLimit(1 << 30)
		t.Cleanup(func() { debug.SetMemoryLimit(old) })
		takeBallast()
		require.Nil(t, ballast)
	})
}
