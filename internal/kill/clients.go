package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leveretmq/leveret"
	amqp "github.com/rabbitmq/amqp091-go"
)

// A world is a process with its clients.
type world struct {
	*ledger
	process *process
	round   int
	seed    uint64
	telling sync.WaitGroup // those who tell the ledger of confirms
}

// settleIn declares the queues and sets the policy that they need.
func (w *world) settleIn() {
	c := w.client(0)
	must(declare(c.ch))
	w.answer("all", sure)
	if !w.process.setPolicy(leveret.Policy{Name: "deaths", Pattern: "^policy$", ApplyTo: leveret.ApplyToQueues,
		Definition: leveret.Table{"dead-letter-exchange": "", "dead-letter-routing-key": deadQuorum}}) {
		panic("kill: no policy")
	}
	c.conn.Close()
}

// work has all clients work, and returns when the process is dead.
func (w *world) work() {
	var working sync.WaitGroup
	n := 0
	for _, job := range []struct {
		times int
		do    func(*client)
	}{{3, (*client).publishes}, {4, (*client).consumes}, {2, (*client).transacts}, {1, (*client).declares}} {
		for range job.times {
			n++
			if c := w.client(n); c != nil {
				working.Go(func() {
					defer c.conn.Close()
					job.do(c)
					if !w.process.killed.Load() {
						w.locked(func() { w.problem("client %s ended before the process was killed: %v", c.name, c.why()) })
					}
				})
			}
		}
	}
	working.Go(func() { w.setsPolicies(rand.New(rand.NewPCG(w.seed, many))) })
	working.Wait()
	w.telling.Wait()
}

// A client has a connection. It ends at the first error, which is that of the kill.
type client struct {
	*world
	*rand.Rand
	name string
	conn *amqp.Connection
	ch   *amqp.Channel
	sent int

	closed chan *amqp.Error

	unconfirmed struct {
		sync.Mutex
		places map[uint64][]place // by sequence number
	}
}

// client returns a client, nil if the process is dead.
func (w *world) client(n int) *client {
	conn, err := amqp.Dial("amqp://guest:guest@" + w.process.address + "/")
	if err != nil {
		return nil
	}
	ch, err := conn.Channel()
	if err != nil {
		conn.Close()
		return nil
	}
	return &client{world: w, Rand: rand.New(rand.NewPCG(w.seed, uint64(n))), name: fmt.Sprintf("%d.%d", w.round, n), conn: conn, ch: ch,
		closed: ch.NotifyClose(make(chan *amqp.Error, 1))}
}

// why returns why the client's channel was closed, if the broker did that.
func (c *client) why() error {
	select {
	case err := <-c.closed:
		return err
	default:
		return nil
	}
}

func (c *client) chance(n int) bool { return c.IntN(n) == 0 }

// message returns the next message, with what the ledger is to know of it.
func (c *client) message() (amqp.Publishing, copyState) {
	c.sent++
	m := amqp.Publishing{MessageId: fmt.Sprintf("%s.%d", c.name, c.sent), DeliveryMode: amqp.Persistent, Body: make([]byte, c.IntN(200))}
	if c.chance(20) {
		m.Body = make([]byte, c.IntN(60_000))
	}
	return m, copyState{number: c.sent, publisher: c.name}
}

// confirms puts the channel into confirm mode and has the ledger told of the confirms.
func (c *client) confirms() error {
	c.unconfirmed.places = map[uint64][]place{}
	if err := c.ch.Confirm(false); err != nil {
		return err
	}
	told := c.ch.NotifyPublish(make(chan amqp.Confirmation, 1000))
	c.telling.Go(func() {
		for t := range told {
			c.unconfirmed.Lock()
			at := c.unconfirmed.places[t.DeliveryTag]
			delete(c.unconfirmed.places, t.DeliveryTag)
			c.unconfirmed.Unlock()
			c.confirm(at, t.Ack)
		}
	})
	return nil
}

// publish publishes to a queue, or to both queues of the exchange fan.
func (c *client) publish(queue string) error {
	m, s := c.message()
	exchange, key, at := "", queue, []place{{m.MessageId, queue}}
	if queue == "fan.classic" || queue == "fan.quorum" {
		exchange, key, at = fan, "", []place{{m.MessageId, "fan.classic"}, {m.MessageId, "fan.quorum"}}
	}
	if spec := specOf(queue); spec.deadTo == "" && c.chance(8) {
		m.DeliveryMode, s.transient = amqp.Transient, true
	}
	c.ledger.publish(s, at...)
	for _, p := range at {
		if specOf(p.queue).quorum { // it takes all messages for persistent
			c.locked(func() { c.copies[p].transient = false })
		}
	}
	c.unconfirmed.Lock()
	c.unconfirmed.places[c.ch.GetNextPublishSeqNo()] = at
	c.unconfirmed.Unlock()
	return c.ch.PublishWithContext(context.Background(), exchange, key, false, false, m)
}

// allConfirmed reports whether the confirms of all publishes have come, which it waits for.
func (c *client) allConfirmed() bool {
	for !c.ch.IsClosed() {
		c.unconfirmed.Lock()
		n := len(c.unconfirmed.places)
		c.unconfirmed.Unlock()
		if n == 0 {
			return true
		}
		time.Sleep(300 * time.Microsecond)
	}
	return false
}

func (c *client) publishes() {
	if c.confirms() != nil {
		return
	}
	for {
		queue := queues[c.IntN(len(queues))]
		if queue.tx {
			continue
		}
		for range 1 + c.IntN(30) {
			if c.publish(queue.name) != nil {
				return
			}
		}
		if c.chance(2) && !c.allConfirmed() {
			return
		}
	}
}

// A settlement is what a consumer has done with a message.
type settlement struct {
	at     place
	dies   bool // it was rejected
	leaves bool // it was acknowledged, or rejected where that leads nowhere
}

// consumes settles what comes, in all ways. Now and then a publish that is confirmed tells that what was settled before is certain.
func (c *client) consumes() {
	if c.confirms() != nil || c.ch.Qos(1+c.IntN(20), 0, false) != nil {
		return
	}
	var forwards sync.WaitGroup
	defer forwards.Wait()
	defer c.conn.Close()
	done := make(chan struct{})
	defer close(done)
	come, err := c.subscribe(&forwards, done)
	if err != nil {
		return
	}
	closed := c.ch.NotifyClose(make(chan *amqp.Error, 1))
	var uncovered []settlement
	for n := 1; ; n++ {
		select {
		case d := <-come:
			s, err := c.settle(d)
			if err != nil {
				return
			}
			uncovered = append(uncovered, s)
		case <-closed:
			return
		}
		if n%(10+c.IntN(40)) == 0 {
			if c.publish("order.quorum") != nil || !c.allConfirmed() {
				return
			}
			c.cover(uncovered)
			uncovered = nil
		}
	}
}

// subscribe consumes some queues and returns what comes from all of them.
func (c *client) subscribe(forwards *sync.WaitGroup, done chan struct{}) (chan amqp.Delivery, error) {
	come := make(chan amqp.Delivery, 1000)
	for _, q := range slices.Concat(queues, deadQueues) {
		if !q.consumed || !c.chance(3) {
			continue
		}
		from, err := c.ch.Consume(q.name, q.name, false, false, false, false, nil)
		if err != nil {
			return nil, err
		}
		forwards.Go(func() {
			for d := range from {
				select {
				case come <- d:
				case <-done:
					return
				}
			}
		})
	}
	return come, nil
}

// settle settles a delivery. The ledger is told before.
func (c *client) settle(d amqp.Delivery) (s settlement, err error) {
	s.at = place{d.MessageId, d.ConsumerTag}
	if specOf(d.ConsumerTag) == nil { // a dead letter
		s.at.queue, _ = d.Headers["x-first-death-queue"].(string)
	}
	spec := specOf(s.at.queue)
	how := c.IntN(10)
	s.leaves, s.dies = how < 6, how == 6 || how == 7
	if s.dies && (spec == nil || spec.deadTo == "" || spec.name != d.ConsumerTag) {
		s.leaves, s.dies = true, false
	}
	c.locked(func() {
		k := c.copies[s.at]
		if k == nil || k.closed || k.gone {
			c.problem("%v was delivered and nobody sent it, or it was gone", s.at)
			k = &copyState{}
		}
		k.seen = true
		k.mayGo = k.mayGo || s.leaves
		k.mayDie = k.mayDie || s.dies || spec != nil && spec.name != d.ConsumerTag
		c.totals.settled++
	})
	switch {
	case how < 6:
		err = d.Ack(false)
	case how == 6:
		err = d.Nack(false, false)
	case how == 7:
		err = d.Reject(false)
	case how == 8:
		err = d.Nack(false, true)
	default:
		err = d.Reject(true)
	}
	return s, err
}

// cover notes that settlements are certain.
func (c *client) cover(all []settlement) {
	c.locked(func() {
		for _, s := range all {
			k := c.copies[s.at]
			if k == nil {
				continue
			}
			k.gone = k.gone || s.leaves
			k.dead = k.dead || s.dies
			c.totals.covered++
		}
	})
}

// transacts commits and rolls back.
func (c *client) transacts() {
	in, err := c.conn.Channel()
	if err != nil || c.confirms() != nil || in.Tx() != nil {
		return
	}
	for {
		for range c.IntN(4) {
			if c.publish("tx.in") != nil {
				return
			}
		}
		if !c.allConfirmed() {
			return
		}
		g := &group{}
		if c.takeIn(in, g) != nil || c.publishIn(in, g) != nil {
			return
		}
		commits := !c.chance(4)
		c.begin(g, commits)
		if commits {
			err = in.TxCommit()
		} else {
			err = in.TxRollback()
		}
		if err != nil {
			return
		}
		c.end(g, commits)
		if !commits && len(g.acked) > 0 { // what was not acknowledged is still held
			if in.Close() != nil {
				return
			}
			if in, err = c.conn.Channel(); err != nil || in.Tx() != nil {
				return
			}
		}
	}
}

// takeIn acknowledges some messages in a transaction.
func (c *client) takeIn(in *amqp.Channel, g *group) error {
	for range c.IntN(4) {
		d, ok, err := in.Get("tx.in", false)
		if err != nil || !ok {
			return err
		}
		g.acked = append(g.acked, place{d.MessageId, "tx.in"})
		if err := d.Ack(false); err != nil {
			return err
		}
	}
	return nil
}

// publishIn publishes some messages in a transaction.
func (c *client) publishIn(in *amqp.Channel, g *group) error {
	for range 1 + c.IntN(6) {
		m, s := c.message()
		p := place{m.MessageId, []string{"tx.classic", "tx.quorum"}[c.IntN(2)]}
		s.refused = true // unless it is committed
		g.published = append(g.published, p)
		c.ledger.publish(s, p)
		if err := in.PublishWithContext(context.Background(), "", p.queue, false, false, m); err != nil {
			return err
		}
	}
	return nil
}

// begin notes a transaction that is about to end.
func (c *client) begin(g *group, commits bool) {
	c.locked(func() {
		for _, p := range g.acked {
			c.copies[p].seen = true
			c.copies[p].mayGo = c.copies[p].mayGo || commits
		}
		if !commits {
			return
		}
		for _, p := range g.published {
			c.copies[p].refused = false
		}
		g.acked = slices.DeleteFunc(g.acked, func(p place) bool { return c.copies[p].transient })
		c.groups = append(c.groups, g)
	})
}

// end notes that a transaction has ended.
func (c *client) end(g *group, committed bool) {
	c.locked(func() {
		for _, p := range g.published {
			c.copies[p].confirmed, c.copies[p].refused = committed, !committed
		}
		if !committed {
			return
		}
		g.outcome = sure
		c.totals.committed++
		for _, p := range g.acked {
			c.copies[p].gone = true
		}
	})
}

var lastName atomic.Int64

// declares declares, binds and deletes.
func (c *client) declares() {
	for {
		name := fmt.Sprintf("%s.%d", c.name, lastName.Add(1))
		queue, exchange := "queue q"+name, "exchange x"+name
		binding := "binding x" + name + " key q" + name
		for _, step := range []struct {
			what  string
			do    func() error
			there certainty
		}{
			{queue, func() error {
				kind := []string{"classic", "quorum"}[c.IntN(2)]
				_, err := c.ch.QueueDeclare("q"+name, true, false, false, false, amqp.Table{"x-queue-type": kind})
				return err
			}, sure},
			{exchange, func() error { return c.ch.ExchangeDeclare("x"+name, "topic", true, false, false, false, nil) }, sure},
			{binding, func() error { return c.ch.QueueBind("q"+name, "key", "x"+name, false, nil) }, sure},
			{binding, func() error { return c.ch.QueueUnbind("q"+name, "key", "x"+name, nil) }, surelyNot},
			{queue, func() error {
				_, err := c.ch.QueueDelete("q"+name, false, false, false)
				return err
			}, surelyNot},
			{exchange, func() error { return c.ch.ExchangeDelete("x"+name, false, false) }, surelyNot},
		} {
			c.ask(step.what)
			if step.do() != nil {
				return
			}
			c.answer(step.what, step.there)
			if step.there == sure && step.what == binding && c.chance(3) {
				break // it stays
			}
		}
	}
}

// setsPolicies sets policies, and sets them again.
func (w *world) setsPolicies(dice *rand.Rand) {
	last := map[string]string{}
	for i := 0; ; i++ {
		p := leveret.Policy{Name: fmt.Sprintf("%d.%d", w.round, i%5), Pattern: "^none", Definition: leveret.Table{"max-length": int64(i)}}
		what := fmt.Sprintf("policy %s %d", p.Name, i)
		w.ask(what)
		was := last[p.Name]
		if was != "" {
			w.ask(was)
		}
		if !w.process.setPolicy(p) {
			return
		}
		w.answer(what, sure)
		if was != "" {
			w.answer(was, surelyNot)
		}
		last[p.Name] = what
		time.Sleep(time.Duration(dice.IntN(10)) * time.Millisecond)
	}
}
