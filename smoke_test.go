package leveret_test

import (
	"context"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
)

func TestSmoke(t *testing.T) {
	clk := leveret.NewManualClock(time.Unix(1_700_000_000, 0))
	b := leveret.New(leveret.WithClock(clk))
	defer b.Close()
	_, err := b.DeclareExchange("dlx", leveret.Topic, leveret.ExchangeConfig{Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	q, err := b.DeclareQueue("work", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgDeadLetterExchange: "dlx", leveret.ArgMessageTTL: 5 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	parked, err := b.DeclareQueue("parked", leveret.QueueConfig{})
	if err := b.BindQueue("parked", "dlx", "#", nil); err != nil {
		t.Fatal(err)
	}
	err = b.SetPolicy(leveret.Policy{Name: "limit", Pattern: "^work", ApplyTo: leveret.ApplyToQueues,
		Definition: leveret.Table{"max-length": 10_000, "overflow": "reject-publish"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		out, err := b.Publish("", "work", leveret.Message{Body: []byte("x"), Properties: &leveret.Properties{Expiration: "9000", Headers: leveret.Table{"CC": []string{"zz"}}}})
		if err != nil || out.Queues != 1 {
			t.Fatal(out, err)
		}
	}
	d, ok, err := q.Get()
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	d.Reject(false)
	at, ok := b.NextDeadline()
	t.Log(at, ok)
	clk.Advance(5 * time.Second)
	at, ok = b.NextDeadline()
	t.Log(at, ok)
	t.Logf("%+v", parked.Info())
	if err := b.Check(); err != nil {
		t.Fatal(err)
	}
	c, err := parked.Consume(leveret.ConsumeConfig{Prefetch: 2})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for d := range c.Deliveries(context.Background()) {
		t.Logf("%+v %v", d.Deaths(), d.Headers)
		d.Ack()
		if n++; n == 3 {
			break
		}
	}
	t.Logf("%+v", q.Effective())
	if err := b.Check(); err != nil {
		t.Fatal(err)
	}
}
