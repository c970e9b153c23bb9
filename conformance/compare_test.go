package conformance

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

// A run that was too slow is not taken for one that showed no difference: the program is tried again.
func TestSlowRunsAreTriedAgain(t *testing.T) {
	script, err := scenario.Parse("slow", "declare queue q x-message-ttl=1000\ncount q -> q=5\n")
	if err != nil {
		t.Fatal(err)
	}
	slow := side{open: func() (scenario.Driver, error) { return Listener(leveret.RabbitMQ43) }, tries: 1,
		late: func() bool { return true }}
	if slow.differs(script) == nil {
		t.Error("a difference is excused")
	}
	if !slow.tooLate(script) {
		t.Error("nothing says that the run was slow")
	}
}
