package leveret

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAlarmOfLimitThatIsGone demands that an operation that has found the limit exceeded does not raise the alarm when the
// limit has been removed meanwhile: nothing would clear it for a quarter of a second.
func TestAlarmOfLimitThatIsGone(t *testing.T) {
	b := New()
	defer b.Close()
	c, err := b.Open(ConnConfig{VHost: "/", User: "guest"})
	require.NoError(t, err)
	b.SetMemoryLimit(-1)
	require.True(t, c.Blocked())
	b.SetMemoryLimit(0)
	b.setAlarm(true) // of an operation that looked before
	require.False(t, b.Memory().Alarm)
	require.False(t, c.Blocked())
}
