package page

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/address"
)

// The move of a queue's messages to another queue of the broker, or to an exchange, which routes them like new ones.

// A destination is where messages are moved to.
type destination struct {
	vhost, name string
	exchange    bool
	key         string // for an exchange; empty: that of each message
}

// destination reads the form.
func (v *visit) destination() (destination, error) {
	vhost, name := v.vhostAndName()
	d := destination{vhost: vhost, name: v.field("to"), exchange: v.field("kind") == "exchange", key: v.field("key")}
	if v.request.PostForm.Has("tovhost") {
		d.vhost = v.field("tovhost")
	}
	switch {
	case d.name == "":
		return d, &Refusal{http.StatusBadRequest, "The name of the queue or exchange is missing."}
	case !d.exchange && d.vhost == vhost && d.name == name:
		return d, &Refusal{http.StatusBadRequest, "The messages are in this queue already."}
	}
	return d, nil
}

func (v *visit) move() act {
	to, err := v.destination()
	if err != nil {
		return failed(err)
	}
	t, err := v.transfer(to.vhost)
	if err != nil {
		return failed(refusalOf(err))
	}
	defer t.close()
	if to.exchange {
		t.address = to.publish
	} else {
		r, err := v.router(to.vhost)
		if err != nil {
			return failed(refusalOf(err))
		}
		defer r.Close()
		if !r.Has(to.name) {
			return failed(&Refusal{http.StatusNotFound, fmt.Sprintf("There is no queue '%s' in virtual host '%s'.", to.name, to.vhost)})
		}
		t.address = func(_ *leveret.Delivery, l address.Letter) (publication, error) { return intoQueue(r, to.name, l), nil }
	}
	moved, err := t.run(v.request.Context(), v.howMany(mostMoved))
	return t.told(moved, "moved", err)
}

// publish addresses a message to an exchange.
func (to destination) publish(_ *leveret.Delivery, l address.Letter) (publication, error) {
	return publication{exchange: to.name, key: cmp.Or(to.key, l.RoutingKey), properties: l.Properties, lost: l.Losses(),
		returned: fmt.Sprintf("exchange '%s' routes it to no queue.", to.name),
		refused:  fmt.Sprintf("a queue to which exchange '%s' routes it is full.", to.name)}, nil
}
