package leveret

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
	queues    []*Queue
	mandatory bool
}

type txSettlement struct {
	tags []uint64
	how  settling
}

func (tx *transaction) publish(m *message, queues []*Queue, mandatory bool) {
	tx.publishes = append(tx.publishes, txPublish{m, queues, mandatory})
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
// mandatory messages that reached no queue. If a queue refused a publish the error is
// ErrPreconditionFailed, "partial tx completion", and everything else has been done.
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
			ch.hand(p.m, p.queues, p.mandatory, &out)
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
