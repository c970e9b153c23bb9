package bench

import (
	"context"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	amqp "github.com/rabbitmq/amqp091-go"
)

// leveretSys is leveret through its Go API: a direct exchange to queues by name. Queue 0 dead-letters to queue 1.
type leveretSys struct {
	tb   testing.TB
	b    *leveret.Broker
	n    []string
	q    []*leveret.Queue
	c    []*leveret.Consumer
	ch   *leveret.Channel // leaves headers that nobody reads unmade; nil: Queue.Get, which makes them
	copy bool
}

type leveretOptions struct {
	copy bool // each message gets a body of its own
	lazy bool // as a listener, which does not have headers put into a map
	push bool // a consumer a queue instead of Queue.Get
}

func openLeveret(o leveretOptions) func(testing.TB, int) system {
	return func(tb testing.TB, queues int) system {
		s := newLeveret(tb, queues)
		s.copy = o.copy
		if o.lazy {
			c, err := s.b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: leveret.NewInbox(leveret.InboxConfig{})})
			check(tb, err)
			s.ch, err = c.Channel()
			check(tb, err)
		}
		for _, q := range s.q {
			if o.push {
				c, err := q.Consume(leveret.ConsumeConfig{})
				check(tb, err)
				s.c = append(s.c, c)
			}
		}
		return s
	}
}

func newLeveret(tb testing.TB, queues int) *leveretSys {
	s := &leveretSys{tb: tb, b: leveret.New(), n: names(queues)}
	for _, x := range []struct {
		name string
		kind leveret.ExchangeType
	}{{"direct", leveret.Direct}, {"fan", leveret.Fanout}, {"topics", leveret.Topic}} {
		_, err := s.b.DeclareExchange(x.name, x.kind, leveret.ExchangeConfig{})
		check(tb, err)
	}
	for i, n := range s.n {
		args := leveret.Table{}
		if queues == 2 && i == 0 {
			args[leveret.ArgDeadLetterExchange], args[leveret.ArgDeadLetterRoutingKey] = "direct", s.n[1]
		}
		q, err := s.b.DeclareQueue(n, leveret.QueueConfig{Arguments: args})
		check(tb, err)
		check(tb, s.b.BindQueue(n, "direct", n, nil))
		check(tb, s.b.BindQueue(n, "fan", "", nil))
		s.q = append(s.q, q)
	}
	return s
}

func topicLeveret(tb testing.TB, n int) system {
	s := newLeveret(tb, 1)
	for i := range n {
		check(tb, s.b.BindQueue(s.n[0], "topics", pattern(i, ".", "*", "#"), nil))
	}
	return s
}

func (s *leveretSys) send(exchange, key string, body []byte) {
	if s.copy {
		body = append([]byte(nil), body...)
	}
	_, err := s.b.Publish(exchange, key, leveret.Message{Body: body})
	check(s.tb, err)
}

func (s *leveretSys) publish(q int, body []byte)         { s.send("direct", s.n[q], body) }
func (s *leveretSys) publishAll(body []byte)             { s.send("fan", "", body) }
func (s *leveretSys) publishKey(key string, body []byte) { s.send("topics", key, body) }

func (s *leveretSys) take(q int) *leveret.Delivery {
	if s.c != nil {
		d, err := s.c[q].Receive(context.Background())
		check(s.tb, err)
		return d
	}
	for {
		d, ok, err := s.get(q)
		check(s.tb, err)
		if ok {
			return d
		}
		runtime.Gosched()
	}
}

func (s *leveretSys) get(q int) (*leveret.Delivery, bool, error) {
	if s.ch != nil {
		return s.ch.Get(s.n[q], leveret.GetConfig{})
	}
	return s.q[q].Get()
}

func (s *leveretSys) getAck(q int) { check(s.tb, s.take(q).Ack()) }
func (s *leveretSys) reject()      { check(s.tb, s.take(0).Reject(false)) }
func (s *leveretSys) close()       { check(s.tb, s.b.Close()) }

// doorSys is leveret through its AMQP door in this process.
type doorSys struct {
	*amqpSys
	server *amqpd.Server
	broker *leveret.Broker
}

func (s doorSys) close() {
	s.amqpSys.close()
	check(s.tb, s.server.Close())
	check(s.tb, s.broker.Close())
}

// openPipe is amqp.Dial on a connection that is there already.
func openPipe(nc net.Conn) (*amqp.Connection, error) {
	return amqp.Open(nc, amqp.Config{Vhost: "/", SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "guest", Password: "guest"}}, Heartbeat: 10 * time.Second})
}

// openDoor opens amqp091-go over amqpd's pipe, or over loopback.
func openDoor(loopback bool, confirm int) func(testing.TB, int) system {
	return func(tb testing.TB, queues int) system {
		b := leveret.New()
		srv := &amqpd.Server{Broker: b}
		dial := func() (*amqp.Connection, error) {
			nc, err := srv.Dial()
			if err != nil {
				return nil, err
			}
			return openPipe(nc)
		}
		if loopback {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			check(tb, err)
			go srv.Serve(l)
			dial = func() (*amqp.Connection, error) { return amqp.Dial("amqp://guest:guest@" + l.Addr().String() + "/") }
		}
		return doorSys{openDialed(dial, false, confirm, false)(tb, queues).(*amqpSys), srv, b}
	}
}

func init() {
	peers = append(peers,
		peer{name: "leveret", open: openLeveret(leveretOptions{}), topic: topicLeveret},
		peer{name: "leveret-copy", open: openLeveret(leveretOptions{copy: true})},
		peer{name: "leveret-consumer", open: openLeveret(leveretOptions{push: true})},
		peer{name: "leveret-lazy", open: openLeveret(leveretOptions{lazy: true}), only: "dlx"},
		peer{name: "leveret-amqp-pipe", open: openDoor(false, 0)},
		peer{name: "leveret-amqp-tcp", open: openDoor(true, 0)},
	)
}
