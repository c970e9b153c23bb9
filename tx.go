package leveret

import (
	"slices"

	"github.com/leveretmq/leveret/internal/erl"
)

// A transaction holds a channel's publishes and settlements until its commit. Publishes are
// checked and routed at once; settlements are checked at once and marked, so that no delivery is
// settled twice. Everything else on the channel is immediate.
// Rules: C-9, C-13.
type transaction struct {
	publishes []publication
	settled   []txSettlement
	marked    int
	unnoticed []*Queue // that have ended without a word to the channel, see attach
}

type txSettlement struct {
	tags []uint64
	how  settling
}

// publish keeps p for the commit. By then its queues may be gone, or others may have their names.
// Rules: C-9.
func (tx *transaction) publish(p publication) { tx.publishes = append(tx.publishes, p) }

// settle keeps a settlement for the commit. Settlements of one kind that follow each other become one.
// Rules: C-9, C-10.
func (tx *transaction) settle(ch *Channel, chosen []uint64, how settling) {
	for _, t := range chosen {
		ch.tags.Get(t).inTx = true
	}
	tx.marked += len(chosen)
	if n := len(tx.settled); n > 0 && ch.v.rules.sameKind(tx.settled[n-1].how, how) {
		last := &tx.settled[n-1]
		last.tags = append(last.tags, chosen...)
		return
	}
	tx.settled = append(tx.settled, txSettlement{chosen, how})
}

// sameKind reports whether two settlements of a transaction become one. To 3.10 a nack is a reject.
// Rules: C-10.
func (r *rules) sameKind(a, b settling) bool {
	if r.txNackIsReject && a != acked && b != acked {
		return a.requeue() == b.requeue()
	}
	return a == b
}

// Tx is tx.select: from now on the channel works in transactions.
//
// Rules: C-8.
func (ch *Channel) Tx() error {
	return ch.do("tx.select", func() *Error {
		if ch.confirm {
			return PreconditionFailed.errorf("", "cannot switch from confirm to tx mode")
		}
		if ch.tx == nil {
			ch.tx = new(transaction)
		}
		return nil
	})
}

var errNotTx = Error{Code: PreconditionFailed, Reason: "channel is not transactional"}

// Commit is tx.commit: acknowledgements and what is settled of quorum queues, then publishes, then all other settlements
// take place, and the next transaction begins. Commit returns the mandatory messages that reached no queue. If a classic queue refused a publish the error is ErrPreconditionFailed,
// "partial tx completion", and everything else has been done; a quorum queue's refusal shows only in the events.
//
// A publish to a queue that has been deleted since is ErrResource, or ErrInternal if a queue of another type has its
// name now, and ends the connection, as RabbitMQ 4.3 does: what stands before it in the transaction has been done.
// RabbitMQ 3.10 ignores it.
//
// Rules: C-10.
func (ch *Channel) Commit() (returns []*Return, err error) {
	err = ch.do("tx.commit", func() *Error {
		tx := ch.tx
		if tx == nil {
			e := errNotTx
			return &e
		}
		ch.tx = new(transaction)
		var e *Error
		sendAll(ch, func() { returns, e = ch.commitLocked(tx) })
		if log := ch.v.log; log != nil {
			log.awaited = true // also if turns of it are on their way
		}
		return e
	})
	return returns, err
}

// commitLocked has a transaction take place: its publishes, then its settlements. But a classic queue of RabbitMQ lets
// acknowledgements pass by publishes, a quorum queue all settlements: these come first, unless a publish fails and
// nothing is settled. Without a publish to a quorum queue nobody waits for the settlements of quorum queues: these come last.
// Rules: C-10.
func (ch *Channel) commitLocked(tx *transaction) (returns []*Return, e *Error) {
	waits := tx.publishesTo(func(q *Queue) bool { return q.traits.settlesFirst })
	if len(tx.settled) > 0 && !ch.failsLocked(tx) {
		ch.settleTxLocked(tx, func(q *Queue, how settling) bool {
			return q.traits.settlesFirst && waits || !q.traits.settlesFirst && how == acked
		})
	}
	var out Outcome
	for _, p := range tx.publishes {
		ch.v.tookLocked(1)
		ch.v.restLocked()
		if ch.v.closed { // in between
			return returns, &Error{Code: ConnectionForced, Name: ch.v.name}
		}
		out.Return = nil
		now, err := ch.v.committedLocked(p, tx.unnoticed)
		if err != nil {
			return returns, err
		}
		out.Rejected = out.Rejected || now.refused
		if now.lost && len(now.queues) == 0 {
			ch.publishedEventLocked(p.m, nil)
			p.countUnroutedLocked()
		} else {
			ch.enqueueLocked(&publication{p.m, now.queues, p.mandatory, p.replies}, &out)
		}
		if now.lost {
			ch.v.dropLocked(nil, loss{m: p.m, cause: CauseQueueDeleted})
		}
		if out.Return != nil {
			returns = append(returns, out.Return)
		}
	}
	ch.settleTxLocked(tx, func(q *Queue, _ settling) bool { return !q.traits.settlesFirst })
	ch.committed = true
	ch.settleTxLocked(tx, func(q *Queue, _ settling) bool { return q.traits.settlesFirst })
	ch.committed = false
	if out.Rejected {
		ch.v.deadLetterAllLocked() // the channel's consumers get what they can before the refusal closes it
	}
	if ch.err != nil { // the channel has ended in between, and no queue shall know it any more
		forgetPublisher(ch)
	}
	if out.Rejected {
		return returns, PreconditionFailed.errorf("", "partial tx completion")
	}
	return returns, nil
}

// failsLocked reports whether a publish of a transaction will fail.
// Rules: C-10.
func (ch *Channel) failsLocked(tx *transaction) bool {
	for i, p := range tx.publishes {
		if _, err := ch.v.committedLocked(p, tx.unnoticed); err != nil {
			return true
		}
		ch.v.lookedLocked(i)
	}
	return false
}

// publishesTo reports whether a publish of the transaction was routed to such a queue.
func (tx *transaction) publishesTo(such func(*Queue) bool) bool {
	return slices.ContainsFunc(tx.publishes, func(p publication) bool { return slices.ContainsFunc(p.queues, such) })
}

// settleTxLocked settles what a transaction settles of some queues, or in some way.
// Rules: C-10.
func (ch *Channel) settleTxLocked(tx *transaction, some func(*Queue, settling) bool) {
	for _, s := range tx.settled {
		var tags []uint64
		for i, t := range s.tags {
			if u := ch.tags.Get(t); u != nil && some(u.q, s.how) {
				tags = append(tags, t)
			}
			ch.v.lookedLocked(i)
		}
		if len(tags) > 0 {
			slices.Sort(tags)
			ch.settleAllLocked(tags, s.how)
		}
	}
}

// Rollback is tx.rollback: publishes and settlements are forgotten; the deliveries are
// outstanding again under their tags.
//
// Rules: C-11.
func (ch *Channel) Rollback() error {
	return ch.do("tx.rollback", func() *Error {
		if ch.tx == nil {
			e := errNotTx
			return &e
		}
		for _, s := range ch.tx.settled {
			for _, t := range s.tags {
				if u := ch.tags.Get(t); u != nil {
					u.inTx = false
					ch.rolledBackLocked(u)
				}
			}
		}
		ch.tx = new(transaction)
		return nil
	})
}

// A destination is where a message of a transaction goes when the transaction is committed.
type destination struct {
	queues  []*Queue
	lost    bool // one of its queues, or more, has gone
	refused bool // a classic queue that has gone did not take it
}

// committedLocked returns the queues that get a transaction's message. A message for a classic queue
// that has been deleted and declared again is lost. A quorum queue is known by its name, so the new one gets the
// message. In 3.10 every queue is known by its name, and the default exchange routes to any queue that has the name
// now. What is for a queue that has ended unnoticed is lost, and nothing is said.
// Rules: C-10.
func (v *vhost) committedLocked(p publication, unnoticed []*Queue) (to destination, err *Error) {
	byName, nameless := v.rules.routesToNames, p.m.exchange == v.nameless
	if byName && nameless {
		return destination{queues: slices.Clone(v.routeLocked(v.nameless, p.m))}, nil
	}
	missing := ""
	for _, was := range p.queues {
		q := v.queues[was.name]
		switch {
		case q != nil && (q == was || byName || q.traits.byName && was.traits.byName):
			to.queues = append(to.queues, q)
		case byName:
		case q == nil && slices.Contains(unnoticed, was):
			to.lost = true
		case q != nil && !q.traits.byName && !was.traits.byName:
			to.lost, to.refused = true, true
		case missing == "" || nameless == (was.name < missing): // the last by name; of the default exchange the first
			missing = was.name
			err = &Error{Code: InternalError} // of another type now: the channel crashes
			if q == nil {
				err = v.undeliverable(was.name)
			}
		}
	}
	return to, err
}

func (v *vhost) undeliverable(queue string) *Error {
	resource := erl.Tuple{erl.Atom("resource"), erl.Binary(v.name), erl.Atom("queue"), erl.Binary(queue)}
	return &Error{Code: ResourceError, Name: queue,
		Reason: v.rules.notation().Behind("failed to deliver message: ", erl.Tuple{erl.Atom("not_found"), resource})}
}
