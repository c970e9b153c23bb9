package leveret_test

import (
	"fmt"
	"time"

	"github.com/leveretmq/leveret"
)

// A listener tells what carries a connection when somebody lists the connections.
func ExampleTransport() {
	b := leveret.New()
	defer b.Close()

	describe := func() leveret.Transport {
		return leveret.Transport{Mechanism: "PLAIN", FrameMax: 131072, Heartbeat: time.Minute, Traffic: leveret.Traffic{Received: 120, Reads: 2}}
	}
	try(b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Describe: describe}))
	transport := b.Connections()[0].Transport
	fmt.Println(transport.Mechanism, transport.Heartbeat)
	fmt.Println(transport.Traffic.Received, "octets in", transport.Traffic.Reads, "reads")
	// Output:
	// PLAIN 1m0s
	// 120 octets in 2 reads
}

func ExampleChannel_RefuseBody() {
	b := leveret.New(leveret.WithMaxMessageSize(1000))
	defer b.Close()

	conn := try(b.Open(leveret.ConnConfig{User: "guest", VHost: "/"}))
	fmt.Println(try(conn.Channel()).RefuseBody(5000))
	// Output: basic.publish: PRECONDITION_FAILED - message size 5000 is larger than configured max size 1000
}

func ExampleChannel_RefuseProperties() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Open(leveret.ConnConfig{User: "guest", VHost: "/"}))
	fmt.Println(try(conn.Channel()).RefuseProperties("nowhere", "", leveret.Message{}))
	fmt.Println(try(conn.Channel()).RefuseProperties("", "orders", leveret.Message{}))
	// Output:
	// basic.publish: NOT_FOUND - no exchange 'nowhere' in vhost '/'
	// basic.publish: INTERNAL_ERROR
}

// A listener does not confirm at once that a queue has got over its limit. What its client has sent before the confirm is accepted.
func ExampleChannel_DeferStops() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Open(leveret.ConnConfig{User: "guest", VHost: "/"}))
	ch := try(conn.Channel())
	try(ch.DeclareQueue("orders", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{
		leveret.ArgQueueType: leveret.QueueTypeQuorum,
		leveret.ArgMaxLength: 1,
		leveret.ArgOverflow:  leveret.OverflowRejectPublish,
	}}))
	publish := func() {
		out := try(ch.Publish("", "orders", leveret.Message{Body: []byte("an order")}))
		if out.Stopped {
			ch.DeferStops(true)
		}
		fmt.Println("stopped:", out.Stopped, "rejected:", out.Rejected)
	}
	publish()
	publish()
	publish()
	ch.DeferStops(false)
	publish()
	// Output:
	// stopped: false rejected: false
	// stopped: true rejected: false
	// stopped: true rejected: false
	// stopped: false rejected: true
}

func ExampleChannel_DeclaredQueue() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Open(leveret.ConnConfig{User: "guest", VHost: "/"}))
	ch := try(conn.Channel())
	try(ch.DeclareQueue("orders", leveret.QueueConfig{}))
	_, err := ch.CheckQueue("missing")
	fmt.Println(err)
	fmt.Println(ch.DeclaredQueue())
	// Output:
	// queue.declare: NOT_FOUND - no queue 'missing' in vhost '/'
	// orders
}

// A listener refuses a method that the engine does not know, and the connection ends as by any other error.
func ExampleChannel_Fail() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Open(leveret.ConnConfig{User: "guest", VHost: "/"}))
	ch := try(conn.Channel())
	err := ch.Fail(&leveret.Error{Code: leveret.NotImplemented, Op: "basic.unheard", Reason: "no such method"})
	fmt.Println(err)
	fmt.Println(len(b.Connections()))
	// Output:
	// basic.unheard: NOT_IMPLEMENTED - no such method
	// 0
}

// A listener asks who answers basic.cancel: the consumer's queue, behind what it has delivered, or the channel at once.
func ExampleChannel_Consumes() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Open(leveret.ConnConfig{User: "guest", VHost: "/"}))
	ch := try(conn.Channel())
	try(ch.DeclareQueue("orders", leveret.QueueConfig{}))
	try(ch.Consume("orders", leveret.ConsumeConfig{Tag: "clerk"}))
	fmt.Println(ch.Consumes("clerk"), ch.Consumes("nobody"))
	// Output: true false
}

// A client answers the broker's basic.cancel, though nobody asked for an answer.
func ExampleChannel_CancelOk() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Open(leveret.ConnConfig{User: "guest", VHost: "/"}))
	ch := try(conn.Channel())
	try(ch.DeclareQueue("orders", leveret.QueueConfig{}))
	try(ch.Consume("orders", leveret.ConsumeConfig{Tag: "clerk"}))
	fmt.Println(try(ch.CancelOk("clerk")), try(ch.CancelOk("clerk")))
	// Output: true false
}
