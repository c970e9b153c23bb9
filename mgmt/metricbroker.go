package mgmt

import (
	"time"

	"github.com/leveretmq/leveret"
)

// The figures of the node: of its process, and of the whole broker.

// nodeMetrics are RabbitMQ's figures of a node.
var nodeMetrics = catalogue[*node]{
	values: func(*node, *node) []string { return nil },
	metrics: []metric[*node]{
		{"connection_churn_metrics", "connections_opened_total", CounterMetric, "Connections that were opened", func(n *node) float64 { return float64(n.churn.connectionCreated.Load()) }},
		{"connection_churn_metrics", "connections_closed_total", CounterMetric, "Connections that were closed or have ended", func(n *node) float64 { return float64(n.churn.connectionClosed.Load()) }},
		{"connection_churn_metrics", "channels_opened_total", CounterMetric, "Channels that were opened", func(n *node) float64 { return float64(n.churn.channelCreated.Load()) }},
		{"connection_churn_metrics", "channels_closed_total", CounterMetric, "Channels that were closed or have ended", func(n *node) float64 { return float64(n.churn.channelClosed.Load()) }},
		{"connection_churn_metrics", "queues_declared_total", CounterMetric, "Queues that were declared", func(n *node) float64 { return float64(n.churn.queueDeclared.Load()) }},
		{"connection_churn_metrics", "queues_created_total", CounterMetric, "Queues that were made", func(n *node) float64 { return float64(n.churn.queueDeclared.Load()) }},
		{"connection_churn_metrics", "queues_deleted_total", CounterMetric, "Queues that were deleted", func(n *node) float64 { return float64(n.churn.queueDeleted.Load()) }},
		{"node_coarse_metrics", "process_open_fds", GaugeMetric, "Open files", func(n *node) float64 { return float64(openFiles()) }},
		{"node_coarse_metrics", "process_resident_memory_bytes", GaugeMetric, "Memory that the Go runtime has from the system", func(n *node) float64 { return float64(heldMemory()) }},
		{"node_coarse_metrics", "disk_space_available_bytes", GaugeMetric, "Free space where the broker has its directory, or where the program runs", func(n *node) float64 { return float64(n.freeSpace()) }},
		{"node_metrics", "process_max_fds", GaugeMetric, "How many files may be open", func(n *node) float64 { return float64(maxFiles()) }},
		{"node_metrics", "resident_memory_limit_bytes", GaugeMetric, "Limit of the memory alarm; 0: none", func(n *node) float64 { return float64(n.broker.Memory().Limit) }},
		{"node_metrics", "disk_space_available_limit_bytes", GaugeMetric, "Limit of the disk alarm; 0: none", func(n *node) float64 { return float64(n.diskLimit()) }},
		{"node_metrics", "erlang_uptime_seconds", GaugeMetric, "How long the API has been there", func(n *node) float64 { return time.Since(n.started).Seconds() }},
	},
}

// attempts are the attempts to log in over one protocol.
type attempts struct {
	protocol string
	leveret.AuthAttempts
}

var attemptMetrics = catalogue[attempts]{
	labels: []string{"protocol"},
	values: func(_ *node, a attempts) []string { return []string{a.protocol} },
	metrics: []metric[attempts]{
		{"auth_attempt_metrics", "auth_attempts_total", CounterMetric, "Attempts to log in", func(a attempts) float64 { return float64(a.Succeeded + a.Failed) }},
		{"auth_attempt_metrics", "auth_attempts_succeeded_total", CounterMetric, "Attempts to log in that succeeded", func(a attempts) float64 { return float64(a.Succeeded) }},
		{"auth_attempt_metrics", "auth_attempts_failed_total", CounterMetric, "Attempts to log in that failed", func(a attempts) float64 { return float64(a.Failed) }},
	},
}

// attempts returns the attempts to log in, in RabbitMQ's order of protocols.
func (n *node) attempts() (all []attempts) {
	counted := n.broker.AuthAttempts()
	for _, p := range []string{httpProtocol, protocol} {
		if c, ok := counted[p]; ok {
			all = append(all, attempts{p, c})
		}
	}
	return all
}

// exposeBroker adds the figures of the process and of the whole broker.
func (n *node) exposeBroker(x *exposition, m measured) {
	exposeEach(x, n, nodeMetrics, []*node{n})
	exposeEach(x, n, attemptMetrics, n.attempts())
	consumers := 0
	for _, v := range n.broker.VHosts() {
		if v, err := n.broker.VHost(v.Name); err == nil {
			consumers += len(v.Consumers())
		}
	}
	for _, f := range []struct {
		name, help string
		value      int
	}{
		{"connections", "Open connections", len(m.conns)},
		{"channels", "Open channels", len(m.channels)},
		{"consumers", "Consumers", consumers},
		{"queues", "Queues", len(m.queues)},
		{"unreachable_cluster_peers_count", "Other nodes, of which there are none", 0},
	} {
		x.family(f.name, GaugeMetric, f.help)
		x.sample(float64(f.value))
	}
	exposeCounters(x, n.broker.Counters())
	x.family("global_consumers", GaugeMetric, "Consumers", "protocol")
	x.sample(float64(consumers), protocol)
	x.family("global_publishers", GaugeMetric, "Channels that have published", "protocol")
	x.sample(float64(publishers(m.channels)), protocol)
	n.exposeAlarms(x)
}

// exposeAlarms adds which alarms are in force.
func (n *node) exposeAlarms(x *exposition) {
	on := func(a leveret.Alarm) float64 {
		if n.broker.Alarms()&a != 0 {
			return 1
		}
		return 0
	}
	if n.oldFeatures {
		x.family("alarms_file_descriptor_limit", UntypedMetric, "1 while too many files are open; there is no such alarm")
		x.sample(0)
	}
	x.family("alarms_free_disk_space_watermark", UntypedMetric, "1 while the disk alarm is in force")
	x.sample(on(leveret.DiskAlarm))
	x.family("alarms_memory_used_watermark", UntypedMetric, "1 while the memory alarm is in force")
	x.sample(on(leveret.MemoryAlarm))
}

// publishers counts the channels on which something was published.
func publishers(all []measuredChannel) (n int) {
	for _, ch := range all {
		if ch.Counters.Published > 0 || ch.Uncommitted > 0 {
			n++
		}
	}
	return n
}
