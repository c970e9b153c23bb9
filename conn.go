package leveret

import (
	"cmp"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/leveretmq/leveret/internal/wire"
)

// A Conn is an authenticated client's connection to one virtual host. Exclusive queues belong
// to it and go with it.
type Conn struct {
	v            *vhost
	id           uint64
	cfg          ConnConfig
	super        bool
	impersonates bool // its user might impersonate others when it was opened
	opened       time.Time
	done         chan struct{}
	err          error
	told         bool // its client, of its end
	channels     map[uint16]*Channel
	numbers      channelNumbers      // of channels
	exclusives   map[*Queue]struct{} // those that exist
	blockedBy    atomic.Uint32       // alarms that it has been told of; also read without the lock
	logged       logMark             // what the connection has done and its client has not been told, see WhenDurable
	telling      telling
}

// ConnConfig describes a connection whose user has been authenticated.
type ConnConfig struct {
	User, VHost string

	// The rest is for listeners, which open connections for remote clients.

	Name             string // for listings: "127.0.0.1:50000 -> 127.0.0.1:5672"
	ClientProperties Table
	// ClientPropertyFields are the client properties in the order and with the duplicates that a client sent. When they are not nil,
	// ClientProperties is not looked at.
	ClientPropertyFields Fields
	CancelNotify         bool             // the client is told when the broker ends a consumer (consumer_cancel_notify)
	ChannelMax           int              // how many channels may be open, at most 65535; 0: 2047; NoLimit: any number
	Inbox                *Inbox           // what the client is told without asking; nil: each consumer has an inbox of its own. See Channel.Close
	Describe             func() Transport // what carries the connection, asked without any lock; nil: Transport is zero

	// Uncounted is for single operations of an operator's tool, such as the management API: no limit counts the connection and its
	// channels or refuses them, and no event tells of them.
	Uncounted bool
}

// defaultChannelMax is how many channels a connection may have if nobody says otherwise.
// Rules: C-16.
const defaultChannelMax = wire.ChannelMax

// maxChannelNumber is the largest number of a channel: the protocol has 16 bits for it.
const maxChannelNumber = 65535

// Connect opens a connection for a user with a password. A wrong user or password is ErrAccessRefused;
// a missing virtual host, one the user has no permissions for, and reached limits are ErrNotAllowed.
func (b *Broker) Connect(user, password, vhost string) (*Conn, error) {
	if err := b.Authenticate(user, password); err != nil {
		return nil, err
	}
	return b.Open(ConnConfig{User: user, VHost: vhost, CancelNotify: true})
}

// Open opens a connection for a user who has been authenticated already, by Authenticate or by
// other means. Errors are those of Connect, and one that is [ErrSyntax] for
// client properties that AMQP does not have.
// Rules.
func (b *Broker) Open(cfg ConnConfig) (*Conn, error) {
	if cfg.ChannelMax == 0 {
		cfg.ChannelMax = defaultChannelMax
	}
	negative := cfg.ChannelMax < 0 && cfg.ChannelMax != NoLimit
	if negative || cfg.ChannelMax > maxChannelNumber {
		return nil, SyntaxError.errorf("", "a connection has at most %d channels, not %d", maxChannelNumber, cfg.ChannelMax)
	}
	properties, e := canonicalArguments(cfg.ClientProperties, cfg.ClientPropertyFields)
	if e != nil {
		return nil, e
	}
	cfg.ClientProperties, cfg.ClientPropertyFields = properties.Table(), properties
	// The limit of the node comes first.
	if err := b.takeConn(&cfg); err != nil {
		return nil, err
	}
	c, err := b.open(cfg)
	if err != nil && !cfg.Uncounted {
		b.sessions.releaseOfNode(&b.sessions.conns)
	}
	return c, err
}

// open opens a connection that the node has room for.
// Rules.
func (b *Broker) open(cfg ConnConfig) (*Conn, error) {
	v, err := b.VHost(cfg.VHost)
	if err != nil {
		return nil, connectionRefused(cfg.VHost, "vhost %s not found", cfg.VHost)
	}
	c := &Conn{v: &v.vhost, cfg: cfg, done: make(chan struct{}), channels: map[uint16]*Channel{}}
	v.lock()
	defer v.unlock()
	// The limits come before the permission.
	if err := v.hasRoomLocked(&cfg); err != nil {
		return nil, err
	}
	access := b.access.Load()
	limit := access.limits(cfg.User).MaxConnections
	if !cfg.Uncounted && !b.sessions.take(&b.sessions.conns, cfg.User, limit) {
		return nil, connectionRefused(cfg.User,
			"connection refused for user '%s': user connection limit (%d) is reached", cfg.User, limit)
	}
	if !access.hasVHost(cfg.User, cfg.VHost) {
		if !cfg.Uncounted {
			b.sessions.release(&b.sessions.conns, cfg.User)
		}
		return nil, connectionRefused(cfg.VHost, "access to vhost '%s' refused for user '%s'", cfg.VHost, cfg.User)
	}
	c.impersonates = access.isImpersonator(cfg.User)
	v.admitLocked(c)
	return c, nil
}

// connectionRefused is the refusal of a connection because of the virtual host or the user of that name.
func connectionRefused(name, format string, args ...any) *Error {
	err := NotAllowed.errorf(name, format, args...)
	err.Op = "connection.open"
	return err
}

// hasRoomLocked refuses a connection if the virtual host has as many as it may have.
// Rules: A-12.
func (v *vhost) hasRoomLocked(cfg *ConnConfig) error {
	if v.closed {
		return ErrClosed
	}
	if n := v.meta.Limits.MaxConnections; n >= 0 && !cfg.Uncounted && len(v.conns)-v.uncounted >= n {
		return connectionRefused(v.name,
			"access to vhost '%s' refused for user '%s': connection limit (%d) is reached", v.name, cfg.User, n)
	}
	return nil
}

func (v *vhost) admitLocked(c *Conn) {
	if c.cfg.Uncounted {
		v.uncounted++
	}
	c.id = v.b.lastConn.Add(1)
	c.opened = v.timeLocked()
	if in := c.cfg.Inbox; in != nil {
		in.attach(v)
	}
	v.conns[c.id] = c
	v.connectionEventLocked(c, nil)
	c.tellAlarmsLocked(v.b.Alarms())
}

// ID returns the connection's number, unique in its broker.
func (c *Conn) ID() uint64 { return c.id }

// User returns the name of the connection's user.
func (c *Conn) User() string { return c.cfg.User }

// VHost returns the connection's virtual host.
func (c *Conn) VHost() *VHost { return c.v.handle }

// Done returns a channel that is closed when the connection has ended, by Close or by the broker.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns nil while the connection is open and then an error that is ErrClosed, with the
// broker's reason if it had one.
func (c *Conn) Err() error {
	c.v.lock()
	defer c.v.unlock()
	return c.err
}

// Channel opens a channel with the lowest free number.
func (c *Conn) Channel() (*Channel, error) { return c.OpenChannel(0) }

// OpenChannel opens the channel of that number, or with the lowest free one for 0. A number in
// use is ErrChannel and ends the connection; reached limits are ErrNotAllowed and end it too.
func (c *Conn) OpenChannel(number uint16) (*Channel, error) {
	c.v.lock()
	defer c.v.unlock()
	if c.err != nil {
		return nil, c.err
	}
	if number == 0 {
		number = c.numbers.lowestFree()
	}
	if err := c.admitChannelLocked(number); err != nil {
		err.Op = "channel.open"
		c.endLocked(err)
		return nil, err
	}
	ch := &Channel{conn: c, v: c.v, number: number, consumers: map[string]*Consumer{}, tally: new(tally)}
	c.channels[number] = ch
	c.numbers.add(number)
	c.v.channelEventLocked(ch, nil)
	return ch, nil
}

// mostChannels is how many channels may be open. Without a limit there are as many as there are numbers.
func (cfg *ConnConfig) mostChannels() int {
	if cfg.ChannelMax == NoLimit {
		return maxChannelNumber
	}
	return cfg.ChannelMax
}

// Rules: A-12, C-16.
func (c *Conn) admitChannelLocked(number uint16) *Error {
	if c.channels[number] != nil {
		return &Error{Code: ChannelError, Reason: wire.SecondOpen}
	}
	if n := c.cfg.mostChannels(); len(c.channels) >= n {
		return &Error{Code: NotAllowed, Reason: wire.TooManyChannels(len(c.channels), n)}
	}
	return c.takeChannel()
}

func (c *Conn) releaseChannel() {
	if s := &c.v.b.sessions; !c.super && !c.cfg.Uncounted {
		s.release(&s.channels, c.cfg.User)
		s.releaseOfNode(&s.channels)
	}
}

// release counts the connection no more among those of its user and of the node.
func (c *Conn) release() {
	if s := &c.v.b.sessions; !c.cfg.Uncounted {
		s.release(&s.conns, c.cfg.User)
		s.releaseOfNode(&s.conns)
	}
}

// Close ends the connection: its channels close, and its exclusive queues are gone when it
// returns. Closing a closed connection returns nil.
func (c *Conn) Close() error {
	c.v.lock()
	c.endLocked(nil)
	c.v.unlock()
	return nil
}

// endLocked ends the connection; reason is nil if the client wants it.
// Rules: E-8, Q-31.
func (c *Conn) endLocked(reason *Error) {
	if c.err != nil {
		return
	}
	c.err = closedBy(reason)
	v := c.v
	channels := c.sortedChannelsLocked()
	slices.SortStableFunc(channels, failedFirst) // as they mostly have less to do in RabbitMQ
	for _, ch := range channels {
		ch.detachLocked(reason)
	}
	for _, ch := range channels {
		ch.giveBackLocked(reason)
	}
	for _, q := range slices.SortedFunc(maps.Keys(c.exclusives), byQueueName) {
		if !q.deleted { // in between
			v.removeQueueLocked(q, CauseOwnerGone)
		}
		v.tookLocked(1)
		v.restLocked()
	}
	c.goneLocked(reason)
}

// failedFirst compares the channels of a connection by whether an error has closed them.
func failedFirst(a, b *Channel) int {
	switch {
	case (a.err != nil) == (b.err != nil):
		return 0
	case a.err != nil:
		return -1
	}
	return 1
}

func byQueueName(a, b *Queue) int { return cmp.Compare(a.name, b.name) }

// goneLocked follows the end of a connection. Nothing is left of it to do if the node went down in between, and did so.
func (c *Conn) goneLocked(reason *Error) {
	v := c.v
	if c.super {
		close(c.done)
		return
	}
	if v.conns[c.id] != c {
		return
	}
	close(c.done)
	delete(v.conns, c.id)
	if c.cfg.Uncounted {
		v.uncounted--
	}
	c.release()
	v.connectionEventLocked(c, reason)
	c.tellClosedLocked(reason)
}

// tellClosedLocked tells the client, once, why the connection ends. Reason is nil if the client has ended it.
func (c *Conn) tellClosedLocked(reason *Error) {
	if in := c.cfg.Inbox; in != nil && reason != nil && !c.told {
		c.told = true
		in.putLocked(Notification{Kind: ConnClosed, Err: reason})
	}
}

// ownLocked makes c the owner of an exclusive queue.
// Rules: Q-31.
func (c *Conn) ownLocked(q *Queue) {
	q.owner = c
	if c.exclusives == nil {
		c.exclusives = map[*Queue]struct{}{}
	}
	c.exclusives[q] = struct{}{}
}

func (c *Conn) sortedChannelsLocked() []*Channel {
	all := make([]*Channel, 0, len(c.channels))
	for _, ch := range c.channels {
		all = append(all, ch)
	}
	slices.SortFunc(all, func(a, b *Channel) int { return cmp.Compare(a.number, b.number) })
	return all
}

func (v *vhost) sortedConnsLocked() []*Conn {
	all := make([]*Conn, 0, len(v.conns))
	for _, c := range v.conns {
		all = append(all, c)
	}
	slices.SortFunc(all, func(x, y *Conn) int { return cmp.Compare(x.id, y.id) })
	return all
}
