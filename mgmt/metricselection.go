package mgmt

import (
	"slices"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/pcre"
)

// Which objects a scrape is about.

// A selection says which objects are wanted.
type selection struct {
	vhosts []string      // nil: all
	queues *pcre.Pattern // of their names; nil: all
}

func (s selection) hasVHost(name string) bool {
	return s.vhosts == nil || slices.Contains(s.vhosts, name)
}
func (s selection) hasQueue(name string) bool { return s.queues == nil || s.queues.Match(name) }

// measured are the objects of a selection.
type measured struct {
	queues    []measuredQueue
	exchanges []leveret.ExchangeInfo
	conns     []leveret.ConnInfo
	channels  []measuredChannel
}

// measure looks at the objects of a selection. Connections are in a virtual host, too.
func (n *node) measure(s selection) (m measured) {
	for _, info := range n.broker.VHosts() {
		if v, err := n.broker.VHost(info.Name); err == nil && s.hasVHost(info.Name) {
			m.exchanges = append(m.exchanges, v.Exchanges()...)
			m.queues = append(m.queues, measureQueues(v, s)...)
		}
	}
	for _, conn := range n.broker.Connections() {
		if !s.hasVHost(conn.VHost) {
			continue
		}
		m.conns = append(m.conns, conn)
		for _, ch := range conn.Channels {
			m.channels = append(m.channels, measuredChannel{ch, conn})
		}
	}
	return m
}

func measureQueues(v *leveret.VHost, s selection) (all []measuredQueue) {
	for _, info := range v.Queues() {
		if !s.hasQueue(info.Name) {
			continue
		}
		if q, err := v.Queue(info.Name); err == nil {
			all = append(all, measuredQueue{info, q.Counters()})
		}
	}
	return all
}

// exposeObjects adds the metrics of single objects that are wanted.
func (n *node) exposeObjects(x *exposition, m measured) {
	exposeEach(x, n, queueMetrics, m.queues)
	exposeEach(x, n, connectionMetrics, m.conns)
	exposeEach(x, n, channelMetrics, m.channels)
	exposeEach(x, n, exchangeMetrics, m.exchanges)
	n.exposeQueueInfo(x, m.queues)
	exposeQueueLosses(x, m.queues)
}

// exposeObjectSums adds the sums of metrics over all objects.
func exposeObjectSums(x *exposition, m measured) {
	exposeSum(x, queueMetrics, m.queues)
	exposeSum(x, connectionMetrics, m.conns)
	exposeSum(x, channelMetrics, m.channels)
	exposeSum(x, exchangeMetrics, m.exchanges)
}

// queueInfoGroups are the families of /metrics/detailed that come with queue_info.
var queueInfoGroups = []string{"queue_coarse_metrics", consumerCount, "queue_metrics"}

// exposeQueueInfo adds the type of each queue. RabbitMQ 3.10 has no such metric.
func (n *node) exposeQueueInfo(x *exposition, queues []measuredQueue) {
	if n.oldFeatures || !slices.ContainsFunc(queueInfoGroups, x.wanted) {
		return
	}
	x.family("queue_info", GaugeMetric, "A queue with its type, and the role of this node for it", "vhost", "queue", "queue_type", "membership")
	for _, q := range queues {
		x.sample(1, q.VHost, q.Name, "rabbit_"+string(q.Type)+"_queue", "leader")
	}
}

// exposeQueueLosses adds the deaths in each queue, and the losses that there have been: most causes never occur in a
// queue, and have no sample.
func exposeQueueLosses(x *exposition, queues []measuredQueue) {
	prefix := x.prefix
	x.prefix = ownPrefix
	if x.wanted("queue_death_metrics") {
		x.family("queue_messages_died_total", CounterMetric, "Messages that died in the queue, by reason, whether they were dead-lettered or dropped", "vhost", "queue", "reason")
		for _, q := range queues {
			for _, r := range reasons {
				x.sample(float64(r.of(q.Died)), q.VHost, q.Name, string(r.name))
			}
		}
	}
	if x.wanted("queue_loss_metrics") {
		x.family("queue_messages_dropped_total", CounterMetric, "Messages that were lost from the queue, by cause", "vhost", "queue", "cause")
		for _, q := range queues {
			exposeLossesOf(x, q)
		}
	}
	x.prefix = prefix
}

func exposeLossesOf(x *exposition, q measuredQueue) {
	if q.Dropped.Total() == 0 {
		return
	}
	for _, l := range lossesOf(q.Dropped) {
		if l.value > 0 {
			x.sample(l.value, q.VHost, q.Name, l.cause)
		}
	}
}

// exposeCluster adds what RabbitMQ tells of the whole cluster, whatever the selection.
func (n *node) exposeCluster(x *exposition) {
	var vhosts []*leveret.VHost
	for _, info := range n.broker.VHosts() {
		if v, err := n.broker.VHost(info.Name); err == nil {
			vhosts = append(vhosts, v)
		}
	}
	x.prefix = "rabbitmq_cluster_"
	if x.wanted("vhost_status") {
		x.family("vhost_status", GaugeMetric, "Whether the virtual host can be used", "vhost")
		for _, v := range vhosts {
			x.sample(1, v.Name())
		}
	}
	if x.wanted("exchange_bindings") {
		x.family("exchange_bindings", GaugeMetric, "Bindings from the exchange", exchangeLabels...)
		exposeExchanges(x, vhosts, bindingsBySource)
	}
	if x.wanted("exchange_names") {
		x.family("exchange_name", GaugeMetric, "An exchange with its type", exchangeLabels...)
		exposeExchanges(x, vhosts, func(*leveret.VHost) func(string) int { return func(string) int { return 1 } })
	}
}

var exchangeLabels = []string{"vhost", "exchange", "type"}

// exposeExchanges adds a figure of each exchange that clients can publish to by its name.
func exposeExchanges(x *exposition, vhosts []*leveret.VHost, figures func(*leveret.VHost) func(name string) int) {
	for _, v := range vhosts {
		figure := figures(v)
		for _, e := range v.Exchanges() {
			if e.Name != "" && !e.Internal {
				x.sample(float64(figure(e.Name)), e.VHost, e.Name, string(e.Type))
			}
		}
	}
}

// bindingsBySource counts a virtual host's bindings.
func bindingsBySource(v *leveret.VHost) func(name string) int {
	n := map[string]int{}
	for _, b := range v.Bindings() {
		n[b.Source]++
	}
	return func(name string) int { return n[name] }
}
