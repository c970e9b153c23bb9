package conformance

import (
	"errors"
	"net"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/internal/scenario"
	amqp "github.com/rabbitmq/amqp091-go"
)

// listenerVHost has the length that a run's virtual host has on a real broker, because reply texts are cut by length.
const listenerVHost = "s000000000"

// A listenerDriver leads through the unmodified client and a socket to a leveret of its own. Its time is virtual.
type listenerDriver struct {
	operator
	clock  *leveret.ManualClock
	server *amqpd.Server
	uri    amqp.URI
}

var _ scenario.Driver = (*listenerDriver)(nil)

// Listener returns a driver to a new broker behind leveret's AMQP listener on the loopback interface.
func Listener(p leveret.Profile) (scenario.Driver, error) {
	clock := leveret.NewManualClock(time.Now())
	b := leveret.New(leveret.WithClock(clock), leveret.WithProfile(p), leveret.WithSeed(1))
	v, err := b.CreateVHost(listenerVHost)
	if err != nil {
		return nil, err
	}
	if err := v.SetPermissions("guest", leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &listenerDriver{operator: operator{b, v}, clock: clock, server: &amqpd.Server{Broker: b}}
	d.uri = amqp.URI{Scheme: "amqp", Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port,
		Username: "guest", Password: "guest", Vhost: listenerVHost}
	go d.server.Serve(l)
	return d, nil
}

func (d *listenerDriver) Kind() string             { return "amqp" }
func (d *listenerDriver) Profile() leveret.Profile { return d.broker.Profile() }
func (d *listenerDriver) VHost() string            { return listenerVHost }
func (d *listenerDriver) Advance(t time.Duration)  { d.clock.Advance(t) }
func (d *listenerDriver) Now() time.Time           { return d.clock.Now() }

// MaxDelay is for the socket only: the broker itself has settled when a call returns.
func (d *listenerDriver) MaxDelay() time.Duration { return 2 * time.Second }

func (d *listenerDriver) Connect(l scenario.Login) (scenario.Conn, error) {
	return dial(loginURI(d.uri, l), l)
}

func (d *listenerDriver) Close() error {
	return errors.Join(d.server.Close(), d.broker.Check(), d.broker.Close())
}

// An operator is scenario.Admin for a broker in this process.
type operator struct {
	broker *leveret.Broker
	vhost  *leveret.VHost
}

var _ scenario.Admin = operator{}

func (o operator) SetPolicy(p leveret.Policy, operator bool) error {
	if operator {
		return o.vhost.SetOperatorPolicy(p)
	}
	return o.vhost.SetPolicy(p)
}

func (o operator) ClearPolicy(name string, operator bool) error {
	if operator {
		return o.vhost.ClearOperatorPolicy(name)
	}
	return o.vhost.ClearPolicy(name)
}

func (o operator) AddUser(name, password string, tags []string) error {
	return o.broker.AddUser(name, password, tags...)
}

func (o operator) SetPermissions(user string, p leveret.Permissions) error {
	return o.vhost.SetPermissions(user, p)
}

func (o operator) ClearPermissions(user string) error { return o.vhost.ClearPermissions(user) }

func (o operator) SetTopicPermissions(user, exchange string, p leveret.TopicPermissions) error {
	return o.vhost.SetTopicPermissions(user, exchange, p)
}

func (o operator) SetVHostLimits(l leveret.VHostLimits) error { return o.vhost.SetLimits(l) }

func (o operator) SetUserLimits(user string, l leveret.UserLimits) error {
	return o.broker.SetUserLimits(user, l)
}

func (o operator) SetDefaultQueueType(t string) error {
	return o.vhost.SetDefaultQueueType(leveret.QueueType(t))
}
func (o operator) Export() ([]byte, error) { return definitions.ExportVHost(o.vhost) }

func (o operator) Import(document string) error {
	return scenario.RabbitMQError(definitions.ImportVHost(o.vhost, []byte(document)))
}

func (o operator) Queue(name string) (scenario.QueueView, error) {
	q, err := o.vhost.Queue(name)
	if err != nil {
		return scenario.QueueView{}, err
	}
	i := q.Info()
	return scenario.QueueView{Type: string(i.Type), Arguments: i.Arguments, Policy: i.Policy, OperatorPolicy: i.OperatorPolicy,
		EffectivePolicy: i.EffectivePolicy, SingleActive: i.SingleActive}, nil
}
