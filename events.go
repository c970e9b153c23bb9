package leveret

import "time"

// Events is how anybody watches a broker: a set of optional functions, one for each kind of event. [WithEvents] and
// [Broker.Watch] have a broker call them; a hook that is nil costs nothing, and nor does anything where nobody watches.
//
// Each virtual host tells its events in the order in which things happened, and one at a time: a hook never runs twice
// at once for one virtual host, but it may for two. Hooks run after the operation that caused the event has released
// its locks, before that operation returns or during a concurrent one, on the goroutine of whichever it is; for what a
// clock does, that of the timer or of [ManualClock.Advance]. [Broker.Settle] waits for events that are outstanding.
//
// A hook may do anything: call the broker, and add and stop watchers, itself included. What its own calls lead to is
// told after it has returned. It must not call Broker.Settle or ManualClock.Advance, and while it blocks, the other
// events and handlers of its virtual host wait: operations go on, and what they have to tell gathers in memory without
// a bound, some 300 bytes an event. [MemoryInfo] has their number, Untold. A hook that panics, or ends its goroutine by
// [runtime.Goexit], takes nothing from others: all other hooks and handlers run first, then the panic goes on to the
// operation's caller.
//
// A message has a number, Message, that lasts: all its copies in all queues and all its dead letters have it. A copy is
// a message's place in one queue. It has a number, too, Copy, which it keeps when it is requeued; a dead letter's copy
// in its target is another one, and its Parent is the copy that died. So the copies of a message are a tree. Both
// numbers count from 1 in each virtual host; Message is 0 for a message that was published when nobody watched.
//
// A copy that was Enqueued ends in one of three ways, with one event: Acked, DeadLettered, or Dropped with this Copy. A
// publish or a dead letter that gets into no queue, or is kept out of one, is Returned, Refused, or Dropped with Copy
// 0. So nothing is lost without an event and its cause; only what [Broker.Close] finds in the queues goes silently,
// with the broker.
//
// An event is plain data, and has no text of its own: [LogEvents] writes each as a line of a log.
// Rules: O-5.
type Events struct {
	Published    func(PublishedEvent)    // a publisher handed over a message
	Returned     func(ReturnedEvent)     // a mandatory message reached no queue
	Enqueued     func(EnqueuedEvent)     // a queue took a message, or passed it straight on to a consumer
	Refused      func(RefusedEvent)      // a queue at its limit refused a message
	Delivered    func(DeliveredEvent)    // a consumer or basic.get was given a message
	Acked        func(AckedEvent)        // a message was acknowledged, or was delivered without need of it
	Requeued     func(RequeuedEvent)     // a message went back into its queue
	Rejected     func(RejectedEvent)     // a message was rejected without requeue; DeadLettered or Dropped follows
	DeadLettered func(DeadLetteredEvent) // a message died and was published to the dead-letter exchange
	Dropped      func(DroppedEvent)      // a message left the broker without being acknowledged

	QueueDeclared      func(QueueEvent)
	QueueDeleted       func(QueueEvent)
	ExchangeDeclared   func(ExchangeEvent)
	ExchangeDeleted    func(ExchangeEvent)
	Bound              func(BindingEvent)
	Unbound            func(BindingEvent)
	ConsumerAdded      func(ConsumerEvent)
	ConsumerRemoved    func(ConsumerEvent)
	PolicySet          func(PolicyEvent)
	PolicyCleared      func(PolicyEvent)
	Ignored            func(IgnoredEvent) // something was accepted that has no effect
	ConnectionOpened   func(ConnectionEvent)
	ConnectionClosed   func(ConnectionEvent)
	ChannelOpened      func(ChannelEvent)
	ChannelClosed      func(ChannelEvent)
	MemoryAlarmRaised  func(MemoryEvent)
	MemoryAlarmCleared func(MemoryEvent)
	DiskAlarmRaised    func(DiskEvent)
	DiskAlarmCleared   func(DiskEvent)
	StoreFailed        func(StoreEvent) // the directory of the broker takes nothing more, see [Broker.Err]
}

// An EventMessage tells which message an event is about. Properties and Body are shared with
// the broker: read only.
type EventMessage struct {
	Time       time.Time
	VHost      string
	Message    uint64 // number of the message, kept through copies and deaths; 0: published when nobody watched
	Exchange   string // where the message was last published to; a dead-letter exchange after a death
	RoutingKey string
	// RoutingKeys are RoutingKey and those of CC and BCC; nil: RoutingKey alone. They are shared: read only.
	RoutingKeys []string
	Properties  *Properties // as published, with the Headers of a program or the HeaderFields of a client; nil: none
	Body        []byte
}

// An EventSession tells on which channel something was done. Both are 0 for operations of the program itself, on
// [VHost], [Queue] and the like.
type EventSession struct {
	Conn    uint64 // Conn.ID
	Channel uint16 // Channel.Number
}

// An EventDelivery tells which delivery an event is about, and on which channel.
type EventDelivery struct {
	EventSession
	Queue       string // "amq.rabbitmq.reply-to" for a direct reply
	Copy        uint64 // number of the message's place in Queue; 0 for a direct reply
	ConsumerTag string // empty for basic.get
	DeliveryTag uint64
}

// A PublishedEvent is a publish that passed all checks; in a transaction, one that is committed.
type PublishedEvent struct {
	EventMessage
	EventSession          // the publisher
	Queues       []string // where it was routed to
}

// A ReturnedEvent is a mandatory message that went back to its publisher.
type ReturnedEvent struct {
	EventMessage
	EventSession // the publisher
}

// An EnqueuedEvent is a message taken by Queue.
type EnqueuedEvent struct {
	EventMessage
	Queue  string
	Copy   uint64 // number of the message's place in Queue
	Parent uint64 // for a dead letter: the copy that died; 0: published
}

// A RefusedEvent is a message that Queue refused because of its length limit and overflow. With reject-publish-dlx the
// refused message dies: DeadLettered or Dropped follows for this Copy. With reject-publish a publisher is told by a
// nack on a confirming channel, and a dead letter is Dropped, unless it is sent at least once: then it will be sent
// again.
type RefusedEvent struct {
	EventMessage
	Queue  string
	Copy   uint64 // number of the place that the message was refused
	Parent uint64 // for a dead letter: the copy that died; 0: published
}

// A DeliveredEvent is a message handed out.
type DeliveredEvent struct {
	EventMessage
	EventDelivery
	Redelivered bool
}

// An AckedEvent is a message that is done with.
type AckedEvent struct {
	EventMessage
	EventDelivery
}

// A RequeuedEvent is a message that went back: its holder gave it back, its channel ended, or its time to be
// acknowledged was over. A quorum queue may end its life at once, if it has come back too often.
type RequeuedEvent struct {
	EventMessage
	EventDelivery
}

// A RejectedEvent is a message that a consumer rejected without requeue, by basic.reject or basic.nack. It dies.
type RejectedEvent struct {
	EventMessage
	EventDelivery
}

// A DeadLetteredEvent is one death and where it led. The message is the dead letter: Exchange is the dead-letter
// exchange. With the at-least-once strategy the event comes when all targets have the dead letter, after their
// Enqueued.
type DeadLetteredEvent struct {
	EventMessage
	Queue  string // where it died
	Copy   uint64 // the copy that died, the Parent of those in Queues
	Reason Reason
	Queues []string // where it was routed to; not those that the cycle rule keeps it from
}

// A DroppedEvent is a message that is lost, and why.
type DroppedEvent struct {
	EventMessage
	Queue  string // the queue it died in or was removed from; empty: a publish that no queue received
	Copy   uint64 // the copy that is lost; 0: the message did not get into a queue
	Parent uint64 // with Copy 0, for a dead letter: the copy that died; 0: published
	Reason Reason // how it died; empty: it did not die, see Cause
	Cause  Cause
	Target string // for CauseCycle and CauseRefused: the queue that did not get it
}

// A Cause says why a message left the broker without being acknowledged, or why a queue was deleted.
type Cause string

// The causes of loss. With those from CauseQueueDeleted to CauseVHostDeleted all messages of a queue go, those that
// consumers hold included.
const (
	CauseUnroutable           Cause = "unroutable"                   // a publish, not mandatory, that no queue received
	CauseReplyUnread          Cause = "reply_unread"                 // a direct reply: 128 MiB of them are unread
	CauseNoReplyConsumer      Cause = "no_reply_consumer"            // a direct reply whose consumer is gone
	CauseNoDeadLetterExchange Cause = "no_dead_letter_exchange"      // the queue has none configured
	CauseExchangeMissing      Cause = "dead_letter_exchange_missing" // the one configured does not exist
	CauseDeadLetterUnroutable Cause = "dead_letter_unroutable"       // the dead-letter exchange led to no queue
	CauseCycle                Cause = "dead_letter_cycle"            // without Target: a cycle that the rule does not end
	CauseRefused              Cause = "dead_letter_refused"          // the target is full and overflow is reject-publish
	CauseStrategyChanged      Cause = "dead_letter_strategy_changed" // the queue does not keep dead letters any more
	CausePurged               Cause = "purged"
	CauseQueueDeleted         Cause = "queue_deleted"    // by queue.delete or its like
	CauseQueueExpired         Cause = "queue_expired"    // nobody used the queue for as long as x-expires says
	CauseQueueUnused          Cause = "queue_unused"     // the last consumer left an auto-delete queue
	CauseOwnerGone            Cause = "queue_owner_gone" // the connection of an exclusive queue ended
	CauseVHostDeleted         Cause = "vhost_deleted"
	CauseNodeDown             Cause = "node_down" // a restart or a reset does not keep it
)

// A QueueEvent is about a queue's life.
type QueueEvent struct {
	Time         time.Time
	VHost, Queue string
	Cause        Cause // why the queue was deleted; empty for a declaration
}

// An ExchangeEvent is about an exchange's life.
type ExchangeEvent struct {
	Time            time.Time
	VHost, Exchange string
}

// A BindingEvent is about a binding's life.
type BindingEvent struct {
	Time    time.Time
	Binding BindingInfo
}

// A ConsumerEvent is about a consumer's life. Consumers of direct replies, which are of no queue, have none.
type ConsumerEvent struct {
	Time              time.Time
	VHost, Queue, Tag string
	EventSession
	Err error // why the consumer was removed, see Consumer.Err; nil when it was added
}

// A PolicyEvent is about a policy.
type PolicyEvent struct {
	Time        time.Time
	VHost, Name string
	Operator    bool
}

// An IgnoredEvent is about what RabbitMQ accepts without a word though it has no effect: an argument of a queue or an
// exchange that nothing knows, mostly because its name is misspelt, or a policy whose keys suit nothing that it applies
// to.
type IgnoredEvent struct {
	Time                    time.Time
	VHost                   string
	Queue, Exchange, Policy string // one of them: what was declared or set
	Argument                string // the name of the argument; empty for a policy
	Similar                 string // the argument that may have been meant; empty: none is similar
}

// A ConnectionEvent is about a connection's life.
type ConnectionEvent struct {
	Time        time.Time
	VHost, User string
	ID          uint64
	Name        string // as listings show it
	Err         *Error // why the broker closed it; nil: its client did, or it was opened
}

// A ChannelEvent is about a channel's life.
type ChannelEvent struct {
	Time  time.Time
	VHost string
	EventSession
	Err *Error // why the broker closed the channel, or its connection; nil: the client did, or it was opened
}

// A MemoryEvent is about the memory alarm.
type MemoryEvent struct {
	Time        time.Time
	Used, Limit int64 // bytes, as [MemoryInfo] has them
}

// A StoreEvent tells why the directory of a broker takes nothing more.
type StoreEvent struct {
	Time time.Time
	Err  error // as [Broker.Err] returns it
}

// A DiskEvent is about the disk alarm.
type DiskEvent struct {
	Time        time.Time
	Free, Limit int64 // octets, as [DiskInfo] has them
}
