package leveret

// Counters are kept by each virtual host and each queue under the lock of the virtual host.

// figures are what a virtual host counts.
type figures struct {
	counters Counters
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
// Rules: O-2, O-3.
type Counters struct {
	Published          uint64 `json:"published"` // messages that passed all checks
	Routed             uint64 `json:"routed"`    // published messages that reached a queue
	UnroutableDropped  uint64 `json:"unroutable_dropped"`
	UnroutableReturned uint64 `json:"unroutable_returned"`
	Confirmed          uint64 `json:"confirmed"` // acks on confirming channels
	Refused            uint64 `json:"refused"`   // copies that queues did not take: reject-publish, reject-publish-dlx
	DeliveryCounters
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

// QueueCounters count what has happened in a queue since it was declared.
type QueueCounters struct {
	Enqueued uint64 `json:"enqueued"` // messages that the queue took
	Refused  uint64 `json:"refused"`  // messages that it did not take, by reject-publish and reject-publish-dlx
	DeliveryCounters
	Died    DeathCounters `json:"died"`    // messages that died here, whether they were dead-lettered or dropped
	Dropped DropCounters  `json:"dropped"` // all that was lost from here
}

// DeliveryCounters count deliveries and what was done with them.
type DeliveryCounters struct {
	Delivered    uint64 `json:"delivered"`
	Redelivered  uint64 `json:"redelivered"`
	Acknowledged uint64 `json:"acknowledged"` // deliveries that need no acknowledgement included
	Requeued     uint64 `json:"requeued"`
	Rejected     uint64 `json:"rejected"` // without requeue
}

func (c *DeliveryCounters) add(o DeliveryCounters) {
	c.Delivered += o.Delivered
	c.Redelivered += o.Redelivered
	c.Acknowledged += o.Acknowledged
	c.Requeued += o.Requeued
	c.Rejected += o.Rejected
}

func (c *DeliveryCounters) delivered(redelivered, noAck bool) {
	c.Delivered++
	if redelivered {
		c.Redelivered++
	}
	if noAck {
		c.Acknowledged++
	}
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
	own, more := &q.counters.lost().died, uint64(n)
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
	c.Published += o.Published
	c.Routed += o.Routed
	c.UnroutableDropped += o.UnroutableDropped
	c.UnroutableReturned += o.UnroutableReturned
	c.Confirmed += o.Confirmed
	c.Refused += o.Refused
	c.DeliveryCounters.add(o.DeliveryCounters)
	c.DeadLettersConfirmed += o.DeadLettersConfirmed
	c.NoDeadLetterExchange.add(o.NoDeadLetterExchange)
	c.DeadLetteredAtMostOnce.add(o.DeadLetteredAtMostOnce)
	c.DeadLetteredAtLeastOnce.add(o.DeadLetteredAtLeastOnce)
	c.Dropped.add(&o.Dropped)
}

// queueCounters are what a queue counts. Most queues lose nothing, and have no figures for it.
type queueCounters struct {
	Enqueued uint64
	DeliveryCounters
	losses *losses // nil: none
}

// losses are what did not stay in a queue.
type losses struct {
	refused   uint64
	histories commonHistories
	died      DeathCounters
	dropped   DropCounters
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
	b.leaving = without(b.leaving, v)
	c := v.Counters()
	b.gone.add(&c)
}

// Counters returns the virtual host's counters.
func (v *vhost) Counters() Counters {
	v.lock()
	defer v.unlock()
	return v.counters
}

// Counters returns the queue's counters; those of a deleted queue are the last.
func (q *Queue) Counters() QueueCounters {
	q.v.lock()
	defer q.v.unlock()
	c := QueueCounters{Enqueued: q.counters.Enqueued, DeliveryCounters: q.counters.DeliveryCounters}
	if l := q.counters.losses; l != nil {
		c.Refused, c.Died, c.Dropped = l.refused, l.died, l.dropped
	}
	return c
}
