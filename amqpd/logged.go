package amqpd

import (
	"errors"
	"sync/atomic"

	"github.com/leveretmq/leveret"
)

// Confirms of a broker with a directory wait for its log, and the reader of the connection does not: it leaves them here. When the
// log has what they are about, a goroutine of the log says so, and the writer sends them. That goroutine must not wait for the
// connection's lock, which the reader may have while it waits for the log: so all that it does is to count.

// loggedConfirms are the confirms of a connection that wait for the log. What has an ack with the flag multiple covers what was
// published before, so they are sent in their order.
type loggedConfirms struct {
	batches []confirmBatch // oldest first
	taken   uint64         // batches that have been sent
	reach   func(error)    // counts one more batch that the log has

	reached atomic.Uint64 // batches that the log has
	failed  atomic.Pointer[error]
}

// A confirmBatch is what was executed together, and is waited for together.
type confirmBatch []waitingConfirm

type waitingConfirm struct {
	ch  *channel
	run confirmRun
}

func (l *loggedConfirms) init(w *writer) {
	l.reach = func(err error) {
		if err != nil {
			l.failed.CompareAndSwap(nil, &err)
		}
		l.reached.Add(1)
		w.notify()
	}
}

// waitsForLogLocked reports whether the confirms that are due have to wait. They belong to the last batch then.
func (c *conn) waitsForLogLocked() bool {
	l := &c.logged
	if c.session.WhenDurable(l.reach) {
		l.batches = append(l.batches, nil)
	}
	return len(l.batches) > 0
}

// holdConfirmLocked keeps a channel's run of confirms until the log has it.
func (c *conn) holdConfirmLocked(ch *channel) {
	if ch.pending.count > 0 {
		last := &c.logged.batches[len(c.logged.batches)-1]
		*last = append(*last, waitingConfirm{ch, ch.pending})
		ch.pending = confirmRun{}
	}
}

// sendLoggedLocked sends the confirms that the log has.
func (c *conn) sendLoggedLocked() {
	l := &c.logged
	if len(l.batches) == 0 {
		return
	}
	due := int(l.reached.Load() - l.taken)
	if due == 0 {
		return
	}
	if err := l.failed.Load(); err != nil {
		l.batches = nil
		var e *leveret.Error
		if errors.As(*err, &e) {
			c.closeLocked(unattributed{e}, 0)
		} else {
			c.dropLocked() // the broker is closed
		}
		return
	}
	for _, batch := range l.batches[:due] {
		for _, w := range batch {
			if c.stage == running && c.open.byNumber[w.ch.number] == w.ch && !w.ch.closing {
				c.encodeConfirmLocked(w.ch, w.run)
			}
		}
	}
	l.taken += uint64(due)
	clear(l.batches[:due])
	if l.batches = l.batches[due:]; len(l.batches) == 0 {
		l.batches = nil
	}
}
