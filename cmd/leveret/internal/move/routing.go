package move

import (
	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/address"
	amqp "github.com/rabbitmq/amqp091-go"
)

// What package address needs to know of the target and of a message, to find the way into a queue.

// topology lists what routes messages. Exclusive queues are among it, which definitions do not have. Bindings are asked for first:
// what is deleted meanwhile is missing among the others, and so is known to be gone.
func (b *Broker) topology() (t address.Topology, err error) {
	if err = b.get("bindings/"+b.segment(), &t.Bindings); err != nil {
		return t, err
	}
	queues, err := b.queues()
	if err != nil {
		return t, err
	}
	for _, q := range queues {
		t.Queues = append(t.Queues, q.Name)
	}
	if err = b.get("exchanges/"+b.segment()+"?disable_stats=true&columns=name,type,internal,arguments", &t.Exchanges); err != nil {
		return t, err
	}
	return t, b.get("policies/"+b.segment(), &t.Policies)
}

// routed is what package address looks at of a message.
func (l Letter) routed() address.Letter {
	return address.Letter{Exchange: l.Exchange, RoutingKey: l.RoutingKey, Redelivered: l.Redelivered,
		Properties: &leveret.Properties{Headers: leveretTable(l.Message.Headers), Expiration: l.Message.Expiration}}
}

// by returns the letter as it is published on its way.
func (l Letter) by(way address.Way) Letter {
	l.Exchange, l.RoutingKey = way.Exchange, way.RoutingKey
	switch {
	case way.Bare:
		return l.without(address.IsKeys)
	case way.BCC:
		return l.withHeader(address.BCC, []any{l.Queue})
	}
	return l
}

// leveretTable is the client's table with the types of the model.
func leveretTable(t amqp.Table) leveret.Table {
	if t == nil {
		return nil
	}
	to := make(leveret.Table, len(t))
	for name, of := range t {
		to[name] = leveretValue(of)
	}
	return to
}

func leveretValue(of any) any {
	switch x := of.(type) {
	case amqp.Table:
		return leveretTable(x)
	case amqp.Decimal:
		return leveret.Decimal{Scale: x.Scale, Value: x.Value}
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = leveretValue(x[i])
		}
		return list
	}
	return of
}
