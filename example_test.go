package leveret_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/leveretmq/leveret"
)

// The manual: what people do with a broker, one page each. The other operations have their examples in
// example_NOUN_test.go.

// try and check keep the examples short; a program handles its errors.
func try[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// taken is try for what a Get returns.
func taken(d *leveret.Delivery, ok bool, err error) *leveret.Delivery {
	check(err)
	if !ok {
		panic("the queue is empty")
	}
	return d
}

// noon is when examples with a clock of their own begin.
var noon = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

// A message that is rejected goes to the dead-letter exchange of its queue, with its history.
func Example() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareExchange("dlx", leveret.Topic, leveret.ExchangeConfig{}))
	work := try(b.DeclareQueue("work", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgDeadLetterExchange:   "dlx",
		leveret.ArgDeadLetterRoutingKey: "work.failed",
	}}))
	failed := try(b.DeclareQueue("failed", leveret.QueueConfig{}))
	check(b.BindQueue("failed", "dlx", "*.failed", nil))

	try(b.Publish("", "work", leveret.Message{Body: []byte("job")}))
	d := taken(work.Get())
	check(d.Reject(false))

	d = taken(failed.Get())
	for _, death := range d.Deaths() {
		fmt.Printf("%s came by %s: %s in %s, %d time(s)\n", d.Body, d.RoutingKey, death.Reason, death.Queue, death.Count)
	}
	check(d.Ack())
	// Output: job came by work.failed: rejected in work, 1 time(s)
}

// Inside a testing/synctest bubble the real clock is virtual, so nothing has to be set. Elsewhere
// a ManualClock does the same.
func Example_virtualTime() {
	clock := leveret.NewManualClock(noon)
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()

	q := try(b.DeclareQueue("offers", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgMessageTTL: time.Hour,
	}}))
	try(b.Publish("", "offers", leveret.Message{Body: []byte("half price")}))
	clock.Advance(59 * time.Minute)
	fmt.Println(q.Info().Ready)
	clock.Advance(time.Minute)
	fmt.Println(q.Info().Ready)
	// Output:
	// 1
	// 0
}

// Errors are those of RabbitMQ, with code and text.
func Example_errors() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	_, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
	fmt.Println(errors.Is(err, leveret.ErrPreconditionFailed))
	var refusal *leveret.Error
	if errors.As(err, &refusal) {
		fmt.Println(uint16(refusal.Code), refusal.Op)
		fmt.Println(refusal.Text())
	}
	// Output:
	// true
	// 406 queue.declare
	// PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'q' in vhost '/': received 'true' but current is 'false'
}

// A topic exchange compares routing keys word by word: * is one word, # any number.
func ExampleVHost_BindQueue() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	check(b.BindQueue("q", "amq.topic", "order.*", nil))
	for _, key := range []string{"order.new", "order.new.eu"} {
		fmt.Println(key, try(b.Publish("amq.topic", key, leveret.Message{})).Queues)
	}
	// Output:
	// order.new 1
	// order.new.eu 0
}

// A headers exchange looks at the binding's arguments.
func ExampleVHost_BindQueue_headers() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareQueue("urgent", leveret.QueueConfig{}))
	check(b.BindQueue("urgent", "amq.headers", "", leveret.Table{"x-match": "any", "urgent": true, "vip": true}))
	m := leveret.Message{Properties: &leveret.Properties{Headers: leveret.Table{"vip": true, "urgent": false}}}
	fmt.Println(try(b.Publish("amq.headers", "", m)).Queues)
	// Output: 1
}

// A message is an exchange, a routing key, a body and properties. A full queue may refuse it.
func ExampleVHost_Publish() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgMaxLength: 1,
		leveret.ArgOverflow:  "reject-publish",
	}}))
	m := leveret.Message{Body: []byte("hello"), Properties: &leveret.Properties{ContentType: "text/plain"}}
	fmt.Println(try(b.Publish("", "q", m)).Rejected)
	fmt.Println(try(b.Publish("", "q", m)).Rejected)
	// Output:
	// false
	// true
}

// A client learns by publisher confirms what became of its messages.
func ExampleChannel_Confirm() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgMaxLength: 1,
		leveret.ArgOverflow:  "reject-publish",
	}}))
	check(ch.Confirm())
	for range 2 {
		out := try(ch.Publish("", "q", leveret.Message{}))
		fmt.Println(out.Sequence, "nack:", out.Rejected)
	}
	// Output:
	// 1 nack: false
	// 2 nack: true
}

// A batch of messages is published in one operation.
func ExampleVHost_PublishAll() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	var batch []leveret.Publishing
	for i := range 100 {
		batch = append(batch, leveret.Publishing{RoutingKey: "q", Message: leveret.Message{Body: fmt.Append(nil, i)}})
	}
	outs, err := b.PublishAll(batch)
	fmt.Println(len(outs), err, q.Info().Ready)
	// Output: 100 <nil> 100
}

// With Reuse the loop gets the same few deliveries again and again, and must not keep them.
func ExampleConsumer_Deliveries_reuse() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	c := try(q.Consume(leveret.ConsumeConfig{Prefetch: 20, Reuse: true}))
	for i := range 3 {
		try(b.Publish("", "q", leveret.Message{Body: fmt.Append(nil, i)}))
	}
	for d := range c.Deliveries(context.Background()) {
		fmt.Printf("%s ", d.Body)
		check(d.Ack())
		if string(d.Body) == "2" {
			break
		}
	}
	// Output: 0 1 2
}

// A loop receives messages and ends when it breaks, when the context does, or when the consumer is cancelled.
func ExampleConsumer_Deliveries() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	for i := range 3 {
		try(b.Publish("", "q", leveret.Message{Body: fmt.Append(nil, i)}))
	}
	c := try(q.Consume(leveret.ConsumeConfig{Prefetch: 1}))
	for d := range c.Deliveries(context.Background()) {
		fmt.Printf("%s ", d.Body)
		check(d.Ack())
		if string(d.Body) == "2" {
			break
		}
	}
	// Output: 0 1 2
}

// With a Handler no goroutine is needed: the caller that made a message ready runs it.
func ExampleQueue_Consume() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(q.Consume(leveret.ConsumeConfig{Handler: func(d *leveret.Delivery) {
		fmt.Printf("%s\n", d.Body)
		check(d.Ack())
	}}))
	try(b.Publish("", "q", leveret.Message{Body: []byte("one")}))
	try(b.Publish("", "q", leveret.Message{Body: []byte("two")}))
	// Output:
	// one
	// two
}

// A dead letter carries its history.
func ExampleDelivery_Deaths() {
	b := leveret.New(leveret.WithClock(leveret.NewManualClock(noon)))
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "dead",
	}}))
	dead := try(b.DeclareQueue("dead", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{}))
	check(taken(q.Get()).Reject(false))
	for _, death := range taken(dead.Get()).Deaths() {
		fmt.Println(death.Queue, death.Reason, death.Count, death.Time.Format(time.TimeOnly), death.RoutingKeys)
	}
	// Output: q rejected 1 12:00:00 [q]
}

// Rejecting counts as a failed delivery, and a quorum queue allows only so many.
func ExampleDelivery_Reject() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{
		leveret.ArgQueueType:            "quorum",
		leveret.ArgDeliveryLimit:        2,
		leveret.ArgDeadLetterExchange:   "",
		leveret.ArgDeadLetterRoutingKey: "poison",
	}}))
	poison := try(b.DeclareQueue("poison", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{}))
	for n := 1; q.Info().Ready > 0; n++ {
		fmt.Println("attempt", n)
		check(taken(q.Get()).Reject(true)) // requeue
	}
	fmt.Println(taken(poison.Get()).Deaths()[0].Reason)
	// Output:
	// attempt 1
	// attempt 2
	// attempt 3
	// delivery_limit
}

// A policy is in force at once. What RabbitMQ does not know is refused.
func ExampleVHost_SetPolicy() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("orders.eu", leveret.QueueConfig{}))
	for range 5 {
		try(b.Publish("", "orders.eu", leveret.Message{}))
	}
	check(b.SetPolicy(leveret.Policy{
		Name: "short", Pattern: `^orders\.`, ApplyTo: leveret.ApplyToQueues,
		Definition: leveret.Table{"max-length": 2},
	}))
	fmt.Println(q.Info().Ready)
	fmt.Println(b.SetPolicy(leveret.Policy{Name: "bad", Pattern: ".*", Definition: leveret.Table{"max-lenght": 2}}))
	// Output:
	// 2
	// PRECONDITION_FAILED - Validation failed
	//
	// [{<<"max-lenght">>,2}] are not recognised policy settings
}

// What arguments and policies make of a queue, and where each setting comes from.
func ExampleQueue_Effective() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgMaxLength: 100}}))
	check(b.SetPolicy(leveret.Policy{
		Name: "standard", Pattern: ".*", ApplyTo: leveret.ApplyToQueues,
		Definition: leveret.Table{"max-length": 1000, "message-ttl": 60_000, "dead-letter-exchange": "dlx"},
	}))
	for _, s := range q.Effective().Settings {
		if s.Source != leveret.SourceDefault {
			fmt.Println(s.Key, s.Value, s.Source)
		}
	}
	// Output:
	// dead-letter-exchange dlx policy
	// max-length 100 argument
	// message-ttl 60000 policy
}

// A user may touch what the permissions name, and nothing else.
func ExampleVHost_SetPermissions() {
	b := leveret.New()
	defer b.Close()

	check(b.AddUser("shop", "secret"))
	check(b.SetPermissions("shop", leveret.Permissions{Configure: `^shop\.`, Write: `^shop\.`, Read: `^shop\.`}))
	ch := try(try(b.Connect("shop", "secret", "/")).Channel())
	_, err := ch.DeclareQueue("shop.orders", leveret.QueueConfig{})
	fmt.Println(err)
	_, err = ch.DeclareQueue("bank.accounts", leveret.QueueConfig{})
	fmt.Println(err)
	// Output:
	// <nil>
	// queue.declare: ACCESS_REFUSED - configure access to queue 'bank.accounts' in vhost '/' refused for user 'shop'
}

// Advance stops at every deadline on the way.
func ExampleManualClock_Advance() {
	clock := leveret.NewManualClock(noon)
	b := leveret.New(leveret.WithClock(clock), leveret.WithEvents(leveret.Events{
		Dropped: func(e leveret.DroppedEvent) { fmt.Println(e.Time.UTC().Format(time.TimeOnly), e.Reason) },
	}))
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{Properties: &leveret.Properties{Expiration: "1000"}}))
	try(b.Publish("", "q", leveret.Message{Properties: &leveret.Properties{Expiration: "2000"}}))
	clock.Advance(time.Hour)
	// Output:
	// 12:00:01 expired
	// 12:00:02 expired
}

// The numbers in events show the way of one message: it keeps its own, and each place in a queue has one.
func ExampleEvents() {
	b := leveret.New(leveret.WithEvents(leveret.Events{
		Enqueued: func(e leveret.EnqueuedEvent) {
			fmt.Printf("message %d is copy %d, in %s, made from %d\n", e.Message, e.Copy, e.Queue, e.Parent)
		},
		Rejected: func(e leveret.RejectedEvent) {
			fmt.Printf("copy %d: delivery %d on channel %d of connection %d was rejected\n", e.Copy, e.DeliveryTag, e.Channel, e.Conn)
		},
		DeadLettered: func(e leveret.DeadLetteredEvent) {
			fmt.Printf("copy %d died, %s, and goes to %v\n", e.Copy, e.Reason, e.Queues)
		},
	}))
	defer b.Close()

	try(b.DeclareQueue("work", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "failed",
	}}))
	try(b.DeclareQueue("failed", leveret.QueueConfig{}))
	try(b.Publish("", "work", leveret.Message{Body: []byte("one")}))
	ch := try(try(b.Connect("guest", "guest", "/")).Channel())
	check(taken(ch.Get("work", leveret.GetConfig{})).Reject(false))
	// Output:
	// message 1 is copy 1, in work, made from 0
	// copy 1: delivery 1 on channel 1 of connection 1 was rejected
	// copy 1 died, rejected, and goes to [failed]
	// message 1 is copy 2, in failed, made from 1
}

// A log at its usual level has the life of queues and clients, and every loss.
func ExampleLogEvents() {
	withoutTime := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	b := leveret.New(leveret.WithEvents(leveret.LogEvents(log)))
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{}))
	try(b.Publish("", "nowhere", leveret.Message{Body: []byte("two")}))
	// Output:
	// level=INFO msg="queue declared" vhost=/ queue=q
	// level=WARN msg="message dropped" vhost=/ message=2 exchange="" key=nowhere bytes=3 queue="" copy=0 parent=0 reason="" cause=unroutable target=""
}

// Events tell what becomes of every message, the lost ones included.
func ExampleWithEvents() {
	b := leveret.New(leveret.WithEvents(leveret.Events{
		Enqueued: func(e leveret.EnqueuedEvent) { fmt.Printf("%s is in %s\n", e.Body, e.Queue) },
		Dropped:  func(e leveret.DroppedEvent) { fmt.Printf("%s is lost: %s\n", e.Body, e.Cause) },
	}))
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{Body: []byte("one")}))
	try(b.Publish("", "nowhere", leveret.Message{Body: []byte("two")}))
	d := taken(q.Get())
	check(d.Reject(false))
	// Output:
	// one is in q
	// two is lost: unroutable
	// one is lost: no_dead_letter_exchange
}
