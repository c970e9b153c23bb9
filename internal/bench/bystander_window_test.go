package bench_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
)

// oneDelivery are the arguments of a queue whose messages die when they come back.
var oneDelivery = leveret.Table{leveret.ArgQueueType: "quorum", leveret.ArgDeliveryLimit: 0,
	leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "dead"}

// delayedRetries gives back a million messages, which all become ready again at one time.
func delayedRetries(b *testing.B) (*leveret.Broker, func()) {
	clock := leveret.NewManualClock(time.Unix(1_700_000_000, 0))
	br, _ := filled(b, leveret.Table{leveret.ArgQueueType: "quorum", leveret.ArgDeliveryLimit: -1,
		"x-delayed-retry-type": "all", "x-delayed-retry-min": 1000}, leveret.WithClock(clock))
	ch := listenerChannel(b, br)
	for range manyMessages {
		_, _, err := ch.Get("q", leveret.GetConfig{})
		must(b, err)
	}
	return br, func() {
		must(b, ch.Nack(0, true, true))
		clock.Advance(time.Hour)
	}
}

// windowOfQueues acknowledges the one message that a channel's window lets through, while the consumers of 100,000 queues
// wait for the window.
func windowOfQueues(b *testing.B) (*leveret.Broker, func()) {
	br, ch := manyWait(b)
	return br, func() { must(b, ch.Ack(0, true)) }
}

// windowEnds closes a channel whose window the consumers of 100,000 queues wait for.
func windowEnds(b *testing.B) (*leveret.Broker, func()) {
	br, ch := manyWait(b)
	return br, func() { must(b, ch.Close()) }
}

func manyWait(b *testing.B) (*leveret.Broker, *leveret.Channel) {
	const n = 100_000
	br, ch := windowOfOne(b)
	for i := range n {
		declare(b, br, "queue-"+strconv.Itoa(i), nil)
		_, err := ch.Consume("queue-"+strconv.Itoa(i), leveret.ConsumeConfig{})
		must(b, err)
	}
	for i := range n {
		publish(b, br, "", "queue-"+strconv.Itoa(i))
	}
	return br, ch
}

// windowOfConsumers is the same with 100,000 consumers of one queue.
func windowOfConsumers(b *testing.B) (*leveret.Broker, func()) {
	br, ch := windowOfOne(b)
	declare(b, br, "q", nil)
	for range 100_000 {
		_, err := ch.Consume("q", leveret.ConsumeConfig{})
		must(b, err)
	}
	return br, func() {
		publish(b, br, "", "q")
		publish(b, br, "", "q")
		must(b, ch.Ack(0, true))
	}
}

func windowOfOne(b *testing.B) (*leveret.Broker, *leveret.Channel) {
	br := newBroker(b, leveret.WithProfile(leveret.RabbitMQ310))
	ch := listenerChannel(b, br)
	must(b, ch.Qos(leveret.QosConfig{PrefetchCount: 1, Global: true}))
	return br, ch
}
