package ctl

import (
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The names of ranges and the formats are those that rabbitmq-diagnostics 4.3.6 printed.
func TestMessageSizeStats(t *testing.T) {
	n := listening(t)
	for _, size := range []int{1, 100, 101, 2000} {
		_, err := n.Broker.Publish("", "nowhere", leveret.Message{Body: make([]byte, size)})
		require.NoError(t, err)
	}
	assert.Equal(t, strings.Join([]string{"below 100B\t2\t50.00", "between 100B and 1KB\t1\t25.00", "between 1KB and 10KB\t1\t25.00",
		"between 10KB and 100KB\t0\t0.00", "between 100KB and 1MB\t0\t0.00", "between 1MB and 10MB\t0\t0.00", "between 10MB and 50MB\t0\t0.00",
		"between 50MB and 100MB\t0\t0.00", "above 100MB\t0\t0.00", ""}, "\n"), answerOf(n, "message_size_stats -s --formatter table").Stdout)
	assert.Contains(t, answerOf(n, "message_size_stats --formatter json").Stdout, `,{"Message Size":"between 100B and 1KB","Count":1,"Percentage":"25.00"}`)
	pretty := answerOf(n, "message_size_stats").Stdout
	assert.True(t, strings.HasPrefix(pretty, "Gathering message size statistics across the cluster using node n@h ...\n\x1b(0l"), pretty)
	assert.Contains(t, pretty, "\x1b[1mMessage Size\x1b[0m")
	assert.Equal(t, 64, answerOf(n, "message_size_stats extra").Status)
}
