package bench_test

import (
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
)

// BenchmarkBystander does something large in a virtual host, while a bystander, another client of the virtual host,
// sends small requests. max-wait-ms is the longest that one of these took. max-late-ms is the longest that the bystander slept longer
// than it wanted between two requests: what it waits for a processor, whoever has the lock. A wait that is not longer than
// that is the scheduler's, or the machine's. Two processors are in use, and each case runs once:
//
//	go test -run '^$' -bench Bystander -benchtime 1x ./internal/bench
func BenchmarkBystander(b *testing.B) {
	for _, c := range []struct {
		name string
		make large
	}{
		{"consumers-leave", consumersLeave(nil)},
		{"consumers-leave/single-active", consumersLeave(leveret.Table{leveret.ArgSingleActiveConsumer: true})},
		{"consumers-lose-queue", consumersLoseQueue},
		{"death-fan", deathFan},
		{"death-chain", deathChain},
		{"purge", onFilled(nil, purgeIt)},
		{"purge/watched", purgeWatched},
		{"purge/quorum", onFilled(quorumType, purgeIt)},
		{"delete", onFilled(nil, deleteIt)},
		{"delete/quorum", onFilled(quorumType, deleteIt)},
		{"delete/held", deleteHeld(heldBy)},
		{"delete/held/watched", deleteHeld(heldWatched)},
		{"trim", onFilled(nil, trimIt)},
		{"trim/quorum", onFilled(quorumType, trimIt)},
		{"trim/dead-letter", onFilled(toDead, trimIt)},
		{"expire", expireAll(leveret.Table{leveret.ArgMessageTTL: 1000})},
		{"expire/dead-letter", expireAll(leveret.Table{leveret.ArgMessageTTL: 1000, leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "dead"})},
		{"expire/quorum", expireAll(leveret.Table{leveret.ArgMessageTTL: 1000, leveret.ArgQueueType: "quorum"})},
		{"get-uncovers", getUncovers},
		{"commit", commitAll(nil)},
		{"commit/quorum", commitAll(quorumType)},
		{"ack-multiple", held(nil, func(ch *leveret.Channel) error { return ch.Ack(0, true) })},
		{"reject-multiple", held(toDead, func(ch *leveret.Channel) error { return ch.Nack(0, true, false) })},
		{"reject-multiple/quorum", held(quorumType, func(ch *leveret.Channel) error { return ch.Nack(0, true, false) })},
		{"requeue-multiple", held(nil, func(ch *leveret.Channel) error { return ch.Nack(0, true, true) })},
		{"channel-end", held(nil, (*leveret.Channel).Close)},
		{"channel-end/quorum", held(quorumType, (*leveret.Channel).Close)},
		{"channel-end/gets", endOfGets},
		{"channel-end/delivery-limit", held(oneDelivery, (*leveret.Channel).Close)},
		{"delayed-retries", delayedRetries},
		{"window-310/queues", windowOfQueues},
		{"window-310/queues/channel-end", windowEnds},
		{"window-310/consumers", windowOfConsumers},
		{"bindings/source", endBindings(leveret.Direct, leveret.DestinationQueue, deleteExchange("source"))},
		{"bindings/source/watched", endWatched(deleteExchange("source"))},
		{"bindings/destination", endBindings(leveret.Direct, leveret.DestinationExchange, deleteExchange("destination"))},
		{"bindings/queue", endBindings(leveret.Direct, leveret.DestinationQueue, deleteDestination)},
		{"bindings/queue/topic", endBindings(leveret.Topic, leveret.DestinationQueue, deleteDestination)},
		{"bindings/queue/watched", endWatched(deleteDestination)},
		{"bindings/queue/auto-delete", endLast},
		{"policy", policyOverQueues},
		{"policy/hard-pattern", policyHard},
		{"declare/hard-policies", declareUnderHardPolicies},
		{"permissions/hard-patterns", hardClients(hardPermissions, declareIt)},
		{"topic-permissions/hard-patterns", hardClients(hardTopicPermissions, publishToTopic)},
		{"import-again", importAgain},
		{"list", listQueues},
		{"list/exchanges", listExchanges},
		{"list/bindings", listBindings},
		{"list/consumers", listConsumers},
		{"history-310", longHistory310},
		{"publishers", new(rush).make},
		{"directory/purge", onDirectory(purgeIt)},
		{"directory/delete", onDirectory(deleteIt)},
		{"directory/delete/held", deleteHeld(heldOnDirectory)},
		{"directory/trim", onDirectory(trimIt)},
		{"directory/expire", expireOnDirectory},
		{"directory/commit", commitOnDirectory},
		{"directory/ack-multiple", ackOnDirectory},
	} {
		b.Run(c.name, func(b *testing.B) { longestWait(b, c.make, inProcess) })
	}
	b.Run("publishers/amqp", func(b *testing.B) {
		var r rush
		longestWait(b, r.make, r.overAMQP)
	})
}

// longestWait measures how long a bystander, who asks by the requests that join returns, waits at most.
func longestWait(b *testing.B, prepare large, join func(*testing.B, *leveret.Broker) []request) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var longest, late time.Duration
	for range b.N {
		b.StopTimer()
		br, act := prepare(b)
		runtime.GC()
		stop := stand(b, join(b, br))
		b.StartTimer()
		act()
		b.StopTimer()
		by := stop()
		longest, late = max(longest, by.longest), max(late, by.late)
		must(b, br.Check())
		br.Close()
	}
	b.ReportMetric(float64(longest)/1e6, "max-wait-ms")
	b.ReportMetric(float64(late)/1e6, "max-late-ms")
}

const manyMessages = 1_000_000

var quorumType = leveret.Table{leveret.ArgQueueType: "quorum"}

var toDead = leveret.Table{leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "dead"}

// A large is something large: make prepares a broker for it and returns what does it.
type large func(*testing.B) (br *leveret.Broker, act func())

func newBroker(b *testing.B, opts ...leveret.Option) *leveret.Broker {
	br := leveret.New(opts...)
	declare(b, br, "dead", nil)
	return br
}

// filled makes a broker with a queue "q" of a million messages.
func filled(b *testing.B, args leveret.Table, opts ...leveret.Option) (*leveret.Broker, *leveret.Queue) {
	br := newBroker(b, opts...)
	if args == nil {
		args = leveret.Table{}
	}
	_, err := br.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: args})
	must(b, err)
	for range manyMessages {
		publish(b, br, "", "q")
	}
	q, err := br.Queue("q")
	must(b, err)
	return br, q
}

func onFilled(args leveret.Table, act func(*testing.B, *leveret.Broker, *leveret.Queue)) large {
	return func(b *testing.B) (*leveret.Broker, func()) {
		br, q := filled(b, args)
		return br, func() { act(b, br, q) }
	}
}

func purgeIt(b *testing.B, _ *leveret.Broker, q *leveret.Queue) {
	n, err := q.Purge()
	must(b, err)
	if n != manyMessages {
		b.Errorf("%d messages were purged", n)
	}
}

func deleteIt(b *testing.B, _ *leveret.Broker, q *leveret.Queue) {
	_, err := q.Delete(leveret.DeleteConfig{})
	must(b, err)
}

func trimIt(b *testing.B, br *leveret.Broker, q *leveret.Queue) {
	must(b, br.SetPolicy(leveret.Policy{Name: "p", Pattern: "^q$", Definition: leveret.Table{"max-length": 0}}))
	if n := q.Info().Ready; n > 0 {
		b.Errorf("%d messages are left", n)
	}
}

// purgeWatched is a purge while a program watches what is lost.
func purgeWatched(b *testing.B) (*leveret.Broker, func()) {
	br, q := filled(b, nil)
	dropped := 0
	br.Watch(leveret.Events{Dropped: func(leveret.DroppedEvent) { dropped++ }})
	return br, func() { purgeIt(b, br, q) }
}

// expireAll has a million messages expire at one time.
func expireAll(args leveret.Table) large {
	return func(b *testing.B) (*leveret.Broker, func()) {
		clock := leveret.NewManualClock(time.Unix(1e9, 0))
		br, q := filled(b, args, leveret.WithClock(clock))
		return br, func() {
			clock.Advance(time.Hour)
			if n := q.Info().Ready; n > 0 {
				b.Errorf("%d messages are left", n)
			}
		}
	}
}

// getUncovers gets a message behind which a million have expired.
func getUncovers(b *testing.B) (*leveret.Broker, func()) {
	clock := leveret.NewManualClock(time.Unix(1e9, 0))
	br := newBroker(b, leveret.WithClock(clock))
	q := declare(b, br, "q", toDead)
	publish(b, br, "", "q")
	for range manyMessages {
		_, err := br.Publish("", "q", leveret.Message{Body: body100, Properties: &leveret.Properties{Expiration: "1000"}})
		must(b, err)
	}
	clock.Advance(time.Hour)
	return br, func() { getAck(b, q) }
}

// commitAll commits a transaction of a million messages.
func commitAll(args leveret.Table) large {
	return func(b *testing.B) (*leveret.Broker, func()) {
		br := newBroker(b)
		_, err := br.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: args})
		must(b, err)
		ch := guestChannel(b, br)
		must(b, ch.Tx())
		for range manyMessages {
			_, err := ch.Publish("", "q", leveret.Message{Body: body100})
			must(b, err)
		}
		return br, func() {
			_, err := ch.Commit()
			must(b, err)
		}
	}
}

// held is settling a million messages that a consumer holds.
func held(args leveret.Table, settle func(*leveret.Channel) error) large {
	return func(b *testing.B) (*leveret.Broker, func()) {
		br, ch := heldBy(b, args)
		return br, func() { must(b, settle(ch)) }
	}
}

// deleteHeld deletes a queue while a consumer holds its million messages.
func deleteHeld(hold func(*testing.B, leveret.Table) (*leveret.Broker, *leveret.Channel)) large {
	return func(b *testing.B) (*leveret.Broker, func()) {
		br, _ := hold(b, nil)
		return br, func() {
			_, err := br.DeleteQueue("q", leveret.DeleteConfig{})
			must(b, err)
		}
	}
}

// heldBy makes a broker with a queue "q", the consumer of which holds a million messages, and returns its channel.
func heldBy(b *testing.B, args leveret.Table) (*leveret.Broker, *leveret.Channel) {
	br, _ := filled(b, args)
	return br, takeAll(b, br)
}

// heldWatched is heldBy while a program watches what is lost.
func heldWatched(b *testing.B, args leveret.Table) (*leveret.Broker, *leveret.Channel) {
	br, ch := heldBy(b, args)
	br.Watch(leveret.Events{Dropped: func(leveret.DroppedEvent) {}})
	return br, ch
}

// takeAll consumes the million messages of the queue "q" and returns the channel that holds them.
func takeAll(b *testing.B, br *leveret.Broker) *leveret.Channel {
	inbox := leveret.NewInbox(leveret.InboxConfig{MaxDeliveries: 1000})
	c, err := br.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: inbox})
	must(b, err)
	ch, err := c.Channel()
	must(b, err)
	must(b, ch.Qos(leveret.QosConfig{PrefetchCount: manyMessages}))
	_, err = ch.Consume("q", leveret.ConsumeConfig{})
	must(b, err)
	var buf []leveret.Notification
	for n := 0; n < manyMessages; n += len(buf) {
		buf = inbox.Take(buf[:0])
	}
	return ch
}

// endOfGets ends a channel that holds a million messages which it has got one by one.
func endOfGets(b *testing.B) (*leveret.Broker, func()) {
	br, _ := filled(b, nil)
	ch := listenerChannel(b, br)
	for range manyMessages {
		_, _, err := ch.Get("q", leveret.GetConfig{})
		must(b, err)
	}
	return br, func() { must(b, ch.Close()) }
}

const manyConsumers = 100_000

func consumers(b *testing.B, args leveret.Table) (*leveret.Broker, *leveret.Channel) {
	br := newBroker(b)
	declare(b, br, "q", args)
	ch := listenerChannel(b, br)
	for range manyConsumers {
		_, err := ch.Consume("q", leveret.ConsumeConfig{})
		must(b, err)
	}
	return br, ch
}

// consumersLeave ends the channel of all consumers of a queue.
func consumersLeave(args leveret.Table) large {
	return func(b *testing.B) (*leveret.Broker, func()) {
		br, ch := consumers(b, args)
		return br, func() { must(b, ch.Close()) }
	}
}

func consumersLoseQueue(b *testing.B) (*leveret.Broker, func()) {
	br, _ := consumers(b, nil)
	return br, func() {
		_, err := br.DeleteQueue("q", leveret.DeleteConfig{})
		must(b, err)
	}
}

// deathFan is a message that dies in 300 queues, each of which dead-letters to all.
func deathFan(b *testing.B) (*leveret.Broker, func()) {
	br := newBroker(b)
	_, err := br.DeclareExchange("all", leveret.Fanout, leveret.ExchangeConfig{})
	must(b, err)
	for i := range 300 {
		name := "fan-" + strconv.Itoa(i)
		declare(b, br, name, leveret.Table{leveret.ArgMessageTTL: 0, leveret.ArgDeadLetterExchange: "all"})
		must(b, br.BindQueue(name, "all", "", nil))
	}
	declare(b, br, "unrelated", nil)
	for range 5000 {
		publish(b, br, "", "unrelated")
	}
	return br, func() { publish(b, br, "", "fan-0") }
}

// deathChain is a message that dies in 20,000 queues, one after the other.
func deathChain(b *testing.B) (*leveret.Broker, func()) {
	const n = 20_000
	br := newBroker(b)
	for i := range n {
		declare(b, br, "chain-"+strconv.Itoa(i), leveret.Table{leveret.ArgMessageTTL: 0,
			leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "chain-" + strconv.Itoa(i+1)})
	}
	end := declare(b, br, "chain-"+strconv.Itoa(n), nil)
	return br, func() {
		publish(b, br, "", "chain-0")
		if n := end.Info().Ready; n != 1 {
			b.Errorf("%d messages have come to the end", n)
		}
	}
}

// manyQueues declares n queues.
func manyQueues(b *testing.B, n int) *leveret.Broker {
	br := newBroker(b)
	for i := range n {
		declare(b, br, "queue-"+strconv.Itoa(i), nil)
	}
	return br
}

// listQueues lists 100,000 queues.
func listQueues(b *testing.B) (*leveret.Broker, func()) {
	br := manyQueues(b, 100_000)
	return br, func() { listed(b, len(br.Queues())) }
}

// listExchanges lists 100,000 exchanges.
func listExchanges(b *testing.B) (*leveret.Broker, func()) {
	br := newBroker(b)
	for i := range 100_000 {
		_, err := br.DeclareExchange("exchange-"+strconv.Itoa(i), leveret.Direct, leveret.ExchangeConfig{})
		must(b, err)
	}
	return br, func() { listed(b, len(br.Exchanges())) }
}

// listBindings lists 100,000 bindings of one exchange.
func listBindings(b *testing.B) (*leveret.Broker, func()) {
	br := newBroker(b)
	for i := range 100_000 {
		must(b, br.BindQueue("dead", "amq.direct", strconv.Itoa(i), nil))
	}
	return br, func() { listed(b, len(br.Bindings())) }
}

// listConsumers lists 100,000 consumers of one queue.
func listConsumers(b *testing.B) (*leveret.Broker, func()) {
	br := newBroker(b)
	ch := guestChannel(b, br)
	for range 100_000 {
		_, err := ch.Consume("dead", leveret.ConsumeConfig{Handler: func(*leveret.Delivery) {}})
		must(b, err)
	}
	return br, func() { listed(b, len(br.Consumers())) }
}

func listed(b *testing.B, n int) {
	if n < 100_000 {
		b.Errorf("%d are listed", n)
	}
}

func policyOverQueues(b *testing.B) (*leveret.Broker, func()) {
	br := manyQueues(b, 10_000)
	return br, func() {
		must(b, br.SetPolicy(leveret.Policy{Name: "p", Pattern: "^queue-", Definition: leveret.Table{"max-length": 10}}))
	}
}

// importAgain imports 3,000 queues and 300 policies that are there.
func importAgain(b *testing.B) (*leveret.Broker, func()) {
	br := manyQueues(b, 3000)
	for i := range 300 {
		name := strconv.Itoa(i)
		must(b, br.SetPolicy(leveret.Policy{Name: "p" + name, Pattern: "^queue-" + name + "[0-9]*$", Definition: leveret.Table{"max-length": 10}}))
	}
	data, err := exported(br)
	must(b, err)
	return br, func() { must(b, imported(br, data)) }
}

// longHistory310 is a message with a made-up history of 6,000 entries that dies ten times, as RabbitMQ 3.10 has it.
func longHistory310(b *testing.B) (*leveret.Broker, func()) { return withHistory310(b, 6000) }

func withHistory310(b *testing.B, entries int) (*leveret.Broker, func()) {
	br := newBroker(b, leveret.WithProfile(leveret.RabbitMQ310))
	for i := range 10 {
		declare(b, br, "chain-"+strconv.Itoa(i), leveret.Table{leveret.ArgMessageTTL: 0,
			leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "chain-" + strconv.Itoa(i+1)})
	}
	var history []any
	for i := range entries {
		history = append(history, leveret.Table{"queue": strconv.Itoa(i)})
	}
	return br, func() {
		_, err := br.Publish("", "chain-0", leveret.Message{Properties: &leveret.Properties{Headers: leveret.Table{"x-death": history}}})
		must(b, err)
	}
}
