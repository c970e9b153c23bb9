// Package conformance runs the scenarios of this repository through the unmodified amqp091-go client against any
// AMQP 0-9-1 broker, a real RabbitMQ above all, and compares what they show.
package conformance

import (
	"encoding/json"
	"fmt"
	"net/url"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

// A Broker is a running broker with its management API.
type Broker struct {
	uri     amqp.URI
	http    *url.URL
	Version string
	profile leveret.Profile
}

// Open reads a broker's version and thereby its profile.
func Open(amqpURL, httpURL string) (*Broker, error) {
	b := &Broker{}
	var err error
	if b.uri, err = amqp.ParseURI(amqpURL); err != nil {
		return nil, err
	}
	if b.http, err = url.Parse(httpURL); err != nil {
		return nil, err
	}
	out, err := (&management{base: b.http}).do("GET", nil, "overview")
	if err != nil {
		return nil, err
	}
	var overview struct {
		Version string `json:"rabbitmq_version"`
	}
	if err := json.Unmarshal(out, &overview); err != nil {
		return nil, err
	}
	b.Version = overview.Version
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

var doors atomic.Int64

// Door makes a virtual host for one run; its Close deletes it.
func (b *Broker) Door() (scenario.Door, error) {
	// The name has a fixed length because reply texts, which contain it, are cut at a fixed length.
	name := fmt.Sprintf("s%03d%06d", doors.Add(1)%1000, time.Now().UnixNano()/1000%1000000)
	m := &management{base: b.http, vhost: name}
	if _, err := m.do("PUT", map[string]any{}, "vhosts", name); err != nil {
		return nil, err
	}
	d := &door{management: m, broker: b}
	return d, m.SetPermissions(b.uri.Username, leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"})
}

// A door leads to one virtual host of a broker on the network.
type door struct {
	*management
	broker *Broker
}

var _ scenario.Door = (*door)(nil)

func (d *door) Kind() string             { return "amqp" }
func (d *door) Profile() leveret.Profile { return d.broker.profile }
func (d *door) VHost() string            { return d.vhost }
func (d *door) Patience() time.Duration  { return 4 * time.Second }
func (d *door) Advance(t time.Duration)  { time.Sleep(t) }
func (d *door) Now() time.Time           { return time.Now() }

func (d *door) Connect(l scenario.Login) (scenario.Conn, error) {
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
func (d *door) SetPolicy(p leveret.Policy, operator bool) error {
	defer time.Sleep(policyDelay)
	return d.management.SetPolicy(p, operator)
}

func (d *door) ClearPolicy(name string, operator bool) error {
	defer time.Sleep(policyDelay)
	return d.management.ClearPolicy(name, operator)
}

const policyDelay = 150 * time.Millisecond

func (d *door) Close() error {
	_, err := d.do("DELETE", nil, "vhosts", d.vhost)
	return err
}
