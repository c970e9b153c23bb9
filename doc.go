// Package leveret is RabbitMQ's broker model as a library. It has exchanges, queues, bindings,
// policies, expiry, length limits and dead-lettering in the process that imports it, and they
// behave as those of a RabbitMQ node.
//
// The nouns are those of AMQP 0-9-1 and RabbitMQ:
//
//   - A [Broker] is a node. It owns time, users and virtual hosts. All methods of VHost are methods
//     of Broker too: there they act on the virtual host "/".
//   - A [VHost] is a namespace of exchanges, queues, bindings and policies.
//   - An [Exchange] routes messages by its [ExchangeType] and its bindings.
//   - A [Queue] holds messages and delivers them. Each [Delivery] has to be acknowledged or rejected.
//   - A [Conn] is the connection of a user with permissions. Its channels ([Channel]) have delivery
//     tags, prefetch, confirms and transactions.
//
// Some comments end with a line such as "Rules: DL-9": these are the rules of docs/rules.md that the function holds.
//
// # Publishing and consuming
//
// [New] returns a broker that is ready to be used:
//
//	b := leveret.New()
//	defer b.Close()
//
//	q, err := b.DeclareQueue("work", leveret.QueueConfig{})
//	out, err := b.Publish("", "work", leveret.Message{Body: []byte("job")})
//
// RabbitMQ tells a publisher later, by a confirm or a return, what became of a message. Here it is
// known when Publish returns: the [Outcome] says to how many queues the message was routed,
// whether one of them refused it, and whether it was returned as unroutable. [Outcome.Err] makes an error of that.
//
// There are three ways to receive. Get takes one message and reports whether there was one:
//
//	d, ok, err := q.Get()
//
// A [Consumer] waits for messages. The loop runs in the goroutine of the program:
//
//	c, err := q.Consume(leveret.ConsumeConfig{Prefetch: 20})
//	for d := range c.Deliveries(ctx) {
//		…
//		d.Ack()
//	}
//
// When ctx is done the loop ends. [Consumer.Close] then gives the messages that the program has not received back to the queue.
//
// A handler is called for each message, in the goroutine whose operation caused the delivery, by a
// publish for example. A program with one goroutine then does the same in every run, which is what
// simulators want:
//
//	q.Consume(leveret.ConsumeConfig{Handler: func(d *leveret.Delivery) { … }})
//
// Where many goroutines publish and receive, they spend most of their time on each other's locks. [VHost.PublishAll],
// [Queue.GetMany] and [AckAll] do in one operation what that many calls of Publish, Get and Ack do. With the option
// Reuse of [ConsumeConfig] or Into of [GetConfig] a delivery allocates nothing.
//
// # Dead-lettering
//
// A message dies when it is rejected without requeue, when its time to live is over, when its queue
// is over its length limit, or when it was returned to a quorum queue too often. If the queue has a
// dead-letter exchange, the message is published to that exchange:
//
//	b.DeclareQueue("work", leveret.QueueConfig{Arguments: leveret.Table{
//		leveret.ArgMessageTTL:           5 * time.Second,
//		leveret.ArgMaxLength:            1000,
//		leveret.ArgDeadLetterExchange:   "dlx",
//		leveret.ArgDeadLetterRoutingKey: "work.dead",
//	}})
//
// A dead letter carries its history. [Delivery.Deaths] returns it as Go values, the most recent
// death first; the headers x-death, x-first-death-* and x-last-death-* have it as clients of
// RabbitMQ know it. A dead letter is dropped if it would come to a queue in which it has died
// before and no consumer has rejected it since, as RabbitMQ drops it.
//
// The history belongs to the message. A program that publishes what it has received once more publishes a new message, whose
// history begins anew, even if the header x-death is among its headers: RabbitMQ 4.3 does not trust a publisher's x-death. So a
// program that counts attempts by Deaths rejects the message, and a queue with a TTL brings it back: see examples/retry.
//
// # Policies
//
// A [Policy] configures all queues and exchanges whose names match its pattern, and takes effect at
// once on those that exist. Arguments of a queue and operator policies are combined with it, by a
// rule for each setting; [Queue.Effective] lists the settings in force and where each comes from.
//
// # Time
//
// By default a broker uses the real clock. With a [ManualClock] time passes only when the program
// says so:
//
//	clock := leveret.NewManualClock(start)
//	b := leveret.New(leveret.WithClock(clock))
//	…
//	clock.Advance(5 * time.Second)
//
// When Advance returns, all timers that were due in the interval have fired, in order, each with its
// own deadline as the present time. [Broker.NextDeadline] returns the next deadline, so that a
// simulator can jump from one to the next. In a bubble of [testing/synctest] the real clock is
// virtual already: a broker that is made in the bubble needs no option.
//
// # Sessions
//
// Methods of Broker, VHost, Exchange and Queue check no permissions. [Broker.Connect] opens a
// connection with the permissions of a user, which [VHost.SetPermissions] grants. Operations fail as
// they do in RabbitMQ: an [Error] has RabbitMQ's code and text. Where RabbitMQ closes the channel or the
// connection, it is closed when the error is returned.
//
// Direct reply-to is RabbitMQ's, too. The channel that asks consumes from "amq.rabbitmq.reply-to" with NoAck, and publishes its
// requests with this name as the property ReplyTo. Who answers publishes to the default exchange with the delivery's ReplyTo as
// the routing key.
//
// Clients that speak AMQP 0-9-1 are served by package amqpd, over a network or in memory. Package
// leverettest connects the amqp091-go client in tests. Package definitions exports and imports
// RabbitMQ's definitions files.
//
// # Durability
//
// A broker of New is in memory. One of [Open] has a directory, too, and keeps there what a RabbitMQ node keeps on its disk:
//
//	b, err := leveret.Open("/var/lib/orders")
//	defer b.Close()
//
// When the directory is opened again, whatever has ended the process, durable queues have their persistent messages (those with
// the property DeliveryMode 2), quorum queues all of theirs. A confirm waits for the disk, and so does VHost.Publish; [WithSync] has them wait for less. [Broker.Recovered] tells what
// was found. docs/durability.md has the details.
//
// # Watching
//
// [Events] is a set of functions that the broker calls with what happens, in order; [Broker.Watch]
// adds one at any time, and [LogEvents] writes them to a log. Every message that leaves the broker
// without having been acknowledged is an event with its cause, and counted by it. The methods named
// Info, [Queue.Messages] and [Broker.Counters] change nothing in what they describe, and
// [Broker.Check] verifies the broker's invariants.
//
// # Caveats
//
// Bodies are not copied. A publisher hands over a message's body, properties and headers, and must
// not change them afterwards. Several queues and consumers may share them, so receivers must not
// change them either.
//
// Handlers and event hooks run after the operation that caused them has released its locks, one at
// a time for each virtual host, on the goroutine of that or of a concurrent operation. They may
// call the broker; the handlers and hooks that such a call causes run after they return. While one of
// them blocks, the others of its virtual host wait. They must not call [Broker.Settle] or
// [ManualClock.Advance].
//
// Order is RabbitMQ's: first in, first out within a queue and a priority; a requeued message goes
// back to its old place. When an operation returns, its dead letters have reached their queues:
// those of a Publish, for example, that has pushed messages out of a full queue.
//
// [Broker.Close] ends everything: connections close, every wait ends, no timer stays armed, and
// messages are gone, but for those that a broker of [Open] has in its directory. A broker of New writes nothing to disk.
//
// [Broker.Restart] stops the broker and starts it again, as a node is stopped or killed: connections
// end, and what is durable is kept, in memory, as RabbitMQ keeps it on disk. So a test sees what a
// restart does to a service, and to messages that are not persistent.
//
// A broker of New starts no goroutines. One of Open has four, which end with it: three for its log, one that looks at the free
// space of its disk. With the real clock, timers run on goroutines of package time; [Broker.Settle] waits for those that are due.
//
// # Differences from RabbitMQ
//
// The behaviour is that of one RabbitMQ 4.3 node in its default configuration or, with
// [WithProfile], of a 3.10 node, with these differences:
//
//   - There are no streams: a declaration of one, or a policy for them, is refused with 540 (NOT_IMPLEMENTED).
//   - There is no cluster, federation or shovel, no plugins, no MQTT or STOMP.
//     A quorum queue has one member.
//   - basic.qos with global sets one window for all consumers of a channel. RabbitMQ 4.3 does so only if its
//     configuration permits the deprecated feature global_qos: see [WithGlobalQos].
//   - All messages are in memory, also those of a broker with a directory.
//   - What takes RabbitMQ a moment, such as applying a policy, expiring a message or confirming a
//     publish, has happened when the call returns or the clock shows its time.
//   - Where RabbitMQ leaves something to chance, for example in which order a policy reaches the
//     queues, leveret does it in one of the possible ways. With [WithSeed] this way is always the same.
//   - The memory alarm counts message bodies ([WithMemoryLimit]), and there is no alarm without a limit.
package leveret
