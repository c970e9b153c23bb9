package leveret

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTopicKeysWithManyHashWords(t *testing.T) {
	for key, want := range map[string]string{
		"":            "",
		"#.#":         "",
		"a.#.b.#":     "",
		"#a.#b.#c.##": "",
		"#.#.#":       "Topic binding key '#.#.#' uses 3 '#' wildcards, at most 2 are allowed",
		"#.a.#.#.#.b": "Topic binding key '#.a.#.#.#.b' uses 4 '#' wildcards, at most 2 are allowed",
		"#.##.#.a#":   "",
	} {
		err := validateTopicKey(key, RabbitMQ43.rules())
		if want == "" {
			require.Nil(t, err, key)
		} else {
			require.NotNil(t, err, key)
			require.Equal(t, PreconditionFailed, err.Code)
			require.Equal(t, want, err.Reason)
		}
		require.Nil(t, validateTopicKey(key, RabbitMQ310.rules()), key)
	}
}
