package leveret_test

import (
	"errors"
	"fmt"

	"github.com/leveretmq/leveret"
)

// A classic queue keeps the messages that are persistent, and what its clients held comes back.
func ExampleBroker_Restart() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("orders", leveret.QueueConfig{Durable: true}))
	for mode, body := range []string{1: "transient", 2: "persistent"} {
		if body != "" {
			p := &leveret.Properties{DeliveryMode: uint8(mode)}
			try(b.Publish("", "orders", leveret.Message{Body: []byte(body), Properties: p}))
		}
	}
	try(b.DeclareQueue("gone", leveret.QueueConfig{}))
	check(b.Restart(leveret.StoppedNode))

	for _, m := range q.Messages() {
		fmt.Printf("%s\n", m.Body)
	}
	_, err := b.Queue("gone")
	fmt.Println(err)
	// Output:
	// persistent
	// queue.declare: NOT_FOUND - no queue 'gone' in vhost '/'
}

func ExampleBroker_Stop() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Connect("guest", "guest", "/"))
	check(b.Stop(leveret.KilledNode))
	<-conn.Done()
	_, err := b.Connect("guest", "guest", "/")
	fmt.Println(b.Serving(), errors.Is(err, leveret.ErrClosed))
	// Output: false true
}

func ExampleBroker_Start() {
	b := leveret.New()
	defer b.Close()

	check(b.Stop(leveret.StoppedNode))
	check(b.Start())
	fmt.Println(try(b.Connect("guest", "guest", "/")).Err())
	// Output: <nil>
}

func ExampleBroker_Serving() {
	b := leveret.New()
	fmt.Println(b.Serving())
	check(b.Close())
	fmt.Println(b.Serving())
	// Output:
	// true
	// false
}

func ExampleBroker_Reset() {
	b := leveret.New()
	defer b.Close()

	try(b.CreateVHost("tests"))
	fmt.Println(b.Reset())
	check(b.Stop(leveret.StoppedNode))
	check(b.Reset())
	check(b.Start())
	fmt.Println(len(b.VHosts()))
	// Output:
	// PRECONDITION_FAILED - the node is running: Reset is for one that is stopped
	// 1
}
