// Package service is a service that uses RabbitMQ through amqp091-go. It knows nothing of leveret;
// its tests do.
package service

import (
	"context"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// Declare makes the queue of mails to send, and one where mails wait half a minute for another try.
func Declare(ch *amqp091.Channel) error {
	_, err := ch.QueueDeclare("mails", true, false, false, false, amqp091.Table{
		"x-dead-letter-exchange":    "",
		"x-dead-letter-routing-key": "mails.again",
	})
	if err != nil {
		return err
	}
	_, err = ch.QueueDeclare("mails.again", true, false, false, false, amqp091.Table{
		"x-message-ttl":             30_000,
		"x-dead-letter-exchange":    "",
		"x-dead-letter-routing-key": "mails",
	})
	return err
}

// Serve sends mails until ctx is done. One that cannot be sent is rejected, and so comes again.
func Serve(ctx context.Context, ch *amqp091.Channel, send func(amqp091.Delivery) error) error {
	mails, err := ch.ConsumeWithContext(ctx, "mails", "", false, false, false, false, nil)
	if err != nil {
		return err
	}
	for mail := range mails {
		if send(mail) != nil {
			err = mail.Reject(false)
		} else {
			err = mail.Ack(false)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
