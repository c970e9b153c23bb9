// Package conformance runs the scenarios of this repository through the unmodified amqp091-go client against any
// AMQP 0-9-1 broker, a real RabbitMQ above all, and compares what they show.
package conformance

import (
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
	amqp "github.com/rabbitmq/amqp091-go"
)

// A Broker is a running broker with its operator's console.
type Broker struct {
	uri     amqp.URI
	console func(vhost string) console
	Version string
	profile leveret.Profile
}

// A console is what an operator works with on one virtual host: the management API, or rabbitmqctl.
type console interface {
	scenario.Admin
	createVHost() error
	deleteVHost() error
	clearTopicPermissions(user string) error

	// What is left is not about the virtual host.
	version() (string, error)
	vhosts() ([]string, error)
	deleteUser(name string) error
}

// Open reads a broker's version and thereby its profile. The console is the URL of its management API, or the command
// line of its rabbitmqctl.
func Open(amqpURL, consoleAt string) (*Broker, error) {
	b := &Broker{}
	var err error
	if b.uri, err = amqp.ParseURI(amqpURL); err != nil {
		return nil, err
	}
	if strings.HasPrefix(consoleAt, "http") {
		base, err := url.Parse(consoleAt)
		if err != nil {
			return nil, err
		}
		b.console = func(vhost string) console { return &management{base: base, vhost: vhost} }
	} else {
		command := strings.Fields(consoleAt)
		b.console = func(vhost string) console { return &rabbitmqctl{command: command, vhost: vhost} }
	}
	if b.Version, err = b.console("").version(); err != nil {
		return nil, err
	}
	for p, release := range scenario.Releases {
		if len(b.Version) > len(release) && b.Version[:len(release)+1] == release+"." {
			b.profile = p
			return b, nil
		}
	}
	return nil, fmt.Errorf("no profile for RabbitMQ %s", b.Version)
}

// Release is the release's name in scripts.
func (b *Broker) Release() string { return scenario.Releases[b.profile] }

// Profile is that of the broker's release.
func (b *Broker) Profile() leveret.Profile { return b.profile }

var runs atomic.Int64

// Driver makes a virtual host for one run; its Close deletes it.
func (b *Broker) Driver() (scenario.Driver, error) {
	// The name has a fixed length because reply texts, which contain it, are cut at a fixed length.
	name := fmt.Sprintf("s%03d%06d", runs.Add(1)%1000, time.Now().UnixNano()/1000%1000000)
	d := &brokerDriver{console: b.console(name), broker: b, vhost: name}
	if err := d.createVHost(); err != nil {
		return nil, err
	}
	return d, d.SetPermissions(b.uri.Username, leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"})
}

// A driver leads to one virtual host of a broker on the network.
type brokerDriver struct {
	console
	broker *Broker
	vhost  string
}

var _ scenario.Driver = (*brokerDriver)(nil)

func (d *brokerDriver) Kind() string             { return "amqp" }
func (d *brokerDriver) Profile() leveret.Profile { return d.broker.profile }
func (d *brokerDriver) VHost() string            { return d.vhost }
func (d *brokerDriver) MaxDelay() time.Duration  { return 4 * time.Second }
func (d *brokerDriver) Advance(t time.Duration)  { time.Sleep(t) }
func (d *brokerDriver) Now() time.Time           { return time.Now() }

func (d *brokerDriver) Connect(l scenario.Login) (scenario.Conn, error) {
	uri := d.broker.uri
	uri.Vhost = d.vhost
	return dial(loginURI(uri, l), l)
}

// loginURI puts what a login says over what holds otherwise. A scenario's users have their name as password.
func loginURI(uri amqp.URI, l scenario.Login) amqp.URI {
	if l.User != "" {
		uri.Username, uri.Password = l.User, l.User
	}
	if l.Password != "" {
		uri.Password = l.Password
	}
	if l.VHost != "" {
		uri.Vhost = l.VHost
	}
	return uri
}

// SetPolicy returns when queues have the policy: they learn of it after the call has returned.
func (d *brokerDriver) SetPolicy(p leveret.Policy, operator bool) error {
	defer time.Sleep(policyDelay)
	return d.console.SetPolicy(p, operator)
}

func (d *brokerDriver) ClearPolicy(name string, operator bool) error {
	defer time.Sleep(policyDelay)
	return d.console.ClearPolicy(name, operator)
}

const policyDelay = 150 * time.Millisecond

func (d *brokerDriver) Close() error { return d.deleteVHost() }
