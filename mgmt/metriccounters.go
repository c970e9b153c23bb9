package mgmt

import (
	"strconv"

	"github.com/leveretmq/leveret"
)

// The counters of the whole broker as metrics.

// protocol is the label of figures that RabbitMQ has for each protocol.
const protocol = "amqp091"

// exposeCounters adds the counters of the whole broker.
func exposeCounters(x *exposition, c leveret.Counters) {
	for _, m := range []struct {
		name, help string
		value      uint64
	}{
		{"received", "Messages that publishers sent and that passed all checks", c.Published},
		{"received_confirm", "Messages whose publishers wait for a confirm or a commit", c.ConfirmsExpected},
		{"routed", "Messages that reached queues, once for each queue", c.RoutedCopies},
		{"confirmed", "Messages that were confirmed", c.Confirmed},
		{"unroutable_dropped", "Messages that reached no queue and were dropped", c.UnroutableDropped},
		{"unroutable_returned", "Messages that reached no queue and were returned", c.UnroutableReturned},
	} {
		x.family("global_messages_"+m.name+"_total", counter, m.help)
		x.sample(float64(m.value), "protocol", protocol)
	}
	exposeDeliveries(x, c)
	exposeSizes(x, c.Sizes)
	exposeDeaths(x, c)
	x.family("global_messages_dead_lettered_confirmed_total", counter, "At-least-once dead letters that all targets took")
	x.sample(float64(c.DeadLettersConfirmed), "dead_letter_strategy", "at_least_once")
	exposeLosses(x, c.Dropped)
}

// exposeDeliveries adds what is counted for each type of queue.
func exposeDeliveries(x *exposition, c leveret.Counters) {
	type counters = leveret.DeliveryCounters
	for _, m := range []struct {
		name, help string
		value      func(counters) uint64
	}{
		{"delivered", "Messages that were delivered to consumers or got", func(d counters) uint64 { return d.Delivered }},
		{"delivered_consume_manual_ack", "Messages that were delivered to consumers that acknowledge", manual},
		{"delivered_consume_auto_ack", "Messages that were delivered to consumers that need not acknowledge", func(d counters) uint64 { return d.DeliveredNoAck }},
		{"delivered_get_manual_ack", "Messages that were got, to be acknowledged", func(d counters) uint64 { return d.Got }},
		{"delivered_get_auto_ack", "Messages that were got and need not be acknowledged", func(d counters) uint64 { return d.GotNoAck }},
		{"get_empty", "Gets that found no message", func(d counters) uint64 { return d.GetEmpty }},
		{"redelivered", "Messages that were delivered again", func(d counters) uint64 { return d.Redelivered }},
		{"acknowledged", "Messages that clients acknowledged", acks},
	} {
		x.family("global_messages_"+m.name+"_total", counter, m.help)
		x.sample(float64(m.value(c.Classic)), "protocol", protocol, "queue_type", "rabbit_classic_queue")
		x.sample(float64(m.value(c.Quorum)), "protocol", protocol, "queue_type", "rabbit_quorum_queue")
	}
}

// exposeSizes adds the histogram of sizes: a bucket has all messages up to its bound.
func exposeSizes(x *exposition, c leveret.SizeCounters) {
	x.family("message_size_bytes", histogram, "Octets of the bodies of messages that publishers sent")
	name, n := x.name, uint64(0)
	x.name = name + "_bucket"
	for i, bound := range leveret.SizeBounds {
		n += c.Upto[i]
		x.sample(float64(n), "protocol", protocol, "le", strconv.Itoa(bound))
	}
	n += c.Larger
	x.sample(float64(n), "protocol", protocol, "le", "+Inf")
	x.name = name + "_count"
	x.sample(float64(n), "protocol", protocol)
	x.name = name + "_sum"
	x.sample(float64(c.Octets), "protocol", protocol)
}

// exposeDeaths adds how many messages died, by the reason and by what was done with them.
func exposeDeaths(x *exposition, c leveret.Counters) {
	for _, reason := range []struct {
		name string
		of   func(leveret.DeathCounters) uint64
	}{
		{"rejected", func(d leveret.DeathCounters) uint64 { return d.Rejected }},
		{"expired", func(d leveret.DeathCounters) uint64 { return d.Expired }},
		{"maxlen", func(d leveret.DeathCounters) uint64 { return d.MaxLength }},
		{"delivery_limit", func(d leveret.DeathCounters) uint64 { return d.DeliveryLimit }},
	} {
		x.family("global_messages_dead_lettered_"+reason.name+"_total", counter, "Messages that died because of "+reason.name)
		x.sample(float64(reason.of(c.DeadLetteredAtMostOnce)), "dead_letter_strategy", "at_most_once")
		x.sample(float64(reason.of(c.DeadLetteredAtLeastOnce)), "dead_letter_strategy", "at_least_once")
		x.sample(float64(reason.of(c.NoDeadLetterExchange)), "dead_letter_strategy", "disabled")
	}
}
