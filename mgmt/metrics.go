package mgmt

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/pcre"
)

// Metrics in Prometheus's text format, under the names of RabbitMQ's prometheus plugin: the sums at /metrics, the objects
// at /metrics/per-object, and chosen families of objects at /metrics/detailed. As with RabbitMQ nobody has to log in.

// Metrics are the figures of a broker, for programs that show them in another way than [Handler] does. The module
// github.com/leveretmq/leveret/leveretprom makes a collector for Prometheus's Go library of them.
type Metrics struct{ node *node }

// NewMetrics returns the figures of a broker. They count connections, channels and queues that are opened or declared
// from now on.
func NewMetrics(b *leveret.Broker, cfg ...Config) *Metrics { return &Metrics{newNode(b, cfg)} }

// Sums returns what /metrics shows: figures of the broker and its process, and sums over all objects.
func (m *Metrics) Sums() []Family {
	x := newExposition()
	m.node.exposeSums(x)
	return x.families
}

// Objects returns what /metrics/per-object shows: figures of the broker, its process, and of each object. There are some
// 25 samples for each queue.
func (m *Metrics) Objects() []Family {
	x := newExposition()
	m.node.exposePerObject(x)
	return x.families
}

// consumerCount is the group of one metric that another group has, too.
const consumerCount = "queue_consumer_count"

// newExposition wants every metric once.
func newExposition() *exposition {
	return &exposition{prefix: namePrefix, wanted: func(group string) bool { return group != consumerCount }}
}

const namePrefix = "rabbitmq_"

// exposeSums adds what is not about single objects, and the sums of what is.
func (n *node) exposeSums(x *exposition) {
	m := n.measure(selection{})
	n.exposeBroker(x, m)
	exposeObjectSums(x, m)
	n.exposeIdentity(x, "aggregated")
}

func (n *node) exposePerObject(x *exposition) {
	m := n.measure(selection{})
	n.exposeBroker(x, m)
	n.exposeObjects(x, m)
	n.exposeIdentity(x, "per-object")
}

// exposeDetailed adds the families that a query asks for, of the virtual hosts and queues that it names.
func (n *node) exposeDetailed(x *exposition, q url.Values) error {
	s := selection{vhosts: q["vhost"]}
	if err := n.selectQueues(&s, q["queue"]); err != nil {
		return err
	}
	x.prefix = "rabbitmq_detailed_"
	x.wanted = func(family string) bool {
		repeats := family == consumerCount && slices.Contains(q["family"], "queue_metrics")
		return slices.Contains(q["family"], family) && !repeats
	}
	exposeEach(x, n, nodeMetrics, []*node{n})
	exposeEach(x, n, attemptMetrics, n.attempts())
	n.exposeObjects(x, n.measure(s))
	n.exposeCluster(x)
	x.prefix = namePrefix
	n.exposeIdentity(x, "detailed")
	return nil
}

// A filterError is what is wrong with a filter of queues, in RabbitMQ's words.
type filterError string

func (e filterError) Error() string { return string(e) }

// maxQueueFilter is how long a pattern for queues may be, in octets.
const maxQueueFilter = 2000

// selectQueues reads the parameter queue, a pattern. RabbitMQ 3.10 does not know it.
func (n *node) selectQueues(s *selection, patterns []string) error {
	if n.oldFeatures || len(patterns) == 0 {
		return nil
	}
	switch {
	case len(patterns) > 1:
		return filterError("Only one 'queue' query parameter is allowed")
	case len(patterns[0]) > maxQueueFilter:
		return filterError("'queue' regex too long")
	case patterns[0] == "":
		return nil
	}
	p, fault := pcre.Compile(patterns[0], pcre.PCRE2)
	if fault != nil {
		return filterError(fmt.Sprintf("Invalid 'queue' regex at position %d: %s", fault.Offset, fault.Message))
	}
	s.queues = p
	return nil
}

// metricsContentType is the version of the text format.
const metricsContentType = "text/plain; version=0.0.4; charset=utf-8"

// serveMetrics answers a path that begins with /metrics, and reports whether there is such a path.
func (n *node) serveMetrics(w http.ResponseWriter, r *http.Request) bool {
	x := newExposition()
	switch strings.TrimSuffix(r.URL.Path, "/") {
	case "/metrics":
		n.exposeSums(x)
	case "/metrics/per-object":
		n.exposePerObject(x)
	case "/metrics/detailed":
		if err := n.exposeDetailed(x, r.URL.Query()); err != nil {
			w.Header()["Content-Type"] = nil // RabbitMQ does not say what the text is
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, err.Error())
			return true
		}
	default:
		return false
	}
	w.Header().Set("Content-Type", metricsContentType)
	w.Write(x.text())
	return true
}

// exposeIdentity adds the two metrics that dashboards join all others with. The endpoint is one of RabbitMQ's names for
// what is exposed.
func (n *node) exposeIdentity(x *exposition, endpoint string) {
	x.family("build_info", UntypedMetric, "The release that the broker behaves as, and Go's version in the place of Erlang's",
		"rabbitmq_version", "prometheus_plugin_version", "prometheus_client_version", "erlang_version")
	x.sample(1, n.version(), n.version(), n.version(), erlangVersion())
	x.family("identity_info", UntypedMetric, "The node and its cluster",
		"rabbitmq_node", "rabbitmq_cluster", "rabbitmq_cluster_permanent_id", "rabbitmq_endpoint")
	x.sample(1, n.NodeName, n.clusterName(), n.clusterID, endpoint)
}
