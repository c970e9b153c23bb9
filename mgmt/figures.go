package mgmt

import (
	"slices"

	"github.com/leveretmq/leveret"
)

// Figures are what has rates and samples. Lengths go up and down; the others only grow.

// A figure is one of them.
type figure uint8

const (
	messages figure = iota
	messagesReady
	messagesUnacked
	publish
	confirm
	returnUnroutable
	dropUnroutable
	publishIn
	publishOut
	get
	getNoAck
	getEmpty
	deliver
	deliverNoAck
	deliverGet
	redeliver
	ack
	recvOct
	sendOct
	memUsed
	fdUsed
	procUsed
	diskFree
	numFigures
)

// figureTable has the name of each figure in answers, and how the parameters begin that ask for its samples.
var figureTable = [numFigures]struct{ name, span string }{
	messages:         {"messages", "lengths"},
	messagesReady:    {"messages_ready", "lengths"},
	messagesUnacked:  {"messages_unacknowledged", "lengths"},
	publish:          {"publish", "msg_rates"},
	confirm:          {"confirm", "msg_rates"},
	returnUnroutable: {"return_unroutable", "msg_rates"},
	dropUnroutable:   {"drop_unroutable", "msg_rates"},
	publishIn:        {"publish_in", "msg_rates"},
	publishOut:       {"publish_out", "msg_rates"},
	get:              {"get", "msg_rates"},
	getNoAck:         {"get_no_ack", "msg_rates"},
	getEmpty:         {"get_empty", "msg_rates"},
	deliver:          {"deliver", "msg_rates"},
	deliverNoAck:     {"deliver_no_ack", "msg_rates"},
	deliverGet:       {"deliver_get", "msg_rates"},
	redeliver:        {"redeliver", "msg_rates"},
	ack:              {"ack", "msg_rates"},
	recvOct:          {"recv_oct", "data_rates"},
	sendOct:          {"send_oct", "data_rates"},
	memUsed:          {"mem_used", "node_stats"},
	fdUsed:           {"fd_used", "node_stats"},
	procUsed:         {"proc_used", "node_stats"},
	diskFree:         {"disk_free", "node_stats"},
}

// The figures of each kind of object.
var (
	lengths     = []figure{messages, messagesReady, messagesUnacked}
	octets      = []figure{recvOct, sendOct}
	nodeFigures = []figure{memUsed, fdUsed, procUsed, diskFree}
)

// The groups of figures that message_stats is made of. A group is there when one of its figures is.
var (
	publishes     = []figure{publish, confirm, returnUnroutable, dropUnroutable}
	deliveries    = []figure{get, getNoAck, getEmpty, deliver, deliverNoAck, deliverGet, redeliver, ack}
	queueStats    = [][]figure{{publish}, deliveries}
	exchangeStats = [][]figure{{publishIn}, {publishOut}}
	sumStats      = [][]figure{publishes, deliveries} // of a channel, a virtual host and the node
)

// figures are the values of all figures of one object at one moment; those that it does not have are 0.
type figures [numFigures]int64

func queueFigures(info leveret.QueueInfo, c leveret.QueueCounters) figures {
	f := figures{messages: int64(info.Messages), messagesReady: int64(info.Ready), messagesUnacked: int64(info.Unacked),
		publish: int64(c.Published)}
	f.setDeliveries(c.DeliveryCounters)
	return f
}

func sumFigures(p leveret.PublishCounters, d leveret.DeliveryCounters) figures {
	f := figures{publish: int64(p.Published), confirm: int64(p.Confirmed), returnUnroutable: int64(p.UnroutableReturned),
		dropUnroutable: int64(p.UnroutableDropped)}
	f.setDeliveries(d)
	return f
}

func brokerFigures(c leveret.Counters) figures {
	return sumFigures(c.PublishCounters, c.DeliveryCounters)
}

func channelFigures(c leveret.ChannelCounters) figures {
	return sumFigures(c.PublishCounters, c.DeliveryCounters)
}

func exchangeFigures(c leveret.ExchangeCounters) figures {
	return figures{publishIn: int64(c.Published), publishOut: int64(c.RoutedCopies)}
}

// setDeliveries sets what is told of deliveries. RabbitMQ counts as ack what a client has acknowledged.
func (f *figures) setDeliveries(c leveret.DeliveryCounters) {
	f[get], f[getNoAck], f[getEmpty] = int64(c.Got), int64(c.GotNoAck), int64(c.GetEmpty)
	f[deliver], f[deliverNoAck] = int64(manual(c)), int64(c.DeliveredNoAck)
	f[deliverGet], f[redeliver], f[ack] = int64(c.Delivered), int64(c.Redelivered), int64(acks(c))
}

// manual counts deliveries to consumers that need an acknowledgement.
func manual(c leveret.DeliveryCounters) uint64 {
	return c.Delivered - c.DeliveredNoAck - c.Got - c.GotNoAck
}

// acks counts the deliveries that clients have acknowledged.
func acks(c leveret.DeliveryCounters) uint64 { return c.Acknowledged - c.DeliveredNoAck - c.GotNoAck }

// addLengths adds a queue's lengths to those of its virtual host.
func (f *figures) addLengths(info leveret.QueueInfo) {
	f[messages] += int64(info.Messages)
	f[messagesReady] += int64(info.Ready)
	f[messagesUnacked] += int64(info.Unacked)
}

func (f *figures) addTraffic(t leveret.Traffic) {
	f[recvOct] += int64(t.Received)
	f[sendOct] += int64(t.Sent)
}

// any reports whether one of the figures is not zero.
func (f *figures) any(which []figure) bool {
	for _, w := range which {
		if f[w] != 0 {
			return true
		}
	}
	return false
}

// A subject is what figures are about.
type subject struct {
	kind        subjectKind
	vhost, name string
}

type subjectKind uint8

const (
	aQueue subjectKind = iota
	aVHost
	anExchange
	aConnection
	aChannel
	theNode // the sum of everything, and the process
)

// span is how the parameters begin that ask for the samples of a figure. A virtual host has those of its lengths with its messages.
func (s subject) span(f figure) string {
	span := figureTable[f].span
	if s.kind == aVHost && span == "lengths" {
		return "msg_rates"
	}
	return span
}

// snapshot returns the figures of everything there is.
func (n *node) snapshot() map[subject]figures {
	all := map[subject]figures{}
	total := brokerFigures(n.broker.Counters())
	for _, info := range n.broker.VHosts() {
		if v, err := n.broker.VHost(info.Name); err == nil {
			f := n.vhostFigures(v, all)
			for _, w := range slices.Concat(lengths, octets) {
				total[w] += f[w]
			}
			all[subject{aVHost, v.Name(), ""}] = f
		}
	}
	total.addProcess(n.process())
	all[subject{theNode, "", ""}] = total
	return all
}

// vhostFigures returns the figures of a virtual host, and adds those of what is in it to all.
func (n *node) vhostFigures(v *leveret.VHost, all map[subject]figures) figures {
	f := brokerFigures(v.Counters())
	for _, info := range v.Queues() {
		f.addLengths(info)
		if q, err := v.Queue(info.Name); err == nil {
			all[subject{aQueue, v.Name(), info.Name}] = queueFigures(info, q.Counters())
		}
	}
	for _, info := range v.Exchanges() {
		all[subject{anExchange, v.Name(), info.Name}] = exchangeFigures(info.Counters)
	}
	for _, conn := range v.Connections() {
		for _, ch := range conn.Channels {
			all[subject{aChannel, "", n.channelName(conn, ch.Number)}] = channelFigures(ch.Counters)
		}
		var of figures
		of.addTraffic(conn.Transport.Traffic)
		f.addTraffic(conn.Transport.Traffic)
		all[subject{aConnection, "", n.connectionName(conn)}] = of
	}
	return f
}

// show puts figures into an object, each with its details.
func (c *call) show(o object, s subject, f figures, which []figure) error {
	if c.statsDisabled() {
		return nil
	}
	return c.showInAnyCase(o, s, f, which)
}

// showInAnyCase is show, also if the request wants no statistics.
func (c *call) showInAnyCase(o object, s subject, f figures, which []figure) error {
	for _, w := range which {
		details, err := c.details(s, w, f[w])
		if err != nil {
			return err
		}
		o[figureTable[w].name] = f[w]
		o[figureTable[w].name+"_details"] = details
	}
	return nil
}

// messageStats puts message_stats into an object, with the groups of figures of which something has happened already.
func (c *call) messageStats(o object, s subject, f figures, groups [][]figure) error {
	if c.statsDisabled() {
		return nil
	}
	return c.messageStatsInAnyCase(o, s, f, groups)
}

// messageStatsInAnyCase is messageStats, also if the request wants no statistics.
func (c *call) messageStatsInAnyCase(o object, s subject, f figures, groups [][]figure) error {
	stats := object{}
	for _, group := range groups {
		if !f.any(group) {
			continue
		}
		o["message_stats"] = stats
		if err := c.showInAnyCase(stats, s, f, group); err != nil {
			return err
		}
	}
	return nil
}

// errNoStatistics is the refusal of what RabbitMQ has only with statistics.
var errNoStatistics = badRequest("Stats in management UI are disabled on this node")

// statsDisabled reports whether the request wants no statistics.
func (c *call) statsDisabled() bool { return c.query("disable_stats") == "true" }
