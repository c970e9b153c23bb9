package leverettest

import (
	"context"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/fault"
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
// The clients are those of Dial, Dialer, URL and those with TLS; of one that connects by a URL it is known what has come from
// its socket and what has been written there. An answer to it says that all that it had sent on that channel before has come.
//
// What cannot be known is what a program does with what its client has read. amqp091-go hands deliveries to a channel: the
// program's goroutine may not have taken them yet, or be about to acknowledge them, or to publish something else. Wait for
// that by what it does. During the memory alarm Settle does not wait for what clients have sent, because the broker does
// not read from those that publish.
//
// The test ends if a client does not read what is sent to it for ten seconds. Settle must not be called from an event
// hook or a handler.
func Settle(t T, b *leveret.Broker) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), settleLimit)
	defer cancel()
	if err := fault.Settle(ctx, b); err != nil {
		t.Fatalf("leveret: Settle: %v", err)
	}
}
