package amqpd

import (
	"errors"

	"github.com/leveretmq/leveret"
)

// The exchange and queue classes. Each handler reads its arguments, calls the method of the same
// name on the channel, and answers unless the client said no-wait.

func (c *conn) exchangeDeclareLocked(ch *channel, a *args) error {
	a.u16()
	name, kind := a.short(), a.short()
	f := a.bits() // 0: passive, 1: durable, 2: auto-delete, 3: internal, 4: no-wait
	arguments := a.fields()
	if err := a.end(); err != nil {
		return err
	}
	if f.has(0) {
		return c.answerLocked(ch, ch.ch.CheckExchange(name), f.has(4), exchangeDeclareOk)
	}
	err := ch.ch.DeclareExchange(name, leveret.ExchangeType(kind), leveret.ExchangeConfig{
		Durable: f.has(1), AutoDelete: f.has(2), Internal: f.has(3), ArgumentFields: arguments,
	})
	return c.answerLocked(ch, err, f.has(4), exchangeDeclareOk)
}

func (c *conn) exchangeDeleteLocked(ch *channel, a *args) error {
	a.u16()
	name := a.short()
	f := a.bits() // 0: if-unused, 1: no-wait
	if err := a.end(); err != nil {
		return err
	}
	err := ch.ch.DeleteExchange(name, leveret.DeleteConfig{IfUnused: f.has(0)})
	return c.answerLocked(ch, err, f.has(1), exchangeDeleteOk)
}

// binding reads the arguments that bind and unbind share, but for those of queue.unbind.
func (a *args) binding(to leveret.DestinationType) (b leveret.Binding, noWait bool, err error) {
	b = a.bindingNames(to)
	noWait = a.bits().has(0)
	b.Arguments = a.fields()
	return b, noWait, a.end()
}

// queueUnbinding reads the arguments of queue.unbind, which has no no-wait.
func (a *args) queueUnbinding() (leveret.Binding, error) {
	b := a.bindingNames(leveret.DestinationQueue)
	b.Arguments = a.fields()
	return b, a.end()
}

func (a *args) bindingNames(to leveret.DestinationType) leveret.Binding {
	a.u16()
	b := leveret.Binding{DestinationType: to}
	b.Destination, b.Source, b.RoutingKey = a.short(), a.short(), a.short()
	return b
}

func (c *conn) exchangeBindLocked(ch *channel, a *args) error {
	b, noWait, err := a.binding(leveret.DestinationExchange)
	if err != nil {
		return err
	}
	return c.answerLocked(ch, ch.ch.Bind(b), noWait, exchangeBindOk)
}

func (c *conn) exchangeUnbindLocked(ch *channel, a *args) error {
	b, noWait, err := a.binding(leveret.DestinationExchange)
	if err != nil {
		return err
	}
	return c.answerLocked(ch, ch.ch.Unbind(b), noWait, exchangeUnbindOk)
}

func (c *conn) queueBindLocked(ch *channel, a *args) error {
	b, noWait, err := a.binding(leveret.DestinationQueue)
	if err != nil {
		return err
	}
	return c.answerLocked(ch, ch.ch.Bind(b), noWait, queueBindOk)
}

func (c *conn) queueUnbindLocked(ch *channel, a *args) error {
	b, err := a.queueUnbinding()
	if err != nil {
		return err
	}
	return c.answerLocked(ch, ch.ch.Unbind(b), false, queueUnbindOk)
}

// Rules: Q-2.
func (c *conn) queueDeclareLocked(ch *channel, a *args) error {
	a.u16()
	name := a.short()
	f := a.bits() // 0: passive, 1: durable, 2: exclusive, 3: auto-delete, 4: no-wait
	arguments := a.fields()
	if err := a.end(); err != nil {
		return err
	}
	state, err := ch.ch.DeclareQueue(name, leveret.QueueConfig{
		Passive: f.has(0), Durable: f.has(1), Exclusive: f.has(2), AutoDelete: f.has(3), NoWait: f.has(4),
		ArgumentFields: arguments,
	})
	if err != nil || f.has(4) {
		return err
	}
	at := c.out.method(ch.number, queueDeclareOk)
	c.out.short(state.Name)
	c.out.u32(uint32(state.Messages))
	c.out.u32(uint32(state.Consumers))
	c.out.end(at)
	return nil
}

func (c *conn) queueDeleteLocked(ch *channel, a *args) error {
	a.u16()
	name := a.short()
	f := a.bits() // 0: if-unused, 1: if-empty, 2: no-wait
	if err := a.end(); err != nil {
		return err
	}
	n, err := ch.ch.DeleteQueue(name, leveret.DeleteConfig{IfUnused: f.has(0), IfEmpty: f.has(1)})
	return c.answerCountLocked(ch, err, f.has(2), queueDeleteOk, n)
}

func (c *conn) queuePurgeLocked(ch *channel, a *args) error {
	a.u16()
	name := a.short()
	noWait := a.bits().has(0)
	if err := a.end(); err != nil {
		return err
	}
	n, err := ch.ch.PurgeQueue(name)
	return c.answerCountLocked(ch, err, noWait, queuePurgeOk, n)
}

// answerCountLocked sends the reply of a method that says how many messages it removed.
func (c *conn) answerCountLocked(ch *channel, err error, noWait bool, reply methodID, n int) error {
	if err != nil || noWait {
		return err
	}
	at := c.out.method(ch.number, reply)
	c.out.u32(uint32(n))
	c.out.end(at)
	return nil
}

// withoutMethod makes err an error that no method is blamed for.
func withoutMethod(err error) error {
	var e *leveret.Error
	if errors.As(err, &e) {
		return unattributed{e}
	}
	return err
}
