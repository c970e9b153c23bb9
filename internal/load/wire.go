package main

import (
	"bytes"
	"net"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// A wireClient is an AMQP client over TCP.
type wireClient struct {
	w    *world
	dice dice
	name string

	ids        ids
	nc         net.Conn
	conn       *amqp.Connection
	ch         *amqp.Channel
	mode       string   // of the channel: confirm or tx
	uncertain  []string // ids of messages that were published in the transaction
	held       []amqp.Delivery
	deliveries []subscription
}

// A subscription is a consumer and what comes for it.
type subscription struct {
	tag   string
	noAck bool
	from  <-chan amqp.Delivery
}

func (c *wireClient) step() {
	if c.conn == nil || c.conn.IsClosed() || c.ch.IsClosed() {
		c.open()
		return
	}
	switch d := c.dice; d.IntN(24) {
	case 0, 1, 2, 3, 4, 5, 6:
		c.publish()
	case 7, 8:
		c.get()
	case 9, 10:
		c.consume()
	case 11, 12, 13, 14, 15:
		c.receive()
		c.settle()
	case 16:
		_ = c.ch.Ack(0, true)
		c.held = nil
	case 17:
		_ = c.ch.Nack(0, true, d.chance(2))
		c.held = nil
	case 18:
		c.cancel()
	case 19:
		_, _ = c.ch.QueueDeclare("", false, true, true, false, nil)
	case 20:
		c.finish()
	case 21:
		if d.chance(4) {
			_ = c.ch.Close()
		}
	case 22:
		if d.chance(6) {
			c.cut()
		}
	case 23:
		if d.chance(6) {
			c.close()
		}
	}
}

// open connects, or opens another channel when the one before was closed.
func (c *wireClient) open() {
	c.held, c.deliveries, c.uncertain, c.ids.name = nil, nil, nil, c.name
	if c.conn == nil || c.conn.IsClosed() {
		c.gone()
		conn, err := amqp.DialConfig(c.w.url, amqp.Config{Dial: func(network, addr string) (net.Conn, error) {
			nc, err := net.Dial(network, addr)
			c.nc = nc
			return nc, err
		}})
		if err != nil { // the operator may close a connection that is just being opened
			c.gone()
			c.conn = nil
			return
		}
		c.conn = conn
	}
	var err error
	if c.ch, err = c.conn.Channel(); err != nil {
		c.conn.Close()
		c.gone()
		c.conn = nil
		return
	}
	_ = c.ch.Qos(1+c.dice.IntN(30), 0, false)
	if c.mode = one(c.dice, "confirm", "confirm", "tx"); c.mode == "confirm" {
		_ = c.ch.Confirm(false)
	} else {
		_ = c.ch.Tx()
	}
}

// gone notes that the connection has ended: the broker will find out, if it has not.
func (c *wireClient) gone() {
	if c.nc != nil {
		c.nc.Close()
		c.w.ledger.lose(c.nc.LocalAddr().String() + " -> " + c.nc.RemoteAddr().String())
		c.nc = nil
	}
}

// cut ends the connection without a word.
func (c *wireClient) cut() {
	c.nc.Close()
	for !c.conn.IsClosed() { // the client finds out
		time.Sleep(time.Millisecond)
	}
}

// publish publishes a few messages and, unless they are in a transaction, waits for their confirms.
func (c *wireClient) publish() {
	type waiting struct {
		id string
		*amqp.DeferredConfirmation
	}
	var all []waiting
	for range 1 + c.dice.IntN(10) {
		id := c.ids.next()
		c.w.ledger.send(id)
		exchange, key := c.dice.target()
		confirm, err := c.ch.PublishWithDeferredConfirm(exchange, key, c.dice.chance(4), false, amqp.Publishing{MessageId: id, Body: body(id),
			Expiration: c.dice.expiration(), Priority: uint8(c.dice.IntN(4)), DeliveryMode: uint8(1 + c.dice.IntN(2))})
		if err != nil {
			return // what was sent before is uncertain
		}
		if confirm == nil {
			c.uncertain = append(c.uncertain, id)
		} else {
			all = append(all, waiting{id, confirm})
		}
	}
	for _, one := range all {
		switch ack := one.Wait(); {
		case ack:
			c.w.ledger.learn(one.id, acked)
		case !c.ch.IsClosed(): // the client takes the end of the channel for a nack
			c.w.ledger.learn(one.id, nacked)
		}
	}
}

func (c *wireClient) finish() {
	if c.mode != "tx" {
		return
	}
	if c.dice.chance(3) {
		_ = c.ch.TxRollback()
		c.uncertain = nil
		return
	}
	c.commit()
}

func (c *wireClient) commit() {
	if c.ch.TxCommit() == nil {
		for _, id := range c.uncertain {
			c.w.ledger.learn(id, sent)
		}
	}
	c.uncertain = nil
}

func (c *wireClient) get() {
	noAck := c.dice.chance(5)
	if d, ok, err := c.ch.Get(c.dice.queue(), noAck); ok && err == nil {
		c.look(d)
		if !noAck {
			c.held = append(c.held, d)
		}
	}
}

// look verifies that a message is whole.
func (c *wireClient) look(d amqp.Delivery) {
	if !bytes.Equal(d.Body, body(d.MessageId)) {
		c.w.ledger.problem("%s got message %s with a body that is not its own", c.name, d.MessageId)
	}
}

func (c *wireClient) consume() {
	if len(c.deliveries) > 3 {
		c.cancel()
		return
	}
	s := subscription{tag: c.ids.next(), noAck: c.dice.chance(8)}
	var err error
	if s.from, err = c.ch.Consume(c.dice.queue(), s.tag, s.noAck, false, false, false, nil); err == nil {
		c.deliveries = append(c.deliveries, s)
	}
}

// receive takes what has come.
func (c *wireClient) receive() {
	for _, s := range c.deliveries {
		for more := true; more; {
			select {
			case d, ok := <-s.from:
				if more = ok; !ok {
					break
				}
				c.look(d)
				if !s.noAck {
					c.held = append(c.held, d)
				}
			default:
				more = false
			}
		}
	}
}

func (c *wireClient) settle() {
	for _, d := range c.held {
		switch c.dice.IntN(5) {
		case 0, 1:
			_ = d.Ack(false)
		case 2:
			_ = d.Nack(false, true)
		case 3:
			_ = d.Nack(false, false)
		case 4:
			_ = d.Reject(c.dice.chance(2))
		}
	}
	c.held = nil
}

func (c *wireClient) cancel() {
	if len(c.deliveries) == 0 {
		return
	}
	s := c.deliveries[0]
	c.deliveries = c.deliveries[1:]
	_ = c.ch.Cancel(s.tag, false)
	for d := range s.from { // what came before the cancel
		if !s.noAck {
			c.held = append(c.held, d)
		}
	}
}

// sync asks a last question, after which the broker has done all the rest.
func (c *wireClient) sync() {
	if c.conn == nil || c.conn.IsClosed() {
		c.gone()
		c.conn = nil
		return
	}
	if c.ch.IsClosed() {
		return
	}
	if c.mode == "tx" {
		c.commit()
	}
	_ = c.ch.Qos(10, 0, false)
}

func (c *wireClient) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.gone()
		c.conn = nil
	}
}
