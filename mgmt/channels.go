package mgmt

import (
	"fmt"
	"maps"
	"slices"

	"github.com/leveretmq/leveret"
)

func (c *call) channels() (any, error) {
	seen, err := c.seenConnections()
	if err != nil {
		return nil, err
	}
	if c.statsDisabled() && (c.ofVHost || c.listsNoChannels) {
		return nil, errNoStatistics
	}
	if err := c.checkSpansOfClients(); err != nil {
		return nil, err
	}
	l := list{}
	for _, conn := range seen {
		l = append(l, c.channelsOf(conn)...)
	}
	return l, nil
}

func (c *call) channelsOf(conn leveret.ConnInfo) list {
	l := list{}
	for _, ch := range conn.Channels {
		l = append(l, item{vhost: conn.VHost, name: c.channelName(conn, ch.Number), show: func() object {
			o, _ := c.describeChannel(conn, ch) // the spans, which alone can be wrong, are checked
			return o
		}})
	}
	return l
}

func (n *node) channelName(conn leveret.ConnInfo, number uint16) string {
	return fmt.Sprintf("%s (%d)", n.connectionName(conn), number)
}

func (c *call) describeChannel(conn leveret.ConnInfo, ch leveret.ChannelInfo) (object, error) {
	o := object{"name": c.channelName(conn, ch.Number), "number": ch.Number, "node": c.NodeName, "user": conn.User, "vhost": conn.VHost,
		"user_who_performed_action": conn.User, "state": "running", "confirm": ch.Confirm, "transactional": ch.Tx,
		"consumer_count": ch.Consumers, "messages_unacknowledged": ch.Unacked, "messages_uncommitted": ch.Uncommitted,
		"acks_uncommitted": ch.AcksUncommitted, "messages_unconfirmed": 0, "prefetch_count": ch.Prefetch, "cached_segments": 0,
		"pending_raft_commands": 0, "connection_details": c.peer(conn)}
	if c.oldFeatures {
		o["global_prefetch_count"] = ch.GlobalPrefetch
	}
	c.omitUnknown(o)
	if c.statsDisabled() {
		maps.DeleteFunc(o, func(name string, _ any) bool { return !slices.Contains(channelIdentity, name) })
		return o, nil
	}
	s, f := subject{aChannel, "", c.channelName(conn, ch.Number)}, channelFigures(ch.Counters)
	c.showIdle(o, s, f)
	return o, c.messageStats(o, s, f, sumStats)
}

// channelIdentity is what a channel tells without statistics.
var channelIdentity = []string{"name", "number", "node", "user", "vhost", "user_who_performed_action", "connection_details"}

func (c *call) connectionChannels() (any, error) {
	if err := c.checkQueryOfClient(); err != nil {
		return nil, err
	}
	if _, wrong := c.paging(); wrong != nil || c.statsDisabled() { // RabbitMQ does not expect either
		return nil, errCrash
	}
	conn, err := c.pathConnection()
	if err == errNoObject { // which RabbitMQ does not expect either
		return nil, errCrash
	}
	if err != nil {
		return nil, err
	}
	return c.channelsOf(conn), nil
}

func (c *call) channel() (any, error) {
	if err := c.checkQueryOfClient(); err != nil {
		return nil, err
	}
	for _, conn := range c.broker.Connections() {
		for _, ch := range conn.Channels {
			if c.channelName(conn, ch.Number) != c.path("channel") {
				continue
			}
			if err := c.checkOwner(conn.User); err != nil {
				return nil, err
			}
			if c.statsDisabled() && c.listsNoChannels {
				return nil, errNoStatistics
			}
			o, err := c.describeChannel(conn, ch)
			if err != nil || c.statsDisabled() {
				return whole(o), err
			}
			o["consumer_details"], o["deliveries"], o["publishes"] = c.consumersOn(conn, ch.Number), []any{}, []any{}
			return whole(o), nil
		}
	}
	return nil, errNoObject
}

// consumersOn describes the consumers of a channel.
func (c *call) consumersOn(conn leveret.ConnInfo, number uint16) []object {
	v, err := c.broker.VHost(conn.VHost)
	if err != nil {
		return []object{}
	}
	return c.describeConsumers(v, func(cs leveret.ConsumerInfo) bool { return cs.Conn == conn.ID && cs.Channel == number })
}
