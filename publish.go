package leveret

import (
	"cmp"
	"slices"
)

// A publish passes its checks, is routed, and goes to the queues it was routed to. A client sees the first check that
// fails, so their order is a rule: M-1 in RabbitMQ 4.3, M-3 in 3.10. Both begin alike (checkTarget); what follows
// stands in two lists.

// Publish is basic.publish. It returns when every queue has taken or refused the message, so
// the outcome is all that a client would be told later: first Return (basic.return), then on a
// confirming channel an ack of Sequence, or a nack if Rejected. On a channel in a transaction
// nothing happens, and nothing is told, before Commit.
func (ch *Channel) Publish(exchange, key string, m Message) (Outcome, error) {
	// These are the steps of Channel.do. With do and its closure BenchmarkPublish takes 8 to 19 % longer.
	v := ch.v
	if v.log != nil {
		if err := v.log.disk.room(); err != nil {
			return Outcome{}, err
		}
	}
	v.lock()
	var out Outcome
	err := ch.usableLocked()
	if err == nil {
		var e *Error
		if out, e = ch.publishLocked(exchange, key, &m); e != nil {
			out, err = ch.publishErrorLocked(e, exchange, key, &m)
		}
	}
	if v.log != nil {
		return out, cmp.Or(err, ch.endLogged(ch.confirm || ch.super))
	}
	v.unlock()
	return out, err
}

// publishErrorLocked follows e, which publishLocked has returned: it does again what needs a long match, and closes what an
// error closes.
func (ch *Channel) publishErrorLocked(e *Error, exchange, key string, m *Message) (out Outcome, err error) {
	if e == errLongMatch {
		e, err = ch.againLocked(func() (e *Error) {
			out, e = ch.publishLocked(exchange, key, m)
			return e
		})
	}
	if e != nil {
		err = ch.failLocked("basic.publish", e)
	}
	return out, err
}

// A publication is a message that has passed its checks, and the queues it was routed to.
type publication struct {
	m         *message
	queues    []*Queue
	mandatory bool
	replies   replies // direct replies that were delivered when it was routed
}

// publishLocked is Publish as one step of an operation.
// Rules: M-1, M-2, M-3, C-9.
func (ch *Channel) publishLocked(exchange, key string, m *Message) (Outcome, *Error) {
	ch.cache = ch.caches.of(key)
	again := ch.cache.leads(exchange, key, ch.v.topology)
	if again && ch.cache.toQueues() && ch.super && m.isPlain() && uint64(len(m.Body)) <= uint64(ch.v.b.maxMessageSize) {
		return ch.publishAgainLocked(key, m), nil
	}
	// The checks that all releases make first.
	x, err := ch.checkTargetLocked(exchange, key, m, again)
	if err != nil {
		return Outcome{}, err
	}
	// The checks of the properties, and what the broker takes from them: expiration, CC, BCC, reply-to.
	stored, err := ch.checkMessageLocked(x, key, m)
	if err != nil {
		return Outcome{}, err
	}
	if m.WireProperties != "" { // M-21
		stored.keepWireProperties(m)
	}
	// An accepted message gets the next number of a confirming channel. // M-2
	var out Outcome
	if ch.confirm {
		ch.sequence++
		ch.v.counters.ConfirmsExpected++
		out.Sequence = ch.sequence
	}
	// A transaction routes at once, and keeps the message until its commit. // C-9
	p := publication{m: stored, queues: ch.routeLocked(stored), mandatory: m.Mandatory}
	if ch.v.rules.repliesBypassQueues && stored.mayReply() { // M-19a
		if err := ch.v.checkReplyNames(stored); err != nil {
			return Outcome{}, err
		}
		if ch.tx != nil {
			p.replies = ch.v.deliverRepliesLocked(nil, loss{m: stored})
		}
	}
	if ch.tx != nil {
		ch.v.counters.ConfirmsExpected++
		p.queues = slices.Clone(p.queues)
		ch.tx.publish(p)
		return Outcome{Queues: len(p.queues)}, nil
	}
	ch.enqueueLocked(&p, &out)
	return out, nil
}

// publishAgainLocked publishes a plain message of a program as it published an earlier one. There is nothing to check.
// Without this shortcut BenchmarkFull/dead-letter=false takes 6 % more instructions.
func (ch *Channel) publishAgainLocked(key string, m *Message) (out Outcome) {
	c := ch.cache
	ch.v.counters.Sizes.count(len(m.Body))
	stored := &message{exchange: c.x, key: key, body: m.Body}
	ch.enqueueLocked(&publication{m: stored, queues: c.queues, mandatory: m.Mandatory}, &out)
	return out
}

// checkTargetLocked makes the checks with which a publish begins in every release, and returns the exchange. The
// channel's cache leads there already if again is true, and does afterwards in any case.
// Rules: M-1, M-3, M-4, A-6, C-7.
func (ch *Channel) checkTargetLocked(exchange, key string, m *Message, again bool) (*Exchange, *Error) {
	v := ch.v
	// What no client could be sent, before all that RabbitMQ checks.
	if !(again && m.Properties == nil) && !ch.isRemote() {
		if err := m.checkStrings(exchange, key); err != nil {
			return nil, err
		}
	}
	// The flag immediate: only its frame is looked at.
	if m.Immediate {
		return nil, NotImplemented.errorf(exchange, "immediate=true")
	}
	// The size, before permissions: RabbitMQ refuses the body when it has its header.
	if size := uint64(len(m.Body)); size > uint64(v.b.maxMessageSize) {
		return nil, v.tooLarge(size)
	}
	v.counters.Sizes.count(len(m.Body))
	// Write permission, before existence: the name of a missing exchange is refused in the same way. // A-6
	if err := ch.checkLocked(write, exchangeResource, exchange); err != nil {
		return nil, err
	}
	// The exchange exists, and clients may publish to it.
	if !again {
		ch.cache.lead(exchange, key, v)
	}
	x := ch.cache.x
	switch {
	case x == nil:
		return nil, v.noExchange(exchange)
	case x.cfg.Internal && !ch.super: // the firehose publishes to amq.rabbitmq.trace
		return nil, AccessRefused.errorf(exchange, "cannot publish to internal %s", v.exchangeText(exchange))
	}
	return x, nil
}

func (v *vhost) tooLarge(size uint64) *Error {
	configured := "configured max"
	if v.b.maxMessageSize >= absoluteMaxMessageSize {
		configured = "max"
	}
	return PreconditionFailed.errorf("", "message size %d is larger than %s size %d", size, configured, v.b.maxMessageSize)
}

// A publishCheck is one check of a message that is published. A check named take… also puts what it has read from the
// properties into the message.
type publishCheck func(*Channel, *message) *Error

// publishChecks43 are what RabbitMQ 4.3 checks after checkTarget.
// Rules: M-1.
var publishChecks43 = []publishCheck{
	(*Channel).takeReplyToLocked,
	(*Channel).takeExpiration,
	(*Channel).takeCC,
	(*Channel).checkTopicKeysLocked,
	(*Channel).checkUserID,
}

// publishChecks310 are what RabbitMQ 3.10 checks after checkTarget.
// Rules: M-3.
var publishChecks310 = []publishCheck{
	(*Channel).checkTopicKeyLocked,
	(*Channel).takeReplyToLocked,
	(*Channel).checkUserID,
	(*Channel).takeExpiration,
	(*Channel).takeCC,
	(*Channel).checkDeliveryMode,
}

// checkMessageLocked makes the stored form of a message and the checks that are about it, in the release's order.
func (ch *Channel) checkMessageLocked(x *Exchange, key string, m *Message) (*message, *Error) {
	stored := &message{exchange: x, key: key, body: m.Body, props: m.Properties}
	// Most messages have nothing to check but an expiration. Without this shortcut BenchmarkPublish/by=guest/properties takes
	// 12 % longer, and if an expiration takes the long way BenchmarkHeaders/values=expiration takes 4 %.
	keysAreFree := ch.super || x.kind != Topic
	if keysAreFree && m.Properties.unchecked() {
		if err := ch.takeExpiration(stored); err != nil {
			return nil, err
		}
		return stored, nil
	}
	if err := stored.takeHeaders(ch.isRemote()); err != nil {
		return nil, err
	}
	checks := publishChecks43
	if ch.v.rules.oldPublishChecks {
		checks = publishChecks310
	}
	for _, check := range checks {
		if err := check(ch, stored); err != nil {
			return nil, err
		}
	}
	return stored, nil
}

// checkTopicKeysLocked checks topic permission for every routing key, those of CC and BCC included.
// Rules: A-9.
func (ch *Channel) checkTopicKeysLocked(m *message) *Error {
	if m.exchange.kind != Topic {
		return nil
	}
	for key := range m.eachKey {
		if err := ch.checkTopicLocked(write, m.exchange.name, key); err != nil {
			return err
		}
	}
	return nil
}

// checkTopicKeyLocked checks topic permission for the main routing key only: RabbitMQ 3.10 never checks CC and BCC.
// Rules: A-9.
func (ch *Channel) checkTopicKeyLocked(m *message) *Error {
	if m.exchange.kind != Topic {
		return nil
	}
	return ch.checkTopicLocked(write, m.exchange.name, m.key)
}

// checkUserID refuses a user-id that is not the publisher's own, except from a user who was an impersonator when the connection was
// opened.
// Rules: M-1, A-13.
func (ch *Channel) checkUserID(m *message) *Error {
	p := m.props
	if ch.super || p == nil || !p.given(p.UserID != "", PropUserID) {
		return nil
	}
	user := ch.conn.cfg.User
	if p.UserID == user || ch.conn.impersonates {
		return nil
	}
	return PreconditionFailed.errorf("", "user_id property set to '%s' but authenticated user was '%s'", p.UserID, user)
}

// checkDeliveryMode refuses delivery modes other than transient and persistent.
// Rules: M-7.
func (ch *Channel) checkDeliveryMode(m *message) *Error {
	p := m.props
	if p == nil || !p.given(p.DeliveryMode != 0, PropDeliveryMode) {
		return nil
	}
	if p.DeliveryMode == transient || p.DeliveryMode == persistent {
		return nil
	}
	return PreconditionFailed.errorf("", "invalid message: {delivery_mode_unknown,%d}", p.DeliveryMode)
}

// A routeCache is a route that was taken, which holds while the topology does: publishers mostly publish the same way
// again. Without it BenchmarkCycle takes 13 % longer and BenchmarkPublish 19 to 47 %.
type routeCache struct {
	topology      uint64
	exchange, key string
	x             *Exchange
	queues        []*Queue
}

// A publishCache is a way in which a channel has published.
type publishCache struct {
	routeCache
	routed bool // false: the exchange is known, the queues are not
}

// publishCaches are ways in which a channel has published: a publisher often has a few and alternates. With one
// cache in place of eight BenchmarkCycle/impl=leveret-eight takes 9 % longer.
type publishCaches struct {
	caches *[8]publishCache // nil before the first publish: many channels only consume
}

// of returns the cache that publishes with this key use. It may lead elsewhere yet.
func (cs *publishCaches) of(key string) *publishCache {
	if cs.caches == nil {
		cs.caches = new([8]publishCache)
	}
	i := len(key)
	if i > 0 {
		i += int(key[i-1]) // names often differ in their ends only
	}
	return &cs.caches[i%len(cs.caches)]
}

// leads reports whether a publish goes the way of c.
func (c *publishCache) leads(exchange, key string, topology uint64) bool {
	return c != nil && c.x != nil && c.topology == topology && c.exchange == exchange && c.key == key
}

// toQueues reports whether the way is known to lead to queues.
func (c *publishCache) toQueues() bool { return c.routed && len(c.queues) > 0 }

// lead notes the exchange of that name, nil if there is none, and the routing key for routeLocked.
func (c *publishCache) lead(exchange, key string, v *vhost) {
	c.topology, c.exchange, c.key, c.x = v.topology, exchange, key, v.exchanges[exchange]
	c.routed = false
}

// routeLocked returns the queues that m reaches. Its exchange and key are those that the cache leads to; a
// message without CC and BCC takes the same way as the one before.
func (ch *Channel) routeLocked(m *message) []*Queue {
	c, oneKey := ch.cache, m.extra == nil
	if c.routed && oneKey {
		return c.queues
	}
	queues := ch.v.routeLocked(m.exchange, m)
	if oneKey && !ch.v.router.varying {
		c.queues, c.routed = append(c.queues[:0], queues...), true
	}
	return queues
}

// enqueueLocked hands a message to the queues it was routed to.
// Rules: L-14, C-2, C-3, C-10, O-4.
func (ch *Channel) enqueueLocked(p *publication, out *Outcome) {
	v := ch.v
	ch.publishedEventLocked(p.m, p.queues)
	if p.m.mayReply() && p.replies == (replies{}) { // M-19a
		p.replies = v.deliverRepliesLocked(nil, loss{m: p.m})
	}
	out.Queues = len(p.queues) + p.replies.delivered
	if len(p.queues) == 0 {
		ch.unroutableLocked(p, out)
		return
	}
	queues := p.queues
	if n := len(queues); n > 1 {
		p.countFurtherLocked(n - 1)
		queues = v.storingLastLocked(queues, p.m)
	}
	// Every queue gets its copy, whatever the others do. One refusal makes the publish a refused one. In a transaction a quorum
	// queue that refuses the message hides this refusal, and those of the other queues, from the commit. // C-10
	refused, heard := false, true
	for _, q := range queues {
		out.Stored = out.Stored || q.confirmsStored(p.m)
		if !q.impl.accept(arrival{m: p.m, by: ch}) {
			refused = true
			heard = heard && (ch.tx == nil || q.traits.commitHears)
		}
	}
	if refused && heard {
		out.Rejected = true
	}
	if ch.asPublisher.told {
		ch.asPublisher.told, out.Stopped = false, true
	}
	if out.Sequence > 0 && !out.Rejected {
		ch.confirmedLocked(p.m)
	}
}

// storingLastLocked returns the queues in the order in which they are done with m: a classic queue that writes m to the disk
// comes behind the classic queues that do not.
// Rules: X-18a.
func (v *vhost) storingLastLocked(queues []*Queue, m *message) []*Queue {
	if !m.isPersistent() {
		return queues
	}
	stores := func(q *Queue) bool { return q.traits.actsLater || q.confirmsStored(m) && !q.consumers.handOverLocked() }
	n := slices.IndexFunc(queues, stores)
	if n < 0 || !slices.ContainsFunc(queues[n:], func(q *Queue) bool { return !stores(q) }) {
		return queues
	}
	inTurn := v.router.inTurn[:0]
	for _, last := range []bool{false, true} {
		for _, q := range queues {
			if stores(q) == last {
				inTurn = append(inTurn, q)
			}
		}
	}
	v.router.inTurn = inTurn
	return inTurn
}

// confirmsStored reports whether q confirms m when the disk has m, and has delivered m before.
// Rules: C-5a.
func (q *Queue) confirmsStored(m *message) bool {
	return q.lifetime.durable && q.impl.deliversFirst() && q.impl.keeps(m)
}

// confirmedLocked counts the ack of a publish.
func (ch *Channel) confirmedLocked(m *message) {
	m.exchange.counters.Confirmed++
	ch.tally.Confirmed++
}

// unroutableLocked ends a publish that reached no queue: a confirming client gets an ack, and with mandatory the
// message before it.
// Rules: C-2, C-5, C-6.
func (ch *Channel) unroutableLocked(p *publication, out *Outcome) {
	v := ch.v
	if out.Sequence > 0 {
		ch.confirmedLocked(p.m)
	}
	p.countUnroutedLocked()
	// The name of a direct reply-to consumer is no queue, but it may take the message. // M-19a
	if v.replied(p) {
		return
	}
	if !p.mandatory {
		p.m.exchange.counters.UnroutableDropped++
		ch.tally.UnroutableDropped++
		v.dropLocked(nil, loss{m: p.m, cause: CauseUnroutable})
		return
	}
	p.m.exchange.counters.UnroutableReturned++
	ch.tally.UnroutableReturned++
	ch.returnedEventLocked(p.m)
	out.Return = &Return{Exchange: p.m.exchange.name, RoutingKey: p.m.key,
		Message: Message{Properties: v.returnedProperties(p.m), Body: p.m.body, WireProperties: p.m.wireProperties()}}
}

// replied reports whether direct replies are all that becomes of a message. To 4.3 a message that was routed to a name
// has reached a queue. 3.10 returns every mandatory one, delivered or not.
// Rules: M-19a.
func (v *vhost) replied(p *publication) bool {
	if v.rules.repliesBypassQueues {
		return p.replies.delivered > 0 && !p.mandatory
	}
	return p.replies != (replies{})
}

// returnedProperties are the properties of a message as basic.return carries them: the headers in the release's order.
// Rules: M-14.
func (v *vhost) returnedProperties(m *message) *Properties {
	if m.props == nil || m.props.HeaderFields == nil {
		return m.props
	}
	own := *m.props
	if !v.rules.keepHeaderOrder {
		own.HeaderFields = own.HeaderFields.sorted()
	}
	own.Headers = own.HeaderFields.Table()
	return &own
}
