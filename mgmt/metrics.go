package mgmt

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Metrics in Prometheus's text format, under the names of RabbitMQ's prometheus plugin: the sums at /metrics, the objects
// at /metrics/per-object, and chosen families of objects at /metrics/detailed. As with RabbitMQ nobody has to log in.

// metricsContentType is the version of the text format.
const metricsContentType = "text/plain; version=0.0.4; charset=utf-8"

// serveMetrics answers a path that begins with /metrics, and reports whether there is such a path.
func (n *node) serveMetrics(w http.ResponseWriter, r *http.Request) bool {
	x := &exposition{prefix: "rabbitmq_", wanted: func(string) bool { return true }}
	endpoint := "aggregated"
	switch strings.TrimSuffix(r.URL.Path, "/") {
	case "/metrics":
		n.exposeSums(x)
	case "/metrics/per-object":
		endpoint = "per-object"
		n.exposeTotals(x)
		n.exposeObjects(x, nil)
	case "/metrics/detailed":
		endpoint = "detailed"
		x.prefix = "rabbitmq_detailed_"
		q := r.URL.Query()
		x.wanted = func(family string) bool { return slices.Contains(q["family"], family) }
		n.exposeObjects(x, q["vhost"])
	default:
		return false
	}
	n.exposeIdentity(x, endpoint)
	w.Header().Set("Content-Type", metricsContentType)
	w.Write(x.out)
	return true
}

// exposeIdentity adds the two metrics that dashboards join all others with. The endpoint is one of RabbitMQ's names for
// what is exposed.
func (n *node) exposeIdentity(x *exposition, endpoint string) {
	x.prefix = "rabbitmq_"
	x.family("build_info", untyped, "The release that the broker behaves as, and Go's version in the place of Erlang's")
	x.sample(1, "rabbitmq_version", n.version(), "prometheus_plugin_version", n.version(), "prometheus_client_version", n.version(),
		"erlang_version", erlangVersion())
	x.family("identity_info", untyped, "The node and its cluster")
	x.sample(1, "rabbitmq_node", n.NodeName, "rabbitmq_cluster", n.clusterName(), "rabbitmq_cluster_permanent_id", n.clusterID,
		"rabbitmq_endpoint", endpoint)
}

// exposeSums adds what is not about single objects, and the sums of what is.
func (n *node) exposeSums(x *exposition) {
	n.exposeTotals(x)
	exposeSum(x, queueMetrics, n.allQueues(nil))
	conns := n.broker.Connections()
	exposeSum(x, connectionMetrics, conns)
	exposeSum(x, channelMetrics, n.allChannels(conns))
	exposeSum(x, exchangeMetrics, n.allExchanges(nil))
}

// exposeTotals adds the figures of the process and of the whole broker.
func (n *node) exposeTotals(x *exposition) {
	p, memory := n.process(), n.broker.Memory()
	conns := n.broker.Connections()
	consumers, queues := 0, 0
	for _, v := range n.broker.VHosts() {
		queues += v.Queues
		if v, err := n.broker.VHost(v.Name); err == nil {
			consumers += len(v.Consumers())
		}
	}
	for _, m := range []struct {
		name, kind, help string
		value            int64
	}{
		{"connections_opened_total", counter, "Connections that were opened", n.churn.connectionCreated.Load()},
		{"connections_closed_total", counter, "Connections that were closed or have ended", n.churn.connectionClosed.Load()},
		{"channels_opened_total", counter, "Channels that were opened", n.churn.channelCreated.Load()},
		{"channels_closed_total", counter, "Channels that were closed or have ended", n.churn.channelClosed.Load()},
		{"queues_declared_total", counter, "Queues that were declared", n.churn.queueDeclared.Load()},
		{"queues_created_total", counter, "Queues that were made", n.churn.queueDeclared.Load()},
		{"queues_deleted_total", counter, "Queues that were deleted", n.churn.queueDeleted.Load()},
		{"process_open_fds", gauge, "Open files", p.fds},
		{"process_max_fds", gauge, "How many files may be open", p.maxFDs},
		{"process_resident_memory_bytes", gauge, "Memory that the Go runtime has from the system", p.memory},
		{"resident_memory_limit_bytes", gauge, "Limit of the memory alarm; 0: none", memory.Limit},
		{"disk_space_available_bytes", gauge, "Free space where the program runs", p.disk},
		{"disk_space_available_limit_bytes", gauge, "Limit of a disk alarm, which there is not", 0},
		{"connections", gauge, "Open connections", int64(len(conns))},
		{"channels", gauge, "Open channels", int64(len(n.allChannels(conns)))},
		{"consumers", gauge, "Consumers", int64(consumers)},
		{"queues", gauge, "Queues", int64(queues)},
	} {
		x.family(m.name, m.kind, m.help)
		x.sample(float64(m.value))
	}
	exposeCounters(x, n.broker.Counters())
	x.family("global_consumers", gauge, "Consumers")
	x.sample(float64(consumers), "protocol", protocol)
	x.family("global_publishers", gauge, "Channels that have published")
	x.sample(float64(publishers(n.allChannels(conns))), "protocol", protocol)
	x.family("erlang_uptime_seconds", gauge, "How long the API has been there")
	x.sample(time.Since(n.started).Seconds())
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
