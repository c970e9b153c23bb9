package leveret

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/leveretmq/leveret/internal/tags"
)

// A Channel is where a client works: it numbers deliveries, remembers those outstanding, and
// has its own prefetch, confirms and transaction. An error that RabbitMQ answers by closing the
// channel has closed it when the method returns; its outstanding messages are back in their
// queues. Methods may be called by several goroutines; each is one atomic step.
type Channel struct {
	conn      *Conn
	v         *vhost
	number    uint16
	super     bool // the broker's own: nothing is checked, nothing closes it
	err       error
	failure   *Error // the error that closed it
	tags      tags.Window[unacked]
	consumers map[string]*Consumer
	credit
	ties
	lastQueue string
	confirm   bool
	sequence  uint64
	tx        *transaction
	committed bool          // its commit is over but for what comes behind commit-ok: see Notification
	cache     *publishCache // where it published last; nil: nowhere yet
	caches    publishCaches
	grants    permissionCache
	directReply
	getters *getTimer
	tally   *tally // its own, and when the channel has ended that of all that have

	hasNumbers bool // a consumer has had a number as tag: only then basic.get looks at what the channel holds
}

// credit is what a channel may be handed before it settles.
type credit struct {
	prefetch int            // of each consumer to come
	window   int            // one prefetch for the whole channel; 0: none
	volume   int            // what counts for it: deliveries to consumers, and what the channel held when the window was set
	settled  int            // settled deliveries that still count in volume: their queues come first
	held     int            // outstanding deliveries
	perQueue map[*Queue]int // the channel's consumers of each queue; nil without a window
	stalled  stalledConsumers
}

// ties are what a channel has to undo in queues when it ends, besides its deliveries.
type ties struct {
	left        []*Queue               // its consumers of these have ended, and the queues still know the channel; deleted ones among them
	leaving     []*Queue               // detach ended consumers of theirs
	late        []*Consumer            // those that quorum queues have cancelled because they did not settle in time
	places      map[placeKey]*Consumer // consumers that have ended and are still in line, see keepsPlace
	asPublisher publisherState
}

// A placeKey is by what a channel finds a consumer that has ended and is still in line.
type placeKey struct {
	q   *Queue
	tag string
}

// Number returns the channel's number on its connection.
func (ch *Channel) Number() uint16 { return ch.number }

// do runs f as one operation.
// Rules: C-18.
func (ch *Channel) do(op string, f func() *Error) error {
	ch.v.lock()
	err := ch.usableLocked()
	if err == nil {
		e := f()
		if e == errLongMatch {
			e, err = ch.againLocked(f)
		}
		if e != nil {
			err = ch.failLocked(op, e)
		}
	}
	if ch.v.log != nil {
		return cmp.Or(err, ch.endLogged(false))
	}
	ch.v.unlock()
	return err
}

// againLocked does f again, which needs a long match. gone is why the channel cannot do it any more.
func (ch *Channel) againLocked(f func() *Error) (err *Error, gone error) {
	err = ch.v.attemptAgainLocked(func() *Error {
		if gone = ch.usableLocked(); gone != nil {
			return nil
		}
		return f()
	})
	return err, gone
}

func (ch *Channel) usableLocked() error {
	if ch.err != nil {
		return ch.err
	}
	if ch.v.closed {
		return ErrClosed
	}
	ch.usedLocked()
	return nil
}

// failLocked closes what e closes.
// Rules: E-2, E-7, E-8, C-20.
func (ch *Channel) failLocked(op string, e *Error) error {
	if !ch.super && !e.ClosesConnection() && len(e.replyText(ch.v.rules)) > maxReplyText {
		e = &Error{Code: InternalError, Name: e.Name} // RabbitMQ 4.3's channel fails to send the text, and crashes // E-4
	}
	if e.Op == "" {
		e.Op = op
	}
	switch {
	case ch.super:
	case e.ClosesConnection():
		ch.breakLocked(e)
		ch.conn.tellClosedLocked(e) // nothing more is sent
		ch.v.deadLetterAllLocked()  // what classic queues took back
		ch.endLocked(e)             // before the connection's other channels, which may be handed what it held
		ch.conn.endLocked(e)
	default:
		ch.refusedLocked(e)
	}
	return e
}

// refusedLocked closes the channel because of an error. A listener's channel ends when Close tells that the client knows; any other
// ends at once.
// Rules: E-7.
func (ch *Channel) refusedLocked(e *Error) {
	ch.breakLocked(e)
	if ch.conn.cfg.Inbox == nil {
		ch.endLocked(e)
	}
}

// Close closes the channel: its consumers end, its outstanding messages go back to their
// queues, its transaction is discarded. Closing a closed channel returns nil.
//
// A listener (ConnConfig.Inbox) also closes a channel that an error has closed, when the client has answered. The queues
// that the channel does not consume from, and quorum queues, have their messages back from then on.
//
// Rules: E-7.
func (ch *Channel) Close() error {
	ch.v.lock()
	if !ch.super && !ch.detachedLocked() {
		ch.endLocked(ch.failure)
	}
	ch.v.unlock()
	return nil
}

// breakLocked is what an error does before the client hears of it: the channel does nothing more, and classic queues that it consumes
// from take back what it holds of them. Quorum queues do not notice, nor do direct replies in 4.3.
// Rules: E-7, E-8.
func (ch *Channel) breakLocked(reason *Error) {
	if ch.err != nil {
		return
	}
	ch.err, ch.failure = closedBy(reason), reason
	ch.tx = nil
	ch.endConsumersLocked(func(c *Consumer) bool {
		if c.q == nil {
			return ch.v.rules.repliesBypassQueues // 4.3 goes on to deliver replies
		}
		return c.q.impl.takesBackFirst()
	})
	left := ch.leaving
	ch.returnLocked(func(q *Queue) bool { return slices.Contains(left, q) })
}

// endLocked closes the channel; reason is nil if the client wants it.
// Rules: E-7.
func (ch *Channel) endLocked(reason *Error) {
	ch.detachLocked(reason)
	ch.giveBackLocked(reason)
}

// detachLocked is the first half of end. A connection detaches all its channels before any of them gives back, so that none is handed
// another's messages; but quorum queues go on delivering until the channel gives back.
// Rules: C-12, D-31.
func (ch *Channel) detachLocked(reason *Error) {
	if ch.detachedLocked() {
		return
	}
	if ch.err == nil {
		ch.err = closedBy(reason)
	}
	ch.tx = nil
	ch.stopCountingLocked()
	delete(ch.conn.channels, ch.number)
	ch.conn.numbers.remove(ch.number)
	ch.v.ending = append(ch.v.ending, ch)
	ch.conn.releaseChannel()
	if ch.getters != nil {
		ch.v.timing.heap.Remove(&ch.getters.timer)
	}
	forgetPublisher(ch)
	for _, c := range ch.late {
		c.uncountLateLocked()
	}
	ch.late = nil
	for _, c := range ch.places {
		c.q.consumers.exit(c)
	}
	ch.places = nil
	ch.endConsumersLocked(func(c *Consumer) bool { return c.q == nil || c.q.impl.takesBackFirst() || c.cfg.NoAck })
}

// detachedLocked reports whether the channel has ended, or is about to.
func (ch *Channel) detachedLocked() bool { return ch.conn.channels[ch.number] != ch }

func anyQueue(*Queue) bool       { return true }
func anyConsumer(*Consumer) bool { return true }

// endConsumersLocked ends some of the channel's consumers, and keeps the queues that they leave. A consumer of direct replies has none:
// nil.
func (ch *Channel) endConsumersLocked(some func(*Consumer) bool) {
	for _, c := range ch.sortedConsumersLocked() {
		if c.ended || !some(c) { // ended while others got in
			continue
		}
		c.leaveLocked(ch.err)
		if n := len(ch.leaving); c.q != nil && (n == 0 || ch.leaving[n-1] != c.q) {
			ch.leaving = append(ch.leaving, c.q)
		}
		ch.v.tookLocked(1)
		ch.v.restLocked()
	}
}

// giveBackLocked is the second half of end.
func (ch *Channel) giveBackLocked(reason *Error) {
	ch.endConsumersLocked(anyConsumer)
	ch.returnLocked(anyQueue)
	for _, q := range ch.left {
		q.channelEndedLocked()
	}
	ch.left, ch.tags = nil, tags.Window[unacked]{}
	if ch.endedLocked() {
		ch.v.channelEventLocked(ch, reason)
	}
}

// noteLeftLocked notes a queue that knows the channel until its end, because it has sent messages to a consumer of the channel.
// Rules: Q-35.
func (ch *Channel) noteLeftLocked(q *Queue) {
	if q.idle == nil || !q.traits.usedByChannelEnd || slices.Contains(ch.left, q) {
		return
	}
	ch.left = append(slices.DeleteFunc(ch.left, func(q *Queue) bool { return q.deleted }), q)
}

// channelEndedLocked restarts the idle time when a channel ends that q knows.
// Rules: Q-35.
func (q *Queue) channelEndedLocked() {
	if q.traits.usedByChannelEnd && !q.deleted {
		q.touchLocked()
	}
}

// returnLocked has some queues take back what the channel holds of them. Each takes back all before it delivers any. What the channel
// holds of a queue that goes with its last consumer goes with it.
// Rules: D-5, D-31, L-8.
func (ch *Channel) returnLocked(to func(*Queue) bool) {
	for _, q := range ch.leaving {
		q.removeUnusedLocked()
		ch.v.tookLocked(1)
		ch.v.restLocked()
	}
	for _, tags := range ch.byQueueLocked() {
		if of, some := ch.firstHolderLocked(tags); some && to(of.q) {
			of.q.channelEndedLocked()
			ch.settleGroupLocked(ch.byHolderLocked(tags, of.q), of, ended)
		}
	}
	ch.unstallLocked()
	for _, q := range ch.leaving {
		q.leftLocked()
		ch.v.restLocked()
	}
	ch.leaving = nil
}

// endedLocked removes the channel from those that are ending. Those of a connection end in the order in which they were
// detached, and there may be many. It reports false if the virtual host was closed in between, and did so.
func (ch *Channel) endedLocked() bool {
	v := ch.v
	switch slices.Index(v.ending, ch) {
	case -1:
		return false
	case 0:
		v.ending = v.ending[1:]
	default:
		v.ending = without(v.ending, ch)
	}
	if len(v.ending) == 0 {
		v.ending = nil
	}
	return true
}

// byQueueLocked parts the tags of what the channel holds by queue.
func (ch *Channel) byQueueLocked() (all [][]uint64) {
	places := map[*Queue]int{}
	for tag, u := range ch.tags.All() {
		i, known := places[u.q]
		if !known {
			i = len(all)
			places[u.q] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], tag)
		ch.v.lookedLocked(int(tag))
	}
	return all
}

// firstHolderLocked returns who holds the first of the deliveries that are still outstanding: an operation of another
// goroutine on the channel may be settling them.
func (ch *Channel) firstHolderLocked(tags []uint64) (of holder, some bool) {
	for _, t := range tags {
		if u := ch.tags.Get(t); u != nil {
			return u.holder(), true
		}
	}
	return holder{}, false
}

// byHolderLocked puts the tags of what the channel holds of one queue in the order in which the queue takes it back.
// Rules: D-5.
func (ch *Channel) byHolderLocked(tags []uint64, q *Queue) []uint64 {
	if !q.traits.holdersInOrder {
		return tags
	}
	parts := map[*Consumer]*part{}
	var all []*part
	var gets []uint64
	for i, t := range tags {
		ch.v.lookedLocked(i)
		u := ch.tags.Get(t)
		switch {
		case u == nil:
		case u.c == nil:
			gets = append(gets, t)
		case parts[u.c] == nil:
			parts[u.c] = &part{u.c, u.c.tag, []uint64{t}}
			all = append(all, parts[u.c])
		default:
			parts[u.c].tags = append(parts[u.c].tags, t)
		}
	}
	all = append(all, partsOfGets(gets)...)
	slices.SortFunc(all, ch.v.rules.compareParts)
	tags = nil
	for _, p := range all {
		tags = append(tags, p.tags...)
	}
	return tags
}

// A part is what a quorum queue takes back at a time: what a consumer held, or a message that was taken by basic.get.
type part struct {
	c    *Consumer // nil for basic.get
	name string    // by which the queue knew the holder: the consumer's tag, or for basic.get the delivery tag
	tags []uint64
}

// inOrder is up to how many holders a quorum queue of RabbitMQ keeps in the order of their names. The order of more is not fixed.
// Rules: D-5.
const inOrder = 32

// partsOfGets parts messages that were taken by basic.get: each is a part.
// Rules: D-5.
func partsOfGets(tags []uint64) (all []*part) {
	if len(tags) > inOrder {
		return []*part{{tags: tags}}
	}
	for _, t := range tags {
		all = append(all, &part{name: nameOfGet(t), tags: []uint64{t}})
	}
	return all
}

// nameOfGet is the name by which a quorum queue knows a basic.get: its delivery tag in decimal digits. So 10 comes before 9.
// Rules: D-5.
func nameOfGet(tag uint64) string { return strconv.FormatUint(tag, 10) }

// numberOf is the delivery tag of the basic.get that a quorum queue knows by a name, 0 if there is none.
func numberOf(name string) uint64 {
	tag, err := strconv.ParseUint(name, 10, 64)
	if err != nil || nameOfGet(tag) != name {
		return 0
	}
	return tag
}

// knowsNextGetLocked reports whether q knows a consumer of ch, maybe a cancelled one that holds messages, by the name that the
// next basic.get would have.
// Rules: D-34.
func (ch *Channel) knowsNextGetLocked(q *Queue) bool {
	if !ch.hasNumbers {
		return false
	}
	name := nameOfGet(ch.tags.Last() + 1)
	if c := cmp.Or(ch.consumers[name], ch.lateConsumerLocked(name)); c != nil && c.q == q {
		return true
	}
	for _, u := range ch.tags.All() {
		if u.q == q && u.c != nil && u.c.tag == name && !u.void {
			return true
		}
	}
	return false
}

// compareParts is the order in which a quorum queue takes back what an ended channel held: that of the consumers' subscriptions, and
// basic.get last. In 3.10 it is that of the names.
// Rules: D-5.
func (r *rules) compareParts(a, b *part) int {
	switch {
	case r.holdersByTag || a.c == nil && b.c == nil:
		if order := cmp.Compare(a.name, b.name); order != 0 {
			return order
		}
	case a.c == nil:
		return 1
	case b.c == nil:
		return -1
	}
	if a.c == nil || b.c == nil {
		return 0
	}
	return cmp.Compare(a.c.number, b.c.number)
}

func (ch *Channel) sortedConsumersLocked() []*Consumer {
	all := slices.Collect(maps.Values(ch.consumers))
	if ch.reply != nil {
		all = append(all, ch.reply)
	}
	ch.v.sortByTagLocked(all)
	return all
}

// DeclareExchange is exchange.declare: it makes the exchange, or checks that the one there is
// has the same properties.
//
// Rules: M-20.
func (ch *Channel) DeclareExchange(name string, kind ExchangeType, cfg ExchangeConfig) error {
	return ch.do("exchange.declare", func() *Error {
		_, err := ch.declareExchangeLocked(withoutLineBreaks(name), kind, cfg)
		return err
	})
}

// CheckExchange is a passive exchange.declare.
func (ch *Channel) CheckExchange(name string) error {
	return ch.do("exchange.declare", func() *Error { return ch.checkExchangeLocked(withoutLineBreaks(name)) })
}

// DeleteExchange is exchange.delete. Deleting a missing exchange succeeds.
//
// Rules: M-20.
func (ch *Channel) DeleteExchange(name string, cfg DeleteConfig) error {
	return ch.do("exchange.delete", func() *Error { return ch.deleteExchangeLocked(withoutLineBreaks(name), cfg) })
}

// QueueState is what declaring a queue tells about it.
type QueueState struct {
	Name      string `json:"name"`     // as given, or made up by the broker for an empty name
	Messages  int    `json:"messages"` // ready messages
	Consumers int    `json:"consumers"`
}

// DeclareQueue is queue.declare: it makes the queue, or checks that the one there is has the
// same properties. An empty name has the broker make one up.
//
// Rules: M-19, M-20, Q-3.
func (ch *Channel) DeclareQueue(name string, cfg QueueConfig) (QueueState, error) {
	var s QueueState
	err := ch.do("queue.declare", func() *Error {
		name := withoutLineBreaks(name)
		if isReplyQueue(name) {
			return ch.replyStateLocked(name, &s)
		}
		declare := ch.declareQueueLocked
		if cfg.Passive {
			declare = ch.checkQueueLocked
		}
		q, err := declare(name, cfg)
		if err == nil {
			s = q.stateLocked()
			ch.lastQueue = q.name
		}
		return err
	})
	return s, err
}

// CheckQueue is a passive queue.declare.
func (ch *Channel) CheckQueue(name string) (QueueState, error) {
	return ch.DeclareQueue(name, QueueConfig{Passive: true})
}

// DeleteQueue is queue.delete. It returns how many ready messages went with the queue;
// deleting a missing queue succeeds. Nothing is dead-lettered.
//
// Rules: M-20.
func (ch *Channel) DeleteQueue(name string, cfg DeleteConfig) (n int, err error) {
	err = ch.do("queue.delete", func() (e *Error) {
		n, e = ch.deleteQueueLocked(withoutLineBreaks(name), cfg)
		return e
	})
	return n, err
}

// PurgeQueue is queue.purge: it removes all ready messages and returns how many. Nothing is dead-lettered.
func (ch *Channel) PurgeQueue(name string) (n int, err error) {
	err = ch.do("queue.purge", func() (e *Error) {
		n, e = ch.purgeQueueLocked(name)
		return e
	})
	return n, err
}

// Consume is basic.consume. Deliveries may be there when it returns.
func (ch *Channel) Consume(queue string, cfg ConsumeConfig) (c *Consumer, err error) {
	err = ch.do("basic.consume", func() (e *Error) {
		c, e = ch.consumeLocked(queue, cfg)
		return e
	})
	return c, err
}

// Cancel is basic.cancel: nothing more is delivered to the consumer. An unknown tag is not an error. Of two consumers
// with the tag, the one of direct replies ends.
//
// Rules: D-14, M-18.
func (ch *Channel) Cancel(tag string) error {
	return ch.do("basic.cancel", func() *Error {
		if r := ch.reply; r != nil && r.tag == tag {
			r.leaveLocked(&closedError{ErrCancelled})
		} else {
			ch.cancelLocked(tag)
		}
		return nil
	})
}

// cancelLocked cancels the consumer of a queue that has the tag, and reports whether there is one.
func (ch *Channel) cancelLocked(tag string) bool {
	if c := ch.consumers[tag]; c != nil {
		c.leaveLocked(&closedError{ErrCancelled})
		c.q.cancelledLocked()
		return true
	}
	if c := ch.lateConsumerLocked(tag); c != nil {
		c.cancelLateLocked()
		return true
	}
	return false
}

// QosConfig are the parameters of basic.qos.
type QosConfig struct {
	PrefetchCount int    // unacknowledged deliveries; 0: no limit
	PrefetchSize  uint32 // must be 0
	Global        bool   // one window for all consumers of the channel; see WithGlobalQos
}

// Qos is basic.qos: it sets the prefetch of consumers to come.
//
// Rules: D-25, D-26, D-27.
func (ch *Channel) Qos(cfg QosConfig) error {
	return ch.do("basic.qos", func() *Error {
		if err := checkPrefetch(cfg.PrefetchCount); err != nil {
			return err
		}
		switch {
		case cfg.PrefetchSize != 0:
			return NotImplemented.errorf("", "prefetch_size!=0 (%d)", cfg.PrefetchSize)
		case cfg.Global && ch.v.b.globalQos:
			ch.setWindowLocked(cfg.PrefetchCount)
		default:
			ch.prefetch = cfg.PrefetchCount
			ch.setWindowLocked(0)
		}
		return nil
	})
}
