package leveret

// A Profile names the RabbitMQ release whose behaviour a broker shows where releases differ.
type Profile uint8

// The profiles. The zero value is the default.
const (
	RabbitMQ43  Profile = iota // RabbitMQ 4.3
	RabbitMQ310                // RabbitMQ 3.10
)

// rules are the differences between releases. Each field is one behaviour, false or zero in
// 4.3 where that reads well. Nothing else in the package asks which release it plays, but SyncLevel.levels: no scenario can show
// what is on the disk. A comment begins with the numbers of the rules that the field is about. TestEveryRuleIsShown changes each field and demands that a
// scenario notices.
type rules struct {
	maxMessageSize int // M-1: bytes; a larger body is refused

	// Publishing.
	verbatimExpiration  bool // M-6: consumers get the expiration as the publisher wrote it
	keepHeaderOrder     bool // M-14: headers are delivered in the publisher's order, duplicates included
	routesToNames       bool // C-10, O-4: messages are routed to names: a transaction seeks the queues at its commit, counters count all
	txNackIsReject      bool // C-10: in a transaction a nack and a reject that follow each other are settled together
	oldPublishChecks    bool // M-3, M-7, A-9: a publish is checked in 3.10's order, without topic keys of CC and BCC
	repliesBypassQueues bool // M-19, M-19a, M-19b: direct reply-to names are no queues: publishes to them are returned
	repliesUncounted    bool // M-18: a direct reply has the delivery tag of the next message, too

	// Permissions.
	bareRefusals     bool // refusals do not name the kind of access
	passiveUnchecked bool // passive declares need no permission
	anyTopicExchange bool // topic permissions need no exchange: they are set before it is declared, and outlive it
	keptPermissions  bool // A-8a: connection.update-secret does nothing
	rawTopicVars     bool // user and vhost names are put into topic expressions without escaping

	// Exchanges.
	unknownTypeClosesConnection bool // an unknown type closes the connection
	manyHashWords               bool // topic binding keys may have any number of # words
	looseNumbers                bool // headers: integers equal floating-point numbers of the same value
	secondsTimestamps           bool // headers: a message's timestamp compares in seconds, not milliseconds
	firstDuplicateHeader        bool // headers: of a duplicate message header the first counts, not the last
	lastNameFirst               bool // X-18a: of the queues of one type that a message reaches, the last by name is first, whatever the binding keys
	noNewExchangeTypes          bool // x-local-random and x-modulus-hash do not exist

	// Queue arguments.
	limitsFirst          bool // the limit of queues is looked at before arguments
	plainQueueType       bool // x-queue-type is stored only if sent or quorum by default; an import has no default type; "" and undefined are errors
	checkQueueMode       bool // x-queue-mode is default or lazy
	queueVersion1        bool // x-queue-version may be 1
	ageNeedsNumber       bool // an x-max-age that does not begin with a number crashes the channel
	oldLeaderLocator     bool // x-queue-leader-locator is refused on classic queues, min-masters on all
	plainPriorityZero    bool // x-max-priority 0 makes a plain queue, not one of two levels
	noNewQuorumArguments bool // x-consumer-timeout, x-delayed-retry-* and the like are unknown arguments

	// Quorum queues.
	quorumFIFO                 bool  // D-39: no priorities: one list
	deliveryLimit              int64 // D-12a: default; -1: none
	countEveryReturn           bool  // D-7, D-12: every return counts towards the delivery limit; nothing carries over
	holdersByTag               bool  // D-5, D-20, D-29: consumers are served, and taken back from, by tag, not by subscription
	requeueToTail              bool  // D-4: without a delivery limit a settled requeue goes to the tail
	oldCountHeader             bool  // D-10: x-delivery-count counts returns, from 0 on basic.get; no x-acquired-count
	noPreemption               bool  // D-22: single active consumer: priorities are ignored
	plainQuorumName            bool  // D-23: error texts say "quorum queues", not <<"quorum">> queues
	bodyBytesOnly              bool  // L-3: length in bytes counts bodies without properties
	newestTrimmedFirst         bool  // L-9: of messages trimmed at once the newest dies first, before others that die then
	stopsForGood               bool  // L-11: publishers that were told to stop are not told that the limits are gone
	purgeSkipsPending          bool  // DL-35: purge leaves pending at-least-once dead letters alone
	policyChangeIsUse          bool  // P-19: a policy change restarts the idle time of x-expires
	quorumRefusesHaCancel      bool  // D-18: x-cancel-on-ha-failover is refused
	negativeLimitIsZero        bool  // D-12d: a negative delivery limit dead-letters on the first return
	policyExpiresFirst         bool  // P-17: a policy's expires replaces the argument
	selfDeadLettersUnconfirmed bool  // DL-30: at-least-once dead letters to itself are never confirmed, nor stopped

	// Consumers.
	creditArgument    bool // D-18: x-credit has a meaning, and crashes the channel if it is no table
	idleCancel        bool // D-21: classic queue: a cancel hands nothing to the next single active consumer
	deathAddsCredit   bool // D-12a, D-26: a message that exceeds the delivery limit makes room for two at its consumer
	channelAckTimeout bool // D-36: the consumer timeout holds for every queue type and closes the channel

	// Dead letters.
	headerHistory  bool // DL-22, DL-20, DL-31: x-death itself is the history: clients' entries are continued
	dropCCWithKey  bool // DL-9: a dead-letter routing key removes the CC header
	keysWithoutBCC bool // DL-15: an entry's routing-keys are the routing key and the headers CC and BCC, none subtracted

	// Policies and definitions.
	hidesDefaultBindings bool // J-4: bindings of the default exchange that an import made are not shown

	oldPatterns   bool // P-9, P-4, A-1: patterns are those of PCRE 8 with Latin-1 letters, not of PCRE2, and of any length
	oldApplyTo    bool // P-2: only all, queues, exchanges
	oldPolicyKeys bool // P-5, P-8: 3.10's set of keys, for policies and operator policies

	// Errors.
	byteCutReplyTexts bool // E-4: reply texts are cut to 255 bytes, not characters
	octetTexts        bool // E-6, E-12: texts are octets: a term shows Latin-1 only, what is not UTF-8 stands as it is

	// Restarts.
	transientExchangesEnd bool // a restart does not keep transient exchanges
	unusedExchangesStay   bool // a restart keeps auto-delete exchanges that lose their last binding by it
	flagOutlivesStop      bool // in a classic queue that was stopped every message that had come back is redelivered
	gapsEndFlags          bool // a stop that loses a message which nobody has had ends the redelivered flag for all behind the message
	diskHidesExpiration   bool // history does not have the expiration of a message that a classic queue has kept
}

var profiles = [...]rules{
	RabbitMQ43: {
		maxMessageSize: 16 << 20,
		deliveryLimit:  20,
	},
	RabbitMQ310: {
		maxMessageSize: 128 << 20,
		deliveryLimit:  -1,

		verbatimExpiration: true, keepHeaderOrder: true, routesToNames: true, oldPublishChecks: true,
		repliesBypassQueues: true, repliesUncounted: true,
		bareRefusals: true, passiveUnchecked: true, keptPermissions: true, rawTopicVars: true, anyTopicExchange: true,
		unknownTypeClosesConnection: true, manyHashWords: true, looseNumbers: true, secondsTimestamps: true,
		firstDuplicateHeader: true, noNewExchangeTypes: true,
		limitsFirst: true, plainQueueType: true, checkQueueMode: true, queueVersion1: true, ageNeedsNumber: true, oldLeaderLocator: true,
		plainPriorityZero: true, noNewQuorumArguments: true,
		quorumFIFO: true, countEveryReturn: true, requeueToTail: true, holdersByTag: true, txNackIsReject: true,
		oldCountHeader: true, noPreemption: true, lastNameFirst: true,
		plainQuorumName: true, bodyBytesOnly: true, newestTrimmedFirst: true, stopsForGood: true, purgeSkipsPending: true,
		policyChangeIsUse: true, quorumRefusesHaCancel: true, negativeLimitIsZero: true,
		policyExpiresFirst: true, selfDeadLettersUnconfirmed: true,
		creditArgument: true, channelAckTimeout: true, idleCancel: true, deathAddsCredit: true,
		headerHistory: true, dropCCWithKey: true, keysWithoutBCC: true,
		hidesDefaultBindings: true, oldPatterns: true, oldApplyTo: true, oldPolicyKeys: true,
		byteCutReplyTexts: true, octetTexts: true,
		transientExchangesEnd: true, unusedExchangesStay: true, flagOutlivesStop: true, gapsEndFlags: true, diskHidesExpiration: true,
	},
}

// versions are the releases as server-properties and definitions state them.
var versions = [...]string{RabbitMQ43: "4.3.6", RabbitMQ310: "3.10.8"}

func (p Profile) rules() *rules { return &profiles[p] }

// behaviour is what a broker plays: a profile, its rules, and the traits that each type of queue has by these rules.
type behaviour struct {
	profile Profile
	rules   *rules
	traits  [len(kinds)]traits
}

func newBehaviour(p Profile, r *rules) behaviour {
	b := behaviour{profile: p, rules: r}
	for kind, t := range queueTypes {
		b.traits[kind] = t.traits(r)
	}
	return b
}

// Version returns the RabbitMQ version whose behaviour the profile was compared with, such as 4.3.6.
func (p Profile) Version() string { return versions[p] }
