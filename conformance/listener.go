package conformance

import (
	"errors"
	"net"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	"github.com/leveretmq/leveret/internal/scenario"
	amqp "github.com/rabbitmq/amqp091-go"
)

// listenerVHost has the length that a run's virtual host has on a real broker, because reply texts are cut by length.
const listenerVHost = "s000000000"

// A listenerDriver leads through the unmodified client and a socket to a leveret of its own. Its time is virtual.
type listenerDriver struct {
	scenario.Operator
	clock  *leveret.ManualClock
	server *amqpd.Server
	uri    amqp.URI
}

var _ scenario.Driver = (*listenerDriver)(nil)

// Listener returns a driver to a new broker behind leveret's AMQP listener on the loopback interface.
func Listener(p leveret.Profile) (scenario.Driver, error) {
	clock := leveret.NewManualClock(time.Now())
	b := leveret.New(leveret.WithClock(clock), leveret.WithProfile(p), leveret.WithSeed(1))
	operator := scenario.NewOperator(b, listenerVHost)
	if err := operator.CreateVHost(); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	// On a busy machine a client may need longer to send what it sends together.
	server := &amqpd.Server{Broker: b, StopDelay: 200 * time.Millisecond}
	d := &listenerDriver{Operator: operator, clock: clock, server: server}
	d.uri = amqp.URI{Scheme: "amqp", Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port,
		Username: "guest", Password: "guest", Vhost: listenerVHost}
	go d.server.Serve(l)
	return d, nil
}

var _ scenario.Restarter = (*listenerDriver)(nil)

func (d *listenerDriver) Restart(killed bool, down time.Duration) error {
	return scenario.RestartBroker(d.Broker, d.clock, killed, down)
}

func (d *listenerDriver) Kind() string             { return "amqp" }
func (d *listenerDriver) Profile() leveret.Profile { return d.Broker.Profile() }
func (d *listenerDriver) VHost() string            { return listenerVHost }
func (d *listenerDriver) Advance(t time.Duration)  { d.clock.Advance(t) }
func (d *listenerDriver) Now() time.Time           { return d.clock.Now() }

// MaxDelay is for the socket only: the broker itself has settled when a call returns.
func (d *listenerDriver) MaxDelay() time.Duration { return 2 * time.Second }

func (d *listenerDriver) Connect(l scenario.Login) (scenario.Conn, error) {
	return dial(loginURI(d.uri, l), l)
}

func (d *listenerDriver) Close() error {
	return errors.Join(d.server.Close(), d.Broker.Check(), d.Broker.Close())
}
