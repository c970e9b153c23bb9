// Package move takes definitions and messages from one broker to another, over AMQP 0-9-1 and the management API. Either
// broker may be a RabbitMQ or a leveret, and both run meanwhile. A file can be in the place of either.
//
// A message is acknowledged at the source after the target has confirmed it. So nothing is lost wherever a connection or
// the program itself ends. docs/move.md tells what is exact and what cannot be.
package move

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	amqp "github.com/rabbitmq/amqp091-go"
)

// A Broker is one side of a move: a virtual host and where it is reached.
type Broker struct {
	AMQP  string // URL with user, password and virtual host
	Admin string // URL of the management API with user and password, without /api
	VHost string
	User  string // of AMQP

	Dial func(network, addr string) (net.Conn, error) // nil: the network
	HTTP *http.Client                                 // nil: http.DefaultClient
}

// ParseBroker reads URLs. Without a URL of the management API it is on the port that RabbitMQ has for it, with the same user.
func ParseBroker(amqpURL, admin string) (*Broker, error) {
	shown, err := redacted(amqpURL)
	if err != nil {
		return nil, err
	}
	u, err := amqp.ParseURI(amqpURL)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", shown, err)
	}
	b := &Broker{AMQP: amqpURL, Admin: admin, VHost: u.Vhost, User: u.Username}
	if admin == "" {
		scheme, port := "http", "15672"
		if u.Scheme == "amqps" {
			scheme, port = "https", "15671"
		}
		b.Admin = (&url.URL{Scheme: scheme, User: url.UserPassword(u.Username, u.Password), Host: net.JoinHostPort(u.Host, port)}).String()
	}
	shown, err = redacted(b.Admin)
	if a, failed := url.Parse(b.Admin); failed != nil || a.Host == "" {
		return nil, errors.Join(err, fmt.Errorf("%q is no URL of a management API", shown))
	}
	return b, nil
}

// redacted is a URL without its password, for errors.
func redacted(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", fmt.Errorf("this is no URL: %w", errors.Unwrap(err)) // the error itself has the password
	}
	return u.Redacted(), nil
}

// String names the virtual host without the password.
func (b *Broker) String() string {
	u, err := url.Parse(b.AMQP)
	if err != nil {
		return b.VHost
	}
	return fmt.Sprintf("%s on %s", cmp.Or(b.VHost, "/"), u.Host)
}

// errLogin is for a user or a password that a broker does not take. To try again does not help.
var errLogin = errors.New("the login was refused")

// connect opens a connection that is called after its purpose in the brokers' listings.
func (b *Broker) connect() (*amqp.Connection, error) {
	conn, err := amqp.DialConfig(b.AMQP, amqp.Config{
		Vhost: b.VHost, Dial: b.Dial, Properties: amqp.Table{"connection_name": "leveret move", "product": "leveret"},
	})
	var refused *amqp.Error
	switch {
	case err == nil:
		return conn, nil
	case errors.As(err, &refused) && refused.Code == amqp.AccessRefused:
		return nil, fmt.Errorf("%v: %w: %w", b, errLogin, err)
	}
	return nil, fmt.Errorf("%v cannot be reached: %w", b, err)
}
