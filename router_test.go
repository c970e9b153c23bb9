package leveret

import "testing"

// A message with one key is routed without an allocation.
func BenchmarkRoute(b *testing.B) {
	for _, kind := range []ExchangeType{Direct, Fanout, Topic, ModulusHash} {
		b.Run(string(kind), func(b *testing.B) {
			broker := New()
			defer broker.Close()
			broker.DeclareExchange("x", kind, ExchangeConfig{})
			broker.DeclareQueue("q", QueueConfig{})
			broker.BindQueue("q", "x", "k", nil)
			x := broker.exchanges["x"]
			m := &message{exchange: x, key: "k"}
			b.ReportAllocs()
			for b.Loop() {
				broker.vhost.routeLocked(x, m)
			}
		})
	}
	b.Run("default", func(b *testing.B) {
		broker := New()
		defer broker.Close()
		broker.DeclareQueue("q", QueueConfig{})
		m := &message{exchange: broker.nameless, key: "q"}
		b.ReportAllocs()
		for b.Loop() {
			broker.vhost.routeLocked(broker.nameless, m)
		}
	})
}
