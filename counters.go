package leveret

// Counters are kept by each virtual host and each queue under the lock of the virtual host.

// figures are what a virtual host counts.
type figures struct {
	counters Counters  // without what the tallies of channels and the spread have
	ended    tally     // of channels that have ended
	spread   spread    // of what was published
	stored   storeSums // of the virtual host's queues
	numbers
}

// numbers are the last that were given.
type numbers struct {
	lastMessage uint64 // to a message that was published while anybody watched
	subscribed  uint64 // to a consumer
	lastHistory uint64 // to a history that messages share
}

// Counters count what has happened since the broker was made. All only grow; what deleted queues and virtual hosts have
// counted stays.
// Rules: O-2, O-3, O-4.
type Counters struct {
	PublishCounters
	// ConfirmsExpected counts messages that were sent on confirming channels and in transactions, also in those that are not
	// committed.
	ConfirmsExpected uint64           `json:"confirms_expected"`
	Routed           uint64           `json:"routed"`        // published messages that reached a queue
	RoutedCopies     uint64           `json:"routed_copies"` // of those: a message that reached three queues counts three times
	Refused          uint64           `json:"refused"`       // copies that queues did not take: reject-publish, reject-publish-dlx
	Sizes            SizeCounters     `json:"sizes"`         // of the messages that publishers sent
	DeliveryCounters                  // from queues of every type
	Classic          DeliveryCounters `json:"classic"` // from classic queues only
	Quorum           DeliveryCounters `json:"quorum"`  // from quorum queues only
	// DeadLettersConfirmed counts at-least-once dead letters that all targets took.
	DeadLettersConfirmed uint64 `json:"dead_letters_confirmed"`
	// NoDeadLetterExchange counts messages that died where no dead-letter exchange is set, or it does not exist.
	NoDeadLetterExchange DeathCounters `json:"no_dead_letter_exchange"`
	// DeadLetteredAtMostOnce counts dead letters published by queues that do not wait for their targets.
	DeadLetteredAtMostOnce DeathCounters `json:"dead_lettered_at_most_once"`
	// DeadLetteredAtLeastOnce counts dead letters of queues that keep them until all targets have them.
	DeadLetteredAtLeastOnce DeathCounters `json:"dead_lettered_at_least_once"`
	Dropped                 DropCounters  `json:"dropped"` // all that was lost
}

// PublishCounters count what publishers sent and what they were told. A transaction counts when it is committed. Dead
// letters are not counted here: queues publish them.
type PublishCounters struct {
	Published          uint64 `json:"published"` // messages that passed all checks
	Confirmed          uint64 `json:"confirmed"` // acks on confirming channels
	UnroutableDropped  uint64 `json:"unroutable_dropped"`
	UnroutableReturned uint64 `json:"unroutable_returned"`
}

func (c *PublishCounters) add(o PublishCounters) {
	c.Published += o.Published
	c.Confirmed += o.Confirmed
	c.UnroutableDropped += o.UnroutableDropped
	c.UnroutableReturned += o.UnroutableReturned
}

// ExchangeCounters count what was published to an exchange by name. What came through a binding of another exchange, as
// alternate exchange or as a dead letter is not counted.
type ExchangeCounters struct {
	PublishCounters
	RoutedCopies uint64 `json:"routed_copies"` // a message that reached three queues counts three times
}

// ChannelCounters count what has happened on a channel.
type ChannelCounters struct {
	PublishCounters
	DeliveryCounters
}

// SizeBounds are the sizes of bodies, in octets, that [SizeCounters] tells apart, each the last of its range.
// Rules: O-7.
var SizeBounds = [...]int{smallSize, 1e3, 1e4, 1e5, 1e6, 1e7, 5e7, 1e8}

const smallSize = 100

// SizeCounters count messages by the size of their bodies. A message that is refused for another reason than its size
// counts, too.
// Rules: O-7.
type SizeCounters struct {
	Octets uint64                  `json:"octets"` // of all bodies
	Upto   [len(SizeBounds)]uint64 `json:"upto"`   // messages larger than the bound before, up to that of SizeBounds
	Larger uint64                  `json:"larger"` // than the last bound
}

// count counts a message.
func (c *SizeCounters) count(size int) {
	c.Octets += uint64(size)
	if size <= smallSize {
		c.Upto[0]++
		return
	}
	c.countLarge(size)
}

func (c *SizeCounters) countLarge(size int) {
	for i := 1; i < len(SizeBounds); i++ {
		if size <= SizeBounds[i] {
			c.Upto[i]++
			return
		}
	}
	c.Larger++
}

func (c *SizeCounters) add(o *SizeCounters) {
	for i, n := range o.Upto {
		c.Upto[i] += n
	}
	c.Larger += o.Larger
	c.Octets += o.Octets
}

// QueueCounters count what has happened in a queue since it was declared.
type QueueCounters struct {
	Published uint64 `json:"published"` // copies of published messages that were routed here, taken or refused
	Enqueued  uint64 `json:"enqueued"`  // messages that the queue took, dead letters of other queues included
	Refused   uint64 `json:"refused"`   // messages that it did not take, by reject-publish and reject-publish-dlx
	DeliveryCounters
	Died    DeathCounters `json:"died"`    // messages that died here, whether they were dead-lettered or dropped
	Dropped DropCounters  `json:"dropped"` // all that was lost from here
}

// DeathCounters count deaths by reason.
type DeathCounters struct {
	Rejected      uint64 `json:"rejected"`
	Expired       uint64 `json:"expired"`
	MaxLength     uint64 `json:"maxlen"`
	DeliveryLimit uint64 `json:"delivery_limit"`
}

// diedLocked counts n deaths in q's figures and in those of the virtual host that tell what became of them.
func (q *Queue) diedLocked(r Reason, n int, of *DeathCounters) {
	own, more := &q.counters.died().DeathCounters, uint64(n)
	switch r {
	case Rejected:
		own.Rejected += more
		of.Rejected += more
	case Expired:
		own.Expired += more
		of.Expired += more
	case MaxLength:
		own.MaxLength += more
		of.MaxLength += more
	case DeliveryLimit:
		own.DeliveryLimit += more
		of.DeliveryLimit += more
	}
}

func (d *DeathCounters) add(o DeathCounters) {
	d.Rejected += o.Rejected
	d.Expired += o.Expired
	d.MaxLength += o.MaxLength
	d.DeliveryLimit += o.DeliveryLimit
}

// DropCounters count losses by cause, as a DroppedEvent tells them: there is one figure for each [Cause].
type DropCounters struct {
	Unroutable           uint64 `json:"unroutable"`
	NoReplyConsumer      uint64 `json:"no_reply_consumer"`
	ReplyUnread          uint64 `json:"reply_unread"`
	NoDeadLetterExchange uint64 `json:"no_dead_letter_exchange"`
	ExchangeMissing      uint64 `json:"exchange_missing"`
	DeadLetterUnroutable uint64 `json:"dead_letter_unroutable"`
	Cycle                uint64 `json:"cycle"`
	Refused              uint64 `json:"refused"`
	StrategyChanged      uint64 `json:"strategy_changed"`
	Purged               uint64 `json:"purged"`
	QueueDeleted         uint64 `json:"queue_deleted"`
	QueueExpired         uint64 `json:"queue_expired"`
	QueueUnused          uint64 `json:"queue_unused"`
	OwnerGone            uint64 `json:"owner_gone"`
	VHostDeleted         uint64 `json:"vhost_deleted"`
	NodeDown             uint64 `json:"node_down"`
}

// of returns the figure of a cause.
func (d *DropCounters) of(c Cause) *uint64 {
	switch c {
	case CauseUnroutable:
		return &d.Unroutable
	case CauseNoReplyConsumer:
		return &d.NoReplyConsumer
	case CauseReplyUnread:
		return &d.ReplyUnread
	case CauseNoDeadLetterExchange:
		return &d.NoDeadLetterExchange
	case CauseExchangeMissing:
		return &d.ExchangeMissing
	case CauseDeadLetterUnroutable:
		return &d.DeadLetterUnroutable
	case CauseCycle:
		return &d.Cycle
	case CauseRefused:
		return &d.Refused
	case CauseStrategyChanged:
		return &d.StrategyChanged
	case CausePurged:
		return &d.Purged
	case CauseQueueDeleted:
		return &d.QueueDeleted
	case CauseQueueExpired:
		return &d.QueueExpired
	case CauseQueueUnused:
		return &d.QueueUnused
	case CauseOwnerGone:
		return &d.OwnerGone
	case CauseVHostDeleted:
		return &d.VHostDeleted
	case CauseNodeDown:
		return &d.NodeDown
	}
	panic("leveret: nothing counts the cause of loss " + string(c))
}

var causes = [...]Cause{
	CauseUnroutable,
	CauseNoReplyConsumer,
	CauseReplyUnread,
	CauseNoDeadLetterExchange,
	CauseExchangeMissing,
	CauseDeadLetterUnroutable,
	CauseCycle,
	CauseRefused,
	CauseStrategyChanged,
	CausePurged,
	CauseQueueDeleted,
	CauseQueueExpired,
	CauseQueueUnused,
	CauseOwnerGone,
	CauseVHostDeleted,
	CauseNodeDown,
}

func (d *DropCounters) add(o *DropCounters) {
	for _, c := range causes {
		*d.of(c) += *o.of(c)
	}
}

// Total is how many messages were lost, for whatever cause.
func (d DropCounters) Total() (n uint64) {
	for _, c := range causes {
		n += *d.of(c)
	}
	return n
}

func (c *Counters) add(o *Counters) {
	c.PublishCounters.add(o.PublishCounters)
	c.ConfirmsExpected += o.ConfirmsExpected
	c.Routed += o.Routed
	c.RoutedCopies += o.RoutedCopies
	c.Refused += o.Refused
	c.Sizes.add(&o.Sizes)
	c.DeliveryCounters.add(o.DeliveryCounters)
	c.Classic.add(o.Classic)
	c.Quorum.add(o.Quorum)
	c.DeadLettersConfirmed += o.DeadLettersConfirmed
	c.NoDeadLetterExchange.add(o.NoDeadLetterExchange)
	c.DeadLetteredAtMostOnce.add(o.DeadLetteredAtMostOnce)
	c.DeadLetteredAtLeastOnce.add(o.DeadLetteredAtLeastOnce)
	c.Dropped.add(&o.Dropped)
}

// queueCounters are what a queue counts. Most queues lose nothing, and have no figures for it.
type queueCounters struct {
	enqueued uint64
	deaths   *deaths // nil: none
	traffic
	deadLetters uint64  // that have arrived, taken or refused
	losses      *losses // nil: none
}

// arrived counts a message that was routed to the queue; parent is the copy that died, 0 for a publish.
func (c *queueCounters) arrived(parent uint64) {
	if parent != 0 {
		c.deadLetters++
	}
}

// deaths are the messages that died in a queue. They are apart from other losses, because many queues in which messages
// only expire fit better into the processor's caches: BenchmarkQueueTimers takes 9 % longer with all in one (GOGC=off).
type deaths struct {
	DeathCounters
	noExchange uint64 // how many of them were dropped because no dead-letter exchange is set
	histories  commonHistories
}

// losses are what else did not stay in a queue.
type losses struct {
	refused uint64
	dropped DropCounters // without those that died where no dead-letter exchange is set
}

// died returns the figures of deaths, to be changed.
func (c *queueCounters) died() *deaths {
	if c.deaths == nil {
		c.deaths = &deaths{}
	}
	return c.deaths
}

// lost returns the figures of losses, to be changed.
func (c *queueCounters) lost() *losses {
	if c.losses == nil {
		c.losses = &losses{}
	}
	return c.losses
}

// Counters returns the counters of all virtual hosts together.
func (b *Broker) Counters() Counters {
	b.mu.Lock()
	defer b.mu.Unlock()
	sum := b.gone
	for _, v := range append(b.sortedVHosts(), b.leaving...) {
		c := v.Counters()
		sum.add(&c)
	}
	return sum
}

// keepCounters adds those of a deleted virtual host to what the broker has counted.
func (b *Broker) keepCounters(v *vhost) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := v.Counters()
	b.leaving = without(b.leaving, v)
	b.gone.add(&c)
}

// Counters returns the virtual host's counters.
func (v *vhost) Counters() Counters {
	v.lock()
	defer v.unlock()
	c := v.counters
	sum := v.ended
	sum.add(v.system.tally)
	for _, conn := range v.conns {
		for _, ch := range conn.channels {
			sum.add(ch.tally)
		}
	}
	c.PublishCounters = sum.PublishCounters
	c.Routed, c.RoutedCopies = c.Published-v.spread.unrouted, v.spread.copies(c.Published)
	c.Classic, c.Quorum = sum.traffic[classicQueue].counters(), sum.traffic[quorumQueue].counters()
	c.DeliveryCounters.add(c.Classic)
	c.DeliveryCounters.add(c.Quorum)
	return c
}

// Counters returns the queue's counters; those of a deleted queue are the last.
func (q *Queue) Counters() QueueCounters {
	q.v.lock()
	defer q.v.unlock()
	n := &q.counters
	c := QueueCounters{Published: n.enqueued - n.deadLetters, Enqueued: n.enqueued, DeliveryCounters: n.traffic.counters()}
	if l := n.losses; l != nil {
		c.Published += l.refused
		c.Refused, c.Dropped = l.refused, l.dropped
	}
	if d := n.deaths; d != nil {
		c.Died = d.DeathCounters
		c.Dropped.NoDeadLetterExchange += d.noExchange
	}
	return c
}
