package blackbox_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// consuming is a consumer of a queue, on a channel of its own.
type consuming struct {
	*leveret.Consumer
	clock *leveret.ManualClock
	b     *leveret.Broker
	q     *leveret.Queue
	ch    *leveret.Channel
}

// consumerOf returns a consumer of a new queue with the messages 0, 1, … ready.
func consumerOf(t *testing.T, messages int, args leveret.Table, cfg leveret.ConsumeConfig) consuming {
	t.Helper()
	clock := leveret.NewManualClock(time.Unix(1_800_000_000, 0))
	b := leveret.New(leveret.WithClock(clock))
	t.Cleanup(func() {
		assert.NoError(t, b.Check())
		b.Close()
	})
	q, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: args})
	require.NoError(t, err)
	for i := range messages {
		_, err := b.Publish("", "q", leveret.Message{Body: fmt.Append(nil, i)})
		require.NoError(t, err)
	}
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	c, err := ch.Consume("q", cfg)
	require.NoError(t, err)
	return consuming{c, clock, b, q, ch}
}

// A context that is done ends receiving at once: a worker that is told to stop begins nothing new.
func TestDoneContextComesBeforeMessages(t *testing.T) {
	c := consumerOf(t, 3, nil, leveret.ConsumeConfig{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	received := 0
	for d := range c.Deliveries(ctx) {
		received++
		require.NoError(t, d.Ack())
		cancel()
	}
	require.Equal(t, 1, received)
	for range 20 { // never by chance
		_, err := c.Receive(ctx)
		require.ErrorIs(t, err, context.Canceled)
	}
	require.NoError(t, c.Err(), "the consumer is open")
	d, err := c.Receive(context.Background())
	require.NoError(t, err)
	require.Equal(t, "1", string(d.Body))
}

// A receiver that is woken by a message and finds its context done leaves the message to another one.
func TestDoneReceiverPassesTheWakeUpOn(t *testing.T) {
	c := consumerOf(t, 0, nil, leveret.ConsumeConfig{NoAck: true})
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		first, second := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := c.Receive(ctx)
			first <- err
		}()
		go func() {
			_, err := c.Receive(context.Background())
			second <- err
		}()
		go cancel()
		require.NoError(t, c.publish())
		if err := <-first; err == nil {
			require.NoError(t, c.publish()) // the first one took it
		}
		require.NoError(t, <-second)
	}
}

func (c consuming) publish() error {
	_, err := c.b.Publish("", c.q.Name(), leveret.Message{})
	return err
}

// Close gives back what the program has not received, in order and uncounted, and leaves it what it has.
func TestConsumerCloseGivesBackInOrder(t *testing.T) {
	for _, kind := range []string{"classic", "quorum"} {
		t.Run(kind, func(t *testing.T) {
			c := consumerOf(t, 6, leveret.Table{leveret.ArgQueueType: kind}, leveret.ConsumeConfig{Prefetch: 5})
			var mine []*leveret.Delivery
			for range 2 {
				d, err := c.Receive(context.Background())
				require.NoError(t, err)
				mine = append(mine, d)
			}
			require.NoError(t, c.Close())
			assert.Equal(t, []string{"2", "3", "4", "5"}, bodies(c.q))
			assert.Equal(t, 2, c.q.Info().Unacked)
			_, err := c.Receive(context.Background())
			assert.ErrorIs(t, err, leveret.ErrClosed)
			assert.ErrorIs(t, err, leveret.ErrCancelled)
			require.NoError(t, mine[0].Ack())
			require.NoError(t, mine[1].Nack(true))
			assert.ElementsMatch(t, []string{"1", "2", "3", "4", "5"}, bodies(c.q))
			require.NoError(t, c.Close(), "again")
			for range 3 {
				d, ok, err := c.q.Get()
				require.NoError(t, err)
				require.True(t, ok)
				_, counted := d.Headers["x-delivery-count"]
				assert.False(t, counted)
			}
		})
	}
}

// A single active consumer that is closed gives back before the next one takes over, which so gets everything in order.
func TestConsumerCloseBeforeTheNextTakesOver(t *testing.T) {
	c := consumerOf(t, 4, leveret.Table{leveret.ArgSingleActiveConsumer: true}, leveret.ConsumeConfig{Prefetch: 3})
	next, err := c.ch.Consume("q", leveret.ConsumeConfig{NoAck: true})
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.NoError(t, next.Cancel())
	var bodies []string
	for d := range next.Deliveries(context.Background()) {
		bodies = append(bodies, string(d.Body))
	}
	require.True(t, slices.IsSorted(bodies))
	require.Len(t, bodies, 4)
}

func TestConsumerCloseAfterCancel(t *testing.T) {
	c := consumerOf(t, 3, nil, leveret.ConsumeConfig{})
	require.NoError(t, c.Cancel())
	require.Equal(t, 3, c.q.Info().Unacked)
	_, err := c.Receive(context.Background())
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.Equal(t, []string{"1", "2"}, bodies(c.q))
	require.Equal(t, 1, c.q.Info().Unacked)
}

// What a multiple acknowledgement of the program has settled, Close leaves settled.
func TestConsumerCloseInATransaction(t *testing.T) {
	c := consumerOf(t, 3, nil, leveret.ConsumeConfig{})
	require.NoError(t, c.ch.Tx())
	require.NoError(t, c.ch.Ack(2, true))
	require.NoError(t, c.Close())
	require.Equal(t, []string{"2"}, bodies(c.q))
	_, err := c.ch.Commit()
	require.NoError(t, err)
	require.Equal(t, []string{"2"}, bodies(c.q))
	require.Zero(t, c.q.Info().Unacked)
}

func TestConsumerCloseWithoutAcknowledgements(t *testing.T) {
	c := consumerOf(t, 2, nil, leveret.ConsumeConfig{NoAck: true})
	require.NoError(t, c.Close())
	require.Empty(t, bodies(c.q))
	for range 2 {
		_, err := c.Receive(context.Background())
		require.NoError(t, err)
	}
	_, err := c.Receive(context.Background())
	require.ErrorIs(t, err, leveret.ErrCancelled)
}

// Err says why Deliveries has ended, whoever ended it.
func TestConsumerErr(t *testing.T) {
	quorum := leveret.Table{leveret.ArgQueueType: "quorum"}
	for _, end := range []struct {
		name string
		by   func(t *testing.T, c consuming)
		want error
		text string
	}{
		{"cancel", func(t *testing.T, c consuming) { require.NoError(t, c.Cancel()) },
			leveret.ErrCancelled, "leveret: closed: consumer cancelled"},
		{"delete", func(t *testing.T, c consuming) {
			_, err := c.q.Delete(leveret.DeleteConfig{})
			require.NoError(t, err)
		}, leveret.ErrQueueDeleted, "leveret: closed: queue deleted"},
		{"channel closed", func(t *testing.T, c consuming) { require.NoError(t, c.ch.Close()) },
			leveret.ErrClosed, "leveret: closed"},
		{"channel error", func(t *testing.T, c consuming) {
			require.ErrorIs(t, c.ch.Ack(9, false), leveret.PreconditionFailed)
		}, leveret.PreconditionFailed, "leveret: closed: basic.ack: PRECONDITION_FAILED - unknown delivery tag 9"},
		{"broker closed", func(t *testing.T, c consuming) {
			c.b.Close()
		}, leveret.ErrConnectionForced, "leveret: closed: CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'"},
	} {
		t.Run(end.name, func(t *testing.T) {
			c := consumerOf(t, 0, quorum, leveret.ConsumeConfig{})
			require.NoError(t, c.Err())
			end.by(t, c)
			_, err := c.Receive(context.Background())
			for _, err := range []error{err, c.Err()} {
				assert.ErrorIs(t, err, leveret.ErrClosed)
				assert.ErrorIs(t, err, end.want)
				assert.EqualError(t, err, end.text)
			}
		})
	}
}

func TestConsumerErrAfterTimeout(t *testing.T) {
	c := consumerOf(t, 1, leveret.Table{leveret.ArgQueueType: "quorum"}, leveret.ConsumeConfig{})
	c.clock.Advance(time.Hour)
	require.ErrorIs(t, c.Err(), leveret.ErrAckTimeout)
}

func TestOutcomeErr(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	_, err := b.DeclareQueue("full", leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgMaxLength: 1,
		leveret.ArgOverflow: "reject-publish"}})
	require.NoError(t, err)
	for _, p := range []struct {
		key       string
		mandatory bool
		want      error
	}{
		{"full", false, nil}, {"full", true, leveret.ErrRejected}, {"none", true, leveret.ErrReturned},
		{"none", false, leveret.ErrUnroutable},
	} {
		out, err := b.Publish("", p.key, leveret.Message{Mandatory: p.mandatory})
		require.NoError(t, err)
		require.Equal(t, p.want, out.Err())
	}
}

// Every code matches the errors that have it, under both of its names, and the errors of what they closed.
func TestCodesAreErrors(t *testing.T) {
	for code, name := range map[leveret.Code]error{
		leveret.NotFound: leveret.ErrNotFound, leveret.SyntaxError: leveret.ErrSyntax, leveret.ChannelError: leveret.ErrChannel,
		leveret.FrameError: leveret.ErrFrame,
	} {
		err := fmt.Errorf("wrapped: %w", &leveret.Error{Code: code})
		require.ErrorIs(t, err, code)
		require.ErrorIs(t, err, name)
		require.NotErrorIs(t, err, leveret.ResourceError)
	}
	require.Equal(t, "NOT_FOUND", fmt.Sprint(leveret.NotFound))
}

// Messages of a consumer with a handler go to the handler. Receive says so at once, and does not wait for ever.
func TestReceiveBesideAHandler(t *testing.T) {
	handled := 0
	c := consumerOf(t, 2, nil, leveret.ConsumeConfig{Handler: func(*leveret.Delivery) { handled++ }})
	_, err := c.Receive(context.Background())
	require.ErrorIs(t, err, leveret.ErrClosed)
	require.NoError(t, c.Err(), "the consumer is open")
	require.Equal(t, 2, handled)
}

// A batch may have room for more than was delivered: the rest cannot be settled.
func TestDeliveryWithoutAMessage(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	q, err := b.DeclareQueue("q", leveret.QueueConfig{})
	require.NoError(t, err)
	_, err = b.Publish("", "q", leveret.Message{Body: []byte("m")})
	require.NoError(t, err)
	ds := make([]leveret.Delivery, 2)
	n, err := q.GetMany(ds)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	none := &ds[1]
	for _, err := range []error{none.Ack(), none.Nack(true), none.Reject(false), leveret.AckAll(ds)} {
		require.EqualError(t, err, "leveret: a Delivery without a message cannot be settled")
	}
	require.Nil(t, none.Deaths())
	require.Nil(t, none.WireHeaders())
	require.Zero(t, q.Info().Unacked, "AckAll settles those before")
}
