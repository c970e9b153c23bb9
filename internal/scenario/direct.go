package scenario

import (
	"errors"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
)

// Direct is a driver to the Go API of a broker of its own, with a clock that only Advance moves.
type Direct struct {
	Operator
	clock *leveret.ManualClock
}

var _ Driver = (*Direct)(nil)

// NewDirect makes a broker. Its options come after those that make runs repeatable.
func NewDirect(p leveret.Profile, opts ...leveret.Option) *Direct {
	clock := leveret.NewManualClock(time.Unix(1_800_000_000, 0))
	opts = append([]leveret.Option{leveret.WithClock(clock), leveret.WithProfile(p), leveret.WithSeed(1)}, opts...)
	return DirectTo(leveret.New(opts...), clock)
}

// DirectTo is a driver to a broker with a clock that only Advance moves.
func DirectTo(b *leveret.Broker, clock *leveret.ManualClock) *Direct {
	return &Direct{NewOperator(b, "/"), clock}
}

var _ Restarter = (*Direct)(nil)

func (d *Direct) Restart(killed bool, down time.Duration) error {
	return RestartBroker(d.Broker, d.clock, killed, down)
}

// RestartBroker restarts a broker with virtual time.
func RestartBroker(b *leveret.Broker, clock *leveret.ManualClock, killed bool, down time.Duration) error {
	as := leveret.StoppedNode
	if killed {
		as = leveret.KilledNode
	}
	if err := b.Stop(as); err != nil {
		return err
	}
	clock.Advance(down)
	return b.Start()
}

func (d *Direct) Kind() string             { return "go" }
func (d *Direct) Profile() leveret.Profile { return d.Broker.Profile() }
func (d *Direct) Advance(t time.Duration)  { d.clock.Advance(t) }
func (d *Direct) Now() time.Time           { return d.clock.Now() }
func (d *Direct) MaxDelay() time.Duration  { return 0 }
func (d *Direct) VHost() string            { return "/" }
func (d *Direct) Close() error             { return d.Broker.Close() }

func (d *Direct) Connect(l Login) (Conn, error) {
	user, password, vhost := l.User, l.Password, l.VHost
	if user == "" {
		user = "guest"
	}
	if password == "" {
		password = user
	}
	if vhost == "" {
		vhost = "/"
	}
	if err := d.Broker.Authenticate(user, password); err != nil {
		return nil, err
	}
	in := leveret.NewInbox(leveret.InboxConfig{})
	c, err := d.Broker.Open(leveret.ConnConfig{User: user, VHost: vhost, CancelNotify: !l.NoCancelNotify,
		ChannelMax: l.ChannelMax, Inbox: in})
	if err != nil {
		return nil, err
	}
	return &goConn{broker: d.Broker, c: c, in: in, channels: map[*leveret.Channel]*goChannel{}}, nil
}

type goConn struct {
	broker   *leveret.Broker
	c        *leveret.Conn
	in       *leveret.Inbox
	channels map[*leveret.Channel]*goChannel
	err      error
}

func (c *goConn) Channel() (Channel, error) {
	ch, err := c.c.Channel()
	if err != nil {
		c.note(err)
		return nil, err
	}
	g := &goChannel{Channel: ch, conn: c}
	c.channels[ch] = g
	return g, nil
}

func (c *goConn) Close() error { return c.c.Close() }
func (c *goConn) Kill() error  { return c.c.Close() }

func (c *goConn) UpdateSecret() error {
	err := c.c.UpdateSecret()
	if err != nil {
		c.note(err)
	}
	return err
}

func (c *goConn) Err() error {
	c.take()
	return c.err
}

// note remembers an error that closed the connection.
func (c *goConn) note(err error) {
	var e *leveret.Error
	if errors.As(err, &e) && e.ClosesConnection() && c.err == nil {
		c.err = c.asSent(e)
	}
}

// asSent returns e with the text that the broker's release sends.
func (c *goConn) asSent(e *leveret.Error) *leveret.Error {
	sent := *e
	_, sent.Reason, _ = strings.Cut(c.broker.ReplyText(e), " - ")
	return &sent
}

// take sorts what has arrived by channel.
func (c *goConn) take() {
	for _, n := range c.in.Take(nil) {
		g := c.channels[n.Channel]
		switch n.Kind {
		case leveret.Delivered:
			g.events = append(g.events, Event{Delivery: seen(n.Delivery)})
		case leveret.ConsumerCancelled:
			g.events = append(g.events, Event{Cancelled: n.ConsumerTag})
		case leveret.ChannelClosed:
			g.err = n.Err
			g.Channel.Close()
		case leveret.ConnClosed:
			c.note(n.Err)
		}
	}
}

func seen(d *leveret.Delivery) *Delivery {
	return &Delivery{Exchange: d.Exchange, RoutingKey: d.RoutingKey, ConsumerTag: d.ConsumerTag, Tag: d.DeliveryTag,
		Redelivered: d.Redelivered, MessageCount: d.MessageCount, Properties: d.Properties, Fields: d.WireHeaders(),
		Body: d.Body}
}

// A goChannel is a channel that remembers why it was closed.
type goChannel struct {
	*leveret.Channel
	conn   *goConn
	events []Event
	err    error
}

func (c *goChannel) Take() []Event {
	c.conn.take()
	e := c.events
	c.events = nil
	return e
}

func (c *goChannel) Err() error {
	c.conn.take()
	if c.err != nil {
		return c.err
	}
	return c.conn.err
}

// saw notes what err closed.
func (c *goChannel) saw(err error) error {
	var e *leveret.Error
	if errors.As(err, &e) && !errors.Is(err, leveret.ErrClosed) {
		e = c.conn.asSent(e)
		err = e
		c.conn.note(e)
		if !e.ClosesConnection() {
			c.err = e
			c.Channel.Close()
		}
	}
	return err
}

func (c *goChannel) DeclareExchange(name string, kind leveret.ExchangeType, cfg leveret.ExchangeConfig) error {
	return c.saw(c.Channel.DeclareExchange(name, kind, cfg))
}
func (c *goChannel) CheckExchange(name string) error { return c.saw(c.Channel.CheckExchange(name)) }
func (c *goChannel) DeleteExchange(name string, cfg leveret.DeleteConfig) error {
	return c.saw(c.Channel.DeleteExchange(name, cfg))
}
func (c *goChannel) Bind(b leveret.Binding) error   { return c.saw(c.Channel.Bind(b)) }
func (c *goChannel) Unbind(b leveret.Binding) error { return c.saw(c.Channel.Unbind(b)) }
func (c *goChannel) DeclareQueue(name string, cfg leveret.QueueConfig) (leveret.QueueState, error) {
	s, err := c.Channel.DeclareQueue(name, cfg)
	return s, c.saw(err)
}
func (c *goChannel) CheckQueue(name string) (leveret.QueueState, error) {
	s, err := c.Channel.CheckQueue(name)
	return s, c.saw(err)
}
func (c *goChannel) DeleteQueue(name string, cfg leveret.DeleteConfig) (int, error) {
	n, err := c.Channel.DeleteQueue(name, cfg)
	return n, c.saw(err)
}
func (c *goChannel) PurgeQueue(name string) (int, error) {
	n, err := c.Channel.PurgeQueue(name)
	return n, c.saw(err)
}

func (c *goChannel) Publish(exchange, key string, m leveret.Message) (Published, error) {
	out, err := c.Channel.Publish(exchange, key, m)
	return published(out), c.saw(err)
}

// PublishTogether hears that it has to stop when all is sent, as a listener does.
func (c *goChannel) PublishTogether(exchange, key string, messages []leveret.Message) (all []Published, err error) {
	for _, m := range messages {
		out, err := c.Channel.Publish(exchange, key, m)
		if out.Stopped {
			c.DeferStops(true)
			defer c.DeferStops(false)
		}
		if err != nil {
			return nil, c.saw(err)
		}
		out.Return = nil
		all = append(all, published(out))
	}
	return all, nil
}

func published(out leveret.Outcome) Published {
	p := Published{Return: out.Return}
	if out.Sequence > 0 {
		p.Confirm = "ack"
		if out.Rejected {
			p.Confirm = "nack"
		}
	}
	return p
}

func (c *goChannel) Get(queue string, noAck bool) (*Delivery, error) {
	d, ok, err := c.Channel.Get(queue, leveret.GetConfig{NoAck: noAck})
	if !ok {
		return nil, c.saw(err)
	}
	return seen(d), nil
}

func (c *goChannel) Consume(queue string, cfg leveret.ConsumeConfig) (string, error) {
	consumer, err := c.Channel.Consume(queue, cfg)
	if err != nil {
		return "", c.saw(err)
	}
	return consumer.Tag(), nil
}

func (c *goChannel) Cancel(tag string) error             { return c.saw(c.Channel.Cancel(tag)) }
func (c *goChannel) Ack(tag uint64, multiple bool) error { return c.saw(c.Channel.Ack(tag, multiple)) }
func (c *goChannel) Reject(tag uint64, requeue bool) error {
	return c.saw(c.Channel.Reject(tag, requeue))
}

// errWireOnly is for what only a client on the wire can ask for: such scripts are for that door.
var errWireOnly = errors.New("scenario: the Go API has no such parameter")

func (c *goChannel) Recover(requeue bool) error {
	if !requeue {
		return errWireOnly
	}
	return c.saw(c.Channel.Recover())
}
func (c *goChannel) NoWait()                         {} // a call of Go always returns
func (c *goChannel) Flow(bool) error                 { return errWireOnly }
func (c *goChannel) Qos(cfg leveret.QosConfig) error { return c.saw(c.Channel.Qos(cfg)) }
func (c *goChannel) Confirm() error                  { return c.saw(c.Channel.Confirm()) }
func (c *goChannel) Tx() error                       { return c.saw(c.Channel.Tx()) }
func (c *goChannel) Rollback() error                 { return c.saw(c.Channel.Rollback()) }
func (c *goChannel) Nack(tag uint64, multiple, requeue bool) error {
	return c.saw(c.Channel.Nack(tag, multiple, requeue))
}
func (c *goChannel) Commit() ([]*leveret.Return, error) {
	returns, err := c.Channel.Commit()
	return returns, c.saw(err)
}
