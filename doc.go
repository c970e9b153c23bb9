// Package leveret is RabbitMQ's broker model as a library: exchanges, queues, bindings, policies,
// expiry, length limits and dead-lettering in the process that imports it, behaving as a RabbitMQ
// node behaves.
//
// The nouns are those of AMQP 0-9-1 and RabbitMQ:
//
//   - A [Broker] is a node. It owns time, users and virtual hosts, and stands for its virtual
//     host "/": all methods of VHost are there.
//   - A [VHost] is a namespace of exchanges, queues, bindings and policies.
//   - An [Exchange] routes messages by its [ExchangeType] and its bindings.
//   - A [Queue] holds messages and hands them out, each as a [Delivery] that has to be settled.
//   - A [Conn] and its channels ([Channel]) are a client's session: a user with permissions, delivery
//     tags, prefetch, confirms, transactions.
//
// # Publishing and consuming
//
// [New] returns a broker that is ready.
//
//	b := leveret.New()
//	defer b.Close()
//
//	q, err := b.DeclareQueue("work", leveret.QueueConfig{})
//	out, err := b.Publish("", "work", leveret.Message{Body: []byte("job")})
//
// What RabbitMQ tells a publisher later, by a confirm or a return, is known when Publish returns:
// the [Outcome] says how many queues got the message, whether one refused it, and whether it came
// back.
//
// There are three ways to receive. Get takes one message if there is one:
//
//	d, ok, err := q.Get()
//
// A [Consumer] waits for messages; the loop and its goroutine are the program's own:
//
//	c, err := q.Consume(leveret.ConsumeConfig{Prefetch: 20})
//	for d := range c.Deliveries(ctx) {
//		…
//		d.Ack()
//	}
//
// A handler is called for each message by whoever caused the delivery. With one goroutine that
// drives everything, a whole run is then a function of its inputs, which is what simulators want:
//
//	q.Consume(leveret.ConsumeConfig{Handler: func(d *leveret.Delivery) { … }})
//
// # Dead-lettering
//
// A message dies when it is rejected without requeue, when its time to live is over, when its queue
// is longer than its limit, or when it came back to a quorum queue too often. If the queue has a
// dead-letter exchange, the message is published there:
//
//	b.DeclareQueue("work", leveret.QueueConfig{Arguments: leveret.Table{
//		leveret.ArgMessageTTL:           5 * time.Second,
//		leveret.ArgMaxLength:            1000,
//		leveret.ArgDeadLetterExchange:   "dlx",
//		leveret.ArgDeadLetterRoutingKey: "work.dead",
//	}})
//
// Its history goes with it: [Delivery.Deaths] gives it typed, most recent death first, and the
// headers x-death, x-first-death-* and x-last-death-* give it as clients of RabbitMQ know it. A
// dead letter that would go round in a circle without anybody rejecting it is dropped, as RabbitMQ
// does.
//
// # Policies
//
// A [Policy] configures all queues and exchanges whose names match its pattern, those that exist
// included, at once. What queues have of it depends on their arguments and on operator policies;
// [Queue.Effective] tells each setting in force and where it comes from.
//
// # Time
//
// Without further ado a broker lives in real time. With a [ManualClock] time passes when the
// program says so:
//
//	clock := leveret.NewManualClock(start)
//	b := leveret.New(leveret.WithClock(clock))
//	…
//	clock.Advance(5 * time.Second)
//
// When Advance returns, everything that was due has happened, each thing at its own time.
// [Broker.NextDeadline] tells when the next thing is due, so a simulator can jump from one to the
// next. Inside a bubble of [testing/synctest] real time is virtual, and nothing has to be set.
//
// # Sessions
//
// Methods of Broker, VHost, Exchange and Queue act with all rights. [Broker.Connect] begins a
// session with those of a user, which [VHost.SetPermissions] grants. A session fails as it does
// with RabbitMQ: an [Error] has RabbitMQ's code and text, and it has closed the channel or the
// connection when it is returned.
//
// Clients that speak AMQP 0-9-1 are served by package amqpd, over a network or in memory. Package
// leverettest connects the amqp091-go client in tests. Package definitions exports and imports
// RabbitMQ's definitions files.
//
// # Watching
//
// [Events] is a set of functions that are told what happens, in order. Every message that leaves
// the broker without having been acknowledged is an event with its cause. Info methods,
// [Queue.Messages] and [Broker.Counters] look without touching anything, and [Broker.Check]
// verifies that everything adds up.
//
// # Caveats
//
// Bodies are not copied. A publisher hands over a message's body, properties and headers, and must
// not change them afterwards; several queues and consumers may share them, so receivers only read
// them.
//
// Handlers and event hooks run after the operation that caused them has released its locks, one at
// a time for each virtual host, on the goroutine of that or of a concurrent operation. They may
// call the broker, and what that causes is told after they return. While one of them blocks, the
// others of its virtual host wait; they must not call [Broker.Settle] or [ManualClock.Advance].
//
// Order is RabbitMQ's: first in, first out within a queue and a priority; what comes back goes to
// its old place. Each operation is one atomic step of its virtual host, dead letters included: when
// Publish returns, the messages that it pushed out of a full queue are where they belong.
//
// [Broker.Close] ends everything: connections close, every wait ends, no timer stays armed, and
// messages are gone. Nothing is ever written to disk; the durable property of queues and exchanges
// is there to be compared and checked as RabbitMQ does.
//
// The library starts no goroutines. With the real clock, what is due runs on a timer's goroutine;
// [Broker.Settle] waits for it.
//
// # Differences from RabbitMQ
//
// The behaviour is that of one RabbitMQ 4.3 node in its default configuration or, with
// [WithProfile], of a 3.10 node, with these differences:
//
//   - There are no streams, no cluster, federation or shovel, no plugins, no MQTT or STOMP,
//     and no persistence. A quorum queue has one member.
//   - What takes RabbitMQ a moment, such as applying a policy, expiring a message or confirming a
//     publish, has happened when the call returns or the clock shows its time.
//   - Where RabbitMQ leaves something to chance, the order in which a policy reaches queues for
//     example, leveret does it in one of the possible ways; with [WithSeed] always in the same.
//   - The memory alarm counts message bodies ([WithMemoryLimit]), and there is no alarm without a limit.
package leveret
