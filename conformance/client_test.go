package conformance

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// The client of a connection that was closed passes a cancellation on a little later than it knows of the close.
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
