package main

import (
	"bytes"
	"errors"

	"github.com/leveretmq/leveret"
)

// An apiClient is a session of the Go API.
type apiClient struct {
	w    *world
	dice dice
	name string

	ids       ids
	conn      *leveret.Conn
	inbox     *leveret.Inbox
	ch        *leveret.Channel
	mode      string   // of the channel: plain, confirm or tx
	uncertain []string // ids of messages that were published in the transaction
	held      []*leveret.Delivery
	consumers []*leveret.Consumer
	noAck     map[string]bool // by consumer tag
}

func (c *apiClient) step() {
	if c.ch == nil {
		c.open()
		return
	}
	var err error
	switch d := c.dice; d.IntN(30) {
	case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9:
		err = c.publish()
	case 10, 11:
		err = c.get()
	case 12:
		err = c.consume()
	case 13, 14, 15, 16:
		c.receive()
		err = c.settle()
	case 17, 18:
		err = c.settleMany()
	case 19:
		err = c.cancel()
	case 20:
		_, err = c.ch.DeclareQueue(d.queue(), leveret.QueueConfig{Durable: true, AutoDelete: d.chance(3)})
	case 21:
		_, err = c.ch.DeclareQueue("", leveret.QueueConfig{Exclusive: true})
	case 22:
		err = c.finish()
	case 23:
		err = c.ch.Recover()
	case 24:
		if d.chance(5) {
			c.leave()
		}
	case 25:
		if d.chance(5) {
			must(c.ch.Close()) // what it held goes back
			c.forget()
		}
	default:
		c.receive()
	}
	if err != nil { // the channel or the connection is closed
		c.forget()
	}
}

func (c *apiClient) open() {
	var err error
	if c.conn == nil || c.conn.Err() != nil {
		c.inbox = leveret.NewInbox(leveret.InboxConfig{MaxDeliveries: 50, MaxBytes: 100_000})
		if c.conn, err = c.w.broker.Open(leveret.ConnConfig{User: "guest", VHost: "/", CancelNotify: true, Inbox: c.inbox}); err != nil {
			if !errors.Is(err, leveret.ErrClosed) { // the broker is just being restarted
				c.w.ledger.problem("%s cannot connect: %v", c.name, err)
			}
			return
		}
	}
	if c.ch, err = c.conn.Channel(); err != nil {
		c.ch = nil
		return
	}
	c.ids.name, c.noAck = c.name, map[string]bool{}
	c.mode = one(c.dice, "plain", "confirm", "confirm", "tx")
	switch c.mode {
	case "confirm":
		err = c.ch.Confirm()
	case "tx":
		err = c.ch.Tx()
	}
	if err != nil {
		c.forget()
	}
}

// forget gives up the channel. What was not committed has not happened.
func (c *apiClient) forget() {
	c.ch, c.held, c.consumers, c.uncertain = nil, nil, nil, nil
}

func (c *apiClient) publish() error {
	id := c.ids.next()
	c.w.ledger.send(id)
	exchange, key := c.dice.target()
	m := leveret.Message{Mandatory: c.dice.chance(4), Body: body(id), Properties: &leveret.Properties{MessageID: id,
		Expiration: c.dice.expiration(), Priority: uint8(c.dice.IntN(4)), Headers: leveret.Table{"CC": []string{c.dice.queue()}}}}
	out, err := c.ch.Publish(exchange, key, m)
	switch {
	case err != nil:
	case c.mode == "tx":
		c.uncertain = append(c.uncertain, id)
	case out.Rejected:
		c.w.ledger.learn(id, nacked)
	default:
		c.w.ledger.learn(id, acked)
	}
	return err
}

// finish commits or rolls back, mostly before the ledger is compared.
func (c *apiClient) finish() error {
	if c.mode != "tx" {
		return nil
	}
	if c.dice.chance(3) {
		c.uncertain = nil
		return c.ch.Rollback()
	}
	return c.commit()
}

func (c *apiClient) commit() error {
	_, err := c.ch.Commit()
	if err == nil {
		for _, id := range c.uncertain {
			c.w.ledger.learn(id, sent)
		}
	}
	c.uncertain = nil
	return err
}

func (c *apiClient) get() error {
	noAck := c.dice.chance(5)
	d, ok, err := c.ch.Get(c.dice.queue(), leveret.GetConfig{NoAck: noAck})
	if ok {
		c.look(d)
		if !noAck {
			c.held = append(c.held, d)
		}
	}
	return err
}

// look verifies that a message is whole.
func (c *apiClient) look(d *leveret.Delivery) {
	if !bytes.Equal(d.Body, body(d.MessageID)) {
		c.w.ledger.problem("%s got message %s with a body that is not its own", c.name, d.MessageID)
	}
}

// consume subscribes: with a handler that acknowledges at once, or through the inbox.
func (c *apiClient) consume() error {
	if len(c.consumers) > 3 {
		return c.cancel()
	}
	cfg := leveret.ConsumeConfig{Prefetch: 1 + c.dice.IntN(20), NoAck: c.dice.chance(8), Arguments: leveret.Table{"x-priority": c.dice.IntN(3)}}
	if c.dice.chance(3) {
		cfg.Handler = func(d *leveret.Delivery) {
			c.look(d)
			if !cfg.NoAck {
				_ = d.Ack() // the channel may have ended
			}
		}
	}
	k, err := c.ch.Consume(c.dice.queue(), cfg)
	if err == nil {
		c.consumers = append(c.consumers, k)
		c.noAck[k.Tag()] = cfg.NoAck
	}
	return err
}

func (c *apiClient) receive() {
	for _, n := range c.inbox.Take(nil) {
		if n.Kind != leveret.Delivered || n.Channel != c.ch {
			continue
		}
		c.look(n.Delivery)
		if !c.noAck[n.ConsumerTag] {
			c.held = append(c.held, n.Delivery)
		}
	}
}

func (c *apiClient) cancel() error {
	if len(c.consumers) == 0 {
		return nil
	}
	k := c.consumers[0]
	c.consumers = c.consumers[1:]
	if c.dice.chance(2) {
		return k.Close()
	}
	return k.Cancel()
}

// settle settles what is held, one by one.
func (c *apiClient) settle() error {
	held := c.held
	c.held = nil
	for _, d := range held {
		err := one(c.dice,
			d.Ack, d.Ack, func() error { return d.Nack(true) }, func() error { return d.Nack(false) },
			func() error { return d.Reject(true) }, func() error { return d.Reject(false) })()
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *apiClient) settleMany() error {
	c.held = nil
	if c.dice.chance(2) {
		return c.ch.Ack(0, true)
	}
	return c.ch.Nack(0, true, c.dice.chance(2))
}

func (c *apiClient) leave() {
	c.conn.Close()
	c.forget()
}

// sync ends the transaction: what was published in it is compared now or never.
func (c *apiClient) sync() {
	if c.ch != nil && c.mode == "tx" {
		if c.commit() != nil {
			c.forget()
		}
	}
}

func (c *apiClient) close() {
	if c.conn != nil {
		c.conn.Close()
	}
}
