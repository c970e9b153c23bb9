package mgmt

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/leveretmq/leveret"
)

// The counters of the whole broker as metrics.

// protocol is the label of figures that RabbitMQ has for each protocol.
const protocol = "amqp091"

const httpProtocol = "http"

// The types of queues, as RabbitMQ's metrics name them.
const (
	classicQueue = "rabbit_classic_queue"
	quorumQueue  = "rabbit_quorum_queue"
)

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
		x.family("global_messages_"+m.name+"_total", CounterMetric, m.help, "protocol")
		x.sample(float64(m.value), protocol)
	}
	exposeDeliveries(x, c)
	exposeSizes(x, c.Sizes)
	exposeDeadLetters(x, c)
	exposeLosses(x, c)
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
		x.family("global_messages_"+m.name+"_total", CounterMetric, m.help, "protocol", "queue_type")
		x.sample(float64(m.value(c.Classic)), protocol, classicQueue)
		x.sample(float64(m.value(c.Quorum)), protocol, quorumQueue)
	}
}

// exposeSizes adds the histogram of sizes.
func exposeSizes(x *exposition, c leveret.SizeCounters) {
	h := Histogram{Sum: float64(c.Octets)}
	for i, bound := range leveret.SizeBounds {
		h.Count += c.Upto[i]
		h.Bounds, h.Counts = append(h.Bounds, float64(bound)), append(h.Counts, h.Count)
	}
	h.Count += c.Larger
	x.family("message_size_bytes", HistogramMetric, "Octets of the bodies of messages that publishers sent", "protocol")
	x.add(Sample{Values: []string{protocol}, Histogram: &h})
}

// exposeDeadLetters adds how many messages died, by the reason and by what was done with them. Only quorum queues have a
// delivery limit and the strategy at-least-once; other deaths are not counted by type of queue.
func exposeDeadLetters(x *exposition, c leveret.Counters) {
	for _, r := range reasons {
		labels, values := []string{"dead_letter_strategy"}, []string(nil)
		if r.name == leveret.DeliveryLimit {
			labels, values = []string{"queue_type", "dead_letter_strategy"}, []string{quorumQueue}
		}
		x.family("global_messages_dead_lettered_"+string(r.name)+"_total", CounterMetric, "Messages that died because of "+string(r.name), labels...)
		if r.name != leveret.MaxLength { // the strategy at-least-once needs the overflow behaviour reject-publish
			x.sample(float64(r.of(c.DeadLetteredAtLeastOnce)), append(values, "at_least_once")...)
		}
		x.sample(float64(r.of(c.DeadLetteredAtMostOnce)), append(values, "at_most_once")...)
		x.sample(float64(r.of(c.NoDeadLetterExchange)), append(values, "disabled")...)
	}
	x.family("global_messages_dead_lettered_confirmed_total", CounterMetric, "At-least-once dead letters that all targets took", "queue_type", "dead_letter_strategy")
	x.sample(float64(c.DeadLettersConfirmed), quorumQueue, "at_least_once")
}

// reasons are those of deaths.
var reasons = []struct {
	name leveret.Reason
	of   func(leveret.DeathCounters) uint64
}{
	{leveret.Rejected, func(d leveret.DeathCounters) uint64 { return d.Rejected }},
	{leveret.Expired, func(d leveret.DeathCounters) uint64 { return d.Expired }},
	{leveret.MaxLength, func(d leveret.DeathCounters) uint64 { return d.MaxLength }},
	{leveret.DeliveryLimit, func(d leveret.DeathCounters) uint64 { return d.DeliveryLimit }},
}

// ownPrefix begins the names of metrics that RabbitMQ has not.
const ownPrefix = "leveret_"

// exposeLosses adds what died, by reason, and what was lost, by cause. RabbitMQ does not count the latter.
func exposeLosses(x *exposition, c leveret.Counters) {
	prefix := x.prefix
	x.prefix = ownPrefix
	x.family("messages_died_total", CounterMetric, "Messages that died in queues, by reason, whether they were dead-lettered or dropped", "reason")
	for _, r := range reasons {
		x.sample(float64(r.of(c.DeadLetteredAtLeastOnce)+r.of(c.DeadLetteredAtMostOnce)+r.of(c.NoDeadLetterExchange)), string(r.name))
	}
	x.family("messages_dropped_total", CounterMetric, "Messages that left the broker without having been acknowledged, by cause", "cause")
	for _, l := range lossesOf(c.Dropped) {
		x.sample(l.value, l.cause)
	}
	x.prefix = prefix
}

// A loss is how many messages were lost for a cause.
type loss struct {
	cause string
	value float64
}

// lossesOf returns the losses by cause, sorted by its name.
func lossesOf(d leveret.DropCounters) (all []loss) {
	data, _ := json.Marshal(d) // numbers only
	var byCause map[string]float64
	_ = json.Unmarshal(data, &byCause)
	for _, cause := range slices.Sorted(maps.Keys(byCause)) {
		all = append(all, loss{cause, byCause[cause]})
	}
	return all
}
