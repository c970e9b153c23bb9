package leveret

import (
	"sync"

	"github.com/leveretmq/leveret/internal/wire"
)

// NodeLimits bound what a broker has altogether; 0 is no limit. rabbitmq.conf has them as max_connections,
// channel_max_per_node, consumer_max_per_channel and vhost_max.
type NodeLimits struct {
	MaxConnections         int // in all virtual hosts
	MaxChannels            int // of all connections
	MaxConsumersPerChannel int // a consumer of direct replies does not count
	MaxVHosts              int // with "/"
}

// WithNodeLimits sets limits of the whole broker. The default is that there are none. What is beyond a limit is refused: a
// connection, a channel or a consumer with [ErrNotAllowed], a virtual host with [ErrPreconditionFailed].
//
// Rules: A-15.
func WithNodeLimits(l NodeLimits) Option {
	return func(b *Broker) {
		for _, n := range []int{l.MaxConnections, l.MaxChannels, l.MaxConsumersPerChannel, l.MaxVHosts} {
			demand(n >= 0, "WithNodeLimits(%+v): no limit is negative", l)
		}
		b.limits = l
	}
}

// NodeLimits returns the limits that [WithNodeLimits] has set.
func (b *Broker) NodeLimits() NodeLimits { return b.limits }

// sessions counts connections and channels, those of each user and all, for the limits of users and of the node. Its lock is
// a leaf.
type sessions struct {
	mu       sync.Mutex
	conns    sessionCount
	channels sessionCount
}

type sessionCount struct {
	all    int
	ofUser map[string]int
}

func (s *sessions) init() { s.conns.ofUser, s.channels.ofUser = map[string]int{}, map[string]int{} }

// take adds one to those of the user unless limit (negative: none) is reached.
func (s *sessions) take(c *sessionCount, user string, limit int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit >= 0 && c.ofUser[user] >= limit {
		return false
	}
	c.ofUser[user]++
	return true
}

// takeOfNode adds one to all unless limit (0: none) is reached.
func (s *sessions) takeOfNode(c *sessionCount, limit int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit > 0 && c.all >= limit {
		return false
	}
	c.all++
	return true
}

func (s *sessions) release(c *sessionCount, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.ofUser[user]--; c.ofUser[user] <= 0 {
		delete(c.ofUser, user)
	}
}

func (s *sessions) releaseOfNode(c *sessionCount) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.all--
}

// takeConn counts one more connection among those of the node.
// Rules: A-15.
func (b *Broker) takeConn(cfg *ConnConfig) *Error {
	if n := b.limits.MaxConnections; !cfg.Uncounted && !b.sessions.takeOfNode(&b.sessions.conns, n) {
		return connectionRefused("", "connection refused: node connection limit (%d) is reached", n)
	}
	return nil
}

// takeChannel counts one more channel among those of its user and of the node.
// Rules.
func (c *Conn) takeChannel() *Error {
	if c.cfg.Uncounted {
		return nil
	}
	b, user := c.v.b, c.cfg.User
	ofUser := b.access.Load().limits(user).MaxChannels
	if !b.sessions.take(&b.sessions.channels, user, ofUser) {
		text := "number of channels opened for user '%s' has reached the maximum allowed user limit of %d"
		if c.v.rules.bareRefusals {
			text = "number of channels opened for user '%s' has reached the maximum allowed user limit of (%d)"
		}
		return NotAllowed.errorf(user, text, user, ofUser)
	}
	if n := b.limits.MaxChannels; !b.sessions.takeOfNode(&b.sessions.channels, n) {
		b.sessions.release(&b.sessions.channels, user)
		return NotAllowed.errorf("", "number of channels opened on node '%s' has reached the maximum allowed limit of %d", wire.NodeName, n)
	}
	return nil
}

// admitConsumerLocked refuses a consumer that would be one too many.
// Rules: A-15.
func (ch *Channel) admitConsumerLocked() *Error {
	n := ch.v.b.limits.MaxConsumersPerChannel
	if n == 0 || len(ch.consumers) < n {
		return nil
	}
	return NotAllowed.errorf("", "reached maximum (%d) of consumers per channel", n)
}

// admitVHostLocked refuses a virtual host that would be one too many.
// Rules: A-15.
func (b *Broker) admitVHostLocked(name string) error {
	if n := b.limits.MaxVHosts; n > 0 && len(b.vhosts) >= n {
		return PreconditionFailed.errorf(name, "cannot create vhost '%s': vhost limit of %d is reached", name, n)
	}
	return nil
}
