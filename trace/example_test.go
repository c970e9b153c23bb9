package trace_test

import (
	"fmt"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/trace"
)

// An order is rejected, and waits in a queue whose dead letters lead nowhere.
func ExampleRun() {
	clock := leveret.NewManualClock(time.Unix(0, 0))
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()
	b.DeclareExchange("retries", leveret.Direct, leveret.ExchangeConfig{})
	b.DeclareQueue("work", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "wait"}})
	b.DeclareQueue("wait", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgMessageTTL: 30 * time.Second, leveret.ArgDeadLetterExchange: "retries"}})

	v, _ := b.VHost("/")
	r, err := trace.Run(v, clock, trace.Plan{RoutingKey: "work", Message: leveret.Message{Body: []byte("order 17")},
		Consumers: []trace.Consumer{{Queue: "work", Acts: []trace.Act{{Do: trace.Reject, After: 2 * time.Second}}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Journey.Lost()[0].Cause)
	// Output: dead_letter_unroutable
}

func ExampleResult_String() {
	clock := leveret.NewManualClock(time.Unix(0, 0))
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()
	b.DeclareQueue("work", leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgMessageTTL: 30 * time.Second}})
	v, _ := b.VHost("/")
	r, _ := trace.Run(v, clock, trace.Plan{RoutingKey: "work"})
	fmt.Print(r)
	// Output:
	// message 1, ""
	//           0s  published to the default exchange with key "work" → work
	//           0s  enqueued in work
	// ✗        30s  LOST: died in work (expired), which has no dead-letter exchange
	// ✗ 1 lost
}

func ExampleParseConsumer() {
	c, err := trace.ParseConsumer("work: reject x2, 10s ack")
	fmt.Println(c.Queue, c.Acts, err)
	_, err = trace.ParseConsumer("work: give up")
	fmt.Println(err)
	// Output:
	// work [{reject 0s} {reject 0s} {ack 10s}] <nil>
	// "work: give up": "give up" is not ack, reject, requeue or hold
}
