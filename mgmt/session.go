package mgmt

import (
	"errors"
	"slices"
	"strconv"

	"github.com/leveretmq/leveret"
)

// inChannel runs an operation as the user, with the user's permissions, on a channel of a connection that lasts as long
// as the operation. RabbitMQ does so, too.
func (c *call) inChannel(v *leveret.VHost, run func(*leveret.Channel) error) error {
	return c.inChannelOf(leveret.ConnConfig{VHost: v.Name()}, run)
}

func (c *call) inChannelOf(cfg leveret.ConnConfig, run func(*leveret.Channel) error) error {
	conn, err := c.open(cfg)
	if err != nil {
		return err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	switch {
	case isCode(err, leveret.NotAllowed): // the user has as many channels as there may be
		return errCrash
	case err != nil:
		return err
	}
	return run(ch)
}

// open opens a connection of the user.
func (c *call) open(cfg leveret.ConnConfig) (*leveret.Conn, error) {
	cfg.User, cfg.Name = c.user.Name, "HTTP API of "+c.user.Name
	conn, err := c.broker.Open(cfg)
	if isCode(err, leveret.NotAllowed) || isCode(err, leveret.AccessRefused) {
		return nil, errNoAccess
	}
	return conn, err
}

// operate is inChannel for a declaration, a deletion or a binding: RabbitMQ opens no connection for it, which a limit could refuse, and
// the broker's refusal is told without its code.
func (c *call) operate(v *leveret.VHost, run func(*leveret.Channel) error) error {
	return refusal(c.inChannelOf(leveret.ConnConfig{VHost: v.Name(), Uncounted: true}, run))
}

// take is inChannel for getting messages, of which the whole reply text is told.
func (c *call) take(v *leveret.VHost, run func(*leveret.Channel) error) error {
	err := c.inChannel(v, run)
	switch {
	case isCode(err, leveret.NotFound):
		return notFound(c.replyText(err))
	case isCode(err, leveret.AccessRefused):
		return noPermission(c.replyText(err))
	}
	return c.closing(err)
}

// closing returns what the API says when an error has closed the channel: code and reply text.
func (c *call) closing(err error) error {
	var e *leveret.Error
	if !errors.As(err, &e) {
		return err
	}
	return badRequest(strconv.Itoa(int(e.Code)) + " " + c.replyText(err))
}

func (c *call) replyText(err error) string {
	var e *leveret.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	return c.broker.ReplyText(e)
}

// vhostToChange returns the virtual host of a declaration or a binding.
func (c *call) vhostToChange() (*leveret.VHost, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, notFound("vhost_not_found")
	}
	return v, nil
}

// isCode reports whether the broker refused something with that code.
func isCode(err error, code leveret.Code) bool { return errors.Is(err, code) }

// withKey returns the item with that key, if there is one.
func withKey[T any, K comparable](all []T, key func(T) K, want K) (T, bool) {
	i := slices.IndexFunc(all, func(t T) bool { return key(t) == want })
	if i < 0 {
		var none T
		return none, false
	}
	return all[i], true
}
