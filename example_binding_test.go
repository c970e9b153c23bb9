package leveret_test

import (
	"fmt"

	"github.com/leveretmq/leveret"
)

func ExampleChannel_Bind() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	check(ch.Bind(leveret.Binding{Source: "amq.headers", Destination: "q", Arguments: leveret.Fields{
		{Name: "x-match", Value: "any"}, {Name: "shop", Value: "Linz"}, {Name: "shop", Value: "Graz"},
	}}))
	order := leveret.Message{Properties: &leveret.Properties{Headers: leveret.Table{"shop": "Graz"}}}
	fmt.Println(try(ch.Publish("amq.headers", "", order)).Queues)
	// Output: 1
}

func ExampleChannel_Unbind() {
	b := leveret.New()
	defer b.Close()

	ch := login(b)
	bound := leveret.Binding{Source: "amq.topic", Destination: "amq.fanout", DestinationType: "exchange", RoutingKey: "#"}
	check(ch.Bind(bound))
	check(ch.Unbind(bound))
	fmt.Println(len(b.Bindings()))
	// Output: 0
}
