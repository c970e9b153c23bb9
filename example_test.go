package leveret_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leveretmq/leveret"
)

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

func ExampleNew() {
	b := leveret.New()
	defer b.Close()

	for _, x := range b.Exchanges() {
		fmt.Printf("%q %s\n", x.Name, x.Type)
	}
	// Output:
	// "" direct
	// "amq.direct" direct
	// "amq.fanout" fanout
	// "amq.headers" headers
	// "amq.match" headers
	// "amq.rabbitmq.trace" topic
	// "amq.topic" topic
}

func ExampleWithClock() {
	clock := leveret.NewManualClock(noon)
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()

	q := try(b.DeclareQueue("temporary", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgExpires: 10 * time.Minute,
	}}))
	fmt.Println(q.Info().IdleDeadline.Format(time.TimeOnly))
	clock.Advance(10 * time.Minute)
	_, err := b.Queue("temporary")
	fmt.Println(errors.Is(err, leveret.ErrNotFound))
	// Output:
	// 12:10:00
	// true
}

func ExampleWithEvents() {
	b := leveret.New(leveret.WithEvents(&leveret.Events{
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
	// one is lost: no dead-letter exchange
}

func ExampleWithMaxMessageSize() {
	b := leveret.New(leveret.WithMaxMessageSize(10))
	defer b.Close()

	_, err := b.Publish("", "q", leveret.Message{Body: []byte("far too long")})
	fmt.Println(err)
	// Output: basic.publish: PRECONDITION_FAILED - message size 12 is larger than configured max size 10
}

func ExampleWithMemoryLimit() {
	b := leveret.New(leveret.WithMemoryLimit(1 << 20))
	defer b.Close()

	fmt.Printf("%+v\n", b.Memory())
	// Output: {Used:0 Limit:1048576 Alarm:false}
}

func ExampleWithProfile() {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b := leveret.New(leveret.WithProfile(profile))
		_, err := b.DeclareExchange("x", leveret.ModulusHash, leveret.ExchangeConfig{})
		fmt.Println(err)
		check(b.Close())
	}
	// Output:
	// <nil>
	// exchange.declare: COMMAND_INVALID - unknown exchange type 'x-modulus-hash'
}

func ExampleWithSeed() {
	for range 2 {
		b := leveret.New(leveret.WithSeed(7))
		q := try(b.DeclareQueue("", leveret.QueueConfig{}))
		fmt.Println(q.Name())
		check(b.Close())
	}
	// Output:
	// amq.gen-DkLUyuiGSQjguMdSDjYKpA
	// amq.gen-DkLUyuiGSQjguMdSDjYKpA
}

func ExampleBroker_Close() {
	b := leveret.New()
	conn := try(b.Connect("guest", "guest", "/"))
	check(b.Close())

	<-conn.Done()
	fmt.Println(conn.Err())
	_, err := b.Publish("", "q", leveret.Message{})
	fmt.Println(errors.Is(err, leveret.ErrClosed))
	// Output:
	// leveret: closed: CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'
	// true
}

// Check is for the end of tests.
func ExampleBroker_Check() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{}))
	fmt.Println(b.Check())
	// Output: <nil>
}

func ExampleBroker_MaxMessageSize() {
	b := leveret.New()
	defer b.Close()

	fmt.Println(b.MaxMessageSize())
	old := leveret.New(leveret.WithProfile(leveret.RabbitMQ310))
	defer old.Close()
	fmt.Println(old.MaxMessageSize())
	// Output:
	// 16777216
	// 134217728
}

func ExampleBroker_Profile() {
	b := leveret.New(leveret.WithProfile(leveret.RabbitMQ310))
	defer b.Close()

	fmt.Println(b.Profile() == leveret.RabbitMQ310)
	// Output: true
}

func ExampleBroker_Counters() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{}))
	try(b.Publish("", "nowhere", leveret.Message{}))
	d := taken(q.Get())
	check(d.Ack())
	c := b.Counters()
	fmt.Println(c.Published, "published,", c.Routed, "routed,", c.UnroutableDropped, "dropped,", c.Acknowledged, "acknowledged")
	// Output: 2 published, 1 routed, 1 dropped, 1 acknowledged
}

func ExampleBroker_Memory() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{Body: make([]byte, 1000)}))
	fmt.Println(b.Memory().Used)
	// Output: 1000
}

// Above the limit publishers are asked to wait, by Conn.Blocked and a notification.
func ExampleBroker_SetMemoryLimit() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Connect("guest", "guest", "/"))
	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	b.SetMemoryLimit(1000)
	try(b.Publish("", "q", leveret.Message{Body: make([]byte, 1001)}))
	fmt.Println(b.Memory().Alarm, conn.Blocked())
	try(q.Purge())
	fmt.Println(b.Memory().Alarm, conn.Blocked())
	// Output:
	// true true
	// false false
}

// A simulation can jump from one deadline to the next.
func ExampleBroker_NextDeadline() {
	clock := leveret.NewManualClock(noon)
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{Properties: &leveret.Properties{Expiration: "90000"}}))
	for at, ok := b.NextDeadline(); ok; at, ok = b.NextDeadline() {
		fmt.Println(at.Format(time.TimeOnly))
		clock.Advance(at.Sub(clock.Now()))
	}
	// Output: 12:01:30
}

// Settle is for tests with several goroutines: what is due has happened when it returns.
func ExampleBroker_Settle() {
	expired := 0
	b := leveret.New(leveret.WithEvents(&leveret.Events{
		Dropped: func(leveret.DroppedEvent) { expired++ },
	}))
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{Properties: &leveret.Properties{Expiration: "0"}}))
	b.Settle()
	fmt.Println(expired)
	// Output: 1
}

func ExampleBroker_CreateVHost() {
	b := leveret.New()
	defer b.Close()

	staging := try(b.CreateVHost("staging"))
	try(staging.DeclareQueue("q", leveret.QueueConfig{}))
	fmt.Println(len(staging.Queues()), len(b.Queues()))
	// Output: 1 0
}

func ExampleBroker_VHost() {
	b := leveret.New()
	defer b.Close()

	v := try(b.VHost("/"))
	fmt.Println(v.Name())
	_, err := b.VHost("staging")
	fmt.Println(errors.Is(err, leveret.ErrNotFound))
	// Output:
	// /
	// true
}

func ExampleBroker_VHosts() {
	b := leveret.New()
	defer b.Close()

	try(b.CreateVHost("staging"))
	for _, v := range b.VHosts() {
		fmt.Println(v.Name, v.DefaultQueueType)
	}
	// Output:
	// / classic
	// staging classic
}

func ExampleBroker_DeleteVHost() {
	b := leveret.New()
	defer b.Close()

	staging := try(b.CreateVHost("staging"))
	check(b.DeleteVHost("staging"))
	_, err := staging.DeclareQueue("q", leveret.QueueConfig{})
	fmt.Println(errors.Is(err, leveret.ErrClosed))
	// Output: true
}

func ExampleNewManualClock() {
	clock := leveret.NewManualClock(noon)
	fmt.Println(clock.Now().Format(time.TimeOnly))
	// Output: 12:00:00
}

func ExampleManualClock_Now() {
	clock := leveret.NewManualClock(noon)
	clock.Advance(time.Minute)
	fmt.Println(clock.Now().Format(time.TimeOnly))
	// Output: 12:01:00
}

// Advance stops at every deadline on the way.
func ExampleManualClock_Advance() {
	clock := leveret.NewManualClock(noon)
	b := leveret.New(leveret.WithClock(clock), leveret.WithEvents(&leveret.Events{
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

func ExampleManualClock_AfterFunc() {
	clock := leveret.NewManualClock(noon)
	clock.AfterFunc(time.Second, func() { fmt.Println(clock.Now().Format(time.TimeOnly)) })
	never := clock.AfterFunc(time.Minute, func() { fmt.Println("never") })
	fmt.Println(never.Stop())
	clock.Advance(time.Hour)
	// Output:
	// true
	// 12:00:01
}

func ExampleProfile_Version() {
	fmt.Println(leveret.RabbitMQ43.Version(), leveret.RabbitMQ310.Version())
	// Output: 4.3.6 3.10.8
}

func ExampleCode_String() {
	fmt.Println(leveret.PreconditionFailed, uint16(leveret.PreconditionFailed))
	// Output: PRECONDITION_FAILED 406
}

func ExampleCode_Error() {
	err := error(leveret.NotFound)
	fmt.Println(err, err == leveret.ErrNotFound)
	// Output: NOT_FOUND true
}

func ExampleCode_ClosesConnection() {
	fmt.Println(leveret.NotFound.ClosesConnection(), leveret.NotAllowed.ClosesConnection())
	// Output: false true
}

func ExampleError_Error() {
	b := leveret.New()
	defer b.Close()

	_, err := b.Queue("q")
	fmt.Println(err)
	// Output: queue.declare: NOT_FOUND - no queue 'q' in vhost '/'
}

func ExampleError_Is() {
	b := leveret.New()
	defer b.Close()

	_, err := b.Queue("q")
	fmt.Println(errors.Is(err, leveret.NotFound), errors.Is(err, leveret.ErrNotFound), errors.Is(err, leveret.ErrAccessRefused))
	// Output: true true false
}

func ExampleError_Text() {
	err := &leveret.Error{Code: leveret.NotFound, Op: "queue.declare", Reason: "no queue 'q' in vhost '/'"}
	fmt.Println(err.Text())
	// Output: NOT_FOUND - no queue 'q' in vhost '/'
}

func ExampleError_ClosesConnection() {
	b := leveret.New()
	defer b.Close()

	_, err := b.Connect("guest", "wrong", "/")
	var refusal *leveret.Error
	if errors.As(err, &refusal) {
		fmt.Println(refusal.Code, refusal.ClosesConnection())
	}
	// Output: ACCESS_REFUSED true
}

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

func ExampleConsumer_Receive() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	c := try(q.Consume(leveret.ConsumeConfig{NoAck: true}))
	try(b.Publish("", "q", leveret.Message{Body: []byte("hello")}))
	fmt.Printf("%s\n", try(c.Receive(context.Background())).Body)

	soon, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, err := c.Receive(soon)
	fmt.Println(err)
	// Output:
	// hello
	// context deadline exceeded
}

func ExampleConsumer_Cancel() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	c := try(q.Consume(leveret.ConsumeConfig{}))
	fmt.Println(q.Info().Consumers)
	check(c.Cancel())
	fmt.Println(q.Info().Consumers)
	_, err := c.Receive(context.Background())
	fmt.Println(errors.Is(err, leveret.ErrClosed))
	// Output:
	// 1
	// 0
	// true
}

// A worker stops at once: what it has not begun goes back for others.
func ExampleConsumer_Close() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	for i := range 3 {
		try(b.Publish("", "q", leveret.Message{Body: fmt.Append(nil, i)}))
	}
	c := try(q.Consume(leveret.ConsumeConfig{}))
	d := try(c.Receive(context.Background()))
	check(c.Close())
	check(d.Ack())
	for _, m := range q.Messages() {
		fmt.Printf("%s ", m.Body)
	}
	// Output: 1 2
}

func ExampleConsumer_Err() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	c := try(q.Consume(leveret.ConsumeConfig{}))
	fmt.Println(c.Err())
	try(q.Delete(leveret.DeleteConfig{}))
	for d := range c.Deliveries(context.Background()) {
		check(d.Ack())
	}
	fmt.Println(c.Err())
	fmt.Println(errors.Is(c.Err(), leveret.ErrClosed), errors.Is(c.Err(), leveret.ErrQueueDeleted))
	// Output:
	// <nil>
	// leveret: closed: queue deleted
	// true true
}

func ExampleConsumer_Tag() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	c := try(q.Consume(leveret.ConsumeConfig{Tag: "worker-1"}))
	fmt.Println(c.Tag())
	// Output: worker-1
}
