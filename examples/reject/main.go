// Reject shows what becomes of a message that a consumer rejects: it goes to the dead-letter
// exchange of its queue, under the routing key that the queue gives its dead letters.
package main

import (
	"fmt"
	"io"
	"strings"
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
	work, err := b.DeclareQueue("work", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgDeadLetterExchange:   "dlx",
		leveret.ArgDeadLetterRoutingKey: "work.rejected",
	}})
	if err != nil {
		return err
	}
	rejects, err := b.DeclareQueue("rejects", leveret.QueueConfig{})
	if err != nil {
		return err
	}
	if err := b.BindQueue("rejects", "dlx", "*.rejected", nil); err != nil {
		return err
	}

	// A handler is called with each message as soon as it is there. A program with goroutines of
	// its own would range over the consumer's Deliveries instead.
	_, err = work.Consume(leveret.ConsumeConfig{Handler: func(d *leveret.Delivery) {
		if strings.HasPrefix(string(d.Body), "bad") {
			fmt.Fprintf(w, "rejecting %q\n", d.Body)
			d.Reject(false) // requeue=false
			return
		}
		fmt.Fprintf(w, "accepting %q\n", d.Body)
		d.Ack()
	}})
	if err != nil {
		return err
	}
	for _, body := range []string{"good", "bad", "better", "bad too"} {
		if _, err := b.Publish("", "work", leveret.Message{Body: []byte(body)}); err != nil {
			return err
		}
		clock.Advance(time.Second)
	}

	fmt.Fprintln(w)
	show.Queue(w, work)
	show.Queue(w, rejects)
	return nil
}
