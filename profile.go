package leveret

// A Profile names the RabbitMQ release whose behaviour a broker shows where releases differ.
type Profile uint8

// The profiles. The zero value is the default.
const (
	RabbitMQ43  Profile = iota // RabbitMQ 4.3
	RabbitMQ310                // RabbitMQ 3.10
)

// rules are the differences between releases. Each field is one behaviour, false or zero in
// 4.3 where that reads well; nothing else in the package asks which release it plays.
type rules struct {
	version        string // as server-properties and definitions state it
	maxMessageSize int    // bytes; a larger body is refused

	// Publishing.
	verbatimExpiration bool // consumers get the expiration as the publisher wrote it
	keepHeaderOrder    bool // headers are delivered in the publisher's order, duplicates included
	routesToNames      bool // a transaction's route are names, of which the queues are sought at the commit
	oldPublishChecks   bool // a publish is checked in 3.10's order, without the topic keys of CC and BCC, with the delivery mode: M-3, M-7, A-9
	returnReplies      bool // a mandatory publish to a direct reply-to name is returned; declaring one's own name crashes, not a malformed one

	// Permissions.
	bareRefusals     bool // refusals do not name the kind of access
	passiveUnchecked bool // passive declares need no permission
	anyTopicExchange bool // topic permissions may be set for an exchange that does not exist
	rawTopicVars     bool // user and vhost names are put into topic expressions without escaping

	// Exchanges.
	unknownTypeClosesConnection bool
	manyHashWords               bool // topic binding keys may have any number of # words
	looseNumbers                bool // headers: integers equal floating-point numbers of the same value
	secondsTimestamps           bool // headers: a message's timestamp compares in seconds, not milliseconds
	firstDuplicateHeader        bool // headers: of a duplicate message header the first counts, not the last
	noNewExchangeTypes          bool // x-local-random and x-modulus-hash do not exist

	// Queue arguments.
	plainQueueType       bool // x-queue-type is stored only if sent; "" and undefined are errors; no default queue type
	checkQueueMode       bool
	queueVersion1        bool
	noClassicLocator     bool // x-queue-leader-locator is refused on classic queues
	plainPriorityZero    bool // x-max-priority 0 makes a plain queue, not one of two levels
	noNewQuorumArguments bool // x-consumer-timeout, x-delayed-retry-* and the like are unknown arguments

	// Quorum queues.
	quorumFIFO            bool  // no priorities: one list
	deliveryLimit         int64 // default; -1: none
	countEveryReturn      bool  // every return counts towards the delivery limit; nothing carries over to other queues
	requeueToTail         bool  // without a delivery limit a settled requeue goes to the tail
	oldCountHeader        bool  // x-delivery-count counts returns, from 0 on basic.get; no x-acquired-count
	noPreemption          bool  // single active consumer: priorities are ignored
	plainQuorumName       bool  // error texts say "quorum queues", not <<"quorum">> queues
	bodyBytesOnly         bool  // length in bytes counts bodies without properties
	newestTrimmedFirst    bool  // of messages trimmed at once the newest is dead-lettered first
	stopsForGood          bool  // publishers that were told to stop are not told that the limits are gone
	purgeSkipsPending     bool  // purge leaves pending at-least-once dead letters alone
	policyChangeIsUse     bool  // a policy change restarts the idle time of x-expires
	quorumRefusesHaCancel bool  // x-cancel-on-ha-failover is refused
	negativeLimitIsZero   bool  // a negative delivery limit dead-letters on the first return
	policyExpiresFirst    bool  // a policy's expires replaces the argument
	deafToItself          bool  // at-least-once dead letters to their own queue are never confirmed, nor told to stop

	// Consumers.
	channelPrefetch   bool // basic.qos(global) is one window for the channel; quorum queues refuse it
	idleCancel        bool // a cancel does not hand what is ready to the next single active consumer of a classic queue
	deathAddsCredit   bool // a message that exceeds the delivery limit makes room for two at its consumer
	channelAckTimeout bool // the consumer timeout holds for every queue type and closes the channel

	// Dead letters.
	headerHistory   bool // x-death itself is the history: clients' entries are continued
	lastDeathAbsent bool // no x-last-death-* headers
	dropCCWithKey   bool // a dead-letter routing key removes the CC header
	keysWithoutBCC  bool // an entry's routing-keys are the routing key and CC, without list subtraction

	// Policies.
	oldApplyTo        bool // only all, queues, exchanges
	oldPolicyKeys     bool // 3.10's set of keys, for policies and operator policies
	byteCutReplyTexts bool // reply texts are cut at 252 bytes, not at characters
}

var profiles = [...]rules{
	RabbitMQ43: {
		version:        "4.3.6",
		maxMessageSize: 16 << 20,
		deliveryLimit:  20,
	},
	RabbitMQ310: {
		version:        "3.10.8",
		maxMessageSize: 128 << 20,
		deliveryLimit:  -1,

		verbatimExpiration: true, keepHeaderOrder: true, routesToNames: true, oldPublishChecks: true,
		returnReplies: true,
		bareRefusals:  true, passiveUnchecked: true, rawTopicVars: true, anyTopicExchange: true,
		unknownTypeClosesConnection: true, manyHashWords: true, looseNumbers: true, secondsTimestamps: true,
		firstDuplicateHeader: true, noNewExchangeTypes: true,
		plainQueueType: true, checkQueueMode: true, queueVersion1: true, noClassicLocator: true,
		plainPriorityZero: true, noNewQuorumArguments: true,
		quorumFIFO: true, countEveryReturn: true, requeueToTail: true, oldCountHeader: true, noPreemption: true,
		plainQuorumName: true, bodyBytesOnly: true, newestTrimmedFirst: true, stopsForGood: true, purgeSkipsPending: true,
		policyChangeIsUse: true, quorumRefusesHaCancel: true, negativeLimitIsZero: true,
		policyExpiresFirst: true, deafToItself: true,
		channelPrefetch: true, channelAckTimeout: true, idleCancel: true, deathAddsCredit: true,
		headerHistory: true, lastDeathAbsent: true, dropCCWithKey: true, keysWithoutBCC: true,
		oldApplyTo: true, oldPolicyKeys: true, byteCutReplyTexts: true,
	},
}

func (p Profile) rules() *rules { return &profiles[p] }

// Version returns the RabbitMQ version whose behaviour the profile was compared with, such as 4.3.6.
func (p Profile) Version() string { return p.rules().version }
