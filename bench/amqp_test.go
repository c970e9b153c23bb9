package bench

import (
	"fmt"
	"os"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// amqpSys speaks to a broker process over loopback, one connection pair a queue.
type amqpSys struct {
	tb       testing.TB
	dial     func() (*amqp.Connection, error)
	n        []string
	pub, sub []*amqp.Channel
	conns    []*amqp.Connection
	in       []<-chan amqp.Delivery
	confirm  int // 0: unconfirmed; otherwise how many unconfirmed messages a publisher allows
	waiting  [][]*amqp.DeferredConfirmation
	get      bool   // basic.get on the publishing channel instead of a consumer
	id       string // makes the names of this run's queues its own
	keep     bool   // GarageMQ hangs on deleting a queue that has a consumer
}

func (s *amqpSys) channel() *amqp.Channel {
	c, err := s.dial()
	check(s.tb, err)
	s.conns = append(s.conns, c)
	ch, err := c.Channel()
	check(s.tb, err)
	return ch
}

func openAMQP(url string, confirm int, get bool) func(testing.TB, int) system {
	if url == "" {
		return nil
	}
	return openDialed(func() (*amqp.Connection, error) { return amqp.Dial(url) }, url == garageURL, confirm, get)
}

func openDialed(dial func() (*amqp.Connection, error), keep bool, confirm int, get bool) func(testing.TB, int) system {
	return func(tb testing.TB, queues int) system {
		s := &amqpSys{tb: tb, dial: dial, confirm: confirm, get: get, keep: keep, id: fmt.Sprint(time.Now().UnixNano())}
		for _, n := range names(queues) { // names never used before: GarageMQ hangs on deleting what is not there
			s.n = append(s.n, n+"-"+s.id)
		}
		s.waiting = make([][]*amqp.DeferredConfirmation, queues)
		for q, name := range s.n {
			pub := s.channel()
			if confirm > 0 {
				check(tb, pub.Confirm(false))
			}
			args := amqp.Table{}
			if queues == 2 && q == 0 {
				args["x-dead-letter-exchange"], args["x-dead-letter-routing-key"] = "", s.n[1]
			}
			_, err := pub.QueueDeclare(name, false, false, false, false, args)
			check(tb, err)
			check(tb, pub.ExchangeDeclare("fan"+s.id, "fanout", false, false, false, false, nil))
			check(tb, pub.QueueBind(name, "", "fan"+s.id, false, nil))
			s.pub = append(s.pub, pub)
			if get {
				s.sub = append(s.sub, pub)
				continue
			}
			sub := s.channel()
			check(tb, sub.Qos(100, 0, false))
			in, err := sub.Consume(name, "", false, false, false, false, nil)
			check(tb, err)
			s.sub, s.in = append(s.sub, sub), append(s.in, in)
		}
		return s
	}
}

func topicAMQP(url string) func(testing.TB, int) system {
	if url == "" {
		return nil
	}
	return func(tb testing.TB, n int) system {
		s := openAMQP(url, 0, false)(tb, 1).(*amqpSys)
		check(tb, s.pub[0].ExchangeDeclare("topics"+s.id, "topic", false, false, false, false, nil))
		for i := range n {
			check(tb, s.pub[0].QueueBind(s.n[0], pattern(i, ".", "*", "#"), "topics"+s.id, true, nil))
		}
		_, err := s.pub[0].QueueDeclarePassive(s.n[0], false, false, false, false, nil)
		check(tb, err)
		return s
	}
}

func (s *amqpSys) send(q int, exchange, key string, body []byte) {
	p := amqp.Publishing{Body: body}
	if s.confirm == 0 {
		check(s.tb, s.pub[q].PublishWithContext(ctx, exchange, key, false, false, p))
		return
	}
	d, err := s.pub[q].PublishWithDeferredConfirmWithContext(ctx, exchange, key, false, false, p)
	check(s.tb, err)
	w := append(s.waiting[q], d)
	for len(w) >= s.confirm {
		w[0].Wait()
		w = w[1:]
	}
	s.waiting[q] = w
}

func (s *amqpSys) publish(q int, body []byte)         { s.send(q, "", s.n[q], body) }
func (s *amqpSys) publishAll(body []byte)             { s.send(0, "fan"+s.id, "", body) }
func (s *amqpSys) publishKey(key string, body []byte) { s.send(0, "topics"+s.id, key, body) }

func (s *amqpSys) take(q int) amqp.Delivery {
	if !s.get {
		return <-s.in[q]
	}
	for {
		d, ok, err := s.sub[q].Get(s.n[q], false)
		check(s.tb, err)
		if ok {
			return d
		}
	}
}

func (s *amqpSys) getAck(q int) { check(s.tb, s.take(q).Ack(false)) }
func (s *amqpSys) reject()      { check(s.tb, s.take(0).Reject(false)) }

func (s *amqpSys) close() {
	for _, n := range s.n {
		if !s.keep {
			s.pub[0].QueueDelete(n, false, false, false)
		}
	}
	for _, c := range s.conns {
		c.Close()
	}
}

// GarageMQ cannot dead-letter: a rejected message is gone.
func openGarage(url string) func(testing.TB, int) system {
	if url == "" {
		return nil
	}
	open := openAMQP(url, 0, false)
	return func(tb testing.TB, queues int) system {
		return struct{ plain }{plain{open(tb, queues).(*amqpSys)}}
	}
}

type plain struct{ s *amqpSys }

func (p plain) publish(q int, body []byte)         { p.s.publish(q, body) }
func (p plain) publishAll(body []byte)             { p.s.publishAll(body) }
func (p plain) publishKey(key string, body []byte) { p.s.publishKey(key, body) }
func (p plain) getAck(q int)                       { p.s.getAck(q) }
func (p plain) close()                             { p.s.close() }

var rabbitURL, garageURL = os.Getenv("BENCH_RABBIT_URL"), os.Getenv("BENCH_GARAGE_URL")

func init() {
	peers = append(peers,
		peer{name: "garage", open: openGarage(garageURL), topic: topicAMQP(garageURL), maxTopic: 1000},
		// To delete 100,000 bindings takes a node of 4.3 four minutes, in which it answers nothing about queues.
		peer{name: "rabbit", open: openAMQP(rabbitURL, 0, false), topic: topicAMQP(rabbitURL), maxTopic: 10_000},
		peer{name: "rabbit-confirm1", open: openAMQP(rabbitURL, 1, false)},
		peer{name: "rabbit-confirm100", open: openAMQP(rabbitURL, 100, false), only: "pipe"},
		peer{name: "rabbit-get", open: openAMQP(rabbitURL, 0, true), only: "single"},
	)
}
