package service

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// The mail server is down for a minute. No time passes but that of the bubble.
func TestMailIsSentInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leverettest.New(t)
		ch, err := leverettest.Dial(t, b).Channel() // an *amqp091.Channel
		if err != nil {
			t.Fatal(err)
		}
		if err := Declare(ch); err != nil {
			t.Fatal(err)
		}
		// Another program's. On one channel two goroutines could send the frames of a message and of a rejection in turns.
		other, err := leverettest.Dial(t, b).Channel()
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var sent amqp091.Delivery
		go Serve(t.Context(), ch, func(mail amqp091.Delivery) error {
			if time.Since(start) < time.Minute {
				return errors.New("the mail server is down")
			}
			sent = mail
			return nil
		})

		other.PublishWithContext(t.Context(), "", "mails", false, false, amqp091.Publishing{Body: []byte("hello")})
		time.Sleep(61 * time.Second)
		synctest.Wait()

		if string(sent.Body) != "hello" {
			t.Fatalf("sent %q", sent.Body)
		}
		rejected := sent.Headers["x-death"].([]any)[1].(amqp091.Table)
		if rejected["reason"] != "rejected" || rejected["count"] != int64(2) {
			t.Errorf("x-death says %v", rejected)
		}
	})
}
