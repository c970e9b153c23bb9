package blackbox_test

import (
	"testing"
	"testing/synctest"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// Matching a name starts no goroutine, whatever the pattern and the script of the name: a bubble would not end
// before it.
func TestPatternsInsideSynctest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leveret.New()
		defer b.Close()
		for i, pattern := range []string{"größe", `^(?!amq\.)`, `(?<=ß)e$`, `^(.)(.)\1?`, `^gr(?>..)++`} {
			require.NoError(t, b.SetPolicy(leveret.Policy{Name: pattern, Pattern: pattern, Priority: float64(i),
				Definition: leveret.Table{"max-length": i}}))
		}
		conn, err := b.Connect("guest", "guest", "/")
		require.NoError(t, err)
		ch, err := conn.Channel()
		require.NoError(t, err)
		_, err = ch.DeclareQueue("größe", leveret.QueueConfig{})
		require.NoError(t, err)
		q, err := b.Queue("größe")
		require.NoError(t, err)
		require.Equal(t, `^gr(?>..)++`, q.Info().Policy)
	})
}

// A pattern that takes too long for one name is in force for the next.
func TestHardPatternStaysInForce(t *testing.T) {
	b, _ := newTestBroker(t)
	require.NoError(t, b.SetPolicy(leveret.Policy{Name: "p", Pattern: `^(a+)+\1$`,
		Definition: leveret.Table{"max-length": 1}}))
	hard := mustDeclare(t, b, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", nil)
	easy := mustDeclare(t, b, "aaa", nil)
	require.Empty(t, hard.Info().Policy)
	require.Equal(t, "p", easy.Info().Policy)
}
