package bench_test

import (
	"strconv"
	"testing"

	"github.com/leveretmq/leveret"
)

const manyBindings = 200_000

// manyBound makes a broker with many bindings from the exchange "source" to the exchange "destination", or to the queue of
// that name.
func manyBound(b *testing.B, kind leveret.ExchangeType, to leveret.DestinationType) *leveret.Broker {
	br := newBroker(b)
	exchange := func(name string, kind leveret.ExchangeType) {
		_, err := br.DeclareExchange(name, kind, leveret.ExchangeConfig{})
		must(b, err)
	}
	exchange("source", kind)
	exchange("destination", leveret.Direct)
	declare(b, br, "destination", nil)
	ch := guestChannel(b, br)
	for i := range manyBindings {
		must(b, ch.Bind(leveret.Binding{Source: "source", Destination: "destination", DestinationType: to,
			RoutingKey: "*." + strconv.Itoa(i)}))
	}
	return br
}

func deleteExchange(name string) func(*leveret.Broker) error {
	return func(br *leveret.Broker) error { return br.DeleteExchange(name, leveret.DeleteConfig{}) }
}

func deleteDestination(br *leveret.Broker) error {
	_, err := br.DeleteQueue("destination", leveret.DeleteConfig{})
	return err
}

// endBindings deletes what many bindings lead from, or to.
func endBindings(kind leveret.ExchangeType, to leveret.DestinationType, end func(*leveret.Broker) error) large {
	return func(b *testing.B) (*leveret.Broker, func()) {
		br := manyBound(b, kind, to)
		return br, func() { must(b, end(br)) }
	}
}

// endWatched does it while a program watches the bindings.
func endWatched(end func(*leveret.Broker) error) large {
	return func(b *testing.B) (*leveret.Broker, func()) {
		br := manyBound(b, leveret.Direct, leveret.DestinationQueue)
		n := 0
		br.Watch(leveret.Events{Unbound: func(leveret.BindingEvent) { n++ }})
		return br, func() {
			must(b, end(br))
			if br.Settle(); n != manyBindings {
				b.Errorf("%d bindings were told of", n)
			}
		}
	}
}

// endLast deletes a queue with which as many auto-delete exchanges go.
func endLast(b *testing.B) (*leveret.Broker, func()) {
	br := newBroker(b)
	declare(b, br, "destination", nil)
	for i := range manyBindings {
		name := "last-" + strconv.Itoa(i)
		_, err := br.DeclareExchange(name, leveret.Direct, leveret.ExchangeConfig{AutoDelete: true})
		must(b, err)
		must(b, br.BindQueue("destination", name, "", nil))
	}
	return br, func() { must(b, deleteDestination(br)) }
}
