package bench_test

import (
	"strconv"
	"testing"

	"github.com/leveretmq/leveret"
)

var body100 = make([]byte, 100)

const window = 256 // messages in flight between a producer and a consumer

// open returns a broker that is checked and closed at the end of the benchmark.
func open(b *testing.B, opts ...leveret.Option) *leveret.Broker {
	b.Helper()
	br := leveret.New(opts...)
	b.Cleanup(func() {
		if err := br.Check(); err != nil {
			b.Error(err)
		}
		br.Close()
	})
	return br
}

func guestChannel(b *testing.B, br *leveret.Broker) *leveret.Channel {
	c, err := br.Connect("guest", "guest", "/")
	must(b, err)
	ch, err := c.Channel()
	must(b, err)
	return ch
}

// listenerChannel opens a channel whose deliveries do not get their headers put into a map.
func listenerChannel(b *testing.B, br *leveret.Broker) *leveret.Channel {
	c, err := br.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: leveret.NewInbox(leveret.InboxConfig{})})
	must(b, err)
	ch, err := c.Channel()
	must(b, err)
	return ch
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

// bound declares queues that a direct exchange named as the first reaches by their names.
func bound(b *testing.B, br *leveret.Broker, names ...string) []*leveret.Queue {
	_, err := br.DeclareExchange(names[0], leveret.Direct, leveret.ExchangeConfig{})
	must(b, err)
	qs := make([]*leveret.Queue, len(names))
	for i, n := range names {
		qs[i] = declare(b, br, n, nil)
		must(b, br.BindQueue(n, names[0], n, nil))
	}
	return qs
}

func benchQueueNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "queue-" + strconv.Itoa(i)
	}
	return names
}

func publish(b *testing.B, br *leveret.Broker, exchange, key string) {
	out, err := br.Publish(exchange, key, leveret.Message{Body: body100})
	if err != nil || out.Queues == 0 || out.Rejected {
		b.Fatal(out, err)
	}
}

func get(b *testing.B, q *leveret.Queue) *leveret.Delivery {
	d, ok, err := q.Get()
	if !ok {
		b.Fatal("empty queue", err)
	}
	return d
}

func getAck(b *testing.B, q *leveret.Queue) { must(b, get(b, q).Ack()) }
