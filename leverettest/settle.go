package leverettest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/leveretmq/leveret"
)

// settleLimit is how long Settle waits for clients.
const settleLimit = 10 * time.Second

// Settle returns when everything has happened that can be known of: what clients have sent is executed, what is due at
// the broker's clock has happened, and the clients have read all that was sent to them and wait for more. It is for a
// test outside of a synctest bubble, where a client works beside the test; in a bubble, synctest.Wait knows more.
//
//	clock.Advance(time.Minute)
//	leverettest.Settle(t, b)    // the client has what has expired meanwhile
//
// The clients are those of Dial, Dialer and URL; of one that connects by URL it is known what has come from its socket and
// what has been written there. What cannot be known is what a program does with what its client has read. amqp091-go hands
// deliveries to a channel: the program's goroutine may not have taken them yet, or be about to acknowledge them, or to
// publish something else. Wait for that by what it does. During the memory alarm Settle does not wait for what clients
// have sent, because the broker does not read from those that publish.
//
// The test ends if a client does not read what is sent to it for ten seconds. Settle must not be called from an event
// hook or a handler.
func Settle(t T, b *leveret.Broker) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), settleLimit)
	defer cancel()
	unblocked, stop := untilAlarm(ctx, b)
	defer stop()
	for moves := -1; moves != movesOf(b); {
		moves = movesOf(b)
		if err := settleOnce(ctx, unblocked, b); err != nil {
			t.Fatalf("leveret: Settle: %v", err)
		}
	}
}

// untilAlarm returns a context that is done when the memory alarm is on. stop has to be called.
func untilAlarm(ctx context.Context, b *leveret.Broker) (unblocked context.Context, stop func()) {
	unblocked, raised := context.WithCancel(ctx)
	unwatch := b.Watch(leveret.Events{MemoryAlarmRaised: func(leveret.MemoryEvent) { raised() }})
	if b.Memory().Alarm {
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
		if !w.settleUp(unblocked) && ctx.Err() != nil {
			return errors.New("the broker does not execute what a client has sent: an event hook may not return")
		}
	}
	for _, d := range open {
		if err := d.srv.Settle(ctx); err != nil {
			return err
		}
	}
	for w := range wiresOf(open) {
		if !w.down.settle(ctx) {
			return errors.New("a client does not read what is sent to it: it may wait for its program to take something from a channel")
		}
	}
	return nil
}

// wiresOf are the connections of some doors.
func wiresOf(open []*door) func(yield func(*wire) bool) {
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
	}
	return n
}
