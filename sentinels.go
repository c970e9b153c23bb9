package leveret

import "errors"

// What errors are compared with, by errors.Is. Each group says who returns its errors, and when.

// One error for each reply code: the code itself, under the name that Go programs look for. An [Error] matches the one
// of its code. So does the error of everything that an Error has closed, which is [ErrClosed] too.
const (
	// Any operation on a virtual host, user, policy, exchange, queue or binding, in a session or not.

	ErrNotFound = NotFound // what was named does not exist
	// ErrPreconditionFailed: it exists with other properties, is in use or not empty, or a value is refused: an
	// argument, a policy, a delivery tag.
	ErrPreconditionFailed = PreconditionFailed
	// ErrAccessRefused: a wrong password, a missing permission, a reserved name, or a queue in exclusive use.
	ErrAccessRefused = AccessRefused
	// ErrResourceLocked: the exclusive queue of another connection; Channel.Get from a quorum queue with a single active
	// consumer.
	ErrResourceLocked = ResourceLocked
	// ErrSyntax: what AMQP cannot say: a Table or Fields with a value that it has no type for, a name, a key or a property
	// of more than 255 bytes, headers that no frame has room for, a negative prefetch.
	ErrSyntax = SyntaxError
	// ErrNotImplemented: RabbitMQ does not do this: immediate, a prefetch size, DeleteConfig with quorum queues. Or
	// leveret does not: a stream, a policy for streams.
	ErrNotImplemented = NotImplemented
	// ErrNotAllowed: a limit is reached; a virtual host that the user may not enter; a consumer tag that is in
	// use.
	ErrNotAllowed     = NotAllowed
	ErrCommandInvalid = CommandInvalid // RabbitMQ 3.10: an unknown type of exchange
	ErrInternal       = InternalError  // RabbitMQ's channel crashes on this

	// Sessions: Conn and Channel.

	ErrChannel  = ChannelError  // Conn.OpenChannel: the number is in use
	ErrResource = ResourceError // Channel.Commit: a queue that was published to has been deleted
	// ErrConnectionForced: the broker was closed, an operator closed the connection, or its user or virtual host
	// is gone.
	ErrConnectionForced = ConnectionForced

	// Codes that only stand on the wire, in what a listener sends.

	ErrContentTooLarge = ContentTooLarge
	ErrNoRoute         = NoRoute
	ErrNoConsumers     = NoConsumers
	ErrInvalidPath     = InvalidPath
	ErrFrame           = FrameError
	ErrUnexpectedFrame = UnexpectedFrame
)

// ErrClosed is returned by operations on a broker, connection, channel or consumer that is closed. If the broker closed
// it for a reason, the error wraps the [Error] with this reason.
var ErrClosed = errors.New("leveret: closed")

// Why a consumer has ended. The error of Consumer.Err and Consumer.Receive is ErrClosed, and one of these unless the
// channel or connection was closed.
var (
	ErrCancelled    = errors.New("consumer cancelled")        // by Consumer.Cancel, Consumer.Close or Channel.Cancel
	ErrQueueDeleted = errors.New("queue deleted")             // its queue was deleted or has expired
	ErrAckTimeout   = errors.New("acknowledgement timed out") // a delivery of a quorum queue was not settled in time (4.3)
)

// What keeps a published message from its queues, by Outcome.Err.
var (
	ErrRejected   = errors.New("leveret: publish rejected by a full queue") // overflow is reject-publish
	ErrReturned   = errors.New("leveret: publish returned: no route")       // it was mandatory and no queue was reached
	ErrUnroutable = errors.New("leveret: publish dropped: no route")        // no queue was reached
)

// Error returns the name of the code, as String does. A Code is an error so that it can be compared with: see
// [ErrNotFound].
func (c Code) Error() string { return c.String() }

// Is makes errors.Is match e against its code.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// A closedError is what operations on something closed return: ErrClosed, and why.
type closedError struct{ why error } // nil: its owner closed it

// closedBy returns the error of what the broker closed for a reason, or of what its owner closed if reason is nil.
func closedBy(reason *Error) error {
	if reason == nil {
		return &closedError{}
	}
	return &closedError{reason}
}

func (e *closedError) Error() string {
	if e.why == nil {
		return ErrClosed.Error()
	}
	return ErrClosed.Error() + ": " + e.why.Error()
}

func (e *closedError) Is(target error) bool { return target == ErrClosed }

func (e *closedError) Unwrap() error { return e.why }
