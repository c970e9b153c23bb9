// Quickstart is the program of the README.
package main

import (
	"fmt"
	"time"

	"github.com/leveretmq/leveret"
)

func main() {
	clock := leveret.NewManualClock(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()

	// A queue whose messages live for five seconds and then go to the exchange "dlx".
	must(b.DeclareExchange("dlx", leveret.Topic, leveret.ExchangeConfig{}))
	must(b.DeclareQueue("orders", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgMessageTTL:           5 * time.Second,
		leveret.ArgDeadLetterExchange:   "dlx",
		leveret.ArgDeadLetterRoutingKey: "orders.dead",
	}}))
	dead := must(b.DeclareQueue("dead", leveret.QueueConfig{}))
	check(b.BindQueue("dead", "dlx", "*.dead", nil))

	must(b.Publish("", "orders", leveret.Message{Body: []byte("two pizzas")}))
	clock.Advance(5 * time.Second) // returns at once

	d, _, err := dead.Get()
	check(err)
	fmt.Printf("%s, via %s with key %s\n", d.Body, d.Exchange, d.RoutingKey)
	for _, death := range d.Deaths() {
		fmt.Printf("%s in %s, %d time(s)\n", death.Reason, death.Queue, death.Count)
	}
	fmt.Println("x-death:", d.Headers["x-death"])
	check(d.Ack())
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
