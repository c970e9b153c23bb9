// Package activity says whether consumers are served, in RabbitMQ's words.
package activity

import "github.com/leveretmq/leveret"

// Of returns what RabbitMQ calls a consumer that can get messages (up), one for which there were more than it may hold (blocked), and, of a
// queue that has one at a time, the one (single_active) and those that wait for it to end (waiting). A quorum queue does not tell the first
// two apart, and neither does 3.10. One that was too slow has two words.
func Of(c leveret.ConsumerInfo, q leveret.QueueInfo, p leveret.Profile) []string {
	switch {
	case !c.Active:
		return []string{"waiting"}
	case c.TimedOut:
		return []string{"timeout", "up"}
	case q.SingleActive != "":
		return []string{"single_active"}
	case q.Type == leveret.QueueTypeClassic && c.Blocked && p == leveret.RabbitMQ43:
		return []string{"blocked"}
	}
	return []string{"up"}
}
