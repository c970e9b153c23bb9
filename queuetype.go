package leveret

import (
	"time"

	"github.com/leveretmq/leveret/internal/record"
	"github.com/leveretmq/leveret/internal/schedule"
)

// A queueType is how one type of queue orders what it does with messages: classic.go and quorum.go tell it. Each act is
// one whole step of RabbitMQ's queue process. When the act returns, no consumer waits for a message that is ready, no
// head that the queue has looked at is overdue, and with drop-head the limits are kept. All of it runs under the
// virtual host's lock.
type queueType interface {
	wakeable // when a head expires

	// init binds the type to its queue and returns the store in which it keeps the messages.
	init(q *Queue) *store
	// accept takes a message that was routed to the queue. It reports false if the queue refuses the message.
	accept(a arrival) bool
	// get hands the head to basic.get; nil if there is no ready message.
	get(ch *Channel, cfg GetConfig) *Delivery
	// seen follows an answer to a client that tells what the queue holds.
	seen()
	// attach notes that a channel consumes.
	attach(ch *Channel)
	// requeuesAnew reports whether messages that come back in this way are settled one by one.
	requeuesAnew(how settling) bool
	// takeBack puts messages that a holder returns to their places: a consumer, or nil for basic.get. It returns those
	// that have been delivered too often.
	takeBack(back []entry, how settling, from *Consumer) (over []entry)
	// tookBack follows the return of all messages that a holder returns together. over, in parts, have been delivered too often.
	tookBack(over [][]entry, how settling, from *Consumer)
	// settled follows the settlement of deliveries that leave the queue for good.
	settled()
	// left follows the end of consumers: it delivers to those that remain.
	left()
	// freed delivers what is ready: a consumer can take messages.
	freed()
	// reconfigured follows a change of the settings, which were was.
	reconfigured(was *settings)
	// purge removes the messages that nobody holds and returns how many the queue counted.
	purge() int
	// deleted drops everything that nobody holds: the queue is gone.
	deleted(cause Cause)
	// keeps reports whether a restart keeps a message, if it keeps the queue.
	keeps(m *message) bool
	// deliversFirst reports whether the queue delivers a message that the disk does not have yet, and confirms a persistent one when the
	// disk has it: what only a listener's client sees. // C-5a
	deliversFirst() bool
	// takesBackFirst reports whether the queue takes back what a channel that fails holds before the channel has ended. // E-7, E-8
	takesBackFirst() bool
	// headTime is the head_message_timestamp, zero if it is not known. held is the first message that was delivered and is not settled,
	// or nil.
	headTime(held *entry) time.Time
	// inform adds to a description of the queue what the type knows.
	inform(i *QueueInfo)
	// noteHeld has the log know of a message that was handed out with a delivery tag. There is a log.
	noteHeld(u *unacked, tag uint64, ch *Channel)
	// outlived is a message that the queue had when its node was killed, and that nobody had.
	outlived(e entry) entry
	// stopping is the last step of the queue before its node stops: it has back what clients held.
	stopping()
	// content empties the queue, whose node goes down as said, and returns what a restart keeps. Nobody holds any message.
	content(as NodeEnd) content
	// fill puts a content into the queue, which is empty.
	fill(content)
	// describe adds to a snapshot of the log what the type knows beside the messages.
	describe(add func(record.Item))
	// booted is the first step of the queue after its node has come up.
	booted()
	// deadLetter ends the time of a message that has left the queue already.
	deadLetter(e entry, reason Reason)
	// waiting yields the messages that are neither ready nor delivered.
	waiting(yield func(waitingMessage) bool)
	// headDeadline is when a head expires next, in ns since 1970; 0 for never.
	headDeadline() int64
	// timer is set for headDeadline, or earlier.
	timer() *schedule.Timer[wakeable]
	// countGhosts adds n to the ghosts: what the queue counts as consumers though they get nothing any more.
	countGhosts(n int)
	ghosts() int
}

// An arrival is a message that was routed to a queue.
type arrival struct {
	m          *message
	deliveries uint32    // the delivery count that a dead letter brings along // D-7
	by         publisher // nil: an at-most-once dead letter
	parent     uint64    // the copy that died; 0: published
}

// A waitingMessage is set aside by its queue: for a delayed retry or, with a reason, as a dead letter that its targets
// do not have.
type waitingMessage struct {
	e      entry
	at     int64 // when the wait ends, in ns since 1970; 0: not known
	reason Reason
}

// traits are how a type of queue differs outside of its acts. Other files ask for the trait, not for the type, unless RabbitMQ
// itself names the type, as in the tables of arguments and policy keys. What differs by release comes from the profile. A comment begins with the numbers of the rules that the field is
// about. TestEveryRuleIsShown changes each field of each type and demands that a scenario notices.
type traits struct {
	serverNamed        bool  // it may be declared without a name
	transient          bool  // it may be exclusive, auto-delete or not durable
	deletesOnCondition bool  // queue.delete knows if-unused and if-empty
	usedByDeclare      bool  // a declaration that finds the queue restarts its idle time
	usedByPolicy       bool  // a change of its policy restarts its idle time
	usedByChannelEnd   bool  // the end of a channel that it knows restarts its idle time
	idleBeyond         int64 // ms that it has to be idle for beyond x-expires

	actsLater bool // X-18a, D-5: of the queues that a message or a settlement reaches, it acts after those that do not

	exclusiveConsumers bool  // D-19: basic.consume's exclusive has a meaning
	channelWindow      bool  // D-27: it obeys basic.qos with global
	window             int   // D-29: deliveries that a consumer without prefetch may hold; 0: no limit
	leavesLineWhenFull bool  // D-20: a consumer leaves its line when its window fills, not at its next turn
	noAckWindow        bool  // D-28: what a no-ack consumer gets counts for its window until the queue has done its step
	ackTimeout         int64 // D-35, D-36: ms by default, in place of which the broker may have another; -1: none
	ownAckTimeout      bool  // D-35: the consumer, the queue and a policy can set the timeout
	watchesGets        bool  // D-35, D-36: the timeout holds for basic.get

	singleActiveGet  bool // D-23: basic.get is allowed beside a single active consumer
	listsOnlyActive  bool // declare-ok counts the single active consumer only
	electsByPriority bool // D-21, D-22: the single active consumer is the one of the highest priority
	electsByWindow   bool // D-22: among equal priorities, the one with the largest window
	preempts         bool // D-22: a newcomer of higher priority becomes the single active consumer
	idleCancel       bool // D-21: a cancel delivers nothing to the consumers that remain (3.10)

	counts          countHeaders // D-10, D-12: headers of counts on its deliveries
	keepsRedelivery bool         // D-9: deliveries elsewhere set the redelivered flag
	levelsApart     bool         // DL-10: each priority is a queue: of messages rejected together the highest dies first
	holdersInOrder  bool         // D-5: it takes back from an ended channel by consumer, not in the order of delivery
	heirs           bool         // D-29: a consumer with the tag of a cancelled one takes over what that one holds
	placeStays      bool         // D-29: such a consumer has the place in line of the cancelled one even if that one holds nothing (3.10)
	byName          bool         // C-10: a transaction finds it by its name, so a queue declared anew gets the message
	commitHears     bool         // C-10: tx.commit hears when it refuses a message
	settlesFirst    bool         // C-10: of tx.commit it gets all settlements before the publishes, not just acknowledgements
}

// queueTypes are the types of queues, by kind. A stream is refused in the end (streams.go), so it has no acts.
var queueTypes = [...]struct {
	make   func() (*Queue, queueType)
	traits func(*rules) traits
}{
	classicQueue: {makeClassic, classicTraits},
	quorumQueue:  {makeQuorum, quorumTraits},
	streamQueue:  {nil, func(*rules) traits { return traits{} }},
}

// A queue and what its type adds are one piece of memory: BenchmarkQueueTimers takes 6 % longer with two (GOGC=off).

func makeClassic() (*Queue, queueType) {
	made := &struct {
		q Queue
		c classic
	}{}
	return &made.q, &made.c
}

func makeQuorum() (*Queue, queueType) {
	made := &struct {
		q Queue
		c quorum
	}{}
	return &made.q, &made.c
}

func classicTraits(r *rules) traits {
	t := traits{
		serverNamed: true, transient: true, deletesOnCondition: true, usedByDeclare: true, usedByPolicy: true,
		usedByChannelEnd: true, exclusiveConsumers: true, channelWindow: true, ackTimeout: -1,
		singleActiveGet: true, electsByPriority: true, idleCancel: r.idleCancel,
		levelsApart: true, commitHears: true,
	}
	if r.channelAckTimeout {
		t.ackTimeout, t.watchesGets = defaultAckTimeout, true
	}
	return t
}

const (
	// quorumWindow is how many deliveries a consumer without prefetch may hold.
	// Rules: D-29.
	quorumWindow = 2000

	// quorumIdleBeyond is how much longer than x-expires a quorum queue has to be idle, in ms.
	// Rules: Q-36.
	quorumIdleBeyond = 1
)

func quorumTraits(r *rules) traits {
	t := traits{
		usedByPolicy: r.policyChangeIsUse, idleBeyond: quorumIdleBeyond,
		actsLater: true,
		window:    quorumWindow, leavesLineWhenFull: true, noAckWindow: true,
		ackTimeout: defaultAckTimeout, ownAckTimeout: !r.channelAckTimeout, watchesGets: true,
		listsOnlyActive: true,
		counts:          counts, keepsRedelivery: true, byName: true, holdersInOrder: true, heirs: true,
		settlesFirst: true,
	}
	if r.oldCountHeader {
		t.counts, t.keepsRedelivery = oldCounts, false
	}
	t.placeStays = r.holdersByTag
	if !r.noPreemption {
		t.electsByPriority, t.electsByWindow, t.preempts = true, true, true
	}
	return t
}
