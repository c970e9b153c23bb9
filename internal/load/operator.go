package main

import (
	"fmt"
	"time"

	"github.com/leveretmq/leveret"
)

// An operator declares, changes and deletes, closes connections, restarts the broker, and runs out of memory.
type operator struct {
	w    *world
	dice dice
}

// step does one thing. Errors are part of the load: what is to be deleted may be gone.
func (o *operator) step() {
	time.Sleep(2 * time.Millisecond) // otherwise the clients do little but connect again
	b, d := o.w.broker, o.dice
	if d.chance(150) {
		_ = b.Restart(one(d, leveret.StoppedNode, leveret.KilledNode))
	}
	switch d.IntN(16) {
	case 0, 1, 2:
		name := d.queue()
		_, _ = b.DeclareQueue(name, leveret.QueueConfig{Durable: true, Arguments: d.arguments(name)})
	case 3:
		_ = b.BindQueue(d.queue(), one(d, "amq.fanout", "amq.topic", "amq.direct"), one(d, "#", d.queue()), nil)
	case 4:
		_ = b.UnbindQueue(d.queue(), one(d, "amq.fanout", "amq.topic", "amq.direct"), one(d, "#", d.queue()), nil)
	case 5:
		if d.chance(3) {
			_, _ = b.DeleteQueue(d.queue(), leveret.DeleteConfig{})
		}
	case 6:
		_, _ = b.PurgeQueue(d.queue())
	case 7, 8:
		_ = b.SetPolicy(leveret.Policy{Name: fmt.Sprint("p", d.IntN(3)), Pattern: one(d, "", d.queue()), Priority: float64(d.IntN(4)), Definition: d.policy()})
	case 9:
		_ = b.ClearPolicy(fmt.Sprint("p", d.IntN(3)))
	case 10:
		if conns := b.Connections(); len(conns) > 0 && d.chance(3) {
			_ = b.CloseConnection(conns[d.IntN(len(conns))].ID, "load")
		}
	case 11:
		b.SetMemoryLimit(one(d, -1, 1, int64(d.IntN(100_000))))
		o.look()
		b.SetMemoryLimit(0)
	case 12:
		if x := fmt.Sprint("x", d.IntN(2)); d.chance(2) {
			_, _ = b.DeclareExchange(x, one(d, leveret.Fanout, leveret.Topic), leveret.ExchangeConfig{})
			_ = b.BindExchange(x, "amq.topic", "#", nil)
			_ = b.BindQueue(d.queue(), x, "#", nil)
		} else {
			_ = b.DeleteExchange(x, leveret.DeleteConfig{})
		}
	default:
		o.look()
	}
}

// look asks for everything that the broker shows. A look must not disturb.
func (o *operator) look() {
	b := o.w.broker
	for _, i := range b.Queues() {
		if q, err := b.Queue(i.Name); err == nil {
			q.Messages()
			q.Waiting()
			q.Effective()
			q.Counters()
		}
	}
	b.Consumers()
	b.Connections()
	b.Bindings()
	b.NextDeadline()
	b.Memory()
	if err := b.Check(); err != nil { // which holds at any time
		o.w.ledger.problem("check while others work: %v", err)
	}
}

func (o *operator) sync()  {}
func (o *operator) close() {}
