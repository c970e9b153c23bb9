package orders

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// A link is a connection with a channel, and the next after a loss.
type link struct {
	*Service
	name    string
	use     func(context.Context, *amqp091.Channel) error // returns when the channel has ended, or ctx
	blocked atomic.Bool                                   // the broker takes no publishes
}

// stay connects again and again until ctx is done.
func (l *link) stay(ctx context.Context) {
	for {
		err := l.connect(ctx)
		if ctx.Err() != nil {
			return
		}
		l.Log.Warn("connection lost", "connection", l.name, "error", err)
		if pause(ctx, l.Redial) != nil {
			return
		}
	}
}

// hangUpTime is how long the broker has to answer a close. One that is blocked does not answer.
const hangUpTime = 5 * time.Second

func (l *link) connect(ctx context.Context) error {
	cfg := l.AMQP
	cfg.Properties = amqp091.Table{"connection_name": l.name}
	conn, err := amqp091.DialConfig(l.URL, cfg)
	if err != nil {
		return err
	}
	changes := conn.NotifyBlocked(make(chan amqp091.Blocking))
	var watching sync.WaitGroup
	watching.Go(func() { l.watch(changes) })
	defer watching.Wait()
	defer func() { _ = conn.CloseDeadline(time.Now().Add(hangUpTime)) }() // it may have ended already
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	if err := l.declare(ch); err != nil {
		return err
	}
	return l.use(ctx, ch)
}

// watch notes whether the broker takes publishes, until the connection ends.
func (l *link) watch(changes <-chan amqp091.Blocking) {
	for b := range changes {
		l.blocked.Store(b.Active)
	}
	l.blocked.Store(false)
}

var errEnded = errors.New("orders: the channel or its consumer has ended")

// ended is the error with which a channel ends.
func ended(err *amqp091.Error) error {
	if err == nil {
		return errEnded
	}
	return err
}

// why returns the reason for which a channel has ended, or its consumer.
func why(closed <-chan *amqp091.Error) error {
	select {
	case err := <-closed:
		return ended(err)
	default:
		return errEnded
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
