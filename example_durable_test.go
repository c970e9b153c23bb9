package leveret_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/leveretmq/leveret"
)

// temporary makes a directory for an example, which calls remove at its end.
func temporary() (dir string, remove func()) {
	dir = try(os.MkdirTemp("", "leveret"))
	return dir, func() { check(os.RemoveAll(dir)) }
}

// durableMessage is a message that a durable queue keeps.
func durableMessage(body string) leveret.Message {
	return leveret.Message{Body: []byte(body), Properties: &leveret.Properties{DeliveryMode: 2}}
}

// A broker that is opened again has its durable queues with the persistent messages.
func ExampleOpen() {
	dir, remove := temporary()
	defer remove()

	b := try(leveret.Open(dir))
	try(b.DeclareQueue("orders", leveret.QueueConfig{Durable: true}))
	try(b.Publish("", "orders", durableMessage("two pizzas"))) // it is on the disk now
	try(b.Publish("", "orders", leveret.Message{Body: []byte("not persistent")}))
	_, err := leveret.Open(dir)
	fmt.Println(errors.Is(err, leveret.ErrInUse))
	check(b.Close())

	b = try(leveret.Open(dir))
	defer b.Close()
	for _, m := range try(b.Queue("orders")).Messages() {
		fmt.Printf("%s\n", m.Body)
	}
	// Output:
	// true
	// two pizzas
}

// A program looks whether what it does is still kept.
func ExampleBroker_Err() {
	dir, remove := temporary()
	defer remove()

	b := try(leveret.Open(dir))
	defer b.Close()
	if err := b.Err(); err != nil {
		fmt.Println("the disk needs help:", err)
		return
	}
	fmt.Println("all is well")
	// Output: all is well
}

// A program that may lose what it did just before its end waits for nothing.
func ExampleWithSync() {
	dir, remove := temporary()
	defer remove()

	b := try(leveret.Open(dir, leveret.WithSync(leveret.SyncNever)))
	try(b.DeclareQueue("orders", leveret.QueueConfig{Durable: true}))
	for range 1000 {
		try(b.Publish("", "orders", durableMessage("two pizzas")))
	}
	check(b.Close()) // writes all that is left

	b = try(leveret.Open(dir))
	defer b.Close()
	fmt.Println(try(b.Queue("orders")).Info().Ready)
	// Output: 1000
}

func ExampleBroker_Recovered() {
	dir, remove := temporary()
	defer remove()

	b := try(leveret.Open(dir))
	fmt.Println("new:", b.Recovered().Segments == 0)
	try(b.DeclareQueue("orders", leveret.QueueConfig{Durable: true}))
	try(b.Publish("", "orders", durableMessage("two pizzas")))
	check(b.Close())

	b = try(leveret.Open(dir))
	defer b.Close()
	found := b.Recovered()
	fmt.Printf("%d message in %d file, killed: %v, cut off: %q\n", found.Messages, found.Segments, found.Killed, found.Cut)
	// Output:
	// new: true
	// 1 message in 1 file, killed: false, cut off: ""
}

// A listener does not wait: it sends the confirm when the log has what the connection has published.
func ExampleConn_WhenDurable() {
	dir, remove := temporary()
	defer remove()

	b := try(leveret.Open(dir))
	defer b.Close()
	try(b.DeclareQueue("orders", leveret.QueueConfig{Durable: true}))
	conn := try(b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: leveret.NewInbox(leveret.InboxConfig{})}))
	ch := try(conn.Channel())
	check(ch.Confirm())

	durable := make(chan error, 1)
	fmt.Println("something to wait for:", conn.WhenDurable(func(err error) { durable <- err }))
	try(ch.Publish("", "orders", durableMessage("two pizzas")))
	fmt.Println("something to wait for:", conn.WhenDurable(func(err error) { durable <- err }))
	err := <-durable
	fmt.Println("basic.ack may be sent:", err == nil)
	// Output:
	// something to wait for: false
	// something to wait for: true
	// basic.ack may be sent: true
}
