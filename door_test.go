package leveret_test

import (
	"errors"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

// TestScenarios runs every scenario script against the Go API, on virtual time, as each release. The same scripts run
// against real brokers in package conformance.
func TestScenarios(t *testing.T) {
	scripts, err := scenario.Load(os.DirFS("testdata/scenarios"))
	if err != nil {
		t.Fatal(err)
	}
	for profile, release := range scenario.Releases {
		t.Run(release, func(t *testing.T) {
			for _, s := range scripts {
				if s.For(release, "go") {
					t.Run(s.Name, func(t *testing.T) {
						t.Parallel()
						runScript(t, s, profile)
					})
				}
			}
		})
	}
}

func runScript(t *testing.T, s *scenario.Script, p leveret.Profile) {
	door := newGoDoor(p)
	defer door.Close()
	l, err := scenario.Run(s, door)
	if err != nil {
		t.Fatal(err)
	}
	if diff := l.Diff(); diff != "" {
		t.Error("\n" + diff)
	}
	if err := door.broker.Check(); err != nil {
		t.Error(err)
	}
}

// A goDoor leads to a broker of its own with a clock that only Advance moves.
type goDoor struct {
	broker *leveret.Broker
	clock  *leveret.ManualClock
}

var _ scenario.Door = (*goDoor)(nil)

func newGoDoor(p leveret.Profile) *goDoor {
	clock := leveret.NewManualClock(time.Unix(1_800_000_000, 0))
	return &goDoor{leveret.New(leveret.WithClock(clock), leveret.WithProfile(p), leveret.WithSeed(1)), clock}
}

func (d *goDoor) Kind() string             { return "go" }
func (d *goDoor) Profile() leveret.Profile { return d.broker.Profile() }
func (d *goDoor) Advance(t time.Duration)  { d.clock.Advance(t) }
func (d *goDoor) Now() time.Time           { return d.clock.Now() }
func (d *goDoor) Patience() time.Duration  { return 0 }
func (d *goDoor) VHost() string            { return "/" }
func (d *goDoor) Close() error             { return d.broker.Close() }

func (d *goDoor) SetPolicy(p leveret.Policy, operator bool) error {
	if operator {
		return d.broker.SetOperatorPolicy(p)
	}
	return d.broker.SetPolicy(p)
}

func (d *goDoor) ClearPolicy(name string, operator bool) error {
	if operator {
		return d.broker.ClearOperatorPolicy(name)
	}
	return d.broker.ClearPolicy(name)
}

func (d *goDoor) AddUser(name, password string, tags []string) error {
	return d.broker.AddUser(name, password, tags...)
}
func (d *goDoor) SetPermissions(user string, p leveret.Permissions) error {
	return d.broker.SetPermissions(user, p)
}
func (d *goDoor) ClearPermissions(user string) error { return d.broker.ClearPermissions(user) }
func (d *goDoor) SetTopicPermissions(user, exchange string, p leveret.TopicPermissions) error {
	return d.broker.SetTopicPermissions(user, exchange, p)
}
func (d *goDoor) SetVHostLimits(l leveret.VHostLimits) error { return d.broker.SetLimits(l) }
func (d *goDoor) SetUserLimits(user string, l leveret.UserLimits) error {
	return d.broker.SetUserLimits(user, l)
}
func (d *goDoor) SetDefaultQueueType(t string) error { return d.broker.SetDefaultQueueType(t) }
func (d *goDoor) Import(definitions string) error {
	v, err := d.broker.VHost("/")
	if err != nil {
		return err
	}
	err = v.ImportDefinitions([]byte(definitions))
	var e *leveret.Error
	if errors.As(err, &e) { // RabbitMQ does not name the entry
		e.Reason = entryName.ReplaceAllString(e.Reason, "")
	}
	return err
}

func (d *goDoor) Export() ([]byte, error) {
	v, err := d.broker.VHost("/")
	if err != nil {
		return nil, err
	}
	return v.ExportDefinitions()
}

func (d *goDoor) Queue(name string) (scenario.QueueView, error) {
	q, err := d.broker.Queue(name)
	if err != nil {
		return scenario.QueueView{}, err
	}
	i := q.Info()
	return scenario.QueueView{Type: i.Type, Arguments: i.Arguments, Policy: i.Policy, OperatorPolicy: i.OperatorPolicy,
		EffectivePolicy: i.EffectivePolicy, SingleActive: i.SingleActive}, nil
}

func (d *goDoor) Connect(l scenario.Login) (scenario.Conn, error) {
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
	if err := d.broker.Authenticate(user, password); err != nil {
		return nil, err
	}
	in := leveret.NewInbox(leveret.InboxConfig{})
	c, err := d.broker.Open(leveret.ConnConfig{User: user, VHost: vhost, CancelNotify: !l.NoCancelNotify, ChannelMax: l.ChannelMax, Inbox: in})
	if err != nil {
		return nil, err
	}
	return &goConn{c: c, in: in, channels: map[*leveret.Channel]*goChannel{}}, nil
}

var entryName = regexp.MustCompile(`^[a-z_]+\[\d+\]( '[^']*')?: `)

type goConn struct {
	c        *leveret.Conn
	in       *leveret.Inbox
	channels map[*leveret.Channel]*goChannel
	err      error
}

func (c *goConn) Channel() (scenario.Channel, error) {
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

func (c *goConn) Err() error {
	c.take()
	return c.err
}

// note remembers an error that closed the connection.
func (c *goConn) note(err error) {
	var e *leveret.Error
	if errors.As(err, &e) && e.ClosesConnection() && c.err == nil {
		c.err = e
	}
}

// take sorts what has arrived by channel.
func (c *goConn) take() {
	for _, n := range c.in.Take(nil) {
		g := c.channels[n.Channel]
		switch n.Kind {
		case leveret.Delivered:
			g.events = append(g.events, scenario.Event{Delivery: seen(n.Delivery)})
		case leveret.ConsumerCancelled:
			g.events = append(g.events, scenario.Event{Cancelled: n.ConsumerTag})
		case leveret.ChannelClosed:
			g.err = n.Err
		case leveret.ConnClosed:
			c.note(n.Err)
		}
	}
}

func seen(d *leveret.Delivery) *scenario.Delivery {
	return &scenario.Delivery{Exchange: d.Exchange, RoutingKey: d.RoutingKey, ConsumerTag: d.ConsumerTag, Tag: d.DeliveryTag,
		Redelivered: d.Redelivered, MessageCount: d.MessageCount, Properties: d.Properties, Fields: d.HeaderFields(), Body: d.Body}
}

// A goChannel is a channel that remembers why it was closed.
type goChannel struct {
	*leveret.Channel
	conn   *goConn
	events []scenario.Event
	err    error
}

func (c *goChannel) Take() []scenario.Event {
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
		c.conn.note(err)
		if !e.ClosesConnection() {
			c.err = e
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
func (c *goChannel) BindExchange(destination, source, key string, args leveret.Table) error {
	return c.saw(c.Channel.BindExchange(destination, source, key, args))
}
func (c *goChannel) UnbindExchange(destination, source, key string, args leveret.Table) error {
	return c.saw(c.Channel.UnbindExchange(destination, source, key, args))
}
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
func (c *goChannel) BindQueue(queue, exchange, key string, args leveret.Table) error {
	return c.saw(c.Channel.BindQueue(queue, exchange, key, args))
}
func (c *goChannel) UnbindQueue(queue, exchange, key string, args leveret.Table) error {
	return c.saw(c.Channel.UnbindQueue(queue, exchange, key, args))
}

func (c *goChannel) Publish(exchange, key string, m leveret.Message) (scenario.Published, error) {
	out, err := c.Channel.Publish(exchange, key, m)
	p := scenario.Published{Return: out.Return}
	if out.Sequence > 0 {
		p.Confirm = "ack"
		if out.Rejected {
			p.Confirm = "nack"
		}
	}
	return p, c.saw(err)
}

func (c *goChannel) Get(queue string, noAck bool) (*scenario.Delivery, error) {
	d, ok, err := c.Channel.Get(queue, leveret.GetConfig{NoAck: noAck, LazyHeaders: true})
	if !ok {
		return nil, c.saw(err)
	}
	return seen(d), nil
}

func (c *goChannel) Consume(queue string, cfg leveret.ConsumeConfig) (string, error) {
	cfg.LazyHeaders = true
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
func (c *goChannel) Recover(requeue bool) error      { return c.saw(c.Channel.Recover(requeue)) }
func (c *goChannel) Qos(cfg leveret.QosConfig) error { return c.saw(c.Channel.Qos(cfg)) }
func (c *goChannel) Confirm() error                  { return c.saw(c.Channel.Confirm()) }
func (c *goChannel) Tx() error                       { return c.saw(c.Channel.Tx()) }
func (c *goChannel) Rollback() error                 { return c.saw(c.Channel.Rollback()) }
func (c *goChannel) Flow(active bool) error          { return c.saw(c.Channel.Flow(active)) }
func (c *goChannel) Nack(tag uint64, multiple, requeue bool) error {
	return c.saw(c.Channel.Nack(tag, multiple, requeue))
}
func (c *goChannel) Commit() ([]*leveret.Return, error) {
	returns, err := c.Channel.Commit()
	return returns, c.saw(err)
}
