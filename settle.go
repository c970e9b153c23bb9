package leveret

import (
	"cmp"
	"maps"
	"slices"
)

// Settling: what a client does with its deliveries, and what the end of its channel does with them.

// An unacked is a delivery that its channel has not settled.
type unacked struct {
	q    *Queue
	c    *Consumer // nil: basic.get
	e    entry
	at   int64 // where a timeout may need it, when it was delivered, of basic.get when it times out: elapsed time in ns; 0: no timeout
	inTx bool  // settled in a transaction that is not committed
	void bool  // taken back by the broker: settling it does nothing

	// step is that in which a queue assigned it to a consumer, see consumers.steps. 0: basic.get.
	step uint32
}

// A holder is what holds deliveries of a queue: a consumer, or nil for basic.get.
type holder struct {
	q *Queue
	c *Consumer
}

func (u *unacked) holder() holder { return holder{u.q, u.c} }

// settling is how a delivery is settled.
type settling uint8

const (
	acked settling = iota
	nackRequeue
	rejectRequeue
	ended // its channel ended
	nackDiscard
	rejectDiscard
)

// failed reports whether the delivery counts as a failed one of the message.
// Rules: D-7, D-12b.
func (s settling) failed() bool { return s == rejectRequeue || s == ended || s == rejectDiscard }

func (s settling) requeue() bool { return s == nackRequeue || s == rejectRequeue || s == ended }

// Ack is basic.ack of one delivery or, with multiple, of all outstanding up to tag, 0 meaning all.
func (ch *Channel) Ack(tag uint64, multiple bool) error {
	return ch.settle("basic.ack", tag, multiple, acked)
}

// Nack is basic.nack: the messages go back to their queues, or with requeue false to the
// dead-letter exchanges of their queues.
func (ch *Channel) Nack(tag uint64, multiple, requeue bool) error {
	how := nackDiscard
	if requeue {
		how = nackRequeue
	}
	return ch.settle("basic.nack", tag, multiple, how)
}

// Reject is basic.reject. Unlike Nack it counts as a failed delivery of the message.
func (ch *Channel) Reject(tag uint64, requeue bool) error {
	how := rejectDiscard
	if requeue {
		how = rejectRequeue
	}
	return ch.settle("basic.reject", tag, false, how)
}

// settle settles deliveries now or, in a transaction, at its commit.
func (ch *Channel) settle(op string, tag uint64, multiple bool, how settling) error {
	// These are the steps of Channel.do. With do and its closure BenchmarkReject takes 2 % longer.
	v := ch.v
	v.lock()
	err := ch.usableLocked()
	if err == nil {
		if e := ch.settleLocked(tag, multiple, how); e != nil {
			err = ch.failLocked(op, e)
		}
	}
	if v.log != nil {
		return cmp.Or(err, ch.endLogged(false))
	}
	v.unlock()
	return err
}

func (ch *Channel) settleLocked(tag uint64, multiple bool, how settling) *Error {
	if ch.tx == nil && !multiple {
		if how == acked {
			return ch.ackOneLocked(tag)
		}
		u, ok := ch.tags.Take(tag)
		if !ok {
			return errUnknownTag(tag)
		}
		ch.settleAloneLocked(&u, tag, how)
		ch.unstallLocked()
		return nil
	}
	chosen, err := ch.outstandingLocked(tag, multiple)
	if err != nil {
		return err
	}
	if ch.tx != nil {
		ch.tx.settle(ch, chosen, how)
		return nil
	}
	ch.settleAllLocked(chosen, how)
	return nil
}

// ackOneLocked is settleGroup for one acknowledgement, which is what channels do most: it settles in place. Without it
// BenchmarkConsumer/impl=handler takes 6 % longer, BenchmarkCycle/impl=leveret-channel 5 %.
// Rules: D-30a.
func (ch *Channel) ackOneLocked(tag uint64) *Error {
	u := ch.tags.Get(tag)
	if u == nil {
		return errUnknownTag(tag)
	}
	q, c := u.q, u.c
	if ch.releaseLocked(u) {
		if log := ch.v.log; log != nil {
			log.leaves(u.e.seq)
		}
		ch.ackedEventLocked(u, tag)
	}
	ch.tags.Drop(tag)
	ch.makeRoomLocked(q)
	if !q.deleted {
		q.impl.settled()
	}
	c.heirLocked().resumeLocked()
	ch.unstallLocked()
	return nil
}

// Rules: D-30a.
func errUnknownTag(tag uint64) *Error {
	return PreconditionFailed.errorf("", "unknown delivery tag %d", tag)
}

// outstandingLocked returns the tags that tag and multiple name, in order.
// Rules: D-30a.
func (ch *Channel) outstandingLocked(tag uint64, multiple bool) ([]uint64, *Error) {
	if tag == 0 && multiple {
		tag = ch.tags.Last()
	} else if u := ch.tags.Get(tag); u == nil || u.inTx {
		return nil, errUnknownTag(tag)
	}
	if !multiple {
		return []uint64{tag}, nil
	}
	var chosen []uint64
	for t, u := range ch.tags.All() {
		if t > tag {
			break
		}
		if !u.inTx {
			chosen = append(chosen, t)
		}
		ch.v.lookedLocked(len(chosen))
	}
	return chosen, nil
}

// settleAllLocked settles many deliveries as RabbitMQ does: those of classic queues first, for a quorum queue writes what it is
// told to its log before it acts.
// Rules: D-5.
func (ch *Channel) settleAllLocked(chosen []uint64, how settling) {
	parts := ch.byConsumerLocked(chosen)
	if ch.settlePartsLocked(parts, how, false) {
		ch.settlePartsLocked(parts, how, true)
	}
	ch.unstallLocked()
}

// settlePartsLocked settles deliveries of the queues that act later, or of the others: queue by queue in the order of their names, of each
// those of basic.get first, then consumer by consumer in the order of their tags, each in the order of delivery. Those of one consumer that follow each other are
// settled together, each one of basic.get is settled alone. It reports whether some are left to be settled later.
// Rules: D-5.
func (ch *Channel) settlePartsLocked(parts [][]uint64, how settling, later bool) (left bool) {
	for _, tags := range parts {
		for len(tags) > 0 {
			of, n := ch.nextGroupLocked(tags, how)
			switch {
			case n == 0:
			case of.q.traits.actsLater && !later:
				left = true
			default:
				ch.settleGroupLocked(tags[:n], of, how)
			}
			tags = tags[max(n, 1):]
		}
	}
	return left
}

// byConsumerLocked parts the tags of deliveries by their queues and the tags of their consumers, in the order of the names of these.
// Rules: D-5.
func (ch *Channel) byConsumerLocked(chosen []uint64) [][]uint64 {
	parts := map[names][]uint64{}
	from, last := 0, names{}
	for i, t := range chosen {
		if u := ch.tags.Get(t); u != nil && u.names() != last {
			parts[last] = append(parts[last], chosen[from:i]...)
			from, last = i, u.names()
		}
		ch.v.lookedLocked(i)
	}
	if from == 0 {
		return [][]uint64{chosen}
	}
	parts[last] = append(parts[last], chosen[from:]...)
	var all [][]uint64
	for _, n := range slices.SortedFunc(maps.Keys(parts), names.compare) {
		all = append(all, parts[n])
	}
	return all
}

// names are by what RabbitMQ's channel knows who holds a delivery.
type names struct{ queue, consumer string }

func (u *unacked) names() names { return names{u.q.name, u.consumerTag()} }

func (n names) compare(m names) int {
	return cmp.Or(cmp.Compare(n.queue, m.queue), cmp.Compare(n.consumer, m.consumer))
}

// settlesWith reports whether what two consumers hold is settled together: one may have the tag that the other had.
// Rules: D-5.
func (h holder) settlesWith(of holder) bool {
	return h.q == of.q && h.c != nil && of.c != nil && h.c.tag == of.c.tag
}

// nextGroupLocked returns how many deliveries, from the first, are settled together, and who holds them. It returns 0
// if the first has been settled meanwhile.
// Rules: D-4, D-5.
func (ch *Channel) nextGroupLocked(tags []uint64, how settling) (of holder, n int) {
	first := ch.tags.Get(tags[0])
	if first == nil {
		return holder{}, 0
	}
	of = first.holder()
	if of.c == nil || of.q.impl.requeuesAnew(how) {
		return of, 1
	}
	for n = 1; n < len(tags); n++ {
		if u := ch.tags.Get(tags[n]); u != nil && !u.holder().settlesWith(of) {
			break
		}
		ch.v.lookedLocked(n)
	}
	return of, n
}

// Recover is basic.recover with requeue: everything outstanding on the channel goes back to its queue.
//
// Rules: D-32.
func (ch *Channel) Recover() error {
	return ch.do("basic.recover", func() *Error {
		chosen, _ := ch.outstandingLocked(0, true)
		ch.settleAllLocked(chosen, nackRequeue)
		return nil
	})
}

func (u *unacked) consumerTag() string {
	if u.c == nil {
		return ""
	}
	return u.c.tag
}

// settleGroupLocked settles deliveries of one queue together. of has the consumer that gets room by that.
func (ch *Channel) settleGroupLocked(tags []uint64, of holder, how settling) {
	q := of.q
	if !how.requeue() && q.traits.levelsApart && !q.deleted {
		tags = ch.byLevelLocked(tags, q.store)
	}
	var b giveBack
	for part := range slices.Chunk(tags, turn()) {
		ch.v.restLocked()
		for _, tag := range part {
			if u, ok := ch.tags.Take(tag); ok && ch.releaseLocked(&u) {
				ch.settleOneLocked(&u, tag, how, &b)
			}
		}
		b.putLocked(q, how, of.c)
		ch.v.tookLocked(len(part))
	}
	ch.makeRoomLocked(q)
	if how.requeue() && b.any {
		q.impl.tookBack(b.over, how, of.c)
	} else if !q.deleted {
		q.impl.settled()
	}
	of.c.heirLocked().resumeLocked()
}

// settleAloneLocked is settleGroupLocked for one delivery. Without it BenchmarkReject/headers=unread takes 14 % longer.
func (ch *Channel) settleAloneLocked(u *unacked, tag uint64, how settling) {
	q, c := u.q, u.c
	there := ch.releaseLocked(u)
	ch.makeRoomLocked(q)
	switch {
	case q.deleted:
	case there && how.requeue():
		ch.requeuedEventLocked(u, tag)
		q.impl.tookBack(inParts(q.impl.takeBack([]entry{u.e}, how, c)), how, c)
	case there:
		ch.discardLocked(u, tag, how)
		fallthrough
	default:
		q.impl.settled()
	}
	c.heirLocked().resumeLocked()
}

// settleOneLocked settles a delivery that was taken from its holder. What is to go back to the queue is added to b.
func (ch *Channel) settleOneLocked(u *unacked, tag uint64, how settling, b *giveBack) {
	switch {
	case how == acked:
		if log := ch.v.log; log != nil {
			log.leaves(u.e.seq)
		}
		ch.ackedEventLocked(u, tag)
	case how.requeue():
		ch.requeuedEventLocked(u, tag)
		b.back = append(b.back, u.e)
	default:
		ch.discardLocked(u, tag, how)
	}
}

// A giveBack is the messages that one holder gives back to a queue together.
type giveBack struct {
	back []entry   // to be put to their places
	any  bool      // some were
	over [][]entry // those that are over the delivery limit, to die: in parts, as to make room for a million at once takes long
}

// putLocked puts what is given back to its places.
func (b *giveBack) putLocked(q *Queue, how settling, from *Consumer) {
	if len(b.back) == 0 {
		return
	}
	b.any = true
	b.over = append(b.over, inParts(q.impl.takeBack(b.back, how, from))...)
	b.back = b.back[:0]
}

func inParts(few []entry) [][]entry {
	if len(few) == 0 {
		return nil
	}
	return [][]entry{few}
}

// byLevelLocked puts deliveries of a higher priority first.
// Rules: DL-10.
func (ch *Channel) byLevelLocked(tags []uint64, s *store) []uint64 {
	if s.levels <= 1 || len(tags) == 1 {
		return tags
	}
	by := make([][]uint64, s.levels)
	for i, t := range tags {
		if u := ch.tags.Get(t); u != nil && u.e.m != nil {
			l := s.level(u.e.m)
			by[l] = append(by[l], t)
		}
		ch.v.lookedLocked(i)
	}
	slices.Reverse(by)
	return slices.Concat(by...)
}

// discardLocked ends the time of a message that was rejected without requeue.
// Rules: D-7, DL-1.
func (ch *Channel) discardLocked(u *unacked, tag uint64, how settling) {
	ch.rejectedEventLocked(u, tag)
	if how.failed() {
		u.e.deliveries = saturatingInc(u.e.deliveries)
	}
	u.q.impl.deadLetter(u.e, Rejected)
}

// releaseLocked takes a delivery from its holder. It reports false if the message is not there any more.
// Rules: D-33.
func (ch *Channel) releaseLocked(u *unacked) bool {
	if u.void {
		return false
	}
	ch.held--
	if c := u.c; c == nil {
		u.q.impl.countGhosts(-1)
	} else {
		if ch.window > 0 {
			ch.windowReleasedLocked(c)
		}
		c.unacked--
		switch {
		case c.ended:
			c.releasedLocked()
		case c.window > c.prefetch:
			c.narrowLocked()
		}
	}
	if u.q.deleted {
		return false
	}
	u.q.store.countUnacked(u.e.m, -1)
	return true
}

// releasedLocked follows the settlement of a delivery that c, a consumer that has ended, held.
// Rules: D-26.
func (c *Consumer) releasedLocked() {
	if heir := c.heirLocked(); heir != c && heir.window > 0 {
		heir.window++ // D-26
	}
	if c.unacked > 0 {
		return
	}
	c.ch.v.timing.heap.Remove(&c.timer)
	if !c.late {
		c.q.impl.countGhosts(-1)
	}
	if cs := c.q.consumers; c.q.traits.placeStays {
		cs.leaveGone()
	} else {
		cs.exit(c)
	}
}

func saturatingInc(n uint32) uint32 { return max(n, n+1) }
