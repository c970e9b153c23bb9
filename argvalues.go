package leveret

// The values of arguments, and of the policy keys of the same names, that are words of RabbitMQ's.
const (
	// ArgQueueType, QueueInfo.Type and VHostInfo.DefaultQueueType.

	QueueTypeClassic = "classic"
	QueueTypeQuorum  = "quorum"

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
