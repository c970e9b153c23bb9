package orders

import (
	"context"
	"encoding/json"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// Place returns nil when the broker has the order. If the connection is lost before the broker says so, the order is
// published again, so it may come twice. After an error of ctx it may have been placed or not.
func (s *Service) Place(ctx context.Context, o Order) error {
	if s.publishing.blocked.Load() {
		return ErrBlocked
	}
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return s.send(ctx, ordersExchange, "order."+o.Country, amqp091.Publishing{
		MessageId: o.ID, ContentType: "application/json", DeliveryMode: amqp091.Persistent, Body: body,
	})
}

// A letter is a message to be published.
type letter struct {
	exchange, key string
	message       amqp091.Publishing
	done          chan error // gets what became of it
}

// send returns when the broker has taken or refused the message.
func (s *Service) send(ctx context.Context, exchange, key string, message amqp091.Publishing) error {
	l := &letter{exchange, key, message, make(chan error, 1)}
	select {
	case s.letters <- l:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-l.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// publish publishes letters, one at a time. The one that is not confirmed when the channel ends is published by the next.
func (s *Service) publish(ctx context.Context, ch *amqp091.Channel) error {
	if err := ch.Confirm(false); err != nil {
		return err
	}
	closed := ch.NotifyClose(make(chan *amqp091.Error, 1))
	returns := ch.NotifyReturn(make(chan amqp091.Return, 1))
	confirms := ch.NotifyPublish(make(chan amqp091.Confirmation, 1))
	for {
		if s.unsure == nil {
			select {
			case s.unsure = <-s.letters:
			case err := <-closed:
				return ended(err)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		l := s.unsure
		if err := ch.PublishWithContext(ctx, l.exchange, l.key, true, false, l.message); err != nil {
			return err
		}
		select {
		case c, open := <-confirms:
			if !open {
				return why(closed)
			}
			l.done <- outcome(c, returns)
			s.unsure = nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// outcome says what became of a message. It was returned before it was confirmed.
func outcome(c amqp091.Confirmation, returns <-chan amqp091.Return) error {
	returned := false
	select {
	case _, returned = <-returns:
	default:
	}
	switch {
	case !c.Ack:
		return ErrRefused
	case returned:
		return ErrNowhere
	}
	return nil
}
