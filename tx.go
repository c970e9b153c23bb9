package leveret

import (
	"slices"

	"github.com/leveretmq/leveret/internal/erl"
)

// A transaction holds a channel's publishes and settlements until its commit. Publishes are
// checked and routed at once; settlements are checked at once and marked, so that no delivery is
// settled twice. Everything else on the channel is immediate.
type transaction struct {
	publishes []txPublish
	settled   []txSettlement
	marked    int
}

type txPublish struct {
	m         *message
	route     []destination
	mandatory bool
}

// A destination is a queue that a transaction's message was routed to, by name: by the commit it may be gone, or
// another queue may have its name. A 3.10 route has names of which there was no queue yet.
type destination struct {
	name string
	q    *Queue
}

type txSettlement struct {
	tags []uint64
	how  settling
}

func (tx *transaction) publish(m *message, route []destination, mandatory bool) {
	tx.publishes = append(tx.publishes, txPublish{m, route, mandatory})
}

func (tx *transaction) settle(ch *Channel, chosen []uint64, how settling) {
	for _, t := range chosen {
		ch.tags.Get(t).inTx = true
	}
	tx.marked += len(chosen)
	tx.settled = append(tx.settled, txSettlement{chosen, how})
}

// Tx is tx.select: from now on the channel works in transactions.
func (ch *Channel) Tx() error {
	return ch.do("tx.select", func() *Error {
		if ch.confirm {
			return errorf(PreconditionFailed, "", "", "cannot switch from confirm to tx mode")
		}
		if ch.tx == nil {
			ch.tx = new(transaction)
		}
		return nil
	})
}

var errNotTx = Error{Code: PreconditionFailed, Reason: "channel is not transactional"}

// Commit is tx.commit: publishes take place, then settlements, and the next transaction begins. It returns the
// mandatory messages that reached no queue. If a classic queue refused a publish the error is ErrPreconditionFailed,
// "partial tx completion", and everything else has been done; a quorum queue's refusal shows only in the events.
//
// A publish to a queue that has been deleted since is ErrResource, or ErrInternal if a queue of another type has its
// name now, and ends the connection, as RabbitMQ 4.3 does: what stands before it in the transaction has been done.
// RabbitMQ 3.10 ignores it.
func (ch *Channel) Commit() (returns []*Return, err error) {
	err = ch.do("tx.commit", func() *Error {
		tx := ch.tx
		if tx == nil {
			e := errNotTx
			return &e
		}
		ch.tx = new(transaction)
		var out Outcome
		for _, p := range tx.publishes {
			out.Return = nil
			queues, lost, err := ch.v.committed(p.route)
			if err != nil {
				return err
			}
			if out.Rejected = out.Rejected || lost; lost && len(queues) == 0 {
				ch.v.droppedEvent(nil, p.m, "", CauseQueueDeleted, "")
				continue
			}
			ch.hand(p.m, queues, p.mandatory, &out)
			if out.Return != nil {
				returns = append(returns, out.Return)
			}
		}
		for _, s := range tx.settled {
			ch.settleAll(s.tags, s.how)
		}
		if out.Rejected {
			return errorf(PreconditionFailed, "", "", "partial tx completion")
		}
		return nil
	})
	return returns, err
}

// Rollback is tx.rollback: publishes and settlements are forgotten; the deliveries are
// outstanding again under their tags.
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
				}
			}
		}
		ch.tx = new(transaction)
		return nil
	})
}

// destinations is a route as a transaction keeps it.
func (v *VHost) destinations(x *Exchange, m *message, queues []*Queue) []destination {
	if v.rules.routesToNames && x == v.nameless {
		keys := m.keys()
		if m.extra == nil {
			keys = []string{m.key}
		}
		route := make([]destination, len(keys))
		for i, key := range keys {
			route[i] = destination{key, nil}
		}
		return route
	}
	route := make([]destination, len(queues))
	for i, q := range queues {
		route[i] = destination{q.name, q}
	}
	return route
}

// committed returns the queues that a route leads to at the commit. A classic queue that has been declared anew does
// not get what was meant for the old one, which is lost; a quorum queue does, as it is known by its name.
func (v *VHost) committed(route []destination) (queues []*Queue, lost bool, err *Error) {
	last := ""
	for _, d := range route {
		q := v.queues[d.name]
		switch {
		case q != nil && (q == d.q || v.rules.routesToNames):
			if !slices.Contains(queues, q) {
				queues = append(queues, q)
			}
		case v.rules.routesToNames:
		case q != nil && (q.quorum != nil) == (d.q.quorum != nil):
			if q.quorum == nil {
				lost = true
			} else {
				queues = append(queues, q)
			}
		case d.name >= last: // RabbitMQ looks at the last name first
			last = d.name
			err = &Error{Code: InternalError} // of another type now: the channel crashes
			if q == nil {
				err = v.undeliverable(d.name)
			}
		}
	}
	return queues, lost, err
}

func (v *VHost) undeliverable(queue string) *Error {
	const text = "failed to deliver message: "
	resource := erl.Tuple{erl.Atom("resource"), erl.Binary(v.name), erl.Atom("queue"), erl.Binary(queue)}
	return &Error{Code: ResourceError, Name: queue,
		Reason: text + erl.Format(erl.Tuple{erl.Atom("not_found"), resource}, len(text))}
}
