// Tour shows dead-lettering at a glance: messages overflow, are rejected and expire, and end up in
// the queue behind the dead-letter exchange, each with its history. It takes six seconds, but not
// of yours.
package main

import (
	"fmt"
	"io"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/examples/internal/show"
)

func main() { show.Main(run) }

func run(w io.Writer) error {
	clock := leveret.NewManualClock(time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC))
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()

	orders, dead, err := declare(b)
	if err != nil {
		return err
	}

	fmt.Fprintln(w, show.Clock(clock.Now()), "seven orders come in; the queue holds five")
	for i := range 7 {
		body := fmt.Appendf(nil, "order %d", i+1)
		if _, err := b.Publish("shop", "order.new", leveret.Message{Body: body}); err != nil {
			return err
		}
	}

	clock.Advance(time.Second)
	fmt.Fprintln(w, show.Clock(clock.Now()), "a consumer accepts one and rejects the next")
	accepted, _, err := orders.Get()
	if err != nil {
		return err
	}
	if err := accepted.Ack(); err != nil {
		return err
	}
	rejected, _, err := orders.Get()
	if err != nil {
		return err
	}
	if err := rejected.Reject(false); err != nil { // requeue=false
		return err
	}

	clock.Advance(5 * time.Second)
	fmt.Fprintln(w, show.Clock(clock.Now()), "nobody came for the others in time")
	fmt.Fprintln(w)
	show.Queue(w, orders)
	show.Queue(w, dead)
	return nil
}

// declare makes the topology:
//
//	shop --order.*--> orders (5 messages, 5 seconds) --dead.order--> graveyard --dead.*--> dead
func declare(b *leveret.Broker) (orders, dead *leveret.Queue, err error) {
	for _, topic := range []string{"shop", "graveyard"} {
		if _, err := b.DeclareExchange(topic, leveret.Topic, leveret.ExchangeConfig{}); err != nil {
			return nil, nil, err
		}
	}
	orders, err = b.DeclareQueue("orders", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgMaxLength:            5,
		leveret.ArgMessageTTL:           5 * time.Second,
		leveret.ArgDeadLetterExchange:   "graveyard",
		leveret.ArgDeadLetterRoutingKey: "dead.order",
	}})
	if err != nil {
		return nil, nil, err
	}
	dead, err = b.DeclareQueue("dead", leveret.QueueConfig{})
	if err != nil {
		return nil, nil, err
	}
	if err := b.BindQueue("orders", "shop", "order.*", nil); err != nil {
		return nil, nil, err
	}
	return orders, dead, b.BindQueue("dead", "graveyard", "dead.*", nil)
}
