package leveret

import (
	"context"
	"iter"
	"slices"
	"sync"
)

// A consumer's own inbox: how a Go program takes what was delivered to it. A consumer with a handler has none, nor has
// one of a listener's connection: all of them share the connection's Inbox.

// ConsumeConfig are the properties of a subscription.
type ConsumeConfig struct {
	Tag       string // empty: the broker makes one up
	NoAck     bool   // deliveries need no acknowledgement and ignore the prefetch
	Exclusive bool   // no other consumer on the queue; classic queues only
	Arguments Table  // x-priority, x-consumer-timeout (quorum queues)
	Prefetch  int    // deliveries that may be unacknowledged; 0: what Channel.Qos set, none by default

	// ArgumentFields are the arguments in the order and with the duplicates that a client sent. When they are not nil,
	// Arguments is ignored.
	ArgumentFields Fields

	// Handler, if set, is called with each delivery instead of queueing it: in order, after the
	// operation that caused it has released its locks, by the goroutine of that or a concurrent
	// operation. It may call the broker. With one driving goroutine a run is deterministic.
	Handler func(*Delivery)

	// Reuse has each Delivery used again for a later message of the consumer, when Handler has returned or the loop over
	// Deliveries goes on: the program must not keep the Delivery. Its body and properties may be kept. So a delivery
	// allocates nothing. What Receive returns is not used again. A connection with an Inbox ignores Reuse.
	Reuse bool
}

// Tag returns the consumer tag.
func (c *Consumer) Tag() string { return c.tag }

// Cancel ends the subscription. What was delivered stays: it can still be received, and is unacknowledged until it is
// settled or the channel ends. To give back what the program has not begun, use Close.
func (c *Consumer) Cancel() error { return c.ch.Cancel(c.tag) }

// Close ends the subscription and gives the messages that the program has not received back to the queue, in one step
// and in order, as Nack does with requeue: this does not count as a failed delivery. What was received is not touched
// and has to be settled. So a worker can stop at once and lose nothing. Close may follow Cancel.
//
// A Close after the channel has ended does nothing, and returns nil. Messages of a consumer with NoAck have left the
// queue for good: they can still be received. A consumer with a Handler, or of a connection with an Inbox, holds
// nothing, and Close is Cancel.
func (c *Consumer) Close() error {
	tags, unlock := c.lockUnreceived()
	defer unlock()
	if c.ch.usableLocked() != nil {
		return nil
	}
	wasOpen := !c.ended
	c.leaveLocked(&closedError{ErrCancelled})
	tags = slices.DeleteFunc(tags, func(tag uint64) bool {
		u := c.ch.tags.Get(tag)
		return u == nil || u.inTx // settled by a multiple acknowledgement
	})
	c.ch.settleAllLocked(tags, nackRequeue)
	if wasOpen && c.q != nil {
		c.q.cancelledLocked()
	}
	return nil
}

// Err returns nil while the consumer is open. Then it returns why it has ended, and why Deliveries ends: an error that
// is [ErrClosed] and [ErrCancelled], [ErrQueueDeleted] or [ErrAckTimeout], or wraps the [Error] that closed the
// channel. The end of Receive's context does not end the consumer.
func (c *Consumer) Err() error {
	c.ch.v.lock()
	defer c.ch.v.unlock()
	return c.err
}

// Deliveries yields the consumer's messages until ctx is done, which ends it first whatever messages wait, or until the
// consumer has ended and everything delivered to it was received; Err tells why. Leaving the loop does not cancel the
// consumer.
func (c *Consumer) Deliveries(ctx context.Context) iter.Seq[*Delivery] {
	return func(yield func(*Delivery) bool) {
		var used *Delivery
		for {
			d, err := c.receive(ctx, used)
			if err != nil || !yield(d) {
				return
			}
			used = d
		}
	}
}

// Receive waits for the next message. If ctx is done, the error is ctx's, whatever messages wait. When the consumer has
// ended and everything delivered to it was received, the error is that of Err. It is ErrClosed for a consumer with a
// Handler, or of a connection with an Inbox: those get the messages.
func (c *Consumer) Receive(ctx context.Context) (*Delivery, error) { return c.receive(ctx, nil) }

// receive is Receive of a program that is done with the delivery used.
func (c *Consumer) receive(ctx context.Context, used *Delivery) (*Delivery, error) {
	in := c.own
	if in == nil {
		return nil, ErrClosed
	}
	for waited := false; ; waited = true {
		if err := ctx.Err(); err != nil {
			if waited {
				in.leave()
				in.signal() // another receiver may have been meant, too
			}
			return nil, err
		}
		if d, ended := in.take(waited, used); d != nil {
			return d.render(), nil
		} else if ended {
			return nil, c.Err()
		}
		used = nil
		select {
		case <-in.ready:
		case <-in.done:
		case <-ctx.Done():
		}
	}
}

// GetConfig are the options of basic.get.
type GetConfig struct {
	NoAck bool // the delivery needs no acknowledgement

	// Into, if not nil, is what Get fills and returns in place of a Delivery of its own, when there is a message. A
	// program that uses the same one each time allocates nothing to receive.
	Into *Delivery
}

// Get takes the queue's head. ok is false if the queue has no ready message. The delivery has to be settled, unless
// cfg, of which there is one at most, says NoAck. The error is ErrNotFound or ErrClosed. Unlike Channel.Get it takes the head of a
// quorum queue with a single active consumer, too.
func (q *Queue) Get(cfg ...GetConfig) (d *Delivery, ok bool, err error) {
	var c GetConfig
	if len(cfg) > 0 {
		c = cfg[0]
	}
	q.v.lock()
	if err = q.usableLocked(); err == nil {
		d = q.impl.get(q.v.system, c)
	}
	q.v.unlock()
	if d == nil {
		return nil, false, err
	}
	return d.render(), true, nil
}

// Get is basic.get. ok is false if the queue has no ready message.
func (ch *Channel) Get(queue string, cfg GetConfig) (d *Delivery, ok bool, err error) {
	err = ch.do("basic.get", func() (e *Error) {
		d, e = ch.getLocked(queue, cfg)
		return e
	})
	if d == nil {
		return nil, false, err
	}
	if ch.conn.cfg.Inbox == nil { // a listener reads the headers in its own way
		d.render()
	}
	return d, true, nil
}

// An ownInbox holds what was delivered to a consumer and not received, of a consumer that takes it by Receive.
type ownInbox struct {
	v          *vhost // its lock guards what follows
	deliveries []*Delivery
	replies    unreadReplies
	ended      bool

	mu      sync.Mutex  // held when the virtual host's lock is taken; guards what follows
	batch   []*Delivery // taken from deliveries in one go, and not yet received
	next    int         // index in batch
	used    []*Delivery // to be used again
	waiting int         // receivers that found nothing

	spares *spares       // of its consumer
	ready  chan struct{} // holds one token when there may be something for one that waits
	done   chan struct{} // closed when the consumer has ended
}

func newOwnInbox(v *vhost, s *spares) *ownInbox {
	return &ownInbox{v: v, spares: s, ready: make(chan struct{}, 1), done: make(chan struct{})}
}

func (in *ownInbox) putLocked(d *Delivery) {
	in.deliveries = append(in.deliveries, d)
	if len(in.deliveries) == 1 {
		in.signal()
	}
}

func (in *ownInbox) endLocked() {
	if !in.ended {
		in.ended = true
		close(in.done)
	}
}

// signal wakes one receiver that waits.
func (in *ownInbox) signal() {
	select {
	case in.ready <- struct{}{}:
	default:
	}
}

// take returns one delivery, for a receiver that is done with the delivery used, or with none if that is nil. It takes all there is from the virtual host at once, and locks that once for many. A
// receiver that found nothing waits and calls again, or calls leave.
func (in *ownInbox) take(waited bool, used *Delivery) (d *Delivery, ended bool) {
	in.mu.Lock()
	if used != nil && in.spares != nil && len(in.used) < maxKept {
		in.used = append(in.used, used)
	}
	if waited {
		in.waiting--
	}
	if in.next == len(in.batch) {
		ended = in.refill()
		if len(in.batch) == 0 {
			if !ended {
				in.waiting++
			}
			in.mu.Unlock()
			return nil, ended
		}
	}
	d = in.batch[in.next]
	in.batch[in.next] = nil
	switch in.next++; {
	case in.next == len(in.batch):
		in.batch, in.next = emptied(in.batch), 0
	case in.waiting > 0:
		in.signal()
	}
	in.mu.Unlock()
	return d, false
}

func (in *ownInbox) leave() {
	in.mu.Lock()
	in.waiting--
	in.mu.Unlock()
}

// refill swaps the empty batch for what has come. Nobody waits for room, so that the lock alone will do.
func (in *ownInbox) refill() (ended bool) {
	in.v.mu.Lock()
	in.batch, in.deliveries, in.next = in.deliveries, emptied(in.batch), 0
	in.replies = 0
	for i, d := range in.used {
		in.spares.give(d)
		in.used[i] = nil
	}
	in.used = emptied(in.used)
	ended = in.ended
	in.v.mu.Unlock()
	return ended
}

// lockUnreceived begins an operation on c and returns the tags of the deliveries that nobody has received, in order.
// They are not received any more. There are none of a consumer whose deliveries need no acknowledgement.
func (c *Consumer) lockUnreceived() (tags []uint64, unlock func()) {
	v, in := c.ch.v, c.own
	if in == nil || c.cfg.NoAck {
		v.lock()
		return nil, v.unlock
	}
	in.mu.Lock()
	defer in.mu.Unlock() // before the operation ends: an event hook may receive
	v.lock()
	for _, d := range slices.Concat(in.batch[in.next:], in.deliveries) {
		tags = append(tags, d.DeliveryTag)
	}
	clear(in.batch)
	in.batch, in.next = emptied(in.batch), 0
	clear(in.deliveries)
	in.deliveries, in.replies = emptied(in.deliveries), 0
	return tags, v.unlock
}

// spares are deliveries that a consumer's program is done with, and that the consumer is going to use again. The virtual
// host's lock guards them.
type spares struct{ list []*Delivery }

// take returns a delivery to be filled.
func (s *spares) take() *Delivery {
	if s == nil || len(s.list) == 0 {
		return new(Delivery)
	}
	last := len(s.list) - 1
	d := s.list[last]
	s.list = s.list[:last]
	return d
}

// give takes d back, and lets go of what it holds. Beyond maxKept nothing is kept.
func (s *spares) give(d *Delivery) {
	if s == nil || len(s.list) == maxKept {
		return
	}
	*d = Delivery{}
	s.list = append(s.list, d)
}
