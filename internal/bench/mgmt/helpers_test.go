package mgmt_test

import (
	"testing"

	"github.com/leveretmq/leveret"
)

// open returns a broker that is checked and closed at the end of the benchmark.
func open(b *testing.B) *leveret.Broker {
	b.Helper()
	br := leveret.New()
	b.Cleanup(func() {
		if err := br.Check(); err != nil {
			b.Error(err)
		}
		br.Close()
	})
	return br
}

func must(b *testing.B, err error) {
	if err != nil {
		b.Helper()
		b.Fatal(err)
	}
}

func declare(b *testing.B, br *leveret.Broker, name string, args leveret.Table) *leveret.Queue {
	q, err := br.DeclareQueue(name, leveret.QueueConfig{Arguments: args})
	must(b, err)
	return q
}

func publish(b *testing.B, br *leveret.Broker, exchange, key string) {
	_, err := br.Publish(exchange, key, leveret.Message{Body: make([]byte, 100)})
	must(b, err)
}

func getAck(b *testing.B, q *leveret.Queue) {
	d, ok, err := q.Get()
	if !ok {
		b.Fatal("empty queue", err)
	}
	must(b, d.Ack())
}
