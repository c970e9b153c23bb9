package amqpd_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A request and its direct reply: no queue is declared for the answer.
func TestDirectReplyTo(t *testing.T) {
	b := leverettest.New(t)
	server := channelOf(t, leverettest.Dial(t, b))
	declareQueue(t, server, "rpc", nil)
	requests, err := server.Consume("rpc", "", true, false, false, false, nil)
	require.NoError(t, err)
	go func() {
		for r := range requests {
			server.Publish("", r.ReplyTo, false, false, amqp091.Publishing{Body: append([]byte("re: "), r.Body...),
				CorrelationId: r.CorrelationId})
		}
	}()
	client := channelOf(t, leverettest.Dial(t, b))
	replies, err := client.Consume("amq.rabbitmq.reply-to", "", true, false, false, false, nil)
	require.NoError(t, err)
	for i := range 10 {
		id := fmt.Sprint(i)
		require.NoError(t, client.Publish("", "rpc", false, false, amqp091.Publishing{
			Body: []byte(id), CorrelationId: id, ReplyTo: "amq.rabbitmq.reply-to",
		}))
		r := <-replies
		assert.Equal(t, "re: "+id, string(r.Body))
		assert.Equal(t, id, r.CorrelationId)
	}
}

func TestTransactions(t *testing.T) {
	b := leverettest.New(t)
	ch := channelOf(t, leverettest.Dial(t, b))
	declareQueue(t, ch, "q", nil)
	require.NoError(t, ch.Tx())
	publishText(t, ch, "q", "rolled back")
	require.NoError(t, ch.TxRollback())
	publishText(t, ch, "q", "committed")
	q, err := b.Queue("q")
	require.NoError(t, err)
	state, err := ch.QueueDeclarePassive("q", false, false, false, false, nil)
	require.NoError(t, err)
	assert.Zero(t, state.Messages)
	require.NoError(t, ch.TxCommit())
	assert.Equal(t, 1, q.Info().Ready)
}

// Tags of gets and deliveries on one channel arrive in their order.
func TestGetsAndDeliveriesShareTheTagOrder(t *testing.T) {
	b := leverettest.New(t)
	ch := channelOf(t, leverettest.Dial(t, b))
	declareQueue(t, ch, "pushed", nil)
	declareQueue(t, ch, "pulled", nil)
	deliveries, err := ch.Consume("pushed", "", true, false, false, false, nil)
	require.NoError(t, err)
	seen := map[uint64]bool{}
	const n = 500
	var publishing sync.WaitGroup
	publishing.Go(func() {
		for range n {
			b.Publish("", "pushed", leveret.Message{})
			b.Publish("", "pulled", leveret.Message{})
		}
	})
	for pulled := 0; pulled < n; {
		if d, ok, err := ch.Get("pulled", true); assert.NoError(t, err) && ok {
			pulled++
			seen[d.DeliveryTag] = true
		}
	}
	publishing.Wait()
	last := uint64(0)
	for range n {
		d := <-deliveries
		assert.Greater(t, d.DeliveryTag, last)
		last = d.DeliveryTag
		seen[d.DeliveryTag] = true
	}
	assert.Len(t, seen, 2*n, "every tag once")
}

// Channels of one connection do not get in each other's way, and their confirms do not mix.
func TestManyChannelsAtOnce(t *testing.T) {
	b := leverettest.New(t)
	conn := leverettest.Dial(t, b)
	var working sync.WaitGroup
	for i := range 20 {
		working.Go(func() {
			ch, err := conn.Channel()
			if !assert.NoError(t, err) {
				return
			}
			queue := fmt.Sprint("q", i)
			ch.QueueDeclare(queue, false, false, false, false, nil)
			ch.Confirm(false)
			ch.Qos(5, 0, false)
			deliveries, err := ch.Consume(queue, "", false, false, false, false, nil)
			assert.NoError(t, err)
			for j := range 100 {
				c, err := ch.PublishWithDeferredConfirm("", queue, false, false, amqp091.Publishing{Body: fmt.Append(nil, i, j)})
				assert.NoError(t, err)
				assert.True(t, c.Wait())
			}
			for j := range 100 {
				d := <-deliveries
				assert.Equal(t, fmt.Sprint(i, j), string(d.Body))
				assert.NoError(t, d.Ack(false))
			}
			assert.NoError(t, ch.Close())
		})
	}
	working.Wait()
	assert.Zero(t, len(b.Connections()[0].Channels))
}

// A client that goes away while it is blocked is noticed when a heartbeat cannot be sent.
func TestDisconnectWhileBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leverettest.New(t)
		srv := &amqpd.Server{Broker: b}
		defer srv.Close()
		nc, err := srv.Dial()
		require.NoError(t, err)
		conn, err := amqp091.Open(nc, asGuest())
		require.NoError(t, err)
		ch := channelOf(t, conn)
		declareQueue(t, ch, "q", nil)
		b.SetMemoryLimit(1)
		publishText(t, ch, "q", "one")
		synctest.Wait()
		publishText(t, ch, "q", "two")
		synctest.Wait()
		require.True(t, b.Memory().Alarm)
		nc.Close()
		time.Sleep(5 * time.Minute)
		assert.Empty(t, b.Connections())
	})
}
