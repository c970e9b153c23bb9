package main

import (
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"
)

// A recovering client connects again when its connection is closed, and declares and consumes as before.
type recovering struct {
	states     chan *amqp.StateChanged
	deliveries []<-chan amqp.Delivery
}

// recoveringQueues are queues of all kinds, each with a consumer that holds the first two of three messages.
var recoveringQueues = []struct {
	name                           string
	durable, autoDelete, exclusive bool
	args                           amqp.Table
}{
	{"kept", true, false, false, nil},
	{"replicated", true, false, false, amqp.Table{"x-queue-type": "quorum"}},
	{"single", true, false, false, amqp.Table{"x-single-active-consumer": true}},
	{"passing", false, true, false, nil},
	{"mine", false, false, true, nil},
}

// connectRecovering connects as a client with automatic recovery.
func (f *fixture) connectRecovering() {
	var err error
	f.conn, err = amqp.DialConfig(f.url, amqp.Config{
		Vhost:      "ctl-test",
		SASL:       []amqp.Authentication{&amqp.PlainAuth{Username: "ctl-user", Password: "secret"}},
		Properties: amqp.Table{"connection_name": "recovering"},
		Recovery:   &amqp.Recovery{ReconnectionConfig: &amqp.ReconnectionConfig{MaxRetryCount: 50, RetryInterval: 100 * time.Millisecond}},
	})
	require.NoError(f.t, err)
	f.recovering = recovering{states: make(chan *amqp.StateChanged, 100)}
	f.conn.NotifyStateChange(f.recovering.states)
	publisher, ch := f.channel(), f.channel()
	require.NoError(f.t, publisher.Confirm(false))
	require.NoError(f.t, ch.Qos(2, 0, false))
	for _, q := range recoveringQueues {
		_, err := ch.QueueDeclare(q.name, q.durable, q.autoDelete, q.exclusive, false, q.args)
		require.NoError(f.t, err)
		require.NoError(f.t, ch.QueueBind(q.name, "all", "amq.direct", false, nil))
		deliveries, err := ch.Consume(q.name, "of "+q.name, false, false, false, false, amqp.Table{"x-priority": int32(1)})
		require.NoError(f.t, err)
		f.recovering.deliveries = append(f.recovering.deliveries, deliveries)
	}
	for range 3 {
		c, err := publisher.PublishWithDeferredConfirm("amq.direct", "all", false, false, amqp.Publishing{Body: []byte("hello")})
		require.NoError(f.t, err)
		require.True(f.t, c.Wait())
	}
	f.receive(false, 5)
}

// receive takes two deliveries from each of the first consumers.
func (f *fixture) receive(redelivered bool, consumers int) {
	for i, deliveries := range f.recovering.deliveries[:consumers] {
		for range 2 {
			select {
			case d, ok := <-deliveries:
				require.True(f.t, ok, recoveringQueues[i].name)
				require.Equal(f.t, redelivered, d.Redelivered, recoveringQueues[i].name)
			case <-time.After(20 * time.Second):
				require.Fail(f.t, "no delivery", recoveringQueues[i].name)
			}
		}
	}
}

// recovered waits until the client is connected again, and has from the queues that were not deleted what it had
// before.
func (f *fixture) recovered() {
	for {
		select {
		case s := <-f.recovering.states:
			if s.To == amqp.StateOpen {
				f.receive(true, 3)
				return
			}
		case <-time.After(20 * time.Second):
			require.Fail(f.t, "not connected again")
		}
	}
}
