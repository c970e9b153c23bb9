package leveret

import (
	"cmp"
	"fmt"
	"math"
	"time"
)

// An Option configures a broker when it is made. New panics at an option that is nil or has a value out of its range:
// it is a mistake of the program, and a broker without it would be another than the program wants.
type Option func(*Broker)

// WithClock makes the broker take all time from c, which must not be nil and must show a time from 1970 to 2262. The
// default is the real clock.
func WithClock(c Clock) Option {
	return func(b *Broker) {
		demand(c != nil, "WithClock(nil): a clock is wanted")
		demandTime(c.Now(), "WithClock")
		b.clock = c
	}
}

// WithProfile makes the broker behave as another RabbitMQ release. The default is RabbitMQ43.
func WithProfile(p Profile) Option {
	return func(b *Broker) {
		demand(p == RabbitMQ43 || p == RabbitMQ310, "WithProfile(%d): RabbitMQ43 or RabbitMQ310 is wanted", uint8(p))
		b.behaviour = newBehaviour(p, p.rules())
	}
}

// WithEvents makes the broker call the functions of e from its beginning, as [Broker.Watch] does later. Several add up.
func WithEvents(e Events) Option {
	return func(b *Broker) { b.watchers = append(b.watchers, &watcher{events: e}) }
}

// WithSeed makes generated names and every random choice a function of seed. The default is
// a random seed.
func WithSeed(seed uint64) Option { return func(b *Broker) { b.seed(seed) } }

// WithVHostSetup has CreateVHost call setup for each virtual host that it makes, for what a new virtual host is to have from its
// beginning, such as limits, policies and permissions. What setup returns is what CreateVHost returns; the virtual host stays. Setup
// is not called for "/" of a new broker, nor for what a directory or a restart brings back. Definitions are tried on another
// broker before they are imported: setup is called for new virtual hosts of that broker, too, so the function should use no other
// broker than v.Broker().
//
// rabbitmq.conf has default_limits.vhosts, default_policies.operator and default_users for this.
//
// Rules: A-16.
func WithVHostSetup(setup func(v *VHost) error) Option {
	return func(b *Broker) { b.setup = setup }
}

// VHostSetup returns the function that [WithVHostSetup] has set; nil: none.
func (b *Broker) VHostSetup() func(*VHost) error { return b.setup }

// WithDefaultQueueType sets the default queue type of "/" and of virtual hosts that are made later, unless who makes one says
// another: the type of durable queues that are declared without one. It is [QueueTypeClassic], the default, or [QueueTypeQuorum].
// Virtual hosts that a directory brings back keep theirs. rabbitmq.conf of 4.3 has default_queue_type for this.
//
// Rules: A-20.
func WithDefaultQueueType(t QueueType) Option {
	return func(b *Broker) {
		demand(t == "" || t == QueueTypeClassic || t == QueueTypeQuorum, "WithDefaultQueueType(%q): classic or quorum is wanted, or nothing for the default", t)
		b.queueType = t
	}
}

// NodeDefaultQueueType returns what [WithDefaultQueueType] has set. A virtual host's own is VHostInfo.DefaultQueueType.
func (b *Broker) NodeDefaultQueueType() QueueType {
	return cmp.Or(b.queueType, QueueTypeClassic)
}

// WithCredentialValidator has validate decide about the password that a user is given as a text, by AddUser, ChangePassword, the
// management API, rabbitmqctl or definitions. Its error is why it refuses. A hash, and that a user gets no password, is not
// asked about. The default takes every password. rabbitmq.conf has credential_validator for this.
//
// Rules: A-17.
func WithCredentialValidator(validate func(user, password string) error) Option {
	return func(b *Broker) { b.validate = validate }
}

// WithMemoryLimit sets the memory limit, as [Broker.SetMemoryLimit] does.
func WithMemoryLimit(bytes int64) Option { return func(b *Broker) { b.memory.limit.Store(bytes) } }

// WithGlobalQos permits or denies the deprecated feature global_qos. The default is true: basic.qos with Global sets one window
// for all consumers of the channel. With false Global has no effect: basic.qos sets the prefetch of each consumer to come.
//
// RabbitMQ 4.3 denies the feature, unless its configuration has deprecated_features.permit.global_qos = true. RabbitMQ 3.10 has
// no such setting, and permits the feature. The option holds for both releases.
//
// Rules: D-27.
func WithGlobalQos(permitted bool) Option { return func(b *Broker) { b.globalQos = permitted } }

// WithConsumerTimeout sets how long a delivery may stay unacknowledged, where neither a queue nor a consumer says it: in whole
// milliseconds, at least one. The default, which 0 stands for, is RabbitMQ's half an hour. It is rabbitmq.conf's consumer_timeout.
//
// Rules: D-35, D-36.
func WithConsumerTimeout(d time.Duration) Option {
	return func(b *Broker) {
		demand(d == 0 || d >= time.Millisecond, "WithConsumerTimeout(%v): at least a millisecond is wanted, or 0 for the default", d)
		b.ackTimeout = cmp.Or(d.Milliseconds(), defaultAckTimeout)
	}
}

// ConsumerTimeout returns what [WithConsumerTimeout] has set.
func (b *Broker) ConsumerTimeout() time.Duration {
	return time.Duration(b.ackTimeout) * time.Millisecond
}

// WithMaxMessageSize sets the largest body a publisher may send, in bytes, from 1 to 512 MiB. The
// default, which 0 stands for, is the release's own: 16 MiB in RabbitMQ 4.3, 128 MiB in 3.10.
func WithMaxMessageSize(bytes int) Option {
	return func(b *Broker) {
		demand(0 <= bytes && bytes <= absoluteMaxMessageSize,
			"WithMaxMessageSize(%d): 1 to %d bytes are wanted, or 0 for the release's own limit",
			bytes, absoluteMaxMessageSize)
		b.maxMessageSize = bytes
	}
}

// absoluteMaxMessageSize is the largest limit that RabbitMQ can be configured to, in bytes.
// Rules: M-1.
const absoluteMaxMessageSize = 512 << 20

// demand panics if a value that the program gave is out of its range.
func demand(ok bool, format string, args ...any) {
	if !ok {
		panic("leveret: " + fmt.Sprintf(format, args...))
	}
}

// The times that a clock may show: those that a number of nanoseconds since 1970 can say.
var (
	earliestTime = time.Unix(0, 0)
	latestTime   = time.Unix(0, math.MaxInt64)
)

// demandTime panics if t, which where gives, is not a time that a clock may show.
func demandTime(t time.Time, where string) {
	demand(!t.Before(earliestTime) && !t.After(latestTime), "%s: %s is not a time from %s to %s", where,
		t.UTC().Format(time.DateTime), earliestTime.UTC().Format(time.DateOnly), latestTime.UTC().Format(time.DateOnly))
}
