package move

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// An inlet is where messages come from: a queue, or a dump.
type inlet interface {
	// next returns the next message, or io.EOF if nothing is left.
	next(ctx context.Context) (parcel, error)
	// settle drops messages at the source, and returns when the source has done so.
	settle(tags []uint64) error
	// close returns what was not settled.
	close() error
}

// A parcel is a message that is to be sent, or is left where it is.
type parcel struct {
	Letter
	tag      uint64
	repeated bool // it may have been on its way before
}

// errHeld is for messages that the queue does not give out.
var errHeld = errors.New("the queue has messages and gives none: another consumer is exclusive, or is the single active one")

// A consumption is the messages of a queue. It holds at most window of them.
type consumption struct {
	queue      queueInfo
	window     int
	patience   time.Duration // how long the queue may give nothing though it has messages
	conn       *amqp.Connection
	ch         *amqp.Channel
	control    *amqp.Channel // for questions, so that an error does not return messages
	closed     chan *amqp.Error
	deliveries <-chan amqp.Delivery
	cancelled  bool // what the broker has delivered by then is still to come
}

// consumerTag is that of a move in the brokers' listings.
const consumerTag = "leveret move"

// idle is how long nothing comes before the queue is looked at.
const idle = 50 * time.Millisecond

// openQueue asks how many messages a queue has ready. The consumption gives nothing before it is started.
func openQueue(conn *amqp.Connection, q queueInfo) (c *consumption, ready int, err error) {
	c = &consumption{queue: q, conn: conn}
	if c.control, err = conn.Channel(); err != nil {
		return nil, 0, err
	}
	ready, err = c.ready()
	return c, ready, err
}

// ready is how many messages wait in the queue.
func (c *consumption) ready() (int, error) {
	q, err := c.control.QueueDeclarePassive(c.queue.Name, false, false, false, false, nil)
	return q.Messages, err
}

// start consumes. A window of 0 has no limit.
func (c *consumption) start(window int) (err error) {
	c.window = window
	if c.ch, err = c.conn.Channel(); err != nil {
		return err
	}
	c.closed = c.ch.NotifyClose(make(chan *amqp.Error, 1))
	if err = c.ch.Qos(window, 0, false); err != nil {
		return err
	}
	return c.consume()
}

func (c *consumption) consume() (err error) {
	c.cancelled = false
	c.deliveries, err = c.ch.Consume(c.queue.Name, consumerTag, false, false, false, false, nil)
	return err
}

func (c *consumption) cancel() error {
	c.cancelled = true
	return c.ch.Cancel(consumerTag, false)
}

// next looks at the queue when nothing comes for a while.
func (c *consumption) next(ctx context.Context) (parcel, error) {
	given := time.Now()
	for {
		var err error
		select {
		case d, ok := <-c.deliveries:
			if ok {
				return parcel{Letter: letterOf(c.queue, d), tag: d.DeliveryTag, repeated: d.Redelivered}, nil
			}
			err = c.goOn()
		case <-ctx.Done():
			err = io.EOF
		case <-time.After(idle):
			err = c.look(given)
		}
		if err != nil {
			return parcel{}, err
		}
	}
}

// look asks the queue whether it is empty. The messages that have left it may not have come yet: the end of the consumer tells
// that all are there.
func (c *consumption) look(given time.Time) error {
	if c.cancelled {
		return nil
	}
	n, err := c.ready()
	switch {
	case err != nil:
		return err
	case n == 0:
		return c.cancel()
	case time.Since(given) > c.patience:
		return errHeld
	}
	return nil
}

// goOn follows the end of the consumer. If the queue is not empty after all, messages are consumed again.
func (c *consumption) goOn() error {
	if !c.cancelled || c.ch.IsClosed() {
		return c.ended()
	}
	n, err := c.ready()
	switch {
	case err != nil:
		return err
	case n == 0:
		return io.EOF
	}
	return c.consume()
}

// ended says why no more deliveries come.
func (c *consumption) ended() error {
	if reason := <-c.closed; reason != nil {
		return reason
	}
	if c.ch.IsClosed() {
		return amqp.ErrClosed
	}
	return fmt.Errorf("queue %s was deleted", c.queue.Name)
}

// settle acknowledges. The answer to a question after that tells that the broker has executed it.
func (c *consumption) settle(tags []uint64) error {
	for _, tag := range tags {
		if err := c.ch.Ack(tag, false); err != nil {
			return err
		}
	}
	return c.ch.Qos(c.window, 0, false)
}

// close returns what was not settled. A nack does not count as a failed attempt of a quorum queue in RabbitMQ 4.3, and the end of a
// channel does.
func (c *consumption) close() error {
	defer c.control.Close()
	if c.ch == nil || c.ch.IsClosed() {
		return nil // all has been returned
	}
	if err := c.cancel(); err != nil {
		return err
	}
	const all = 0
	if err := c.ch.Nack(all, true, true); err != nil {
		return err
	}
	return c.ch.Close()
}
