// Retry shows exponential backoff and a parking lot, made of nothing but queues: a rejected job
// waits 1 s, then 2 s, then 4 s, and is parked when its fourth attempt fails too. The number of the
// attempt is in the routing key, so the consumer has nothing to do but reject, and the whole
// history is in the message.
package main

import (
	"fmt"
	"io"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/examples/internal/show"
)

func main() { show.Main(run) }

const attempts = 4

func run(w io.Writer) error {
	clock := leveret.NewManualClock(time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC))
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()

	if err := declare(b); err != nil {
		return err
	}
	work, err := b.Queue("work")
	if err != nil {
		return err
	}
	_, err = work.Consume(leveret.ConsumeConfig{Handler: func(d *leveret.Delivery) {
		fmt.Fprintf(w, "%s  %-8s %-6s ", show.Clock(clock.Now()), d.Body, d.RoutingKey)
		if string(d.Body) == "flaky" && d.RoutingKey == "try.3" {
			fmt.Fprintln(w, "done")
			d.Ack()
			return
		}
		fmt.Fprintln(w, "failed")
		d.Reject(false)
	}})
	if err != nil {
		return err
	}

	for _, job := range []string{"flaky", "hopeless"} {
		if _, err := b.Publish("jobs", "try.1", leveret.Message{Body: []byte(job)}); err != nil {
			return err
		}
	}
	clock.Advance(time.Minute)

	parked, err := b.Queue("parking-lot")
	if err != nil {
		return err
	}
	fmt.Fprintln(w)
	show.Queue(w, parked)
	return nil
}

// declare makes the topology. A rejected job keeps its routing key, so the exchange backoff sends
// it to the waiting room of its attempt, and that sends it back as the next attempt:
//
//	jobs --try.*--> work --rejected--> backoff --try.1--> wait.1s --expired, try.2--> jobs
//	                                           --try.2--> wait.2s --expired, try.3--> jobs
//	                                           --try.3--> wait.4s --expired, try.4--> jobs
//	                                           --try.4--> parking-lot
func declare(b *leveret.Broker) error {
	for _, topic := range []string{"jobs", "backoff"} {
		if _, err := b.DeclareExchange(topic, leveret.Topic, leveret.ExchangeConfig{}); err != nil {
			return err
		}
	}
	err := queue(b, "work", "jobs", "try.*", leveret.Table{leveret.ArgDeadLetterExchange: "backoff"})
	if err != nil {
		return err
	}
	for n := 1; n < attempts; n++ {
		wait := time.Second << (n - 1)
		err := queue(b, "wait."+wait.String(), "backoff", key(n), leveret.Table{
			leveret.ArgMessageTTL:           wait,
			leveret.ArgDeadLetterExchange:   "jobs",
			leveret.ArgDeadLetterRoutingKey: key(n + 1),
		})
		if err != nil {
			return err
		}
	}
	return queue(b, "parking-lot", "backoff", key(attempts), nil)
}

func key(attempt int) string { return fmt.Sprintf("try.%d", attempt) }

func queue(b *leveret.Broker, name, source, key string, args leveret.Table) error {
	if _, err := b.DeclareQueue(name, leveret.QueueConfig{Arguments: args}); err != nil {
		return err
	}
	return b.BindQueue(name, source, key, nil)
}
