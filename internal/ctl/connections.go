package ctl

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
)

// Connections and channels.

func connectionCommands() []*command {
	return []*command{
		{
			name: "list_connections", usage: "list_connections [--no-table-headers] [<column> ...]",
			about: "Lists connections.", table: true, timeout: true, run: listConnections,
			columns: []string{
				"pid", "name", "port", "host", "peer_port", "peer_host", "ssl", "ssl_protocol", "ssl_key_exchange",
				"ssl_cipher", "ssl_hash", "peer_cert_subject", "peer_cert_issuer", "peer_cert_serial_number",
				"peer_cert_validity", "state", "channels", "protocol", "auth_mechanism", "user", "vhost", "container_id",
				"timeout", "frame_max", "channel_max", "client_properties", "recv_oct", "recv_cnt", "send_oct", "send_cnt",
				"send_pend", "connected_at",
			},
			note: "pid names the connection for close_connection. recv_* and send_* count what is encrypted as what it was before.\n" +
				"container_id and peer_cert_* are empty: clients speak AMQP 0-9-1, and are not asked for certificates.\n",
			banner: func(*call) string { return "Listing connections ..." },
		},
		{
			name: "list_channels", usage: "list_channels [--no-table-headers] [<column> ...]",
			about: "Lists channels.", table: true, run: listChannels,
			columns: []string{
				"pid", "connection", "name", "number", "user", "vhost", "transactional", "confirm", "consumer_count",
				"messages_unacknowledged", "messages_uncommitted", "acks_uncommitted", "messages_unconfirmed", "prefetch_count",
			},
			banner: func(*call) string { return "Listing channels ..." },
		},
		{
			name: "close_connection", usage: "close_connection <connection pid> <explanation>",
			about: "Closes a connection, named by its pid in list_connections.", min: 2, max: 2, run: closeConnection,
			banner: func(c *call) string { return "Closing connection " + c.args[0] + ", reason: " + c.args[1] + "..." },
		},
		{
			name: "close_all_connections",
			usage: "close_all_connections [--vhost <vhost> --limit <limit>] [-n <node> --global] " +
				"[--per-connection-delay <delay>] <explanation>",
			about: "Closes the connections to a virtual host, or all.", min: 1, max: 1,
			switches: map[string]kind{"global": boolean, "limit": integer, "per-connection-delay": integer},
			banner:   closeAllBanner, run: closeAllConnections,
		},
	}
}

func listConnections(c *call) (result, error) {
	r := result{listing: true}
	columns := c.columnsOr("user", "peer_host", "peer_port", "state")
	for _, info := range c.node.Broker.Connections() {
		ends := parseEnds(info.Name)
		r.rows = append(r.rows, pick(columns, func(column string) any { return c.connectionItem(info, ends, column) }))
	}
	return r, nil
}

// ends are the two ends of a connection, which its name tells: peer -> local.
type ends struct{ peer, local netip.AddrPort }

func parseEnds(name string) ends {
	peer, local, _ := strings.Cut(name, " -> ")
	var e ends
	e.peer, _ = netip.ParseAddrPort(peer)
	e.local, _ = netip.ParseAddrPort(local)
	return e
}

func port(a netip.AddrPort) any {
	if !a.IsValid() {
		return none
	}
	return a.Port()
}

func (c *call) connectionItem(info leveret.ConnInfo, e ends, column string) any {
	switch column {
	case "pid":
		return pid{node: c.node.Name, connection: info.ID}
	case "name":
		return info.Name
	case "port":
		return port(e.local)
	case "host":
		return address{e.local.Addr()}
	case "peer_port":
		return port(e.peer)
	case "peer_host":
		return address{e.peer.Addr()}
	case "state":
		if info.Blocked {
			return word("blocked")
		}
		return word("running")
	case "channels":
		return len(info.Channels)
	case "protocol":
		return tuple{0, 9, 1}
	case "user":
		return info.User
	case "vhost":
		return info.VHost
	case "client_properties":
		return arguments(sortedFields(info.ClientProperties))
	case "connected_at":
		return info.ConnectedAt.UnixMilli()
	}
	return transportItem(info, column)
}

// transportItem is a column about what carries a connection. No connection is from a container, and the certificates of
// clients are not asked for.
func transportItem(info leveret.ConnInfo, column string) any {
	t := info.Transport
	switch column {
	case "auth_mechanism":
		return orNone(t.Mechanism)
	case "timeout":
		return int64(t.Heartbeat / time.Second)
	case "frame_max":
		return t.FrameMax
	case "channel_max":
		return info.ChannelMax
	case "recv_oct":
		return int64(t.Traffic.Received)
	case "recv_cnt":
		return int64(t.Traffic.Reads)
	case "send_oct":
		return int64(t.Traffic.Sent)
	case "send_cnt":
		return int64(t.Traffic.Writes)
	case "send_pend":
		return t.Traffic.Pending
	case "ssl":
		return t.TLS != leveret.TLSInfo{}
	}
	return tlsItem(t.TLS, column)
}

func listChannels(c *call) (result, error) {
	r := result{listing: true}
	columns := c.columnsOr("pid", "user", "consumer_count", "messages_unacknowledged")
	for _, conn := range c.node.Broker.Connections() {
		for _, ch := range conn.Channels {
			r.rows = append(r.rows, pick(columns, func(column string) any { return c.channelItem(conn, ch, column) }))
		}
	}
	return r, nil
}

func (c *call) channelItem(conn leveret.ConnInfo, ch leveret.ChannelInfo, column string) any {
	switch column {
	case "pid":
		return pid{c.node.Name, conn.ID, ch.Number}
	case "connection":
		return pid{node: c.node.Name, connection: conn.ID}
	case "name":
		return fmt.Sprintf("%s (%d)", conn.Name, ch.Number)
	case "number":
		return ch.Number
	case "user":
		return conn.User
	case "vhost":
		return conn.VHost
	case "transactional":
		return ch.Tx
	case "confirm":
		return ch.Confirm
	case "consumer_count":
		return ch.Consumers
	case "messages_unacknowledged":
		return ch.Unacked
	case "messages_uncommitted":
		return ch.Uncommitted
	case "acks_uncommitted":
		return ch.AcksUncommitted
	case "messages_unconfirmed":
		return 0 // a publish is confirmed before the next one is read
	case "prefetch_count":
		return ch.Prefetch
	}
	panic("no such column of a channel: " + column)
}

// closeConnection succeeds when the connection is gone already.
func closeConnection(c *call) (result, error) {
	p, ok := parsePid(c.args[0])
	if !ok {
		return result{}, failed(exitUnavailable, "Error:\n{:invalid_pid_syntax, "+quoted(c.args[0])+"}")
	}
	if p.node != c.node.Name || p.channel != 0 {
		return result{}, nil
	}
	return result{}, ignoreMissing(c.node.Broker.CloseConnection(p.connection, c.args[1]))
}

func closeAllBanner(c *call) string {
	reason := ", reason: " + c.args[0] + "..."
	limit := c.number("limit")
	switch {
	case c.is("global", false):
		return "Closing all connections to node " + c.node.Name + " (across all vhosts)" + reason
	case limit == 0:
		return "Closing all connections in vhost " + c.vhostName() + reason
	}
	return fmt.Sprintf("Closing %d connections in vhost %s%s", limit, c.vhostName(), reason)
}

// closeAllConnections applies the limit to one virtual host only, as rabbitmqctl does.
func closeAllConnections(c *call) (result, error) {
	infos := c.node.Broker.Connections()
	if !c.is("global", false) {
		infos = inVHost(infos, c.vhostName())
		if limit := c.number("limit"); limit > 0 && limit < int64(len(infos)) {
			infos = infos[:limit]
		}
	}
	for i, info := range infos {
		if i > 0 {
			time.Sleep(time.Duration(c.number("per-connection-delay")) * time.Millisecond)
		}
		err := c.node.Broker.CloseConnection(info.ID, c.args[0])
		if err != nil && !errors.Is(err, leveret.ErrNotFound) {
			return result{}, err
		}
	}
	return result{message: fmt.Sprintf("Closed %d connections", len(infos)), done: true}, nil
}

func inVHost(all []leveret.ConnInfo, vhost string) []leveret.ConnInfo {
	var infos []leveret.ConnInfo
	for _, info := range all {
		if info.VHost == vhost {
			infos = append(infos, info)
		}
	}
	return infos
}
