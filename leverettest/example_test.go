package leverettest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// retryLater is code under test: it sends a message to a queue where it waits for an hour, and from there
// to the queue "work".
func retryLater(ch *amqp091.Channel, body string) error {
	_, err := ch.QueueDeclare("retry", true, false, false, false, amqp091.Table{
		"x-message-ttl": 3600_000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "work",
	})
	if err != nil {
		return err
	}
	return ch.Publish("", "retry", false, false, amqp091.Publishing{Body: []byte(body)})
}

// A test of code that uses amqp091-go. Inside the synctest bubble the hour takes no time.
func TestRetryLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := leverettest.Dial(t, leverettest.New(t))
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ch.QueueDeclare("work", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		work, err := ch.Consume("work", "", true, false, false, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := retryLater(ch, "order 17"); err != nil {
			t.Fatal(err)
		}
		d := <-work
		if string(d.Body) != "order 17" || time.Since(start) != time.Hour {
			t.Errorf("got %q after %v", d.Body, time.Since(start))
		}
	})
}

func ExampleDial() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	conn := leverettest.Dial(t, leverettest.New(t))
	ch, _ := conn.Channel()
	ch.QueueDeclare("greetings", false, false, false, false, nil)
	ch.Publish("", "greetings", false, false, amqp091.Publishing{Body: []byte("hello")})
	d, _, _ := ch.Get("greetings", true)
	fmt.Println(string(d.Body))
	// Output: hello
}

func ExampleNew() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b := leverettest.New(t, leveret.WithProfile(leveret.RabbitMQ310))
	q, err := b.DeclareQueue("work", leveret.QueueConfig{})
	fmt.Println(q.Name(), err)
	// Output: work <nil>
}

func ExampleDialConfig() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b := leverettest.New(t)
	if err := b.AddUser("reader", "secret"); err != nil {
		t.Fatalf("%v", err)
	}
	if err := b.SetPermissions("reader", leveret.Permissions{Read: ".*"}); err != nil {
		t.Fatalf("%v", err)
	}
	conn := leverettest.DialConfig(t, b, amqp091.Config{
		SASL:  []amqp091.Authentication{&amqp091.PlainAuth{Username: "reader", Password: "secret"}},
		Vhost: "/",
	})
	ch, err := conn.Channel()
	if err != nil {
		t.Fatalf("%v", err)
	}
	_, err = ch.QueueDeclare("work", false, false, false, false, nil)
	fmt.Println(err)
	// Output: Exception (403) Reason: "ACCESS_REFUSED - configure access to queue 'work' in vhost '/' refused for user 'reader'"
}
