package leveret_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leveretmq/leveret"
)

// login returns a channel of a client that is logged in as guest, the administrator.
func login(b *leveret.Broker) *leveret.Channel {
	return try(try(b.Connect("guest", "guest", "/")).Channel())
}

// The number of a closed channel is free again.
func ExampleChannel_Number() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Connect("guest", "guest", "/"))
	first, second := try(conn.Channel()), try(conn.Channel())
	check(first.Close())
	fmt.Println(second.Number(), try(conn.Channel()).Number())
	// Output: 2 1
}

// A delivery may stay unacknowledged for as long as the broker's consumer timeout says.
func ExampleBroker_ConsumerTimeout() {
	b := leveret.New()
	defer b.Close()

	fmt.Println(b.ConsumerTimeout())
	// Output: 30m0s
}

func ExampleWithConsumerTimeout() {
	clock := leveret.NewManualClock(time.Unix(1, 0))
	b := leveret.New(leveret.WithProfile(leveret.RabbitMQ310), leveret.WithClock(clock), leveret.WithConsumerTimeout(20*time.Second))
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	try(ch.Publish("", "q", leveret.Message{Body: []byte("a")}))
	_, _, err := ch.Get("q", leveret.GetConfig{})
	check(err)
	clock.Advance(time.Minute)
	fmt.Println(errors.Is(ch.Confirm(), leveret.ErrClosed), b.Queues()[0].Ready)
	// Output: true 1
}

// Messages that a channel holds go back when it closes.
func ExampleChannel_Close() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	try(ch.Publish("", "q", leveret.Message{}))
	taken(ch.Get("q", leveret.GetConfig{}))
	check(ch.Close())
	d := taken(try(b.Queue("q")).Get())
	fmt.Println(d.Redelivered)
	// Output: true
}

func ExampleChannel_DeclareExchange() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	fmt.Println(ch.DeclareExchange("events", leveret.Topic, leveret.ExchangeConfig{}))
	fmt.Println(ch.DeclareExchange("amq.mine", leveret.Topic, leveret.ExchangeConfig{}))
	// Output:
	// <nil>
	// exchange.declare: ACCESS_REFUSED - exchange name 'amq.mine' contains reserved prefix 'amq.*'
}

func ExampleChannel_CheckExchange() {
	b := leveret.New()
	defer b.Close()

	fmt.Println(login(b).CheckExchange("amq.topic"))
	fmt.Println(login(b).CheckExchange("missing"))
	// Output:
	// <nil>
	// exchange.declare: NOT_FOUND - no exchange 'missing' in vhost '/'
}

func ExampleChannel_DeleteExchange() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	check(ch.DeclareExchange("events", leveret.Topic, leveret.ExchangeConfig{}))
	fmt.Println(ch.DeleteExchange("events", leveret.DeleteConfig{}))
	fmt.Println(ch.DeleteExchange("amq.topic", leveret.DeleteConfig{}))
	// Output:
	// <nil>
	// exchange.delete: ACCESS_REFUSED - deletion of system exchange 'amq.topic' in vhost '/' not allowed
}

func ExampleChannel_DeclareQueue() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	state := try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	fmt.Println(state.Name, state.Messages, state.Consumers)
	try(ch.Publish("", "q", leveret.Message{}))
	fmt.Println(try(ch.DeclareQueue("q", leveret.QueueConfig{})).Messages)
	// Output:
	// q 0 0
	// 1
}

func ExampleChannel_CheckQueue() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	_, err := ch.CheckQueue("q")
	fmt.Println(err)
	_, err = ch.CheckQueue("q") // that has closed the channel
	fmt.Println(errors.Is(err, leveret.ErrClosed))
	// Output:
	// queue.declare: NOT_FOUND - no queue 'q' in vhost '/'
	// true
}

func ExampleChannel_DeleteQueue() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	try(ch.Publish("", "q", leveret.Message{}))
	fmt.Println(ch.DeleteQueue("q", leveret.DeleteConfig{IfUnused: true}))
	// Output: 1 <nil>
}

func ExampleChannel_PurgeQueue() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	try(ch.Publish("", "q", leveret.Message{}))
	fmt.Println(ch.PurgeQueue("q"))
	// Output: 1 <nil>
}

// An empty name stands for the queue that the channel declared last.
func ExampleChannel_BindQueue() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("", leveret.QueueConfig{Exclusive: true}))
	check(ch.BindQueue("", "amq.topic", "order.#", nil))
	fmt.Println(try(ch.Publish("amq.topic", "order.new.eu", leveret.Message{})).Queues)
	// Output: 1
}

func ExampleChannel_UnbindQueue() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	check(ch.BindQueue("q", "amq.topic", "#", nil))
	check(ch.UnbindQueue("q", "amq.topic", "#", nil))
	fmt.Println(try(ch.Publish("amq.topic", "key", leveret.Message{})).Queues)
	// Output: 0
}

func ExampleChannel_BindExchange() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	check(ch.BindExchange("amq.fanout", "amq.topic", "order.#", nil)) // to amq.fanout from amq.topic
	check(ch.BindQueue("q", "amq.fanout", "", nil))
	fmt.Println(try(ch.Publish("amq.topic", "order.new", leveret.Message{})).Queues)
	// Output: 1
}

func ExampleChannel_UnbindExchange() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	check(ch.BindExchange("amq.fanout", "amq.topic", "#", nil))
	check(ch.UnbindExchange("amq.fanout", "amq.topic", "#", nil))
	fmt.Println(len(b.Bindings()))
	// Output: 0
}

func ExampleChannel_Publish() {
	b := leveret.New()
	defer b.Close()

	out := try(login(b).Publish("", "nowhere", leveret.Message{Body: []byte("hello"), Mandatory: true}))
	fmt.Printf("%d queues; came back: %s\n", out.Queues, out.Return.Body)
	// Output: 0 queues; came back: hello
}

// The second message has nowhere to go, and its outcome says so.
func ExampleChannel_PublishAll() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	outs, err := ch.PublishAll([]leveret.Publishing{
		{RoutingKey: "q", Message: leveret.Message{Body: []byte("one")}},
		{RoutingKey: "nowhere", Message: leveret.Message{Body: []byte("two")}},
	})
	fmt.Println(outs[0].Queues, outs[1].Queues, err)
	// Output: 1 0 <nil>
}

func ExampleChannel_Qos() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	check(ch.Qos(leveret.QosConfig{PrefetchCount: 2}))
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	for range 5 {
		try(ch.Publish("", "q", leveret.Message{}))
	}
	try(ch.Consume("q", leveret.ConsumeConfig{}))
	info := try(b.Queue("q")).Info()
	fmt.Println(info.Unacked, info.Ready)
	// Output: 2 3
}

func ExampleChannel_Consume() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	try(ch.Publish("", "q", leveret.Message{Body: []byte("hello")}))
	c := try(ch.Consume("q", leveret.ConsumeConfig{Tag: "worker", Prefetch: 10}))
	d := try(c.Receive(context.Background()))
	fmt.Printf("%s for %s as %d\n", d.Body, d.ConsumerTag, d.DeliveryTag)
	check(d.Ack())
	// Output: hello for worker as 1
}

func ExampleChannel_Cancel() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{AutoDelete: true}))
	try(ch.Consume("q", leveret.ConsumeConfig{Tag: "worker"}))
	check(ch.Cancel("worker"))
	fmt.Println(len(b.Queues())) // the queue has gone with its last consumer
	// Output: 0
}

func ExampleChannel_Get() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	try(ch.Publish("", "q", leveret.Message{Body: []byte("one")}))
	try(ch.Publish("", "q", leveret.Message{Body: []byte("two")}))
	d, ok, err := ch.Get("q", leveret.GetConfig{NoAck: true})
	fmt.Printf("%s, and %d more; %v %v\n", d.Body, d.MessageCount, ok, err)
	// Output: one, and 1 more; true <nil>
}

func ExampleChannel_GetMany() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	try(ch.PublishAll([]leveret.Publishing{
		{RoutingKey: "q", Message: leveret.Message{Body: []byte("one")}},
		{RoutingKey: "q", Message: leveret.Message{Body: []byte("two")}},
	}))
	var buf [16]leveret.Delivery
	n := try(ch.GetMany("q", buf[:], leveret.GetConfig{}))
	fmt.Printf("%d messages, the last: %s\n", n, buf[n-1].Body)
	fmt.Println(ch.Ack(buf[n-1].DeliveryTag, true))
	// Output:
	// 2 messages, the last: two
	// <nil>
}

func ExampleChannel_Ack() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	for range 3 {
		try(ch.Publish("", "q", leveret.Message{}))
		taken(ch.Get("q", leveret.GetConfig{}))
	}
	check(ch.Ack(2, true)) // multiple: 1 and 2
	fmt.Println(try(b.Queue("q")).Info().Unacked)
	fmt.Println(ch.Ack(2, false))
	// Output:
	// 1
	// basic.ack: PRECONDITION_FAILED - unknown delivery tag 2
}

func ExampleChannel_Nack() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	for range 3 {
		try(ch.Publish("", "q", leveret.Message{}))
		taken(ch.Get("q", leveret.GetConfig{}))
	}
	check(ch.Nack(0, true, true)) // all of them, back into the queue
	fmt.Println(try(b.Queue("q")).Info().Ready)
	// Output: 3
}

func ExampleChannel_Reject() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "dead",
	}}))
	try(ch.DeclareQueue("dead", leveret.QueueConfig{}))
	try(ch.Publish("", "q", leveret.Message{Body: []byte("bad")}))
	d := taken(ch.Get("q", leveret.GetConfig{}))
	check(ch.Reject(d.DeliveryTag, false)) // requeue=false
	d = taken(ch.Get("dead", leveret.GetConfig{}))
	fmt.Printf("%s: %s\n", d.Body, d.Headers["x-first-death-reason"])
	// Output: bad: rejected
}

func ExampleChannel_Recover() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	try(ch.Publish("", "q", leveret.Message{}))
	taken(ch.Get("q", leveret.GetConfig{}))
	check(ch.Recover())
	fmt.Println(try(b.Queue("q")).Info().Ready)
	// Output: 1
}

func ExampleChannel_Tx() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	check(ch.Tx())
	try(ch.Publish("", "q", leveret.Message{}))
	fmt.Println(try(b.Queue("q")).Info().Ready)
	try(ch.Commit())
	fmt.Println(try(b.Queue("q")).Info().Ready)
	// Output:
	// 0
	// 1
}

func ExampleChannel_Commit() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	check(ch.Tx())
	try(ch.Publish("", "nowhere", leveret.Message{Body: []byte("hello"), Mandatory: true}))
	for _, r := range try(ch.Commit()) {
		fmt.Printf("%s came back\n", r.Body)
	}
	// Output: hello came back
}

func ExampleChannel_Rollback() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	check(ch.Tx())
	try(ch.Publish("", "q", leveret.Message{}))
	check(ch.Rollback())
	try(ch.Commit())
	fmt.Println(try(b.Queue("q")).Info().Ready)
	// Output: 0
}

// A listener gives each connection an inbox and passes on what arrives there.
func ExampleNewInbox() {
	b := leveret.New()
	defer b.Close()

	inbox := leveret.NewInbox(leveret.InboxConfig{MaxDeliveries: 100})
	conn := try(b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: inbox, CancelNotify: true}))
	ch := try(conn.Channel())
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	try(ch.Consume("q", leveret.ConsumeConfig{Tag: "worker"}))
	try(b.Publish("", "q", leveret.Message{Body: []byte("hello")}))
	try(b.DeleteQueue("q", leveret.DeleteConfig{}))
	for _, n := range inbox.Take(nil) {
		switch n.Kind {
		case leveret.Delivered:
			fmt.Printf("basic.deliver to %s: %s\n", n.ConsumerTag, n.Delivery.Body)
		case leveret.ConsumerCancelled:
			fmt.Printf("basic.cancel of %s\n", n.ConsumerTag)
		}
	}
	// Output:
	// basic.deliver to worker: hello
	// basic.cancel of worker
}

// What a listener does: it is told that something came, looks, and sends it to the client.
func ExampleInbox() {
	b := leveret.New()
	defer b.Close()

	wake := make(chan struct{}, 1)
	inbox := leveret.NewInbox(leveret.InboxConfig{Notify: func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}})
	conn := try(b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: inbox}))
	check(b.CloseConnection(conn.ID(), "maintenance"))
	<-wake
	for _, n := range inbox.Take(nil) {
		fmt.Println(n.Kind == leveret.ConnClosed, n.Err.Text())
	}
	// Output: true CONNECTION_FORCED - maintenance
}

func ExampleInbox_Take() {
	inbox := leveret.NewInbox(leveret.InboxConfig{})
	var buffer []leveret.Notification
	buffer = inbox.Take(buffer[:0]) // reuses the buffer's memory
	fmt.Println(len(buffer))
	// Output: 0
}
