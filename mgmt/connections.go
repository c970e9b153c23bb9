package mgmt

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
)

// connectionName returns a connection's name; one that a program opened without a name is named by its number.
func (n *node) connectionName(conn leveret.ConnInfo) string {
	if conn.Name == "" {
		return fmt.Sprintf("<%s.%d>", n.NodeName, conn.ID)
	}
	return conn.Name
}

// ends are the two ends of a connection, which its name tells: peer -> local.
type ends struct{ peer, local netip.AddrPort }

func endsOf(conn leveret.ConnInfo) (e ends) {
	peer, local, _ := strings.Cut(conn.Name, " -> ")
	e.peer, _ = netip.ParseAddrPort(peer)
	e.local, _ = netip.ParseAddrPort(local)
	return e
}

// host is an address as JSON shows it; "unknown" if there is none.
func host(a netip.AddrPort) string {
	if !a.IsValid() {
		return "unknown"
	}
	return a.Addr().String()
}

// peer tells which connection something belongs to.
func (c *call) peer(conn leveret.ConnInfo) object {
	e := endsOf(conn)
	return object{"name": c.connectionName(conn), "peer_host": host(e.peer), "peer_port": e.peer.Port()}
}

// seenConnections returns the connections that the user may see, of one virtual host or of all.
func (c *call) seenConnections() (all []leveret.ConnInfo, err error) {
	v, err := c.vhost()
	if err != nil {
		return nil, err
	}
	open := c.broker.Connections()
	if v != nil {
		open = v.Connections()
	}
	for _, conn := range open {
		if c.isMonitor() || conn.User == c.user.Name {
			all = append(all, conn)
		}
	}
	return all, nil
}

func (c *call) connections() (any, error) {
	seen, err := c.seenConnections()
	if err != nil {
		return nil, err
	}
	if err := c.checkSpansOfClients(); err != nil {
		return nil, err
	}
	l := list{}
	for _, conn := range seen {
		l = append(l, item{vhost: conn.VHost, name: c.connectionName(conn), show: func() object {
			o, _ := c.describeConnection(conn) // the spans, which alone can be wrong, are checked
			return o
		}})
	}
	return l, nil
}

func (c *call) describeConnection(conn leveret.ConnInfo) (object, error) {
	e, t := endsOf(conn), conn.Transport
	o := c.peer(conn)
	for name, value := range map[string]any{
		"user": conn.User, "user_who_performed_action": conn.User, "vhost": conn.VHost, "node": c.NodeName,
		"host": host(e.local), "port": e.local.Port(), "protocol": cmp.Or(t.Protocol, "AMQP 0-9-1"), "type": "network", "state": "running",
		"connected_at": conn.ConnectedAt.UnixMilli(), "channels": len(conn.Channels), "channel_max": conn.ChannelMax,
		"client_properties": fields(conn.ClientPropertyFields), "auth_mechanism": textOrNull(t.Mechanism), "frame_max": t.FrameMax,
		"timeout": int64(t.Heartbeat.Seconds()), "recv_cnt": t.Traffic.Reads, "send_cnt": t.Traffic.Writes, "send_pend": t.Traffic.Pending,
	} {
		o[name] = value
	}
	describeTLS(o, t.TLS)
	c.omitUnknown(o)
	if !e.peer.IsValid() {
		o["type"], o["protocol"] = "direct", "Direct 0-9-1"
	}
	if conn.Blocked {
		o["state"] = "blocked"
	}
	if name, ok := conn.ClientProperties["connection_name"].(string); ok {
		o["user_provided_name"] = name
	}
	if c.statsDisabled() && !c.ofVHost {
		return c.withoutTraffic(o), nil
	}
	var f figures
	f.addTraffic(t.Traffic)
	return o, c.showInAnyCase(o, subject{aConnection, "", c.connectionName(conn)}, f, octets)
}

// withoutTraffic is a connection for a request that wants no statistics. The list of a virtual host's connections tells them in any case.
func (c *call) withoutTraffic(o object) object {
	kept := []string{"name"}
	switch {
	case !c.listsNoChannels:
		for _, name := range []string{"channels", "recv_cnt", "send_cnt", "send_pend", "state"} {
			delete(o, name)
		}
		return o
	case c.path("connection") == "":
		kept = append(kept, "vhost", "user", "node")
	}
	maps.DeleteFunc(o, func(name string, _ any) bool { return !slices.Contains(kept, name) })
	return o
}

// describeTLS adds how a connection is encrypted. Clients' certificates are not looked at.
func describeTLS(o object, t leveret.TLSInfo) {
	o["ssl"] = t != leveret.TLSInfo{}
	o["ssl_protocol"], o["ssl_cipher"] = textOrNull(t.Version), textOrNull(t.CipherSuite)
	for _, name := range unknownOfTLS {
		o[name] = nil
	}
}

// unknownOfTLS are what nobody tells of an encrypted connection.
var unknownOfTLS = []string{"ssl_hash", "ssl_key_exchange", "peer_cert_issuer", "peer_cert_subject", "peer_cert_validity",
	"peer_cert_serial_number"}

// checkQueryOfClient looks at the query of a request about one connection or channel. RabbitMQ reads the query before it looks for them.
func (c *call) checkQueryOfClient() error { return cmp.Or(c.malformed, c.checkStatistics()) }

// pathConnection returns the connection in the path, if the user may see or close it.
func (c *call) pathConnection() (leveret.ConnInfo, error) {
	if err := c.checkQueryOfClient(); err != nil {
		return leveret.ConnInfo{}, err
	}
	return c.findConnection()
}

func (c *call) findConnection() (leveret.ConnInfo, error) {
	conn, ok := withKey(c.broker.Connections(), c.connectionName, c.path("connection"))
	if !ok {
		return conn, errNoObject
	}
	return conn, c.checkOwner(conn.User)
}

func (c *call) connection() (any, error) {
	conn, err := c.pathConnection()
	if err != nil {
		return nil, err
	}
	o, err := c.describeConnection(conn)
	for _, name := range slices.Concat(unknownOfTLS, []string{"ssl_protocol", "ssl_cipher"}) {
		if value, told := o[name]; told && value == nil {
			o[name] = "" // null only in lists
		}
	}
	return whole(o), err
}

// connectionSessions refuses to tell of sessions, which only AMQP 1.0 has.
func (c *call) connectionSessions() (any, error) {
	if _, err := c.findConnection(); err != nil {
		return nil, err
	}
	return nil, badRequest("connection does not use AMQP 1.0")
}

// closeReason is what the client of a closed connection is told.
func (c *call) closeReason() string {
	if reason := c.request.Header.Get("X-Reason"); reason != "" {
		return reason
	}
	return "Closed via management plugin"
}

func (c *call) closeConnection() (any, error) {
	conn, err := c.pathConnection()
	if err != nil {
		return nil, err
	}
	return nil, c.closeOne(conn)
}

// closeOne closes a connection that may have ended meanwhile.
func (c *call) closeOne(conn leveret.ConnInfo) error {
	err := c.broker.CloseConnection(conn.ID, c.closeReason())
	if isCode(err, leveret.NotFound) {
		return nil
	}
	return invalid(err)
}

// connectionsOf returns the connections of the user in the path.
func (c *call) connectionsOf() (all []leveret.ConnInfo, err error) {
	name := c.path("user")
	if err := c.checkOwner(name); err != nil {
		return nil, err
	}
	for _, conn := range c.broker.Connections() {
		if conn.User == name {
			all = append(all, conn)
		}
	}
	return all, nil
}

func (c *call) userConnections() (any, error) {
	all, err := c.connectionsOf()
	l := list{}
	for _, conn := range all {
		l = append(l, shown(object{"name": c.connectionName(conn), "vhost": conn.VHost, "user": conn.User, "node": c.NodeName}))
	}
	return l, err
}

func (c *call) closeUserConnections() (any, error) {
	all, err := c.connectionsOf()
	if err != nil {
		return nil, err
	}
	for _, conn := range all {
		if err := c.closeOne(conn); err != nil {
			return nil, err
		}
	}
	return nil, nil
}
