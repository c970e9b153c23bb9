package mgmt_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The state of a queue without statistics is live in 3.10, but in a list with totals.
func TestStateWithoutStatistics(t *testing.T) {
	for profile, want := range map[leveret.Profile][]any{leveret.RabbitMQ43: {"running", "running", "running", "running"},
		leveret.RabbitMQ310: {"live", "running", "live", "live"}} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		_, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
		require.NoError(t, err)
		api := direct{t, mgmt.Handler(b)}
		var states []any
		for _, path := range []string{"queues/%2F", "queues/%2F/q"} {
			for _, totals := range []string{"", "&enable_queue_totals=true"} {
				answer := api.at(path + "?disable_stats=true" + totals)
				if list, isList := answer.([]any); isList {
					answer = list[0]
				}
				states = append(states, answer.(map[string]any)["state"])
			}
		}
		assert.Equal(t, want, states, profile.Version())
	}
}

// A virtual host without queues tells what its connections have received and sent.
func TestOctetsOfAVirtualHostWithoutQueues(t *testing.T) {
	_, api, url := newAPI(t)
	assert.NotContains(t, api.object("vhosts/%2F"), "recv_oct")
	dial(t, url, "", "client")
	v := api.object("vhosts/%2F")
	assert.Contains(t, v, "recv_oct")
	assert.Contains(t, v, "send_oct")
	assert.NotContains(t, v, "messages")
}
