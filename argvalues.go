package leveret

// A QueueType is one of QueueTypeClassic and QueueTypeQuorum.
type QueueType string

// A DestinationType says what a binding leads to: DestinationQueue or DestinationExchange.
type DestinationType string

// The values of arguments, and of the policy keys of the same names, that are words of RabbitMQ's.
// They have no type of their own, so that they can be values of arguments as well as QueueTypes and DestinationTypes.
const (
	// ArgQueueType, QueueInfo.Type and VHostInfo.DefaultQueueType.

	QueueTypeClassic = "classic"
	QueueTypeQuorum  = "quorum"

	// BindingInfo.DestinationType and Binding.DestinationType.

	DestinationQueue    = "queue"
	DestinationExchange = "exchange"

	// x-queue-leader-locator: where a node of a cluster puts the leader of a new queue. It means nothing to a broker of
	// one node.

	LocatorClientLocal = "client-local" // the default
	LocatorBalanced    = "balanced"

	// ArgOverflow: what a queue at its length limit does.

	OverflowDropHead         = "drop-head"          // the oldest message goes; the default
	OverflowRejectPublish    = "reject-publish"     // a new message is refused
	OverflowRejectPublishDLX = "reject-publish-dlx" // and dead-lettered; classic queues

	// ArgDeadLetterStrategy, of quorum queues.

	DeadLetterAtMostOnce  = "at-most-once" // the default
	DeadLetterAtLeastOnce = "at-least-once"

	// ArgDelayedRetryType: which returned messages a quorum queue delays (RabbitMQ 4.3).

	DelayedRetryDisabled = "disabled" // the default
	DelayedRetryAll      = "all"
	DelayedRetryFailed   = "failed"   // those whose delivery failed
	DelayedRetryReturned = "returned" // the others
)
