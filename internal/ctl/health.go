package ctl

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/pcre"
)

// The health checks of rabbitmq-diagnostics. A node that answers runs, so most of them can only succeed.

func healthCommands() []*command {
	return append([]*command{
		{name: "check_alarms", usage: "check_alarms", timeout: true, about: "Fails if an alarm is in force.", run: checkAlarms,
			banner: asking("to report any local resource alarms ...")},
		{name: "alarms", usage: "alarms", timeout: true, about: "Lists the alarms that are in force.", run: listAlarms,
			banner: asking("to report any known resource alarms ...")},
		{name: "check_port_listener", usage: "check_port_listener <port>", timeout: true, min: 1, max: 1, validate: validatePort,
			about: "Fails if no listener has the port.", run: checkPort,
			banner: func(c *call) string {
				return "Asking node " + c.node.Name + " if there's an active listener on port " + c.args[0] + " ..."
			}},
		{name: "check_protocol_listener", usage: "check_protocol_listener <protocol>", timeout: true, min: 1, max: 1,
			about: "Fails if no listener serves the protocol: amqp, amqp/ssl or http.", run: checkProtocol,
			banner: func(c *call) string {
				return "Asking node " + c.node.Name + " if there's an active listener for protocol " + c.args[0] + " ..."
			}},
		{name: "check_port_connectivity", usage: "check_port_connectivity [--address <address>]", timeout: true,
			switches: map[string]kind{"address": text}, aliases: map[byte]string{'a': "address"},
			about: "Fails if a connection to a listener cannot be opened.", run: checkConnectivity,
			banner: func(c *call) string {
				return "Testing TCP connections to all active listeners on node " + c.node.Name + " using hostname resolution ..."
			}},
		{name: "check_certificate_expiration", usage: "check_certificate_expiration [--within <period>] [--unit <unit>]",
			switches: map[string]kind{"within": integer, "unit": text}, validate: validatePeriod,
			about: "Fails if a certificate of the node expires soon.", run: checkCertificates,
			banner: func(c *call) string {
				return "Checking certificate expiration for all certificates on node " + c.node.Name + " ..."
			}},
		{name: "listeners", usage: "listeners", timeout: true, about: "Lists the listeners.", run: listListeners,
			banner: asking("to report its protocol listeners ...")},
		{name: "list_policies_that_match", usage: "list_policies_that_match [--object-type <type>] <name>", min: 1, max: 1,
			switches: map[string]kind{"object-type": text}, about: "Lists the policies whose pattern and kind match a queue or an exchange.",
			run: listMatchingPolicies, validate: prettyByDefault,
			banner: func(c *call) string {
				return "Listing policies that match " + c.text("object-type", "queue") + " '" + c.args[0] + "' in vhost '" + c.vhostName() + "' ..."
			}},
	}, passedChecks()...)
}

func asking(what string) func(*call) string {
	return func(c *call) string { return "Asking node " + c.node.Name + " " + what }
}

// ok is what JSON shows of a check that succeeded.
func ok(more ...item) row { return append(row{{"result", "ok"}}, more...) }

// passedChecks are those that succeed on every node that answers.
func passedChecks() []*command {
	const running, booted = "RabbitMQ on node %s is fully booted and running",
		"RabbitMQ on node %s is fully booted (check with is_running), stopped or has not started booting yet"
	store := passing{"Checking if metadata store on node %s has finished initializing ...",
		"Metadata store on node %s has completed its initialization", func(string) row { return ok() }}
	const notRunning = "RabbitMQ on node %s is not running or has not fully booted yet (check with is_booting)"
	said := func(more ...item) func(string) row {
		return func(message string) row { return append(row{{"message", message}}, more...) }
	}
	critical := func(string) row {
		return row{{"message", "Target node seems to be the only one in a single node cluster, the check does not apply"}, {"result", "ok"}}
	}
	return []*command{
		whileDown(passing{"Checking if RabbitMQ is running on node %s ...", running, said()}.command("check_running", "Succeeds if the node runs."),
			func(c *call) (result, error) {
				return result{}, failed(exitUnavailable, strings.ReplaceAll(notRunning, "%s", c.node.Name))
			}),
		whileDown(passing{"Asking node %s for its status ...", running, said(item{"result", true})}.command("is_running", "Says whether the node runs."),
			passing{"", notRunning, said(item{"result", false})}.command("", "").run),
		whileDown(passing{"Asking node %s for its boot status ...", booted, said(item{"result", false})}.command("is_booting", "Says whether the node is starting."), nil),
		hiding(passing{"Checking if all vhosts are running on node %s ...", "Node %s reported all vhosts as running", func(string) row { return ok() }}.
			command("check_virtual_hosts", "Succeeds if all virtual hosts can be used.")),
		hiding(passing{"This command is DEPRECATED and is a no-op. It will be removed in a future version.", "Node %s reported no local alarms",
			func(string) row { return ok() }}.command("check_local_alarms", "Does nothing; check_alarms is for alarms.")),
		passing{"Checking if node %s is critical for quorum of any queues/streams ...",
			"Node %s seems to be the only one in a single node cluster, the check does not apply", critical}.
			command("check_if_node_is_quorum_critical", "Succeeds: there is one node."),
		whileDown(store.command("check_if_metadata_store_is_initialized", "Succeeds if the node runs."), noStore),
		whileDown(store.command("check_if_metadata_store_is_initialized_with_data", "Succeeds if the node runs."), noStore),
		{name: "node_health_check", usage: "node_health_check", timeout: true, about: "Does nothing; check_running and others are for checks.",
			run: func(*call) (result, error) { return result{}, nil },
			banner: func(*call) string {
				return "This command is DEPRECATED and is a no-op. It will be removed in a future version. \n" +
					"Use one of the options covered in https://www.rabbitmq.com/monitoring.html#health-checks instead."
			}},
		{name: "server_version", offline: true, usage: "server_version", timeout: true, about: "Shows the release of RabbitMQ that the node behaves as.",
			banner: func(c *call) string { return "Asking node " + c.node.Name + " for its RabbitMQ version..." },
			run: func(c *call) (result, error) {
				v := release[c.node.Broker.Profile()]
				return result{message: v, object: row{{"value", v}, {"result", "ok"}}}, nil
			}},
	}
}

// A passing check has a banner, a text and what JSON shows; %s stands for the node.
type passing struct {
	banner, text string
	object       func(message string) row
}

func (p passing) command(name, about string) *command {
	return &command{name: name, usage: name, timeout: true, about: about,
		banner: func(c *call) string { return strings.ReplaceAll(p.banner, "%s", c.node.Name) },
		run: func(c *call) (result, error) {
			message := strings.ReplaceAll(p.text, "%s", c.node.Name)
			return result{message: message, object: p.object(message)}, nil
		}}
}

// whileDown has a check do something else while the broker is stopped; nil: the same.
func whileDown(cmd *command, other func(*call) (result, error)) *command {
	cmd.offline = true
	if run := cmd.run; other != nil {
		cmd.run = func(c *call) (result, error) {
			if c.node.Broker.Serving() {
				return run(c)
			}
			return other(c)
		}
	}
	return cmd
}

func noStore(c *call) (result, error) {
	return result{}, failed(exitUnavailable, "Metadata store on node "+c.node.Name+" reports to not yet have finished initialization")
}

// hiding makes a check that succeeds say nothing with --silent.
func hiding(cmd *command) *command {
	run := cmd.run
	cmd.run = func(c *call) (result, error) {
		r, err := run(c)
		return c.hushed(r), err
	}
	return cmd
}

// hushed is a result without a message for a silent caller.
func (c *call) hushed(r result) result {
	if c.is("silent", false) {
		r.message = ""
	}
	return r
}

// alarmLines says which alarms are in force.
func (c *call) alarmLines() (lines []string) {
	for _, resource := range eachAlarm(c.node.Broker) {
		what := "Memory alarm on node "
		if resource == "disk" {
			what = "Free disk space alarm on node "
		}
		lines = append(lines, what+c.node.Name)
	}
	return lines
}

// alarmObjects are the alarms in force as JSON shows them.
func (n *Node) alarmObjects() []any {
	all := []any{}
	for _, resource := range eachAlarm(n.Broker) {
		all = append(all, row{{"node", n.Name}, {"type", "resource_limit"}, {"resource", resource}})
	}
	return all
}

func (c *call) noAlarms() string {
	return "Node " + c.node.Name + " reported no alarms, local or clusterwide"
}

// alarmed is what JSON shows of alarms.
func (c *call) alarmed(result string, lines []string) row {
	return row{{"global", []string{}}, {"local", lines}, {"message", "Node " + c.node.Name + " reported alarms"}, {"result", result}}
}

func checkAlarms(c *call) (result, error) {
	found := c.alarmLines()
	if found == nil {
		return c.hushed(result{message: c.noAlarms(), object: ok()}), nil
	}
	f := &failure{exitUnavailable, strings.Join(found, "\n"), c.alarmed("error", found)}
	if c.is("silent", false) {
		f.text = ""
	}
	return result{}, f
}

func listAlarms(c *call) (result, error) {
	found := c.alarmLines()
	if found == nil {
		return result{message: c.noAlarms(), object: row{{"node", c.node.Name}, {"result", "ok"}, {"alarms", []any{}}}}, nil
	}
	return result{message: strings.Join(found, "\n"), object: c.alarmed("ok", found)}, nil
}

func validatePort(c *call) error {
	if n, err := strconv.Atoi(c.args[0]); err != nil || n <= 0 {
		return badArgument("Argument must be a positive integer")
	}
	return nil
}

// sortedPorts are the ports of the listeners, as a text.
func (n *Node) sortedPorts() string {
	var ports []int
	for _, l := range n.Listeners {
		ports = append(ports, l.Port)
	}
	slices.Sort(ports)
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(slices.Compact(ports)), " ", ", "), "[]")
}

func (n *Node) listenerObjects() []any {
	all := []any{}
	for _, l := range n.Listeners {
		all = append(all, row{{"node", n.Name}, {"port", l.Port}, {"protocol", l.Protocol}, {"interface", l.Interface}, {"purpose", l.purpose()}})
	}
	return all
}

func checkPort(c *call) (result, error) {
	n, port := c.node, c.args[0]
	if slices.ContainsFunc(n.Listeners, func(l Listener) bool { return strconv.Itoa(l.Port) == port }) {
		return result{message: "A listener for port " + port + " is running on node " + n.Name + ".",
			object: row{{"node", n.Name}, {"port", port}, {"result", "ok"}}}, nil
	}
	return result{}, &failure{exitUnavailable,
		"No listener for port " + port + " is active on node " + n.Name + ". Found listeners that use the following ports: " + n.sortedPorts(),
		row{{"listeners", n.listenerObjects()}, {"missing", port}, {"result", "error"}}}
}

// protocolNames are other names of protocols.
var protocolNames = map[string]string{
	"amqp091": "amqp", "amqp0.9.1": "amqp", "amqp0-9-1": "amqp", "amqp0_9_1": "amqp", "amqp10": "amqp", "amqp1.0": "amqp", "amqp1-0": "amqp",
	"amqp1_0": "amqp", "amqps": "amqp/ssl", "http1": "http", "http1.1": "http", "http_api": "http", "management": "http",
	"management_ui": "http", "ui": "http", "cli": "clustering", "distribution": "clustering",
}

func checkProtocol(c *call) (result, error) {
	n, protocol := c.node, strings.ToLower(c.args[0])
	if known, ok := protocolNames[protocol]; ok {
		protocol = known
	}
	var served []string
	for _, l := range n.Listeners {
		served = append(served, l.Protocol)
	}
	if slices.Contains(served, protocol) {
		return result{message: "A listener for protocol " + protocol + " is running on node " + n.Name + ".",
			object: row{{"node", n.Name}, {"protocol", protocol}, {"result", "ok"}}}, nil
	}
	slices.Sort(served)
	served = slices.Compact(served)
	f := failed(exitUnavailable, "No listener for protocol "+protocol+" is active on node "+n.Name+
		". Found listeners for the following protocols: "+strings.Join(served, ", "))
	f.object = row{{"listeners", n.listenerObjects()}, {"missing", protocol}, {"protocols", served}, {"result", "error"}}
	return result{}, f
}

func listListeners(c *call) (result, error) {
	lines := make([]string, len(c.node.Listeners))
	for i, l := range c.node.Listeners {
		lines[i] = l.line()
	}
	return result{message: strings.Join(lines, "\n"),
		object: row{{"node", c.node.Name}, {"result", "ok"}, {"listeners", c.node.listenerObjects()}}}, nil
}

// connectLimit is how long a connection to a listener of this machine may take.
const connectLimit = 5 * time.Second

// checkConnectivity connects to each listener, at its own address or at the one that is given.
func checkConnectivity(c *call) (result, error) {
	var tried, broken []string
	for _, l := range c.node.Listeners {
		address := net.JoinHostPort(c.text("address", "localhost"), strconv.Itoa(l.Port))
		tried = append(tried, "Will connect to "+address)
		conn, err := net.DialTimeout("tcp", address, connectLimit)
		if err != nil {
			broken = append(broken, l.line())
			continue
		}
		conn.Close()
	}
	prefix := ""
	if !c.quiet() {
		prefix = strings.Join(tried, "\n") + "\n"
	}
	if broken != nil {
		return result{}, failed(exitUnavailable, "Connection to ports of the following listeners on node "+c.node.Name+" failed: \n"+strings.Join(broken, "\n"))
	}
	how := "node hostname resolution"
	if address, given := c.options["address"]; given {
		how = address + " for target IP address"
	}
	return result{message: prefix + "Successfully connected to ports " + c.node.sortedPorts() + " on node " + c.node.Name + " (using " + how + ")",
		object: row{{"node", c.node.Name}, {"result", "ok"}, {"listeners", c.node.listenerObjects()}}}, nil
}

// periods are the units of --unit.
var periods = map[string]func(t time.Time, n int) time.Time{
	"days":   func(t time.Time, n int) time.Time { return t.AddDate(0, 0, n) },
	"weeks":  func(t time.Time, n int) time.Time { return t.AddDate(0, 0, 7*n) },
	"months": func(t time.Time, n int) time.Time { return t.AddDate(0, n, 0) },
	"years":  func(t time.Time, n int) time.Time { return t.AddDate(n, 0, 0) },
}

const defaultWeeks = 4

func (c *call) period() (n int, unit string) {
	if _, ok := c.options["within"]; ok {
		return int(c.number("within")), strings.ToLower(c.text("unit", "weeks"))
	}
	return defaultWeeks, strings.ToLower(c.text("unit", "weeks"))
}

func validatePeriod(c *call) error {
	if _, unit := c.period(); periods[unit] == nil {
		return &misuse{exitUsage, `"unit '` + unit + `' is not supported. Please use one of: days, weeks, months, years"`}
	}
	return nil
}

func checkCertificates(c *call) (result, error) {
	n, unit := c.period()
	until := periods[unit](time.Now(), n)
	var expiring []string
	for _, cert := range c.node.Certificates {
		if cert.NotAfter.Before(until) {
			expiring = append(expiring, expiryOf(cert))
		}
	}
	if expiring != nil {
		return result{}, failed(exitUnavailable, "Certificates of node "+c.node.Name+" that expire: \n"+strings.Join(expiring, "\n"))
	}
	if n == 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	return result{message: fmt.Sprintf("No certificates are expiring within %d %s.", n, unit), object: ok()}, nil
}

func expiryOf(cert *x509.Certificate) string {
	return cert.Subject.String() + " on " + cert.NotAfter.UTC().Format(time.RFC3339)
}

// listMatchingPolicies lists the policies of a virtual host whose patterns and kinds match an object, that with the
// highest priority first.
func listMatchingPolicies(c *call) (result, error) {
	v, err := c.vhost()
	if err != nil {
		return result{}, err
	}
	kinds := []leveret.ApplyTo{leveret.ApplyToAll, leveret.ApplyToExchanges}
	if c.text("object-type", "queue") == "queue" {
		q, err := v.Queue(c.args[0])
		if err != nil {
			return c.noObject()
		}
		kinds = []leveret.ApplyTo{leveret.ApplyToAll, leveret.ApplyToQueues, leveret.ApplyTo(q.Info().Type + "_queues")}
	} else if _, err := v.Exchange(c.args[0]); err != nil {
		return c.noObject()
	}
	policies := v.Policies()
	slices.SortStableFunc(policies, func(a, b leveret.Policy) int { return cmp.Compare(b.Priority, a.Priority) })
	var rows []row
	for _, p := range policies {
		pattern, fault := pcre.Compile(p.Pattern, c.dialect())
		if slices.Contains(kinds, cmp.Or(p.ApplyTo, leveret.ApplyToAll)) && fault == nil && pattern.Match(c.args[0]) {
			rows = append(rows, policyRow(v.Name(), p))
		}
	}
	if c.text("formatter", "") == "json" {
		return result{object: row{{"policies", objects(rows)}, {"result", "ok"}}}, nil
	}
	return result{rows: rows, listing: true, blank: true}, nil
}

// objects are rows as an array.
func objects(rows []row) []any {
	all := make([]any, len(rows))
	for i, r := range rows {
		all[i] = r
	}
	return all
}

// prettyByDefault has a listing in a frame unless another format is asked for.
func prettyByDefault(c *call) error {
	if c.text("formatter", "") == "" {
		c.options["formatter"] = "pretty_table"
	}
	return nil
}

// dialect is that of the node's patterns.
func (c *call) dialect() pcre.Version {
	if c.node.Broker.Profile() == leveret.RabbitMQ310 {
		return pcre.PCRE1
	}
	return pcre.PCRE2
}

func (c *call) noObject() (result, error) {
	if c.text("formatter", "") == "json" {
		return result{object: row{{"message", "object (queue, exchange) not found"}, {"policies", []any{}}, {"result", "error"}}}, nil
	}
	return result{}, &failure{exitData, "Object (queue, stream, exchange, etc) was not found", nil}
}
