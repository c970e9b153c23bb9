package leveret

import "time"

// Events is how anybody watches a broker: a set of optional functions, one for each kind of event. [WithEvents] and
// [Broker.Watch] have a broker call them; a hook that is nil costs nothing, and nor does anything where nobody watches.
//
// Each virtual host tells its events in the order in which things happened, and one at a time: a hook never runs twice at once
// for one virtual host, but it may for two. Hooks run after the operation that caused the event has released its locks, before
// that operation returns or during a concurrent one, on the goroutine of whichever it is; for what a clock does, that of the timer
// or of [ManualClock.Advance]. [Broker.Settle] waits for events that are outstanding.
//
// A hook may do anything: call the broker, and add and stop watchers, itself included. What its own calls lead to is told
// after it has returned. It must not call Broker.Settle or ManualClock.Advance, and while it blocks, the other events and
// handlers of its virtual host wait. A hook that panics, or ends its goroutine by [runtime.Goexit], takes nothing from others:
// all other hooks and handlers run first, then the panic goes on to the operation's caller.
// Rules: O-5.
type Events struct {
	Published    func(PublishedEvent)    // a publisher handed over a message
	Returned     func(ReturnedEvent)     // a mandatory message reached no queue
	Enqueued     func(EnqueuedEvent)     // a queue took a message, or passed it straight on to a consumer
	Refused      func(RefusedEvent)      // a queue at its limit refused a message
	Delivered    func(DeliveredEvent)    // a consumer or basic.get was given a message
	Acked        func(AckedEvent)        // a message was acknowledged, or was delivered without need of it
	Requeued     func(RequeuedEvent)     // a message went back into its queue
	DeadLettered func(DeadLetteredEvent) // a message died and was routed to other queues
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
	ConnectionOpened   func(ConnectionEvent)
	ConnectionClosed   func(ConnectionEvent)
	MemoryAlarmRaised  func(MemoryEvent)
	MemoryAlarmCleared func(MemoryEvent)
}

// An EventMessage tells which message an event is about. Properties and Body are shared with
// the broker: read only.
type EventMessage struct {
	Time       time.Time
	VHost      string
	Exchange   string // where the message was last published to; a dead-letter exchange after a death
	RoutingKey string
	Properties *Properties // as published; nil: none
	Body       []byte
}

// A PublishedEvent is a publish that passed all checks.
type PublishedEvent struct {
	EventMessage
	Queues []string // where it was routed to
}

// A ReturnedEvent is a mandatory message that went back to its publisher.
type ReturnedEvent struct{ EventMessage }

// An EnqueuedEvent is a message taken by Queue.
type EnqueuedEvent struct {
	EventMessage
	Queue string
}

// A RefusedEvent is a message that Queue refused because of its length limit and overflow.
type RefusedEvent struct {
	EventMessage
	Queue string
}

// A DeliveredEvent is a message handed out.
type DeliveredEvent struct {
	EventMessage
	Queue       string
	ConsumerTag string // empty for basic.get
	DeliveryTag uint64
	Redelivered bool
}

// An AckedEvent is a message that is done with.
type AckedEvent struct {
	EventMessage
	Queue       string
	ConsumerTag string
}

// A RequeuedEvent is a message that went back.
type RequeuedEvent struct {
	EventMessage
	Queue string
}

// A DeadLetteredEvent is one death and where it led. The message is the dead letter: Exchange
// is the dead-letter exchange.
type DeadLetteredEvent struct {
	EventMessage
	Queue  string // where it died
	Reason Reason
	Queues []string // where it was routed to
}

// A DroppedEvent is a message that is lost to Queue, and why.
type DroppedEvent struct {
	EventMessage
	Queue  string // the queue it died in or was removed from; empty: a publish that no queue received
	Reason Reason // how it died; empty: it did not die, see Cause
	Cause  Cause
	Target string // for CauseCycle and CauseRefused: the queue that did not get it
}

// A Cause says why a message left the broker without being acknowledged.
type Cause string

// The causes of loss.
const (
	CauseUnroutable           Cause = "unroutable"              // a publish, not mandatory, that no queue received
	CauseNoDeadLetterExchange Cause = "no dead-letter exchange" // the queue has none configured
	CauseExchangeMissing      Cause = "dead-letter exchange missing"
	CauseDeadLetterUnroutable Cause = "dead letter unroutable" // the dead-letter exchange led to no queue
	CauseCycle                Cause = "dead-letter cycle"      // without a Target: one that the cycle rule does not end
	CauseRefused              Cause = "dead letter refused"    // the target is full and overflow is reject-publish
	CausePurged               Cause = "purged"
	CauseQueueDeleted         Cause = "queue deleted"
	CauseQueueExpired         Cause = "queue expired"
)

// A QueueEvent is about a queue's life.
type QueueEvent struct {
	Time         time.Time
	VHost, Queue string
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

// A ConsumerEvent is about a consumer's life.
type ConsumerEvent struct {
	Time              time.Time
	VHost, Queue, Tag string
}

// A PolicyEvent is about a policy.
type PolicyEvent struct {
	Time        time.Time
	VHost, Name string
	Operator    bool
}

// A ConnectionEvent is about a connection's life.
type ConnectionEvent struct {
	Time        time.Time
	VHost, User string
	ID          uint64
}

// A MemoryEvent is about the memory alarm.
type MemoryEvent struct {
	Time        time.Time
	Used, Limit int64
}
