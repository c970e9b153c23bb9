package fault

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/leveretmq/leveret"
)

// settleLimit is how long a fault waits for what comes before it to be executed.
const settleLimit = 10 * time.Second

// Settle returns when everything has happened that can be known of, as leverettest.Settle tells.
func Settle(ctx context.Context, b *leveret.Broker) error {
	unblocked, stop := untilAlarm(ctx, b)
	defer stop()
	for moves := -1; moves != movesOf(b); {
		moves = movesOf(b)
		if err := settleOnce(ctx, unblocked, b); err != nil {
			return err
		}
	}
	return nil
}

// untilAlarm returns a context that is done when an alarm is in force. stop has to be called.
func untilAlarm(ctx context.Context, b *leveret.Broker) (unblocked context.Context, stop func()) {
	unblocked, raised := context.WithCancel(ctx)
	unwatch := b.Watch(leveret.Events{
		MemoryAlarmRaised: func(leveret.MemoryEvent) { raised() }, DiskAlarmRaised: func(leveret.DiskEvent) { raised() },
	})
	if b.Alarms() != 0 {
		raised()
	}
	return unblocked, func() {
		unwatch()
		raised()
	}
}

// settleOnce settles one after the other what may be busy. If nothing has moved meanwhile, nothing is. What clients have
// sent is waited for until unblocked is done.
func settleOnce(ctx, unblocked context.Context, b *leveret.Broker) error {
	b.Settle()
	open := doorsOf(b)
	for w := range wiresOf(open) {
		if !w.settleSent(unblocked) && ctx.Err() != nil {
			return errors.New("the broker does not execute what a client has sent: an event hook may not return")
		}
	}
	for _, d := range open {
		if err := d.srv.Settle(ctx); err != nil {
			return err
		}
	}
	for w := range wiresOf(open) {
		if !w.settleDown(ctx) {
			return errors.New("a client does not read what is sent to it: it may wait for its program to take something from a channel")
		}
	}
	return nil
}

// wiresOf are the connections of some doors.
func wiresOf(open []*Door) func(yield func(*wire) bool) {
	return func(yield func(*wire) bool) {
		for _, d := range open {
			if slices.ContainsFunc(d.all(), func(w *wire) bool { return !yield(w) }) {
				return
			}
		}
	}
}

// movesOf counts what has been read and written on all connections of the broker.
func movesOf(b *leveret.Broker) int {
	n := 0
	for w := range wiresOf(doorsOf(b)) {
		n += w.up.moved() + w.down.moved()
		if w.tunnel != nil {
			n += w.tunnel.up.moved() + w.tunnel.down.moved()
		}
	}
	return n
}
