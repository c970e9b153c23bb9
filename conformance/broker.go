// Package conformance runs the scenarios of this repository through the unmodified amqp091-go client against any
// AMQP 0-9-1 broker, a real RabbitMQ above all, and compares what they show.
package conformance

import (
	"errors"
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

	// restarts has the commands that restart the broker, for scenarios that do so; nil: none are known.
	restarts *restarts
}

// A console is what an operator works with on one virtual host: the management API, or rabbitmqctl.
type console interface {
	scenario.Admin
	clearTopicPermissions(user string) error

	// What is left is not about the virtual host.
	version() (string, error)
	vhosts() ([]string, error)
}

// Open reads a broker's version and thereby its profile. The console is the URL of its management API, or the command
// line of its rabbitmqctl.
func Open(amqpURL, consoleAt string) (*Broker, error) {
	b := &Broker{restarts: restartsFromEnvironment()}
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
	d := b.driver(name)
	return d, d.CreateVHost()
}

var _ scenario.Restarter = (*brokerDriver)(nil)

// Restart restarts the broker, together with the other runs that want it.
func (d *brokerDriver) Restart(killed bool, down time.Duration) error {
	if d.broker.restarts == nil {
		return fmt.Errorf("no command restarts the broker: %w", errors.ErrUnsupported)
	}
	return d.broker.restarts.wait(killed, down)
}

func (b *Broker) driver(vhost string) *brokerDriver {
	return &brokerDriver{console: b.console(vhost), broker: b, vhost: vhost, others: map[string]*brokerDriver{}, users: map[string]bool{}}
}

// A brokerDriver leads to one virtual host of a broker on the network.
type brokerDriver struct {
	console
	broker *Broker
	vhost  string
	there  bool                     // the virtual host has been made, and not deleted
	others map[string]*brokerDriver // those of other virtual hosts that a script has to do with
	users  map[string]bool          // that were made for this run only
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

// In returns the driver of another virtual host. What a script has made goes when the run's own driver is closed.
func (d *brokerDriver) In(vhost string) scenario.Admin {
	if d.others[vhost] == nil {
		d.others[vhost] = d.broker.driver(vhost)
	}
	return d.others[vhost]
}

func (d *brokerDriver) CreateVHost() error {
	if err := d.console.CreateVHost(); err != nil {
		return err
	}
	d.there = true
	return d.SetPermissions(d.broker.uri.Username, leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"})
}

// DeleteVHost returns when the connections to the virtual host have ended: they learn of it after the call has returned.
func (d *brokerDriver) DeleteVHost() error {
	defer time.Sleep(endDelay)
	d.there = false
	return d.console.DeleteVHost()
}

func (d *brokerDriver) AddUser(name, password string, tags []string) error {
	if strings.Contains(name, d.vhost) {
		d.users[name] = true
	}
	return d.console.AddUser(name, password, tags)
}

// DeleteUser returns when the user's connections have ended: they learn of it after the call has returned.
func (d *brokerDriver) DeleteUser(name string) error {
	defer time.Sleep(endDelay)
	delete(d.users, name)
	return d.console.DeleteUser(name)
}

const endDelay = 150 * time.Millisecond

// removeOwn deletes the users and the other virtual hosts that were made for this run.
func (d *brokerDriver) removeOwn() error {
	var failed []error
	for name := range d.users {
		failed = append(failed, d.console.DeleteUser(name))
	}
	clear(d.users)
	for _, other := range d.others {
		if other.there {
			other.there = false
			failed = append(failed, other.console.DeleteVHost())
		}
	}
	return errors.Join(failed...)
}

func (d *brokerDriver) Close() error {
	err := d.removeOwn()
	if !d.there {
		return err
	}
	return errors.Join(err, d.console.DeleteVHost())
}
