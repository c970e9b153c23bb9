package leveret_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The default exchange is listed with the policy whose pattern its empty name has, as rabbitmqctl and the management API of
// 4.3.6 and 3.10.8 list it. It gets no alternate exchange of it: scenario exchange/alternate-policy.
func TestPolicyOfTheDefaultExchange(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		for pattern, want := range map[string]string{"": "p", ".*": "p", "^$": "p", "^amq": ""} {
			require.NoError(t, b.SetPolicy(leveret.Policy{Name: "p", Pattern: pattern, Definition: leveret.Table{"alternate-exchange": "amq.fanout"}}))
			x, err := b.Exchange("")
			require.NoError(t, err)
			assert.Equal(t, want, x.Info().Policy, "%s %q", profile, pattern)
		}
	}
}
