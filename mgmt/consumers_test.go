package mgmt_test

import (
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A consumer is shown with the timeout of its queue or of the node, not with its own: so does RabbitMQ 4.3.6, also for classic queues.
func TestConsumerTimeoutShown(t *testing.T) {
	b := leveret.New(leveret.WithConsumerTimeout(time.Minute))
	defer b.Close()
	policy := leveret.Policy{Name: "p", Pattern: "^(low|classic)$", Definition: leveret.Table{"consumer-timeout": int64(7000)}}
	require.NoError(t, b.SetPolicy(policy))
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	own := leveret.Table{leveret.ArgConsumerTimeout: int64(5000)}
	for name, arguments := range map[string]leveret.Table{
		"classic": {}, "none": {leveret.ArgQueueType: "quorum"}, "low": {leveret.ArgQueueType: "quorum", leveret.ArgConsumerTimeout: int64(8000)},
		"high": {leveret.ArgQueueType: "quorum", leveret.ArgConsumerTimeout: int64(9000)},
	} {
		_, err = ch.DeclareQueue(name, leveret.QueueConfig{Durable: true, Arguments: arguments})
		require.NoError(t, err)
		cfg := leveret.ConsumeConfig{Tag: name}
		if name != "classic" {
			cfg.Arguments = own
		}
		_, err = ch.Consume(name, cfg)
		require.NoError(t, err)
	}
	list := direct{t, mgmt.Handler(b)}.at("consumers?sort=consumer_tag").([]any)
	assert.Equal(t, []any{7000.0, 9000.0, 7000.0, 60000.0}, values(list, "consumer_timeout"))
}
