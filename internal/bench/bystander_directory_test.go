package bench_test

import (
	"testing"
	"time"

	"github.com/leveretmq/leveret"
)

// onDirectory acts on a queue "q" of a million persistent messages in a broker with a directory.
func onDirectory(act func(*testing.B, *leveret.Broker, *leveret.Queue)) large {
	return func(b *testing.B) (*leveret.Broker, func()) {
		br := filledDirectory(b)
		q, err := br.Queue("q")
		must(b, err)
		return br, func() { act(b, br, q) }
	}
}

func openDirectory(b *testing.B, opts ...leveret.Option) *leveret.Broker {
	br, err := leveret.Open(b.TempDir(), opts...)
	must(b, err)
	declare(b, br, "dead", nil)
	return br
}

func filledDirectory(b *testing.B) *leveret.Broker {
	br := openDirectory(b)
	publishDurable(b, durableChannel(b, br), manyMessages)
	return br
}

func heldOnDirectory(b *testing.B, _ leveret.Table) (*leveret.Broker, *leveret.Channel) {
	br := filledDirectory(b)
	return br, takeAll(b, br)
}

func ackOnDirectory(b *testing.B) (*leveret.Broker, func()) {
	br, ch := heldOnDirectory(b, nil)
	return br, func() { must(b, ch.Ack(0, true)) }
}

// expireOnDirectory has the million messages expire at one time.
func expireOnDirectory(b *testing.B) (*leveret.Broker, func()) {
	clock := leveret.NewManualClock(time.Unix(1e9, 0))
	br := openDirectory(b, leveret.WithClock(clock))
	must(b, br.SetPolicy(leveret.Policy{Name: "p", Pattern: "^q$", Definition: leveret.Table{"message-ttl": 1000}}))
	publishDurable(b, durableChannel(b, br), manyMessages)
	return br, func() { clock.Advance(time.Hour) }
}

// commitOnDirectory commits a million messages.
func commitOnDirectory(b *testing.B) (*leveret.Broker, func()) {
	br := openDirectory(b)
	ch := durableChannel(b, br)
	must(b, ch.Tx())
	publishDurable(b, ch, manyMessages)
	return br, func() {
		_, err := ch.Commit()
		must(b, err)
	}
}
