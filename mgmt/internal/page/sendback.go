package page

import (
	"fmt"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/address"
)

// The way back of dead letters: each goes to the queue in which it died last, with the exchange and the routing key that
// it had there, as far as they lead to that queue alone.

func (v *visit) sendBack() act {
	vhost, _ := v.vhostAndName()
	t, err := v.transfer(vhost)
	if err != nil {
		return failed(refusalOf(err))
	}
	defer t.close()
	r, err := v.router(vhost)
	if err != nil {
		return failed(refusalOf(err))
	}
	defer r.Close()
	keep := v.field("keep") != ""
	t.address = func(d *leveret.Delivery, l address.Letter) (publication, error) { return back(r, d, l, keep) }
	sent, err := t.run(v.request.Context(), v.howMany(mostMoved))
	return t.told(sent, "sent back", err)
}

// back addresses a dead letter to where it died, with its history or without.
func back(r *address.Router, d *leveret.Delivery, l address.Letter, keep bool) (publication, error) {
	died, ok := lastDeath(d)
	if !ok {
		return publication{}, &obstacle{"it has not died."}
	}
	if !r.Has(died.Queue) {
		return publication{}, &obstacle{fmt.Sprintf("there is no queue '%s' any more.", died.Queue)}
	}
	l.Exchange, l.RoutingKey = died.Exchange, died.RoutingKeys[0]
	if !keep {
		l.Properties = address.Without(l.Properties, address.IsHistory)
	}
	return intoQueue(r, died.Queue, l), nil
}

// lastDeath reads the first entry of x-death, from the broker or from a client: a message that was moved has its history
// as a client's header. There is a routing key in any case.
func lastDeath(d *leveret.Delivery) (last leveret.Death, ok bool) {
	history, _ := d.Headers["x-death"].([]any)
	if len(history) == 0 {
		return last, false
	}
	entry, _ := history[0].(leveret.Table)
	last.Queue, ok = entry["queue"].(string)
	last.Exchange, _ = entry["exchange"].(string)
	last.RoutingKeys = []string{last.Queue}
	if keys, _ := entry["routing-keys"].([]any); len(keys) > 0 {
		if key, isText := keys[0].(string); isText {
			last.RoutingKeys[0] = key
		}
	}
	return last, ok
}
