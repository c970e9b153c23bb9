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
	queueStats  = []figure{publish, deliverGet, redeliver, ack}
	vhostStats  = []figure{publish, confirm, returnUnroutable, dropUnroutable, deliverGet, redeliver, ack}
	octets      = []figure{recvOct, sendOct}
	nodeFigures = []figure{memUsed, fdUsed, procUsed, diskFree}
)

// figures are the values of all figures of one object at one moment; those that it does not have are 0.
type figures [numFigures]int64

func queueFigures(info leveret.QueueInfo, c leveret.QueueCounters) figures {
	return figures{
		messages: int64(info.Messages), messagesReady: int64(info.Ready), messagesUnacked: int64(info.Unacked),
		publish: int64(c.Enqueued), deliverGet: int64(c.Delivered), redeliver: int64(c.Redelivered), ack: int64(c.Acknowledged),
	}
}

func brokerFigures(c leveret.Counters) figures {
	return figures{
		publish: int64(c.Published), confirm: int64(c.Confirmed), returnUnroutable: int64(c.UnroutableReturned),
		dropUnroutable: int64(c.UnroutableDropped), deliverGet: int64(c.Delivered), redeliver: int64(c.Redelivered),
		ack: int64(c.Acknowledged),
	}
}

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
	aConnection
	theNode // the sum of everything, and the process
)

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

// vhostFigures returns the figures of a virtual host, and adds those of its queues and connections to all.
func (n *node) vhostFigures(v *leveret.VHost, all map[subject]figures) figures {
	f := brokerFigures(v.Counters())
	for _, info := range v.Queues() {
		f.addLengths(info)
		if q, err := v.Queue(info.Name); err == nil {
			all[subject{aQueue, v.Name(), info.Name}] = queueFigures(info, q.Counters())
		}
	}
	for _, conn := range v.Connections() {
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

// messageStats puts message_stats into an object, unless nothing has happened there yet.
func (c *call) messageStats(o object, s subject, f figures, which []figure) error {
	if !f.any(which) || c.statsDisabled() {
		return nil
	}
	stats := object{}
	o["message_stats"] = stats
	return c.show(stats, s, f, which)
}

// statsDisabled reports whether the request wants no statistics.
func (c *call) statsDisabled() bool { return c.query("disable_stats") == "true" }
