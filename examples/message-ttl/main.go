// Message-ttl shows messages that outlive their time in a queue, 5 seconds here, on a virtual
// clock. It also shows what surprises people: a queue looks at its head only, so a message with a
// shorter time of its own waits for those before it.
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

	if _, err := b.DeclareExchange("dlx", leveret.Topic, leveret.ExchangeConfig{}); err != nil {
		return err
	}
	offers, err := b.DeclareQueue("offers", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgMessageTTL:           5 * time.Second,
		leveret.ArgDeadLetterExchange:   "dlx",
		leveret.ArgDeadLetterRoutingKey: "offers.expired",
	}})
	if err != nil {
		return err
	}
	expired, err := b.DeclareQueue("expired", leveret.QueueConfig{})
	if err != nil {
		return err
	}
	if err := b.BindQueue("expired", "dlx", "#.expired", nil); err != nil {
		return err
	}

	for _, m := range []leveret.Message{
		{Body: []byte("two seconds"), Properties: &leveret.Properties{Expiration: "2000"}}, // milliseconds
		{Body: []byte("the queue's five")},
		{Body: []byte("one second"), Properties: &leveret.Properties{Expiration: "1000"}},
	} {
		if _, err := b.Publish("", "offers", m); err != nil {
			return err
		}
	}
	for {
		at, ok := b.NextDeadline()
		if !ok {
			break
		}
		clock.Advance(at.Sub(clock.Now()))
		fmt.Fprintf(w, "%s  %d still on offer\n", show.Clock(clock.Now()), offers.Info().Ready)
	}

	fmt.Fprintln(w)
	show.Queue(w, expired)
	return nil
}
