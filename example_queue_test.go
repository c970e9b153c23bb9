package leveret_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leveretmq/leveret"
)

func ExampleExchange_Name() {
	b := leveret.New()
	defer b.Close()

	fmt.Println(try(b.DeclareExchange("events", leveret.Fanout, leveret.ExchangeConfig{})).Name())
	// Output: events
}

func ExampleExchange_Info() {
	b := leveret.New()
	defer b.Close()

	x := try(b.DeclareExchange("events", leveret.Topic, leveret.ExchangeConfig{Durable: true}))
	info := x.Info()
	fmt.Println(info.Name, info.Type, info.Durable, info.Internal)
	// Output: events topic true false
}

func ExampleQueue_Name() {
	b := leveret.New()
	defer b.Close()

	fmt.Println(try(b.DeclareQueue("q", leveret.QueueConfig{})).Name())
	// Output: q
}

func ExampleQueue_Info() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	for range 3 {
		try(b.Publish("", "q", leveret.Message{Body: []byte("12345")}))
	}
	taken(q.Get())
	info := q.Info()
	fmt.Println(info.Ready, info.Unacked, info.Messages, info.BytesReady)
	// Output: 2 1 3 10
}

// Messages looks without consuming.
func ExampleQueue_Messages() {
	clock := leveret.NewManualClock(noon)
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{Body: []byte("one"), Properties: &leveret.Properties{Expiration: "60000"}}))
	for _, m := range q.Messages() {
		fmt.Printf("%s until %s\n", m.Body, m.Deadline.UTC().Format(time.TimeOnly))
	}
	// Output: one until 12:01:00
}

// What a quorum queue holds back for a retry is neither ready nor delivered.
func ExampleQueue_Waiting() {
	b := leveret.New(leveret.WithClock(leveret.NewManualClock(noon)))
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{"x-queue-type": "quorum"}}))
	check(b.SetPolicy(leveret.Policy{Name: "retry", Definition: leveret.Table{
		"delayed-retry-type": leveret.DelayedRetryAll, "delayed-retry-min": 60_000}}))
	try(b.Publish("", "q", leveret.Message{Body: []byte("one")}))
	d, _, _ := q.Get()
	check(d.Nack(true))
	for _, m := range q.Waiting() {
		fmt.Printf("%s until %s\n", m.Body, m.DueAt.UTC().Format(time.TimeOnly))
	}
	// Output: one until 12:01:00
}

func ExampleQueue_Get() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{Body: []byte("hello")}))
	d, ok, err := q.Get()
	fmt.Println(string(d.Body), ok, err, d.Ack())
	_, ok, err = q.Get()
	fmt.Println(ok, err)
	// Output:
	// hello true <nil> <nil>
	// false <nil>
}

// With Into a program that receives often allocates nothing for it.
func ExampleQueue_Get_into() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	var d leveret.Delivery
	for _, body := range []string{"one", "two"} {
		try(b.Publish("", "q", leveret.Message{Body: []byte(body)}))
		_, ok, err := q.Get(leveret.GetConfig{Into: &d})
		fmt.Println(string(d.Body), ok, err, d.Ack())
	}
	// Output:
	// one true <nil> <nil>
	// two true <nil> <nil>
}

// A worker that takes what there is, sixteen messages at most, does it in two operations.
func ExampleQueue_GetMany() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.PublishAll([]leveret.Publishing{
		{RoutingKey: "q", Message: leveret.Message{Body: []byte("one")}},
		{RoutingKey: "q", Message: leveret.Message{Body: []byte("two")}},
	}))
	var buf [16]leveret.Delivery
	got := buf[:try(q.GetMany(buf[:]))]
	for _, d := range got {
		fmt.Println(string(d.Body))
	}
	fmt.Println(leveret.AckAll(got))
	// Output:
	// one
	// two
	// <nil>
}

func ExampleAckAll() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{}))
	ds := make([]leveret.Delivery, 10)
	n := try(q.GetMany(ds))
	fmt.Println(n, q.Info().Unacked)
	fmt.Println(leveret.AckAll(ds[:n]), q.Info().Unacked)
	// Output:
	// 1 1
	// <nil> 0
}

func ExampleQueue_Purge() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{}))
	fmt.Println(q.Purge())
	// Output: 1 <nil>
}

func ExampleQueue_Delete() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{}))
	fmt.Println(q.Delete(leveret.DeleteConfig{}))
	_, err := b.Queue("q")
	fmt.Println(errors.Is(err, leveret.ErrNotFound))
	// Output:
	// 1 <nil>
	// true
}

func ExampleEffective_Get() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	overflow, ok := q.Effective().Get("overflow")
	fmt.Println(overflow.Value, overflow.Source, ok)
	// Output: drop-head default true
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

// A job queue: each worker has one job at a time, and a few at hand. When the workers are told to stop, they finish the jobs that they
// have begun and give the others back.
func Example_jobQueue() {
	b := leveret.New()
	defer b.Close()

	jobs := try(b.DeclareQueue("jobs", leveret.QueueConfig{}))
	for range 100 {
		try(b.Publish("", "jobs", leveret.Message{Body: []byte("a job")}))
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var done atomic.Int64
	var workers sync.WaitGroup
	for range 4 {
		c := try(jobs.Consume(leveret.ConsumeConfig{Prefetch: 5}))
		workers.Go(func() {
			defer c.Close()
			for d := range c.Deliveries(ctx) {
				if done.Add(1) == 10 { // or when the program is to end
					stop()
				}
				check(d.Ack())
			}
		})
	}
	workers.Wait()
	fmt.Println(int64(jobs.Info().Ready)+done.Load(), "jobs, nobody has one:", jobs.Info().Unacked == 0)
	// Output: 100 jobs, nobody has one: true
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

func ExampleVHost_HeadTimestamps() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	for hour := range 2 {
		made := time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)
		try(b.Publish("", "q", leveret.Message{Properties: &leveret.Properties{Timestamp: made}}))
	}
	d := taken(q.Get())
	fmt.Println("not settled:", b.HeadTimestamps()["q"])
	check(d.Ack())
	fmt.Println("settled:", b.HeadTimestamps()["q"])
	// Output:
	// not settled: 2026-01-01 00:00:00 +0000 UTC
	// settled: 2026-01-01 01:00:00 +0000 UTC
}

func ExampleQueue_Counters() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgMaxLength: 2}}))
	for range 3 {
		try(b.Publish("", "q", leveret.Message{}))
	}
	check(taken(q.Get()).Ack())
	c := q.Counters()
	fmt.Println(c.Enqueued, "enqueued,", c.Acknowledged, "acknowledged,", c.Died.MaxLength, "over the limit,", c.Dropped.Total(), "lost")
	// Output: 3 enqueued, 1 acknowledged, 1 over the limit, 1 lost
}
