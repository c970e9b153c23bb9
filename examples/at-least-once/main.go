// At-least-once shows the two strategies of a quorum queue for its dead letters when their target
// is full. The usual strategy tries once: a dead letter that is refused is lost. With at-least-once
// the queue keeps it until its target has taken it.
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
	for _, strategy := range []string{"at-most-once", "at-least-once"} {
		if err := try(w, strategy); err != nil {
			return err
		}
	}
	return nil
}

// try lets three messages expire into a queue that has room for two, and makes room a minute later.
func try(w io.Writer, strategy string) error {
	clock := leveret.NewManualClock(time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC))
	b := leveret.New(leveret.WithClock(clock), leveret.WithEvents(leveret.Events{
		Dropped: func(e leveret.DroppedEvent) {
			fmt.Fprintf(w, "%s  lost: %s, %s by %s\n", show.Clock(e.Time), e.Body, e.Cause, e.Target)
		},
	}))
	defer b.Close()

	fmt.Fprintln(w, strategy)
	source, target, err := declare(b, strategy)
	if err != nil {
		return err
	}
	for i := range 3 {
		body := fmt.Appendf(nil, "payment %d", i+1)
		if _, err := b.Publish("", source.Name(), leveret.Message{Body: body}); err != nil {
			return err
		}
	}
	report := func() {
		fmt.Fprintf(w, "%s  %s holds %d, %s holds %d\n", show.Clock(clock.Now()),
			source.Name(), source.Info().Messages, target.Name(), target.Info().Messages)
	}
	report()
	clock.Advance(time.Minute)
	report()

	for range 2 {
		d, ok, err := target.Get()
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%s is empty", target.Name())
		}
		fmt.Fprintf(w, "%s  collected: %s\n", show.Clock(clock.Now()), d.Body)
		if err := d.Ack(); err != nil {
			return err
		}
	}
	clock.Advance(10 * time.Minute)
	report()
	show.Queue(w, target)
	fmt.Fprintln(w)
	return nil
}

func declare(b *leveret.Broker, strategy string) (source, target *leveret.Queue, err error) {
	if _, err := b.DeclareExchange("dlx", leveret.Topic, leveret.ExchangeConfig{Durable: true}); err != nil {
		return nil, nil, err
	}
	source, err = b.DeclareQueue("payments", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{
		leveret.ArgQueueType:            "quorum",
		leveret.ArgMessageTTL:           5 * time.Second,
		leveret.ArgDeadLetterExchange:   "dlx",
		leveret.ArgDeadLetterRoutingKey: "late.payments",
		leveret.ArgDeadLetterStrategy:   strategy,
		leveret.ArgOverflow:             "reject-publish", // at-least-once requires it
	}})
	if err != nil {
		return nil, nil, err
	}
	target, err = b.DeclareQueue("late", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{
		leveret.ArgMaxLength: 2,
		leveret.ArgOverflow:  "reject-publish",
	}})
	if err != nil {
		return nil, nil, err
	}
	return source, target, b.BindQueue("late", "dlx", "late.#", nil)
}
