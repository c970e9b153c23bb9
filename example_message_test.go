package leveret_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/leveretmq/leveret"
)

func ExampleDelivery_Ack() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{}))
	d := taken(q.Get())
	fmt.Println(q.Info().Unacked)
	check(d.Ack())
	fmt.Println(q.Info().Unacked)
	// Output:
	// 1
	// 0
}

// A message that is given back keeps its place.
func ExampleDelivery_Nack() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{Body: []byte("one")}))
	try(b.Publish("", "q", leveret.Message{Body: []byte("two")}))
	check(taken(q.Get()).Nack(true)) // requeue
	d := taken(q.Get())
	fmt.Printf("%s %v\n", d.Body, d.Redelivered)
	// Output: one true
}

// A listener may have properties forwarded as they came.
func ExampleDelivery_WireProperties() {
	b := leveret.New(leveret.WithProfile(leveret.RabbitMQ310))
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{WireProperties: "\x00\x02"}))
	fmt.Printf("%q\n", taken(q.Get()).WireProperties())
	// Output: "\x00\x02"
}

// What clients of other languages see of a death.
func ExampleDelivery_WireHeaders() {
	b := leveret.New(leveret.WithClock(leveret.NewManualClock(noon)))
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "dead",
	}}))
	dead := try(b.DeclareQueue("dead", leveret.QueueConfig{}))
	check(b.BindQueue("q", "amq.fanout", "", nil))
	try(b.Publish("amq.fanout", "key", leveret.Message{Properties: &leveret.Properties{Headers: leveret.Table{"mine": 1}}}))
	check(taken(q.Get()).Reject(false))
	for _, f := range taken(dead.Get()).WireHeaders() {
		if f.Name != "x-death" {
			fmt.Printf("%s: %v\n", f.Name, f.Value)
			continue
		}
		for _, death := range f.Value.([]any) {
			fmt.Println("x-death:")
			for _, f := range death.(leveret.Fields) {
				fmt.Printf("  %s: %v (%T)\n", f.Name, f.Value, f.Value)
			}
		}
	}
	// Output:
	// mine: 1
	// x-death:
	//   count: 1 (int64)
	//   reason: rejected (string)
	//   queue: q (string)
	//   time: 2026-03-02 12:00:00 +0000 UTC (time.Time)
	//   exchange: amq.fanout (string)
	//   routing-keys: [key] ([]interface {})
	// x-first-death-exchange: amq.fanout
	// x-first-death-queue: q
	// x-first-death-reason: rejected
	// x-last-death-exchange: amq.fanout
	// x-last-death-queue: q
	// x-last-death-reason: rejected
}

func ExampleProperties_Has() {
	p := &leveret.Properties{ContentType: "text/plain", Present: leveret.PropPriority} // priority 0, but present
	fmt.Println(p.Has() == leveret.PropContentType|leveret.PropPriority)
	// Output: true
}

func ExampleTable_Fields() {
	fields, err := leveret.Table{"ttl": 5 * time.Second, "a": []string{"b"}, "n": int32(1)}.Fields()
	fmt.Println(fields, err)
	for _, f := range fields {
		fmt.Printf("%s is %T\n", f.Name, f.Value)
	}
	_, err = leveret.Table{"outer": leveret.Table{"inner": make(chan int)}}.Fields()
	fmt.Println(err)
	// Output:
	// [{a [b]} {n 1} {ttl 5000}] <nil>
	// a is []interface {}
	// n is int32
	// ttl is int64
	// leveret: table: "outer.inner": no AMQP field type for Go type chan int
}

func ExampleFields_Get() {
	fields := leveret.Fields{{Name: "a", Value: "first"}, {Name: "a", Value: "second"}}
	fmt.Println(fields.Get("a"))
	fmt.Println(fields.Get("b"))
	// Output:
	// first true
	// <nil> false
}

func ExampleFields_Table() {
	fields := leveret.Fields{{Name: "a", Value: "first"}, {Name: "a", Value: "second"}}
	fmt.Println(fields.Table())
	// Output: map[a:first]
}

func ExampleOutcome_Err() {
	b := leveret.New()
	defer b.Close()

	out := try(b.Publish("", "nobody", leveret.Message{}))
	fmt.Println(out.Err(), errors.Is(out.Err(), leveret.ErrUnroutable))
	// Output: leveret: publish dropped: no route true
}
