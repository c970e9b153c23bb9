package orders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// triesHeader counts how often an order was tried before.
const triesHeader = "tries"

// prefetch is how many orders the worker is given ahead.
const prefetch = 10

// work works off what comes until the channel or its consumer ends.
func (s *Service) work(ctx context.Context, ch *amqp091.Channel) error {
	if err := ch.Qos(prefetch, 0, false); err != nil {
		return err
	}
	closed := ch.NotifyClose(make(chan *amqp091.Error, 1))
	deliveries, err := ch.Consume(workQueue, "", false, false, false, false, nil)
	if err != nil {
		return err
	}
	for {
		select {
		case d, open := <-deliveries:
			if !open { // the queue may have been deleted
				return why(closed)
			}
			if err := s.handle(ctx, d); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// handle works one order off. It returns an error if the channel is not of use any more: the order comes again.
func (s *Service) handle(ctx context.Context, d amqp091.Delivery) error {
	err := s.try(ctx, d)
	switch tries := triesOf(d); {
	case err == nil:
		return d.Ack(false)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrHopeless) || tries >= len(s.Waits):
		s.Log.Error("order parked", "id", d.MessageId, "tries", tries+1, "error", err)
		return d.Reject(false)
	default:
		return s.later(ctx, d, tries)
	}
}

func (s *Service) try(ctx context.Context, d amqp091.Delivery) error {
	var o Order
	if err := json.Unmarshal(d.Body, &o); err != nil {
		return fmt.Errorf("%w: %w", ErrHopeless, err)
	}
	return s.Handle(ctx, o)
}

// later has the order wait for its next try. It is acknowledged when the broker has it in the queue of its turn.
func (s *Service) later(ctx context.Context, d amqp091.Delivery, tries int) error {
	err := s.send(ctx, "", waitQueue(s.Waits[tries]), amqp091.Publishing{
		MessageId: d.MessageId, ContentType: d.ContentType, DeliveryMode: amqp091.Persistent, Body: d.Body,
		Headers: amqp091.Table{triesHeader: int32(tries + 1)},
	})
	if err != nil {
		s.Log.Error("order goes back into its queue", "id", d.MessageId, "error", err)
		if err := pause(ctx, s.Redial); err != nil {
			return err
		}
		return d.Nack(false, true)
	}
	return d.Ack(false)
}

func triesOf(d amqp091.Delivery) int {
	n, _ := d.Headers[triesHeader].(int32)
	return int(n)
}
