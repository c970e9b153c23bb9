// Policy shows an operator at work on running queues: a policy sends their dead letters to one
// place, then, changed, to another, and shortens the queues at once. Effective tells where each
// setting comes from. Nothing is declared again and no client notices.
package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/examples/internal/show"
)

func main() { show.Main(run) }

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

	if err := setPolicy(b, leveret.Table{
		"dead-letter-exchange": "dlx", "dead-letter-routing-key": "old.place",
	}); err != nil {
		return err
	}
	if err := reject(b, "orders.eu"); err != nil {
		return err
	}
	clock.Advance(time.Minute)
	if err := setPolicy(b, leveret.Table{
		"dead-letter-exchange": "dlx", "dead-letter-routing-key": "new.place", "max-length": 2,
	}); err != nil {
		return err
	}
	if err := reject(b, "orders.eu"); err != nil {
		return err
	}

	for _, name := range []string{"orders.eu", "orders.us"} {
		if err := explain(w, b, name); err != nil {
			return err
		}
	}
	for _, name := range []string{"old", "new"} {
		q, err := b.Queue(name)
		if err != nil {
			return err
		}
		show.Queue(w, q)
	}
	return nil
}

// declare makes two running queues, and two for dead letters. Only orders.us has been declared with
// an opinion: a longer limit, and a routing key for dead letters. An argument wins over a policy,
// but of two limits the smaller one is in force.
func declare(b *leveret.Broker) error {
	if _, err := b.DeclareExchange("dlx", leveret.Topic, leveret.ExchangeConfig{}); err != nil {
		return err
	}
	for name, args := range map[string]leveret.Table{
		"orders.eu": nil,
		"orders.us": {
			leveret.ArgDeadLetterExchange:   "dlx",
			leveret.ArgDeadLetterRoutingKey: "old.place",
			leveret.ArgMaxLength:            3,
		},
		"old": nil,
		"new": nil,
	} {
		if _, err := b.DeclareQueue(name, leveret.QueueConfig{Arguments: args}); err != nil {
			return err
		}
	}
	if err := b.BindQueue("old", "dlx", "old.*", nil); err != nil {
		return err
	}
	return b.BindQueue("new", "dlx", "new.*", nil)
}

func setPolicy(b *leveret.Broker, definition leveret.Table) error {
	return b.SetPolicy(leveret.Policy{
		Name: "orders", Pattern: `^orders\.`, ApplyTo: leveret.ApplyToQueues, Definition: definition,
	})
}

// reject takes a queue's head and rejects it.
func reject(b *leveret.Broker, name string) error {
	q, err := b.Queue(name)
	if err != nil {
		return err
	}
	d, ok, err := q.Get()
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%s is empty", name)
	}
	return d.Reject(false)
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
