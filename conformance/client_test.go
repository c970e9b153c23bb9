package conformance

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// The tap knows that the broker has closed the connection before the client has told of a cancelled consumer.
func TestLastCancellationsAreAwaited(t *testing.T) {
	tap := newTap(nil)
	tap.closed[0] = &leveret.Error{Code: leveret.ConnectionForced, Connection: true}
	ch := &channel{conn: &conn{tap: tap}, toldAll: make(chan struct{})}
	tags := make(chan string, 1)
	tags <- "late"
	close(tags)
	go ch.cancellations(tags)
	events := ch.Take()
	require.Len(t, events, 1)
	require.Equal(t, "late", events[0].Cancelled)
}
