package move

import (
	"slices"
	"strings"
)

// A message comes into a queue of another broker by a publish only, and consumers see where it was published to. So there are
// several ways to address it, and the first one that leads to the queue and to nothing else is taken.

// A Loss is what a consumer at the target sees otherwise than at the source.
type Loss string

// The losses. docs/move.md tells of each.
const (
	LostExchange   Loss = "exchange"    // it is the default exchange
	LostRoutingKey Loss = "routing key" // it is the name of the queue
	LostCC         Loss = "CC"          // the header is not there
	LostUserID     Loss = "user-id"     // the property is not there
	Redelivered    Loss = "redelivered" // the flag is not set any more
	TimeToLive     Loss = "expiration"  // the time begins anew
	History        Loss = "x-death"     // the history is a client's header
)

// address returns the letter as it is to be published, so that it comes to its queue and to no other.
func (r *router) address(l Letter) (Letter, []Loss) {
	keyed := l
	keyed.Exchange = ""
	if !slices.Contains(r.byName(l), l.Queue) { // else the key leads there by itself
		keyed = keyed.withHeader("BCC", []any{l.Queue})
	}
	named := l
	named.Exchange, named.RoutingKey = "", l.Queue
	for _, way := range []struct {
		Letter
		lost []Loss
	}{
		{l, nil},
		{keyed, []Loss{LostExchange}},
		{named, []Loss{LostExchange, LostRoutingKey}},
	} {
		if way.Exchange == "" && strings.HasPrefix(way.RoutingKey, "amq.rabbitmq.") {
			continue // a reply to a client that waits for it
		}
		queues, known := r.route(way.Letter)
		if known && len(queues) == 1 && queues[0] == l.Queue {
			return way.Letter, lostFor(l, way.lost)
		}
	}
	return named.without("CC", "BCC"), lostFor(l, []Loss{LostExchange, LostRoutingKey, LostCC})
}

// lostFor leaves out what the letter never had.
func lostFor(l Letter, lost []Loss) []Loss {
	return slices.DeleteFunc(lost, func(what Loss) bool {
		return what == LostExchange && l.Exchange == "" || what == LostRoutingKey && l.RoutingKey == l.Queue || what == LostCC && !l.has("CC")
	})
}

// losses are those that do not depend on the way.
func (l Letter) losses() (all []Loss) {
	if l.Redelivered {
		all = append(all, Redelivered)
	}
	if l.Message.Expiration != "" {
		all = append(all, TimeToLive)
	}
	if l.has("x-death") {
		all = append(all, History)
	}
	return all
}
