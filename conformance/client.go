package conformance

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
	amqp "github.com/rabbitmq/amqp091-go"
)

// A conn is a connection of the unmodified client.
type conn struct {
	amqp *amqp.Connection
	tap  *tap
}

var (
	_ scenario.Conn   = (*conn)(nil)
	_ scenario.Framed = (*conn)(nil)
)

func dial(uri amqp.URI, l scenario.Login) (scenario.Conn, error) {
	c := &conn{}
	cfg := amqp.Config{Vhost: uri.Vhost, ChannelMax: uint16(l.ChannelMax), Heartbeat: 30 * time.Second,
		Dial: func(network, addr string) (net.Conn, error) {
			raw, err := net.DialTimeout(network, addr, 10*time.Second)
			if err == nil {
				err = raw.SetDeadline(time.Now().Add(10 * time.Second))
			}
			c.tap = newTap(raw)
			c.tap.noCancel = l.NoCancelNotify
			return c.tap, err
		}}
	var err error
	c.amqp, err = amqp.DialConfig(uri.String(), cfg)
	if err != nil && c.tap != nil && c.tap.closure(0) != nil {
		return nil, c.tap.closure(0)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (c *conn) Close() error {
	if err := c.amqp.Close(); !errors.Is(err, amqp.ErrClosed) {
		return err
	}
	return nil
}

// Kill cuts the connection without connection.close. It returns when the broker has closed its side, too. So what the
// broker does about the end of the connection comes before the script's next statement.
func (c *conn) Kill() error {
	c.tap.leave()
	half, ok := c.tap.Conn.(interface{ CloseWrite() error })
	if !ok {
		return c.tap.Conn.Close()
	}
	gone := c.amqp.NotifyClose(make(chan *amqp.Error, 1))
	err := half.CloseWrite()
	select {
	case <-gone:
	case <-time.After(2 * time.Second):
	}
	c.tap.Conn.Close() // the client may have done that
	return err
}

func (c *conn) UpdateSecret() error {
	err := c.amqp.UpdateSecret("secret", "a script asks for it")
	if e := c.tap.closure(0); e != nil {
		return e
	}
	return err
}

func (c *conn) Err() error {
	if e := c.tap.closure(0); e != nil {
		return e
	}
	return nil
}

// Frames returns what the broker has sent, with all fields and types.
func (c *conn) Frames() []string { return c.tap.lines() }

func (c *conn) Channel() (scenario.Channel, error) {
	ac, err := c.amqp.Channel()
	if err != nil {
		return nil, c.reason(0, err)
	}
	ch := &channel{conn: c, amqp: ac, number: c.tap.lastOpened()}
	ch.returns = ac.NotifyReturn(make(chan amqp.Return, 1000))
	ch.toldAll = make(chan struct{})
	go ch.cancellations(ac.NotifyCancel(make(chan string, 1000)))
	return ch, nil
}

// reason turns the client's error into what the broker said. The client may notice a closed connection before
// the tap's owner does; the tap has seen the close by then.
func (c *conn) reason(number uint16, err error) error {
	if err == nil {
		return nil
	}
	if e := c.tap.closure(0); e != nil {
		return e
	}
	if e := c.tap.closure(number); e != nil {
		return e
	}
	return err
}

// A channel is a channel of the unmodified client. Requests that AMQP does not answer are followed by one that
// it does, so that every call returns when the broker has dealt with it.
type channel struct {
	conn    *conn
	amqp    *amqp.Channel
	number  uint16
	returns chan amqp.Return
	noWait  bool          // the next request asks for no answer
	toldAll chan struct{} // closed when the client knows of no more cancellations

	mu     sync.Mutex
	events []scenario.Event
}

var _ scenario.Channel = (*channel)(nil)

func (ch *channel) result(err error) error { return ch.conn.reason(ch.number, err) }

// barrier waits until the broker has dealt with everything sent before.
func (ch *channel) barrier(err error) error {
	if err == nil {
		err = ch.amqp.Flow(true)
	}
	return ch.result(err)
}

func (ch *channel) NoWait() { ch.noWait = true }

// asksForNone reports whether a request asks for no answer, and has the next one ask again.
func (ch *channel) asksForNone() bool {
	was := ch.noWait
	ch.noWait = false
	return was
}

// answered returns what the broker made of a request, also if that asked for no answer.
func (ch *channel) answered(noWait bool, err error) error {
	if noWait {
		return ch.barrier(err)
	}
	return ch.result(err)
}

func (ch *channel) Err() error {
	if e := ch.conn.tap.closure(0); e != nil {
		return e
	}
	if e := ch.conn.tap.closure(ch.number); e != nil {
		return e
	}
	return nil
}

// awaitLastEvents waits until the client has told all that came before the broker closed the connection. The client tells of a
// cancelled consumer a little later than the tap sees the close. An open connection has nothing to wait for.
func (ch *channel) awaitLastEvents() {
	if ch.conn.tap.closure(0) == nil {
		return
	}
	select {
	case <-ch.toldAll:
	case <-time.After(10 * time.Second):
	}
}

func (ch *channel) Close() error { return ch.result(ch.amqp.Close()) }

func (ch *channel) Take() []scenario.Event {
	ch.awaitLastEvents()
	ch.mu.Lock()
	defer ch.mu.Unlock()
	out := ch.events
	ch.events = nil
	return out
}

func (ch *channel) add(e scenario.Event) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	ch.events = append(ch.events, e)
}

func (ch *channel) cancellations(tags <-chan string) {
	for tag := range tags {
		ch.add(scenario.Event{Cancelled: tag})
	}
	close(ch.toldAll)
}

func (ch *channel) Publish(exchange, key string, m leveret.Message) (scenario.Published, error) {
	var out scenario.Published
	ch.conn.tap.publishNext(m.Properties)
	d, err := ch.amqp.PublishWithDeferredConfirm(exchange, key, m.Mandatory, m.Immediate, publishing(m))
	if err == nil && d != nil {
		out.Confirm, err = ch.confirm(d)
	}
	err = ch.barrier(err)
	if err != nil {
		out.Confirm = ""
	}
	select {
	case r, ok := <-ch.returns:
		if ok {
			out.Return = ch.returned(r)
		}
	default:
	}
	return out, err
}

func (ch *channel) PublishTogether(exchange, key string, messages []leveret.Message) ([]scenario.Published, error) {
	confirms := make([]*amqp.DeferredConfirmation, 0, len(messages))
	for _, m := range messages {
		ch.conn.tap.publishNext(m.Properties)
		d, err := ch.amqp.PublishWithDeferredConfirm(exchange, key, m.Mandatory, m.Immediate, publishing(m))
		if err != nil {
			return nil, ch.barrier(err)
		}
		confirms = append(confirms, d)
	}
	var err error
	all := make([]scenario.Published, len(confirms))
	for i, d := range confirms {
		if d == nil {
			break // the channel has no confirms
		}
		if all[i].Confirm, err = ch.confirm(d); err != nil {
			break
		}
	}
	if err := ch.barrier(err); err != nil {
		return nil, err // the client makes up what was not confirmed
	}
	return all, nil
}

// confirm waits for a confirm.
func (ch *channel) confirm(d *amqp.DeferredConfirmation) (string, error) {
	select {
	case <-d.Done():
		return map[bool]string{true: "ack", false: "nack"}[d.Acked()], ch.resultOfClosed()
	case <-time.After(10 * time.Second):
		return "", errors.New("no confirm within 10 s")
	}
}

// resultOfClosed tells a nack by the broker from the one that the client makes up when the channel is closed.
func (ch *channel) resultOfClosed() error {
	if ch.amqp.IsClosed() {
		return amqp.ErrClosed
	}
	return nil
}

func (ch *channel) returned(r amqp.Return) *leveret.Return {
	h := ch.conn.tap.header(content{channel: ch.number, returned: true})
	p := properties(h, amqp.Delivery{ContentType: r.ContentType, ContentEncoding: r.ContentEncoding,
		DeliveryMode: r.DeliveryMode,
		Priority:     r.Priority, CorrelationId: r.CorrelationId, ReplyTo: r.ReplyTo, Expiration: r.Expiration,
		MessageId: r.MessageId,
		Timestamp: r.Timestamp, Type: r.Type, UserId: r.UserId, AppId: r.AppId})
	p.HeaderFields = h.fields
	return &leveret.Return{Exchange: r.Exchange, RoutingKey: r.RoutingKey,
		Message: leveret.Message{Properties: p, Body: r.Body}}
}

func (ch *channel) Get(queue string, noAck bool) (*scenario.Delivery, error) {
	d, ok, err := ch.amqp.Get(queue, noAck)
	if err != nil || !ok {
		return nil, ch.result(err)
	}
	return ch.delivery(d), nil
}

func (ch *channel) delivery(d amqp.Delivery) *scenario.Delivery {
	h := ch.conn.tap.header(content{channel: ch.number, tag: d.DeliveryTag})
	return &scenario.Delivery{Exchange: d.Exchange, RoutingKey: d.RoutingKey, ConsumerTag: d.ConsumerTag,
		Tag:         d.DeliveryTag,
		Redelivered: d.Redelivered, MessageCount: int(d.MessageCount), Properties: properties(h, d), Fields: h.fields,
		Body: d.Body}
}

func (ch *channel) Consume(queue string, cfg leveret.ConsumeConfig) (string, error) {
	noWait := ch.asksForNone()
	ch.conn.tap.argumentsNext(cfg.ArgumentFields)
	in, err := ch.amqp.Consume(queue, cfg.Tag, cfg.NoAck, cfg.Exclusive, false, noWait, nil)
	if err = ch.answered(noWait, err); err != nil {
		return "", err
	}
	go func() {
		for d := range in {
			ch.add(scenario.Event{Delivery: ch.delivery(d)})
		}
	}()
	return cfg.Tag, nil
}

func (ch *channel) Commit() ([]*leveret.Return, error) {
	err := ch.amqp.TxCommit()
	var out []*leveret.Return
	for len(ch.returns) > 0 {
		if r, ok := <-ch.returns; ok {
			out = append(out, ch.returned(r))
		}
	}
	return out, ch.result(err)
}
