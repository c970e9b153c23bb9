package leveret

import (
	"cmp"
	"errors"
)

// Batches: many messages in one operation. Goroutines that contend spend most of their time on the lock, and a broker
// with a directory spends most of its time on the disk. A batch takes the lock and waits for the disk once.

// A Publishing is a message and where it is published to.
type Publishing struct {
	Exchange   string
	RoutingKey string
	Message
}

// PublishAll publishes messages one after another, as a call of Publish for each does, in one operation: handlers are
// called when all are published, and a broker with a directory waits for the disk then. Others are served in between if there are
// many. It returns the outcomes of the messages that were published; the error is that of the next one, and the rest is
// not published. When the disk has failed, the error is ErrInternal, and the outcomes say only what the queues took.
func (ch *Channel) PublishAll(messages []Publishing) ([]Outcome, error) {
	v := ch.v
	if v.log != nil {
		if err := v.log.disk.room(); err != nil {
			return nil, err
		}
	}
	outs := make([]Outcome, 0, len(messages))
	v.lock()
	err := ch.eachLocked(len(messages), func(i int) error {
		p := &messages[i]
		out, e := ch.publishLocked(p.Exchange, p.RoutingKey, &p.Message)
		if e != nil {
			var err error
			if out, err = ch.publishErrorLocked(e, p.Exchange, p.RoutingKey, &p.Message); err != nil {
				return err
			}
		}
		outs = append(outs, out)
		return nil
	})
	return outs, ch.endBatch(err, ch.confirm || ch.super)
}

// eachLocked does the steps of a batch until one fails. Between two of them the dead letters of the first go, as they do
// between two operations, and others get in.
func (ch *Channel) eachLocked(n int, step func(i int) error) error {
	v := ch.v
	for i := range n {
		if err := ch.usableLocked(); err != nil { // it may have ended in between
			return err
		}
		if err := step(i); err != nil {
			return err
		}
		if v.deaths.len() > 0 {
			v.deadLetterAllLocked()
		}
		v.tookLocked(1)
		v.restLocked()
	}
	return nil
}

// endBatch releases the lock after a batch that ended with err, and waits for the disk as endLogged does.
func (ch *Channel) endBatch(err error, waits bool) error {
	if ch.v.log != nil {
		return cmp.Or(err, ch.endLogged(waits))
	}
	ch.v.unlock()
	return err
}

// PublishAll publishes messages as Channel.PublishAll does. The broker takes over their properties and bodies.
func (v *vhost) PublishAll(messages []Publishing) ([]Outcome, error) {
	return v.system.PublishAll(messages)
}

// GetMany fills ds with the messages at the queue's head, in one operation, and returns how many there were: that many
// calls of Get with Into. The error is ErrNotFound or ErrClosed.
func (q *Queue) GetMany(ds []Delivery, cfg ...GetConfig) (n int, err error) {
	var c GetConfig
	if len(cfg) > 0 {
		c = cfg[0]
	}
	v := q.v
	v.lock()
	n, err = v.system.fillLocked(ds, c, func(c GetConfig) (*Delivery, error) {
		if err := q.usableLocked(); err != nil {
			return nil, err
		}
		return q.impl.get(v.system, c), nil
	})
	v.unlock()
	renderAll(ds[:n])
	return n, err
}

// GetMany is basic.get until ds is full or the queue has no ready message. n is how many there were.
func (ch *Channel) GetMany(queue string, ds []Delivery, cfg GetConfig) (n int, err error) {
	ch.v.lock()
	n, err = ch.fillLocked(ds, cfg, func(c GetConfig) (*Delivery, error) {
		d, e := ch.getLocked(queue, c)
		if e != nil {
			return nil, ch.failLocked("basic.get", e)
		}
		return d, nil
	})
	err = ch.endBatch(err, false)
	if ch.conn.cfg.Inbox == nil { // as in Get
		renderAll(ds[:n])
	}
	return n, err
}

// fillLocked fills ds by get, which returns nil when there is nothing more.
func (ch *Channel) fillLocked(ds []Delivery, cfg GetConfig, get func(GetConfig) (*Delivery, error)) (n int, err error) {
	err = ch.eachLocked(len(ds), func(i int) error {
		cfg.Into = &ds[i]
		d, err := get(cfg)
		switch {
		case err != nil:
			return err
		case d == nil:
			return errEmpty
		}
		n++
		return nil
	})
	if err == errEmpty {
		err = nil
	}
	return n, err
}

// errEmpty ends a batch that has taken all there is.
var errEmpty = errors.New("leveret: empty queue")

func renderAll(ds []Delivery) {
	for i := range ds {
		ds[i].render()
	}
}

// AckAll acknowledges deliveries in their order, as a call of Ack for each does, in one operation for those of one
// channel that follow each other. The error is that of the first that could not be settled; the rest is not.
func AckAll(ds []Delivery) error {
	for len(ds) > 0 {
		ch, n := ds[0].ch, 1
		for n < len(ds) && ds[n].ch == ch {
			n++
		}
		if ch == nil {
			return errNotDelivered
		}
		if err := ch.ackEach(ds[:n]); err != nil {
			return err
		}
		ds = ds[n:]
	}
	return nil
}

func (ch *Channel) ackEach(ds []Delivery) error {
	ch.v.lock()
	err := ch.eachLocked(len(ds), func(i int) error {
		if e := ch.settleLocked(ds[i].DeliveryTag, false, acked); e != nil {
			return ch.failLocked("basic.ack", e)
		}
		return nil
	})
	return ch.endBatch(err, false)
}
