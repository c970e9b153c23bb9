package blackbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// What basic.get took and is late at one instant comes back in the order of the delivery tags as texts. On RabbitMQ 4.3 each message is
// late at its own instant, so a scenario cannot show this: of twelve messages the last ten came back as 10, 11, 12, 3, 4 and so on. // D-5
func TestLateGetsComeBackByTheirTags(t *testing.T) {
	b, clock := newTestBroker(t)
	q := mustDeclare(t, b, "q", leveret.Table{"x-queue-type": "quorum", "x-consumer-timeout": 1000})
	ch := mustChannel(t, b)
	for i := range 12 {
		mustPublish(t, b, "q", fmt.Sprint(i+1), "")
	}
	for range 12 {
		_, ok, err := ch.Get("q", leveret.GetConfig{})
		require.NoError(t, err)
		require.True(t, ok)
	}
	clock.Advance(2 * time.Second)
	var bodies []string
	for range 12 {
		d, ok, err := q.Get()
		require.NoError(t, err)
		require.True(t, ok)
		bodies = append(bodies, string(d.Body))
		require.NoError(t, d.Ack())
	}
	require.Equal(t, []string{"1", "10", "11", "12", "2", "3", "4", "5", "6", "7", "8", "9"}, bodies)
}
