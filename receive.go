package leveret

import (
	"context"
	"iter"
	"sync"
)

// A consumer's own inbox: how a Go program takes what was delivered to it. A consumer of a listener's connection has none:
// all of them share the connection's Inbox.

// ConsumeConfig are the properties of a subscription.
type ConsumeConfig struct {
	Tag       string // empty: the broker makes one up
	NoAck     bool   // deliveries need no acknowledgement and ignore the prefetch
	Exclusive bool   // no other consumer on the queue; classic queues only
	Arguments Table  // x-priority, x-consumer-timeout (quorum queues)
	Prefetch  int    // deliveries that may be unacknowledged; 0: what Channel.Qos set, none by default

	// LazyHeaders leaves Delivery.Headers nil: for consumers that read headers seldom, through
	// Delivery.HeaderFields and Delivery.Deaths.
	LazyHeaders bool

	// Handler, if set, is called with each delivery instead of queueing it: in order, after the
	// operation that caused it has released its locks, by the goroutine of that or a concurrent
	// operation. It may call the broker. With one driving goroutine a run is deterministic.
	Handler func(*Delivery)
}

// Tag returns the consumer tag.
func (c *Consumer) Tag() string { return c.tag }

// Cancel ends the subscription. Messages it holds stay unacknowledged until they are settled or
// the channel ends.
func (c *Consumer) Cancel() error { return c.ch.Cancel(c.tag) }

// Deliveries yields the consumer's messages until ctx is done or the consumer ends: cancelled,
// its queue deleted, its channel closed. Leaving the loop does not cancel the consumer.
func (c *Consumer) Deliveries(ctx context.Context) iter.Seq[*Delivery] {
	return func(yield func(*Delivery) bool) {
		for {
			d, err := c.Receive(ctx)
			if err != nil || !yield(d) {
				return
			}
		}
	}
}

// Receive waits for the next message. The error is ctx's, or ErrClosed when the consumer has
// ended and everything delivered to it was received.
func (c *Consumer) Receive(ctx context.Context) (*Delivery, error) {
	if c.inbox == nil || c.inbox.shared {
		return nil, ErrClosed // a handler or the connection's inbox gets the deliveries
	}
	for waited := false; ; waited = true {
		if d, ended := c.inbox.next(waited); d != nil {
			return d, nil
		} else if ended {
			return nil, ErrClosed
		}
		select {
		case <-c.inbox.ready:
		case <-c.inbox.done:
		case <-ctx.Done():
			c.inbox.leave()
			return nil, ctx.Err()
		}
	}
}

// received is what Consumer.Receive has taken from an inbox in one go and not yet returned.
type received struct {
	mu      sync.Mutex // held when the virtual host's is taken
	batch   []Notification
	next    int // index in batch
	waiting int // receivers that found nothing
}

// next receives one delivery from an inbox that a consumer has to itself. It takes all there
// is from the virtual host at once, and locks that once for many. A receiver that found nothing
// waits and calls again, or calls leave.
func (in *Inbox) next(waited bool) (d *Delivery, ended bool) {
	r := &in.received
	r.mu.Lock()
	defer r.mu.Unlock()
	if waited {
		r.waiting--
	}
	if r.next == len(r.batch) {
		ended = in.refill()
		if len(r.batch) == 0 {
			if !ended {
				r.waiting++
			}
			return nil, ended
		}
	}
	d = r.batch[r.next].Delivery
	r.batch[r.next] = Notification{}
	if r.next++; r.next < len(r.batch) && r.waiting > 0 {
		in.signal()
	}
	return d, false
}

func (in *Inbox) leave() {
	in.received.mu.Lock()
	in.received.waiting--
	in.received.mu.Unlock()
}

// refill swaps the empty batch for what has come. An inbox of one consumer has no limits, so
// that nobody waits for room in it and the lock alone will do.
func (in *Inbox) refill() (ended bool) {
	r := &in.received
	in.v.mu.Lock()
	defer in.v.mu.Unlock()
	r.batch, in.items, r.next = in.items, r.batch[:0], 0
	in.bytes, in.count = 0, 0
	return in.ended
}
