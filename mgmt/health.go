package mgmt

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/leveretmq/leveret"
)

// ok is the answer of a health check that is passed.
func ok() check { return check{"status": "ok"} }

// failed is the answer of one that is not.
func failed(reason string, more object) reply {
	o := check{"status": "failed", "reason": reason}
	for name, value := range more {
		o[name] = value
	}
	return reply{status: http.StatusServiceUnavailable, body: o}
}

// healthy is a check of something that one node in one process always is.
func (c *call) healthy() (any, error) { return ok(), nil }

const connectionLimitReached = "node connection limit is reached"

// checkConnectionLimit asks whether one more client may connect.
func (c *call) checkConnectionLimit() (any, error) {
	if _, room := c.roomForConnections(); !room {
		return failed(connectionLimitReached, nil), nil
	}
	return ok(), nil
}

func (c *call) checkServing() (any, error) {
	if open, room := c.roomForConnections(); !room {
		return failed(connectionLimitReached, object{"connections": open}), nil
	}
	return ok(), nil
}

// roomForConnections is how many clients are connected, and whether one more may be.
func (c *call) roomForConnections() (open int, room bool) {
	open = len(c.broker.Connections())
	limit := c.broker.NodeLimits().MaxConnections
	return open, limit == 0 || open < limit
}

// nodeHealthy is healthy for this node, which is the only one.
func (c *call) nodeHealthy() (any, error) {
	if c.path("node") != c.NodeName {
		return nil, errNoObject
	}
	return ok(), nil
}

func (c *call) checkAlarms() (any, error) {
	var found []object
	for _, a := range []leveret.Alarm{leveret.MemoryAlarm, leveret.DiskAlarm} {
		if c.broker.Alarms()&a != 0 {
			found = append(found, object{"node": c.NodeName, "resource": a.String()})
		}
	}
	if found == nil {
		return ok(), nil
	}
	return failed("There are alarms in effect in the cluster", object{"alarms": found}), nil
}

// checkVHosts finds every virtual host running, as they always are.
func (c *call) checkVHosts() (any, error) { return ok(), nil }

func (c *call) checkQuorum() (any, error) {
	return check{"status": "ok", "reason": "single node cluster"}, nil
}

func (c *call) checkPort() (any, error) {
	port, err := strconv.Atoi(c.path("port"))
	if err != nil {
		return nil, badRequest("Invalid port")
	}
	ports := []int{}
	for _, l := range c.Listeners {
		ports = append(ports, l.Port)
	}
	if !slices.Contains(ports, port) {
		return failed("No active listener", object{"missing": port, "ports": ports}), nil
	}
	return check{"status": "ok", "port": port}, nil
}

// checkProtocols looks for listeners. A RabbitMQ always has the one for its cluster, too.
func (c *call) checkProtocols() (any, error) {
	active := []string{"clustering"}
	for _, l := range c.Listeners {
		if !slices.Contains(active, l.Protocol) {
			active = append(active, l.Protocol)
		}
	}
	slices.Sort(active)
	if c.checksOneProtocol {
		slices.Reverse(active)
		return checkProtocol(c.protocolNamed(c.path("protocol")), active), nil
	}
	missing := []string{}
	for wanted := range strings.SplitSeq(c.path("protocol"), ",") {
		if wanted = c.protocolNamed(wanted); !slices.Contains(active, wanted) {
			missing = append(missing, wanted)
		}
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	if len(missing) > 0 {
		return failed("No active listener", object{"missing": missing, "protocols": active}), nil
	}
	return check{"status": "ok", "protocols": active}, nil
}

// checkProtocol is the check of RabbitMQ 3.10, which takes a comma for a part of the name.
func checkProtocol(wanted string, active []string) any {
	if !slices.Contains(active, wanted) {
		return failed("No active listener", object{"missing": wanted, "protocols": active})
	}
	return check{"status": "ok", "protocol": wanted}
}

// protocolNames are the names that a check may call protocols by, beside those that listeners have.
var protocolNames = map[string]string{
	"amqp091": "amqp", "amqp0.9.1": "amqp", "amqp0-9-1": "amqp", "amqp0_9_1": "amqp",
	"amqp10": "amqp", "amqp1.0": "amqp", "amqp1-0": "amqp", "amqp1_0": "amqp",
	"amqps": "amqp/ssl",
	"http1": "http", "http1.1": "http", "http_api": "http", "management": "http", "management_ui": "http", "ui": "http",
	"cli": "clustering", "distribution": "clustering",
	"mqtt31": "mqtt", "mqtt3.1": "mqtt", "mqtt3_1": "mqtt", "mqtt311": "mqtt", "mqtt3.1.1": "mqtt", "mqtt3_1_1": "mqtt",
	"mqtts": "mqtt/ssl", "mqtt+tls": "mqtt/ssl", "mqtt+ssl": "mqtt/ssl",
	"stomp10": "stomp", "stomp1.0": "stomp", "stomp1_0": "stomp", "stomp11": "stomp", "stomp1.1": "stomp", "stomp1_1": "stomp",
	"stomp12": "stomp", "stomp1.2": "stomp", "stomp1_2": "stomp",
	"stomps": "stomp/ssl", "stomp+tls": "stomp/ssl", "stomp+ssl": "stomp/ssl",
}

// clusteringOverTLS are names of the protocol within a cluster, which 3.10 does not know.
var clusteringOverTLS = []string{"cli/ssl", "cli/tls", "distribution/ssl", "distribution/tls"}

// webProtocol matches the names of protocols over WebSockets; with an underscore there is none over TLS.
var webProtocol = regexp.MustCompile(`^(?:web[-_]?(mqtt|stomp)|web-?(mqtt|stomp)[/+](?:tls|ssl))$`)

// protocolNamed returns the name that listeners have for what a check may call otherwise.
func (c *call) protocolNamed(name string) string {
	name = strings.ToLower(name)
	if known, ok := protocolNames[name]; ok {
		return known
	}
	if slices.Contains(clusteringOverTLS, name) && !c.checksOneProtocol {
		return "clustering/ssl"
	}
	switch web := webProtocol.FindStringSubmatch(name); {
	case web == nil:
		return name
	case web[1] != "":
		return "http/web-" + web[1]
	default:
		return "https/web-" + web[2]
	}
}

// anInteger matches what Erlang reads as an integer.
var anInteger = regexp.MustCompile(`^[+-]?[0-9]+$`)

// checkCertificates looks at the form of the time only: nobody tells the API of certificates.
func (c *call) checkCertificates() (any, error) {
	if !anInteger.MatchString(c.path("within")) {
		return nil, badRequest("Invalid expiration value.")
	}
	switch strings.ToLower(c.path("unit")) {
	case "days", "weeks", "months", "years":
		return ok(), nil
	}
	return nil, badRequest("Time unit not recognised. Supported units: days, weeks, months, years.")
}

// aliveness looks whether a channel of the virtual host can be had. RabbitMQ 4.3 does no more; 3.10 sends a message and gets it back.
func (c *call) aliveness() (any, error) {
	v, err := c.vhost()
	if err == nil {
		err = c.take(v, func(ch *leveret.Channel) error {
			if !c.sendsAliveness {
				return nil
			}
			return sendAndGet(ch)
		})
	}
	if err != nil {
		return nil, err
	}
	return ok(), nil
}

func sendAndGet(ch *leveret.Channel) error {
	const queue = "aliveness-test"
	if _, err := ch.DeclareQueue(queue, leveret.QueueConfig{}); err != nil {
		return err
	}
	if _, err := ch.Publish("", queue, leveret.Message{Body: []byte("test_message")}); err != nil {
		return err
	}
	_, _, err := ch.Get(queue, leveret.GetConfig{NoAck: true})
	return err
}
