// Package leveretprom shows a leveret broker to Prometheus's Go library, for programs that have a registry of their own:
//
//	prometheus.MustRegister(leveretprom.NewCollector(b, leveretprom.Config{}))
//
// The metrics have the names, types and labels of RabbitMQ's prometheus plugin, so that dashboards for RabbitMQ show the
// broker; those that begin with leveret_ tell of deaths and losses. A program without a registry needs no more than the path
// /metrics of package mgmt. This is a module of its own, so that leveret does not depend on Prometheus's library.
package leveretprom

import (
	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/prometheus/client_golang/prometheus"
)

// Config says what a [Collector] shows. The zero value suits most programs.
type Config struct {
	// PerObject asks for the metrics of each queue, exchange, connection and channel, some 25 samples for a queue. Without it
	// there are their sums.
	PerObject bool

	NodeName string // label rabbitmq_node of rabbitmq_identity_info; empty: leveret@localhost
}

// A Collector shows the figures of one broker. Any number of goroutines may use it.
type Collector struct {
	metrics   *mgmt.Metrics
	perObject bool
}

var _ prometheus.Collector = (*Collector)(nil)

// NewCollector returns a collector of a broker's figures, to be registered once. It counts the connections, channels and
// queues that are opened or declared from now on. A closed broker has empty figures.
func NewCollector(b *leveret.Broker, cfg Config) *Collector {
	return &Collector{mgmt.NewMetrics(b, mgmt.Config{NodeName: cfg.NodeName}), cfg.PerObject}
}

// Describe tells a registry the metrics that there may be.
func (c *Collector) Describe(descs chan<- *prometheus.Desc) {
	for _, f := range c.families() {
		descs <- describe(f)
	}
}

// Collect sends the figures of this moment. It looks at each queue, so its time grows with their number.
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	for _, f := range c.families() {
		desc := describe(f)
		for _, s := range f.Samples {
			metrics <- measure(desc, f.Type, s)
		}
	}
}

func (c *Collector) families() []mgmt.Family {
	if c.perObject {
		return c.metrics.Objects()
	}
	return c.metrics.Sums()
}

func describe(f mgmt.Family) *prometheus.Desc {
	return prometheus.NewDesc(f.Name, f.Help, f.Labels, nil)
}

// valueTypes are the library's words for the types of metrics.
var valueTypes = map[mgmt.MetricType]prometheus.ValueType{
	mgmt.CounterMetric: prometheus.CounterValue,
	mgmt.GaugeMetric:   prometheus.GaugeValue,
	mgmt.UntypedMetric: prometheus.UntypedValue,
}

// measure makes a metric. One that the library does not take shows as an error.
func measure(desc *prometheus.Desc, kind mgmt.MetricType, s mgmt.Sample) prometheus.Metric {
	var m prometheus.Metric
	var err error
	if h := s.Histogram; h != nil {
		m, err = prometheus.NewConstHistogram(desc, h.Count, h.Sum, buckets(h), s.Values...)
	} else {
		m, err = prometheus.NewConstMetric(desc, valueTypes[kind], s.Value, s.Values...)
	}
	if err != nil {
		return prometheus.NewInvalidMetric(desc, err)
	}
	return m
}

// buckets are the counts of a histogram by their bounds.
func buckets(h *mgmt.Histogram) map[float64]uint64 {
	all := make(map[float64]uint64, len(h.Bounds))
	for i, bound := range h.Bounds {
		all[bound] = h.Counts[i]
	}
	return all
}
