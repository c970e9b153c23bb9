package leveret_test

import (
	"errors"
	"fmt"

	"github.com/leveretmq/leveret"
)

func ExampleExchange_Publish() {
	b := leveret.New()
	defer b.Close()

	events := try(b.DeclareExchange("events", leveret.Topic, leveret.ExchangeConfig{}))
	q := try(b.DeclareQueue("audit", leveret.QueueConfig{}))
	check(q.Bind("events", "order.#", nil))
	fmt.Println(try(events.Publish("order.paid", leveret.Message{})).Queues)
	// Output: 1
}

func ExampleExchange_Bind() {
	b := leveret.New()
	defer b.Close()

	all := try(b.DeclareExchange("all", leveret.Fanout, leveret.ExchangeConfig{}))
	check(all.Bind("amq.topic", "#", nil))
	q := try(b.DeclareQueue("audit", leveret.QueueConfig{}))
	check(q.Bind("all", "", nil))
	try(b.Publish("amq.topic", "order.paid", leveret.Message{}))
	fmt.Println(q.Info().Ready)
	// Output: 1
}

func ExampleExchange_Unbind() {
	b := leveret.New()
	defer b.Close()

	all := try(b.DeclareExchange("all", leveret.Fanout, leveret.ExchangeConfig{}))
	check(all.Bind("amq.topic", "#", nil))
	check(all.Unbind("amq.topic", "#", nil))
	fmt.Println(len(b.Bindings()))
	// Output: 0
}

func ExampleExchange_Delete() {
	b := leveret.New()
	defer b.Close()

	all := try(b.DeclareExchange("all", leveret.Fanout, leveret.ExchangeConfig{}))
	check(all.Delete(leveret.DeleteConfig{}))
	_, err := all.Publish("", leveret.Message{})
	fmt.Println(errors.Is(err, leveret.ErrNotFound))
	// Output: true
}

func ExampleQueue_Bind() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("audit", leveret.QueueConfig{}))
	check(q.Bind("amq.topic", "order.#", nil))
	try(b.Publish("amq.topic", "order.paid", leveret.Message{}))
	fmt.Println(q.Info().Ready)
	// Output: 1
}

func ExampleQueue_Unbind() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("audit", leveret.QueueConfig{}))
	check(q.Bind("amq.topic", "order.#", nil))
	check(q.Unbind("amq.topic", "order.#", nil))
	fmt.Println(try(b.Publish("amq.topic", "order.paid", leveret.Message{})).Queues)
	// Output: 0
}
