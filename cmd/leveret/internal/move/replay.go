package move

import (
	"slices"

	"github.com/leveretmq/leveret/internal/address"
	amqp "github.com/rabbitmq/amqp091-go"
)

// A Replay says which dead letters go back to where they died, and how.
type Replay struct {
	DiedIn Filter   // queues
	Reason []string // empty: any
	Forget bool     // their history is taken off
}

// Pass addresses a dead letter to the queue in which it died last, as it was published then, and reports whether it is one of
// those that go back. It is for [Job.Pass].
func (r Replay) Pass(l Letter) (Letter, bool) {
	history, _ := l.Message.Headers["x-death"].([]any)
	if len(history) == 0 {
		return l, false
	}
	death, _ := history[0].(amqp.Table)
	queue, _ := death["queue"].(string)
	reason, _ := death["reason"].(string)
	if queue == "" || !r.DiedIn.Match(queue) || len(r.Reason) > 0 && !slices.Contains(r.Reason, reason) {
		return l, false
	}
	l.Queue = queue
	l.Exchange, _ = death["exchange"].(string)
	l.RoutingKey = queue
	if keys, _ := death["routing-keys"].([]any); len(keys) > 0 {
		l.RoutingKey, _ = keys[0].(string)
	}
	if r.Forget {
		l = l.without(address.IsHistory)
	}
	return l, true
}
