package conformance

import (
	"testing"

	"github.com/leveretmq/leveret"
)

// A message that two queues have delivered to one channel is not settled by its name, also after the refusal of another connection.
func TestNothingIsSettledThatAnyQueueDelivered(t *testing.T) {
	g := newProgram(leveret.RabbitMQ43, "")
	defer g.end()
	for _, s := range []string{
		"declare exchange x fanout", "@t declare queue a", "@t declare queue c", "@t bind a x/k", "@t bind c x/k",
		"@k2 consume a k2_1", "@k2 consume c k2_2", "@p publish x/k m",
		"connect far vhost=/2",
	} {
		if _, ok := g.add("%s", s); !ok {
			t.Fatalf("%s: left out (%s)", s, g.fell)
		}
	}
	if _, ok := g.add("@k2 reject m discard"); ok {
		t.Error("a message was settled that could be either queue's")
	}
}
