// Max-length shows a queue that holds five messages and drops from its head, the oldest first, to
// make room for new ones. What it drops goes to its dead-letter exchange.
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
	latest, err := b.DeclareQueue("latest", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgMaxLength:            5,
		leveret.ArgDeadLetterExchange:   "dlx",
		leveret.ArgDeadLetterRoutingKey: "latest.dropped",
	}})
	if err != nil {
		return err
	}
	archive, err := b.DeclareQueue("archive", leveret.QueueConfig{})
	if err != nil {
		return err
	}
	if err := b.BindQueue("archive", "dlx", "latest.*", nil); err != nil {
		return err
	}

	for i := range 8 {
		body := fmt.Appendf(nil, "reading %d", i+1)
		if _, err := b.Publish("", "latest", leveret.Message{Body: body}); err != nil {
			return err
		}
		clock.Advance(time.Second)
	}

	show.Queue(w, latest)
	show.Queue(w, archive)
	return nil
}
