package amqpd_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// Over TCP, for clients in any language.
func ExampleServer_Serve() {
	b := leveret.New()
	defer b.Close()
	srv := &amqpd.Server{Broker: b}
	defer srv.Close()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go srv.Serve(l)

	conn, err := amqp091.Dial("amqp://guest:guest@" + l.Addr().String() + "/")
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	fmt.Println(conn.Properties["product"], conn.Major, conn.Minor)
	// Output: RabbitMQ 0 9
}

// In memory, here for the amqp091-go client. Package leverettest does this in one line.
func ExampleServer_Dial() {
	b := leveret.New()
	defer b.Close()
	srv := &amqpd.Server{Broker: b}
	defer srv.Close()

	nc, err := srv.Dial()
	if err != nil {
		panic(err)
	}
	conn, err := amqp091.Open(nc, amqp091.Config{
		SASL:  []amqp091.Authentication{&amqp091.PlainAuth{Username: "guest", Password: "guest"}},
		Vhost: "/",
	})
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		panic(err)
	}
	q, err := ch.QueueDeclare("", false, false, true, false, nil)
	if err != nil {
		panic(err)
	}
	err = ch.PublishWithContext(context.Background(), "", q.Name, false, false, amqp091.Publishing{Body: []byte("hello")})
	if err != nil {
		panic(err)
	}
	d, ok, err := ch.Get(q.Name, true)
	fmt.Println(string(d.Body), ok, err)
	// Output: hello true <nil>
}

// A connection that comes from somewhere else: a test, a tunnel, a listener of one's own.
func ExampleServer_ServeConn() {
	b := leveret.New()
	defer b.Close()
	srv := &amqpd.Server{Broker: b}
	defer srv.Close()

	client, server := amqpd.Pipe()
	served := make(chan error)
	go func() { served <- srv.ServeConn(server) }()

	fmt.Fprint(client, "GET / HTTP/1.1\r\n\r\n")
	answer := make([]byte, 8)
	client.Read(answer)
	fmt.Printf("%q\n", answer) // the protocol header that RabbitMQ 4.3 wants to see
	<-served
	// Output: "AMQP\x03\x01\x00\x00"
}

// Clients are told that the server goes.
func ExampleServer_Close() {
	b := leveret.New()
	defer b.Close()
	srv := &amqpd.Server{Broker: b}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	served := make(chan error)
	go func() { served <- srv.Serve(l) }()
	conn, err := amqp091.Dial("amqp://guest:guest@" + l.Addr().String() + "/")
	if err != nil {
		panic(err)
	}
	closed := conn.NotifyClose(make(chan *amqp091.Error, 1))

	srv.Close()
	fmt.Println((<-closed).Code, errors.Is(<-served, amqpd.ErrServerClosed))
	// Output: 320 true
}

func ExamplePipe() {
	client, server := amqpd.Pipe()
	fmt.Fprint(client, "hello") // returns though nobody reads yet
	client.Close()

	buf := make([]byte, 100)
	n, _ := server.Read(buf)
	fmt.Printf("%s\n", buf[:n])
	// Output: hello
}

// The properties in a content header frame.
func ExampleDecodeProperties() {
	header := append([]byte{0x10, 0x00, 2}, 0x80) // delivery-mode, and an octet too many
	p, ok := amqpd.DecodeProperties(header[:3])
	fmt.Println(p.DeliveryMode, ok)
	_, ok = amqpd.DecodeProperties(header)
	fmt.Println(ok)
	// Output:
	// 2 true
	// false
}

// After virtual time has passed: what was due has been sent when Settle returns.
func ExampleServer_Settle() {
	clock := leveret.NewManualClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()
	srv := &amqpd.Server{Broker: b}
	defer srv.Close()

	clock.Advance(time.Minute)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	fmt.Println(srv.Settle(ctx))
	// Output: <nil>
}
