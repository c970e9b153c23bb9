package leveret_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/leveretmq/leveret"
)

func ExampleBroker_Connect() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Connect("guest", "guest", "/"))
	fmt.Println(conn.User(), conn.VHost().Name())
	_, err := b.Connect("guest", "guess", "/")
	fmt.Println(errors.Is(err, leveret.ErrAccessRefused))
	// Output:
	// guest /
	// true
}

// Open is for listeners, and whoever has checked the user in another way.
func ExampleBroker_Open() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Name: "the shop", ChannelMax: 1}))
	try(conn.Channel())
	_, err := conn.Channel()
	fmt.Println(err)
	// Output: channel.open: NOT_ALLOWED - number of channels opened (1) has reached the negotiated channel_max (1)
}

func ExampleBroker_Connections() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Name: "the shop"}))
	try(conn.Channel())
	for _, c := range b.Connections() {
		fmt.Println(c.Name, c.User, len(c.Channels))
	}
	// Output: the shop guest 1
}

func ExampleBroker_CloseConnection() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Connect("guest", "guest", "/"))
	check(b.CloseConnection(conn.ID(), "maintenance"))
	fmt.Println(conn.Err())
	// Output: leveret: closed: CONNECTION_FORCED - maintenance
}

func ExampleConn_Channel() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Connect("guest", "guest", "/"))
	fmt.Println(try(conn.Channel()).Number(), try(conn.Channel()).Number())
	// Output: 1 2
}

func ExampleConn_OpenChannel() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Connect("guest", "guest", "/"))
	fmt.Println(try(conn.OpenChannel(5)).Number())
	_, err := conn.OpenChannel(5)
	fmt.Println(errors.Is(err, leveret.ErrChannel), conn.Err() != nil)
	// Output:
	// 5
	// true true
}

// What belongs to a connection goes with it.
func ExampleConn_Close() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Connect("guest", "guest", "/"))
	try(try(conn.Channel()).DeclareQueue("mine", leveret.QueueConfig{Exclusive: true}))
	fmt.Println(len(b.Queues()))
	check(conn.Close())
	fmt.Println(len(b.Queues()))
	// Output:
	// 1
	// 0
}

func ExampleConn_Done() {
	b := leveret.New()
	conn := try(b.Connect("guest", "guest", "/"))
	check(b.Close())
	<-conn.Done()
	fmt.Println("over")
	// Output: over
}

func ExampleConn_Err() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Connect("guest", "guest", "/"))
	fmt.Println(conn.Err())
	check(conn.Close())
	fmt.Println(errors.Is(conn.Err(), leveret.ErrClosed))
	// Output:
	// <nil>
	// true
}

// A polite publisher looks before it publishes: above the memory limit it waits.
func ExampleConn_Blocked() {
	clock := leveret.NewManualClock(noon)
	b := leveret.New(leveret.WithMemoryLimit(1000), leveret.WithClock(clock))
	defer b.Close()

	conn := try(b.Connect("guest", "guest", "/"))
	ch := try(conn.Channel())
	try(ch.DeclareQueue("q", leveret.QueueConfig{}))
	for !conn.Blocked() {
		try(ch.Publish("", "q", leveret.Message{Body: make([]byte, 400)}))
	}
	fmt.Println(try(ch.PurgeQueue("q")), "messages until it was blocked")
	clock.Advance(time.Second)
	fmt.Println(conn.Blocked())
	// Output:
	// 3 messages until it was blocked
	// false
}

// The ID tells connections of one user apart.
func ExampleConn_ID() {
	b := leveret.New()
	defer b.Close()

	try(b.Connect("guest", "guest", "/"))
	conn := try(b.Connect("guest", "guest", "/"))
	try(conn.Channel())
	for _, c := range b.Connections() {
		fmt.Println(c.ID == conn.ID(), len(c.Channels))
	}
	// Output:
	// false 0
	// true 1
}

// The user-id of a message can only be that of its connection.
func ExampleConn_User() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Connect("guest", "guest", "/"))
	ch := try(conn.Channel())
	for _, user := range []string{conn.User(), "nobody"} {
		_, err := ch.Publish("", "q", leveret.Message{Properties: &leveret.Properties{UserID: user}})
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// basic.publish: PRECONDITION_FAILED - user_id property set to 'nobody' but authenticated user was 'guest'
}

// The virtual host shows, without permissions, what the client works on.
func ExampleConn_VHost() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Connect("guest", "guest", "/"))
	try(try(conn.Channel()).DeclareQueue("orders", leveret.QueueConfig{}))
	for _, q := range conn.VHost().Queues() {
		fmt.Println(q.Name, "in", conn.VHost().Name())
	}
	// Output: orders in /
}
