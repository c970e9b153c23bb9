// Policy shows an operator at work on running queues: a policy gives them a dead-letter exchange, another limits them at
// once, and Effective tells where each setting comes from. Nothing is declared again and no client notices.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"text/tabwriter"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/examples/internal/show"
)

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	clock := leveret.NewManualClock(time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC))
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()

	if err := declare(b); err != nil {
		return err
	}
	for i := range 4 {
		for _, q := range []string{"orders.eu", "orders.us"} {
			body := fmt.Appendf(nil, "%s %d", q[len("orders."):], i+1)
			if _, err := b.Publish("", q, leveret.Message{Body: body}); err != nil {
				return err
			}
		}
	}

	// Queues that say themselves where their dead letters go keep to it: an argument wins over a policy.
	// A limit set by both is the smaller one.
	err := b.SetPolicy(leveret.Policy{
		Name: "orders", Pattern: `^orders\.`, ApplyTo: leveret.ApplyToQueues,
		Definition: leveret.Table{
			"dead-letter-exchange":    "dlx",
			"dead-letter-routing-key": "by.policy",
			"max-length":              2,
		},
	})
	if err != nil {
		return err
	}
	for _, name := range []string{"orders.eu", "orders.us"} {
		if err := explain(w, b, name); err != nil {
			return err
		}
	}
	dead, err := b.Queue("dead")
	if err != nil {
		return err
	}
	show.Queue(w, dead)
	return nil
}

// declare makes two running queues and the queue for their dead letters. Only orders.us has been
// declared with an opinion about dead letters.
func declare(b *leveret.Broker) error {
	if _, err := b.DeclareExchange("dlx", leveret.Topic, leveret.ExchangeConfig{}); err != nil {
		return err
	}
	if _, err := b.DeclareQueue("orders.eu", leveret.QueueConfig{}); err != nil {
		return err
	}
	_, err := b.DeclareQueue("orders.us", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgDeadLetterExchange:   "dlx",
		leveret.ArgDeadLetterRoutingKey: "by.argument",
		leveret.ArgMaxLength:            3,
	}})
	if err != nil {
		return err
	}
	if _, err := b.DeclareQueue("dead", leveret.QueueConfig{}); err != nil {
		return err
	}
	return b.BindQueue("dead", "dlx", "by.*", nil)
}

// explain prints what is in force for a queue, and why.
func explain(w io.Writer, b *leveret.Broker, name string) error {
	q, err := b.Queue(name)
	if err != nil {
		return err
	}
	effective := q.Effective()
	fmt.Fprintf(w, "%s under policy %q, %d waiting\n", name, effective.Policy, q.Info().Ready)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range effective.Settings {
		if s.Source != leveret.SourceDefault {
			fmt.Fprintf(t, "  %s\t%v\t%s\n", s.Key, s.Value, s.Source)
		}
	}
	return t.Flush()
}
