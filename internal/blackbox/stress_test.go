package blackbox_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// Eight goroutines do everything to one broker at once.
func TestEverythingAtOnce(t *testing.T) {
	defer noLeaks(t)
	var events, received atomic.Int64
	b := leveret.New(leveret.WithEvents(countingEvents(&events)))
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 1))
			s := &stress{b: b, r: r}
			for range max(scaled(5000), 500) {
				s.step()
			}
			received.Add(int64(s.received))
		})
	}
	wg.Wait()
	b.Settle()
	require.NoError(t, b.Check())
	require.NotZero(t, events.Load())
	require.NotZero(t, received.Load())
	require.NoError(t, b.Close())
	require.NoError(t, b.Check())
	require.Zero(t, b.Memory().Used)
}

func countingEvents(n *atomic.Int64) leveret.Events {
	return leveret.Events{
		Published: func(leveret.PublishedEvent) { n.Add(1) }, Enqueued: func(leveret.EnqueuedEvent) { n.Add(1) },
		Delivered: func(leveret.DeliveredEvent) { n.Add(1) }, Acked: func(leveret.AckedEvent) { n.Add(1) },
		Requeued: func(leveret.RequeuedEvent) { n.Add(1) }, DeadLettered: func(leveret.DeadLetteredEvent) { n.Add(1) },
		Dropped: func(leveret.DroppedEvent) { n.Add(1) }, QueueDeleted: func(leveret.QueueEvent) { n.Add(1) },
	}
}

// stress is one client that does whatever comes to its mind.
type stress struct {
	b    *leveret.Broker
	r    *rand.Rand
	conn *leveret.Conn
	ch   *leveret.Channel
	held []*leveret.Delivery
	cons []*leveret.Consumer

	received  int  // messages that consumers have received
	neverDown bool // the node is not restarted
}

func (s *stress) queue() string { return fmt.Sprint("q", s.r.IntN(5)) }

func (s *stress) args() leveret.Table {
	args := leveret.Table{"x-dead-letter-exchange": [...]string{"", "amq.fanout", "amq.topic", "missing"}[s.r.IntN(4)],
		"x-dead-letter-routing-key": s.queue()}
	if s.r.IntN(2) == 0 {
		args["x-queue-type"] = "quorum"
		args["x-delivery-limit"] = s.r.IntN(3)
	}
	if s.r.IntN(2) == 0 {
		args["x-message-ttl"] = s.r.IntN(3)
	}
	if s.r.IntN(8) == 0 {
		args["x-expires"] = 1 + s.r.IntN(20)
	}
	if s.r.IntN(4) == 0 {
		args["x-dead-letter-strategy"] = "at-least-once"
	}
	if s.r.IntN(2) == 0 {
		args["x-max-length"] = s.r.IntN(5)
		args["x-overflow"] = [...]string{"drop-head", "reject-publish", "reject-publish-dlx"}[s.r.IntN(3)]
	}
	if s.r.IntN(4) == 0 {
		args["x-single-active-consumer"] = true
	}
	return args
}

func (s *stress) step() {
	if s.conn == nil || s.conn.Err() != nil {
		s.conn, _ = s.b.Connect("guest", "guest", "/")
		s.ch, s.held, s.cons = nil, nil, nil
	}
	if s.conn == nil { // the broker is closed
		return
	}
	if s.ch == nil || s.r.IntN(100) == 0 {
		if s.ch != nil {
			s.ch.Close()
		}
		s.ch, _ = s.conn.Channel()
		s.held, s.cons = nil, nil
		return
	}
	switch s.r.IntN(26) {
	case 0:
		s.b.DeclareQueue(s.queue(), leveret.QueueConfig{Durable: true, Arguments: s.args()})
	case 1:
		s.b.DeclareQueue(s.queue(), leveret.QueueConfig{Durable: true, AutoDelete: true})
	case 2:
		if s.r.IntN(4) == 0 {
			s.b.DeleteQueue(s.queue(), leveret.DeleteConfig{})
		}
	case 3:
		s.b.BindQueue(s.queue(), "amq.topic", "#", nil)
		s.b.BindQueue(s.queue(), "amq.fanout", "", nil)
	case 4:
		s.b.UnbindQueue(s.queue(), "amq.fanout", "", nil)
	case 5:
		s.b.SetPolicy(leveret.Policy{Name: "p", Pattern: s.queue(), Definition: leveret.Table{"max-length": s.r.IntN(5)}})
	case 6:
		s.b.ClearPolicy("p")
	case 7, 8, 9, 10, 11:
		s.ch.Publish([...]string{"", "amq.fanout", "amq.topic"}[s.r.IntN(3)], s.queue(), leveret.Message{Body: []byte("body"),
			Properties: &leveret.Properties{DeliveryMode: uint8(s.r.IntN(3)), Headers: leveret.Table{"CC": []string{s.queue()}}}})
	case 12, 13:
		if d, ok, _ := s.ch.Get(s.queue(), leveret.GetConfig{}); ok {
			s.held = append(s.held, d)
		}
	case 14:
		if c, err := s.ch.Consume(s.queue(), leveret.ConsumeConfig{Prefetch: s.r.IntN(4), NoAck: s.r.IntN(8) == 0}); err == nil {
			s.cons = append(s.cons, c)
		}
	case 15, 16, 17:
		s.receive()
	case 18, 19, 20:
		s.settle()
	case 21:
		s.look()
	case 22:
		s.conn.Close()
		s.ch = nil
	case 23:
		if s.r.IntN(4) == 0 {
			s.ch.Tx()
		}
		s.ch.Commit()
	case 24:
		s.ch.DeclareQueue(s.queue(), leveret.QueueConfig{Exclusive: true})
	case 25:
		if !s.neverDown && s.r.IntN(4) == 0 {
			s.b.Restart([]leveret.NodeEnd{leveret.StoppedNode, leveret.KilledNode}[s.r.IntN(2)])
		}
	}
	if s.ch != nil && s.ch.Qos(leveret.QosConfig{}) != nil { // an error closed it
		s.ch, s.held, s.cons = nil, nil, nil
	}
}

func (s *stress) receive() {
	for _, c := range s.cons {
		if d, err := c.Receive(newOneLook()); err == nil {
			s.received++
			s.held = append(s.held, d)
		}
	}
}

func (s *stress) settle() {
	for _, d := range s.held {
		switch s.r.IntN(5) {
		case 0:
			d.Ack()
		case 1:
			d.Nack(true)
		case 2:
			d.Nack(false)
		case 3:
			d.Reject(true)
		case 4:
			d.Reject(false)
		}
	}
	s.held = nil
}

func (s *stress) look() {
	s.b.Queues()
	s.b.Consumers()
	s.b.Connections()
	s.b.Counters()
	s.b.NextDeadline()
	if q, err := s.b.Queue(s.queue()); err == nil {
		q.Messages()
		q.Effective()
		q.Purge()
	}
}

// A oneLook is a context that is done when it is asked for the second time, so that Receive takes a message that is there
// and does not wait for one.
type oneLook struct {
	context.Context
	looked bool
}

func newOneLook() *oneLook {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	return &oneLook{Context: done}
}

func (c *oneLook) Err() error {
	if !c.looked {
		c.looked = true
		return nil
	}
	return c.Context.Err()
}
