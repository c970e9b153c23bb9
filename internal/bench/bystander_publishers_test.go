package bench_test

import (
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	amqp "github.com/rabbitmq/amqp091-go"
)

// rushingPublishers is ten connections with a hundred channels each that publish as fast as they can for two seconds, to queues that drop
// their heads.
func rushingPublishers(b *testing.B) (*leveret.Broker, func()) {
	br := newBroker(b)
	server := &amqpd.Server{Broker: br}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(b, err)
	go server.Serve(l)
	b.Cleanup(func() { server.Close() })
	var conns []*amqp.Connection
	for i := range 10 {
		declare(b, br, "rush-"+strconv.Itoa(i), leveret.Table{leveret.ArgMaxLength: 100})
		c, err := amqp.Dial("amqp://guest:guest@" + l.Addr().String() + "/")
		must(b, err)
		b.Cleanup(func() { c.Close() })
		conns = append(conns, c)
	}
	return br, func() {
		var all sync.WaitGroup
		for i, c := range conns {
			for range 100 {
				ch, err := c.Channel()
				must(b, err)
				all.Go(func() { rush(ch, "rush-"+strconv.Itoa(i), 2*time.Second) })
			}
		}
		all.Wait()
	}
}

func rush(ch *amqp.Channel, queue string, howLong time.Duration) {
	for end := time.Now().Add(howLong); time.Now().Before(end); {
		if ch.Publish("", queue, false, false, amqp.Publishing{Body: body100}) != nil {
			return
		}
	}
}
